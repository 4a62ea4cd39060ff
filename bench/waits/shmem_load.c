/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What waiting costs in OpenSHMEM, with the last PE late: as load skew of wait_load.  The calls are
 * those of oshmem/scoll_poweraware/tests/late.h.
 *
 * All PEs of a job are on one machine (or on emulated nodes of one), so CLOCK_MONOTONIC is the same
 * for all.  PE 0 prints one JSON object; times are microseconds.
 */
#include "config.h"

#include "pwr/command.h"
#include "../common/ranks.h"
#include "../../oshmem/scoll_poweraware/tests/late.h"
#include "stamps.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmem.h>

#include "pwr/clock.h"

typedef struct options {
    const char *kind;
    int iterations;
    int warmup;
    int seconds; /* 0: no limit */
    int late_us;
} options_t;

enum { FEWEST_ITERATIONS = 5 };

static options_t options = {.kind = "", .iterations = 100, .warmup = 2, .late_us = 100000};
static int me, size;
static uint64_t now_at[STAMPS]; /* of the iteration under way */

/* symmetric */
static uint64_t (*stamps)[STAMPS];
static sums_t *mine;
static double *served_us; /* gets by which the last PE has asked, on average of a call */
static int *fit;

/* The last PE is busy meanwhile, as who computes. */
static void come_late(void)
{
    if (me == size - 1) {
        now_at[BEGUN] = pwr_now_ns();
        uint64_t end_ns = now_at[BEGUN] + (uint64_t)options.late_us * 1000u;
        do {
            now_at[ARRIVED] = pwr_now_ns();
        } while (now_at[ARRIVED] < end_ns);
    }
}

/*
 * As in wait_load: times count from what the late PE does, since others do not leave the barrier at
 * once.  What the last PE does for the others is part of the call.
 */
static void iterate(const late_kind_t *kind, uint64_t at[STAMPS])
{
    bool late = me == size - 1;
    memset(now_at, 0, sizeof now_at);
    shmem_barrier_all();
    uint64_t cpu_begin_ns = stamps_cpu_ns();
    uint64_t called_ns = pwr_now_ns();
    kind->run();
    now_at[ENDED] = pwr_now_ns();
    if (!late) {
        now_at[CALLED] = called_ns;
        mine->waiting_cpu_ns += stamps_cpu_ns() - cpu_begin_ns;
        mine->waiting_ns += now_at[ENDED] - called_ns;
    }
    memcpy(at, now_at, sizeof now_at);
}

/* What fits into --seconds if all are as long as those of the warm-up; the same on all PEs. */
static void limit_iterations(uint64_t warmup_ns)
{
    *fit = options.iterations;
    if (0 < options.seconds && 0 < options.warmup) {
        double found = 1e9 * options.seconds / ((double)warmup_ns / options.warmup + 1.0);
        if (found < *fit) {
            *fit = found < FEWEST_ITERATIONS ? FEWEST_ITERATIONS : (int)found;
        }
    }
    shmem_barrier_all();
    int least = shmem_int_g(fit, 0);
    options.iterations = least < options.iterations ? least : options.iterations;
    shmem_barrier_all();
}

static void *array_of(int count, size_t each)
{
    void *array = calloc((size_t)count, each);
    if (NULL == array) {
        fprintf(stderr, "shmem_load: no memory for %d iterations\n", count);
        shmem_global_exit(1);
    }
    return array;
}

/* By PE 0, from all others: the largest of each stamp, the sums of all. */
static void collect(uint64_t (*most)[STAMPS], sums_t *all)
{
    size_t bytes = (size_t)options.iterations * sizeof *most;
    uint64_t(*theirs)[STAMPS] = array_of(options.iterations, sizeof *theirs);
    for (int pe = 0; pe < size; ++pe) {
        sums_t sums;
        shmem_getmem(theirs, stamps, bytes, pe);
        shmem_getmem(&sums, mine, sizeof sums, pe);
        for (int i = 0; i < options.iterations; ++i) {
            for (int k = 0; k < STAMPS; ++k) {
                most[i][k] = theirs[i][k] > most[i][k] ? theirs[i][k] : most[i][k];
            }
        }
        all->cpu_ns += sums.cpu_ns;
        all->waiting_ns += sums.waiting_ns;
        all->waiting_cpu_ns += sums.waiting_cpu_ns;
    }
    free(theirs);
}

