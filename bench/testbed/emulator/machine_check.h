/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one key of a machine file means for another: combinations that no machine has.
 */
#ifndef EMU_MACHINE_CHECK_H
#define EMU_MACHINE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "machine_file.h"

struct emu_check {
    const char *key;
    bool if_given; /* the key's default is good with anything */
    /* NULL, or what is wrong with the key's value.  Checks may rely on those before them. */
    const char *(*check)(const struct emu_config *config);
};

extern const struct emu_check emu_checks[];
extern const size_t emu_check_count;

#endif
