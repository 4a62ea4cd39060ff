/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Measuring and checking one message size.  Every function here is called by all ranks together.
 */
#ifndef PWR_OSU_MEASURE_H
#define PWR_OSU_MEASURE_H

#include <stdint.h>

#include "options.h"
#include "osu.h"
#include "pwr_verify/buffer.h"

typedef enum pwr_osu_verdict {
    PWR_OSU_NOT_CHECKED,
    PWR_OSU_PASS,
    PWR_OSU_FAIL,
} pwr_osu_verdict_t;

/* One message size.  Latencies are of the ranks' own means per call. */
typedef struct pwr_osu_row {
    size_t bytes;
    unsigned long iterations;
    double avg_us;
    double min_us;
    double max_us;
    int64_t begin_ns; /* CLOCK_REALTIME: the first rank to start the timed calls ... */
    int64_t end_ns;   /* ... and the last one to end them */
    double cpu_s;     /* user and system time of all ranks in between */
    pwr_osu_verdict_t verdict;
} pwr_osu_row_t;

typedef struct pwr_osu_run {
    const pwr_osu_benchmark_t *benchmark;
    const pwr_osu_options_t *options;
    MPI_Comm comm;
    int np;
    int rank;
    pwr_buffer_t send;
    pwr_buffer_t recv;
    /* This rank, over the timed calls of all sizes so far. */
    double cpu_s;
    double wall_s;
    /* This rank saw wrong data.  Kept apart from the verdict all ranks agreed on, because that
       agreement is made by collectives of the library under test. */
    bool failed_here;
} pwr_osu_run_t;

/* Times the calls of one size.  *row is complete on rank 0 except for the verdict. */
void pwr_osu_measure(pwr_osu_run_t *run, size_t bytes, pwr_osu_row_t *row);

/* Makes checked calls of the size pwr_osu_measure was last called for; wrong data is described in
   one line on stderr.  The same result on every rank. */
pwr_osu_verdict_t pwr_osu_validate(pwr_osu_run_t *run, size_t bytes);

/* The call number index of a size, as this rank sees it. */
pwr_osu_call_t pwr_osu_call(const pwr_osu_run_t *run, size_t bytes, unsigned long index);

#endif
