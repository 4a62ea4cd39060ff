/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The command line.
 */
#ifndef DIFF_OPTIONS_H
#define DIFF_OPTIONS_H

#include "plan.h"

enum { DIFF_MAX_THREADS = 8 };

typedef struct diff_options {
    diff_choice_t choice;
    diff_limits_t limits;
    uint64_t seed;
    uint64_t first; /* number of the first call */
    uint64_t calls;
    uint64_t again; /* after so many the same ones again; 0: never */
    const char *rounds; /* file that grows by a byte each time they are through; NULL: none */
    uint64_t only_call; /* seed of the one call to make; 0: all */
    int threads;
    bool device;         /* some buffers are in the memory of a GPU, ... */
    bool device_all;     /* ... or all */
    unsigned limit_s;    /* a call that takes longer hangs */
    bool fault;          /* one byte of each result is flipped */
    size_t fault_units;  /* only where blocks have as many units */
    bool stay;           /* do not look for the smallest failing call */
    const char *digests; /* file for hashes of results; NULL: none */
} diff_options_t;

/* Returns false, having said why on stderr if loud, when the command line is wrong. */
bool diff_options_parse(diff_options_t *options, int argc, char **argv, bool loud);
/* Whether nothing was left out. */
bool diff_options_everything(const diff_options_t *options);
/* The options that repeat a call, as on the command line. */
void diff_options_format(const diff_options_t *options, char *text, size_t size);

#endif
