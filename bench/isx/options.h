/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of isx.
 */
#ifndef ISX_OPTIONS_H
#define ISX_OPTIONS_H

#include "exchange.h"

#include <stdbool.h>

typedef struct isx_options {
    bool is_weak; /* keys are each PE's, else those of all */
    size_t keys;
    uint32_t range;
    uint64_t seed;
    int iterations, warmup;
    bool is_pinned; /* each PE stays on a CPU */
    bool ways[ISX_WAYS];
    const char *json; /* NULL: none */
} isx_options_t;

extern isx_options_t isx_options;

/* The exit status where the program is not to go on, else -1. */
int isx_read_options(int argc, char **argv);

#endif