static void print_results(const uint64_t window_ns[2], long wrong)
{
    uint64_t(*most)[STAMPS] = array_of(options.iterations, sizeof *most);
    double *us = array_of(options.iterations, sizeof *us);
    sums_t all = {0};
    collect(most, &all);
    for (int i = 0; i < options.iterations; ++i) {
        us[i] = 1e-3 * (double)(most[i][ENDED] - most[i][BEGUN]);
    }
    stamps_print_head("late", options.kind, size, options.iterations, options.late_us);
    stamps_print_times("time_us", us, options.iterations);
    stamps_print_after_arrival((const uint64_t(*)[STAMPS])most, us, options.iterations);
    stamps_print_waiting(&all, (double)options.iterations * (size - 1));
    stamps_print_window(window_ns[0], window_ns[1], &all);
    printf(", \"served_us\": %.4f, \"wrong\": %ld}\n", shmem_double_g(served_us, size - 1), wrong);
    fflush(stdout);
    free(us);
    free(most);
}

static bool run(const late_kind_t *kind)
{
    uint64_t unused[STAMPS], window_ns[2];
    stamps = late_symmetric((size_t)options.iterations, sizeof *stamps);
    mine = late_symmetric(1, sizeof *mine);
    served_us = late_symmetric(1, sizeof *served_us);
    fit = late_symmetric(1, sizeof *fit);
    late_begin(come_late);
    shmem_barrier_all();
    uint64_t begin_ns = pwr_now_ns();
    for (int i = 0; i < options.warmup; ++i) {
        iterate(kind, unused);
    }
    limit_iterations(pwr_now_ns() - begin_ns);
    *mine = (sums_t){0};
    (void)late_served_us();
    shmem_barrier_all();
    uint64_t cpu_begin_ns = stamps_cpu_ns();
    window_ns[0] = pwr_clock_ns(CLOCK_REALTIME);
    for (int i = 0; i < options.iterations; ++i) {
        iterate(kind, stamps[i]);
        *served_us += late_served_us() / options.iterations;
    }
    window_ns[1] = pwr_clock_ns(CLOCK_REALTIME);
    mine->cpu_ns = stamps_cpu_ns() - cpu_begin_ns;
    long wrong = late_all_wrong();
    if (0 == me) {
        print_results(window_ns, wrong);
    }
    shmem_barrier_all();
    return 0 == wrong;
}

/* ---- command line ---- */

enum { MOST = 100000000 };

#define NUMBER(letter, name, help, member, least)                                                  \
    {                                                                                              \
        letter, name, "N", help, pwr_option_int, offsetof(options_t, member), least, MOST          \
    }
static const pwr_option_t table[] = {
    NUMBER('i', "iterations", "counted, at most (100)", iterations, 1),
    NUMBER('s', "seconds", "count about as many as fit, but no fewer than 5 (no limit)", seconds,
           0),
    NUMBER('w', "warmup", "before them (2)", warmup, 0),
    NUMBER('l', "late-us", "how late the last PE is (100000)", late_us, 0),
    {0},
};

static const pwr_command_t command = {
    .name = "shmem_load",
    .usage = "Usage: oshrun ... shmem_load [options] KIND\n"
             "What PEs that wait cost: time and CPU seconds.  Prints one JSON object.\n\n"
             "KIND: wait-until, lock, barrier-all, sum, broadcast, fcollect, alltoall, put-quiet,\n"
             "get, fetch-add and others: see late.c\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

static const late_kind_t *kind_named(const char *name)
{
    const late_kind_t *kind = late_kinds;
    while (NULL != kind->name && 0 != strcmp(kind->name, name)) {
        ++kind;
    }
    return NULL == kind->name ? NULL : kind;
}

int main(int argc, char **argv)
{
    pwr_command_read(&command, &options, &options.kind, argc, argv);
    const late_kind_t *kind = kind_named(options.kind);
    if (NULL == kind) {
        pwr_command_refuse(&command, "no such kind (see --help)");
    }
    shmem_init();
    me = shmem_my_pe();
    size = shmem_n_pes();
    bool good = size > 1 && run(kind);
    if (1 == size) {
        fputs("shmem_load: one PE waits for nobody: start at least two\n", stderr);
    }
    shmem_finalize();
    return good ? 0 : 1 == size ? 2 : 1;
}
