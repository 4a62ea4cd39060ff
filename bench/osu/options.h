/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of the collective benchmarks.
 */
#ifndef PWR_OSU_OPTIONS_H
#define PWR_OSU_OPTIONS_H

#include "osu.h"

enum {
    PWR_OSU_ROOT_ROTATES = -1,
    /* Above this size fewer calls are timed and warmed up. */
    PWR_OSU_LARGE_BYTES = 8192,
};

/* Numbers of calls per message size. */
typedef struct pwr_osu_calls {
    unsigned long timed;
    unsigned long warmup;
} pwr_osu_calls_t;

typedef struct pwr_osu_options {
    size_t min_bytes;
    size_t max_bytes;
    pwr_osu_calls_t small;
    pwr_osu_calls_t large;
    unsigned long validated_calls;
    unsigned long mem_limit; /* bytes of message buffers per process */
    int root;                /* or PWR_OSU_ROOT_ROTATES */
    bool full;
    bool validate;
    const char *json_path; /* points into argv; NULL: none */
} pwr_osu_options_t;

/* The same on every rank, as argv is; before MPI_Init.  Ends the program for --help and for what is
   wrong. */
pwr_osu_options_t pwr_osu_options_read(const pwr_osu_benchmark_t *benchmark, int argc, char **argv);

pwr_osu_calls_t pwr_osu_options_calls(const pwr_osu_options_t *options, size_t bytes);

#endif
