/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The command line.
 */
#ifndef RSH_OPTIONS_H
#define RSH_OPTIONS_H

#include <stdio.h>

#include "names.h"
#include "plan.h"

typedef enum rsh_fault {
    RSH_NO_FAULT,
    RSH_LOSE,        /* PE 0 does not make calls of a kind */
    RSH_FLIP_MEMORY, /* a byte of PE 0's heap is another one */
    RSH_HANG,        /* PE 0 stops within an epoch */
} rsh_fault_t;

typedef struct rsh_options {
    uint64_t seed;
    uint64_t first;        /* number of the first program */
    uint64_t calls;        /* of all PEs, at least */
    uint64_t only_program; /* its seed; 0: all */
    diff_limits_t limits;  /* simpler: names that are left out; most_units: elements of a call */
    unsigned limit_s;      /* an epoch that takes longer hangs */
    rsh_fault_t fault;
    rsh_name_t lost;
    bool stay; /* do not look for the smallest program that fails */
    bool help;
} rsh_options_t;

/* Returns false, having said how to call it on stderr if loud, when the command line is wrong. */
bool rsh_options_parse(rsh_options_t *options, int argc, char **argv, bool loud);
void rsh_options_help(FILE *to);
/* Names left out, as on the command line: nothing, or " --without a,b". */
void rsh_options_format(uint64_t without, char *text, size_t size);

#endif
