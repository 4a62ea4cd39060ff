/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The command line.
 */
#ifndef RMA_OPTIONS_H
#define RMA_OPTIONS_H

#include "names.h"
#include "plan.h"

#include <stdio.h>

enum { RMA_MAX_THREADS = 8 };

typedef enum rma_fault {
    RMA_NO_FAULT,
    RMA_LOSE,        /* rank 0 does not make calls of a kind */
    RMA_FLIP_WINDOW, /* a byte of a window is another one */
    RMA_HANG,        /* rank 0 stops within an epoch */
} rma_fault_t;

typedef struct rma_options {
    uint64_t seed;
    uint64_t first;        /* number of the first program */
    uint64_t calls;        /* of all ranks and threads, at least */
    uint64_t only_program; /* its seed; 0: all */
    diff_limits_t limits;  /* simpler: names that are left out */
    int threads;
    unsigned limit_s; /* an epoch that takes longer hangs */
    rma_fault_t fault;
    rma_name_t lost;
    bool stay; /* do not look for the smallest program that fails */
    bool help;
} rma_options_t;

/* Returns false, having said how to call it on stderr if loud, when the command line is wrong. */
bool rma_options_parse(rma_options_t *options, int argc, char **argv, bool loud);
void rma_options_help(FILE *to);
/* Names left out, as on the command line: nothing, or " --without a,b". */
void rma_options_format(uint64_t without, char *text, size_t size);

#endif
