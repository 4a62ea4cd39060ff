/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What iterations of a load leave on each rank, and the figures that are made of it: members of
 * the JSON object that a load prints.
 */
#ifndef PWR_BENCH_STAMPS_H
#define PWR_BENCH_STAMPS_H

#include <stdint.h>

/* Of an iteration.  All ranks are on one machine: CLOCK_MONOTONIC is the same for all. */
enum { BEGUN, ARRIVED, CALLED, ENDED, SPENT, STAMPS };

/* Over all iterations that count, of all ranks. */
typedef struct sums {
    uint64_t cpu_ns;
    uint64_t waiting_ns; /* of the ranks that wait for the late one, in the calls alone */
    uint64_t waiting_cpu_ns;
} sums_t;

/* CPU time of this process. */
uint64_t stamps_cpu_ns(void);

/* Begins the object: what was done, with which library, and whether Open MPI yields. */
void stamps_print_head(const char *load, const char *collective, int ranks, int iterations,
                       int late_us);

/* Mean and quantiles of count values, which are sorted. */
void stamps_print_times(const char *name, double *us, int count);

/* From the last call on, of all ranks, until all have returned.  us: room for count values. */
void stamps_print_after_arrival(const uint64_t (*stamps)[STAMPS], double *us, int count);

/* Means over calls: those of all waiting ranks. */
void stamps_print_waiting(const sums_t *all, double calls);

/* When it was, by CLOCK_REALTIME, as samples of energy have it, and the CPU seconds meanwhile. */
void stamps_print_window(uint64_t begin_ns, uint64_t end_ns, const sums_t *all);

#endif
