/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Loads in which ranks wait: what the waiting takes in time and in CPU seconds.
 *
 *   skew       one rank comes late to a collective by --late-us, the others wait for it
 *   tight      one collective after the other, nobody late
 *   apart      the same with a barrier before each, which does not count: as in the OSU benchmarks
 *   imbalance  every rank computes for --compute-us, more or less by up to 5%, then a collective:
 *              as in NPB FT
 *
 * All ranks of a job are on one machine (or on emulated nodes of one), so CLOCK_MONOTONIC is the
 * same for all.  Rank 0 prints one JSON object; times are microseconds.
 */
#include "config.h"

#include "pwr/command.h"
#include "../common/ranks.h"
#include "stamps.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "pwr/clock.h"

typedef struct options {
    const char *load;
    const char *collective;
    int bytes; /* per rank; of an Alltoall per pair of ranks */
    int iterations;
    int warmup;
    int seconds; /* 0: no limit */
    int calls;   /* of one iteration of tight */
    int late_us;
    int compute_us;
} options_t;

enum { FEWEST_ITERATIONS = 5 };

static int rank, size;
static char *from, *to;

static void compute_until(uint64_t end_ns)
{
    while (pwr_now_ns() < end_ns) {
    }
}

/* ---- collectives ---- */

static void allreduce(int bytes)
{
    MPI_Allreduce(from, to, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(int bytes)
{
    MPI_Bcast(from, bytes, MPI_BYTE, size - 1, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
    MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Not a collective: whoever is last sends to all others, which receive. */
static void messages(int bytes)
{
    if (rank < size - 1) {
        MPI_Recv(to, bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int peer = 0; peer < size - 1; ++peer) {
        MPI_Send(from, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
}

typedef void (*collective_fn_t)(int bytes);

static collective_fn_t collective_named(const char *name)
{
    static const struct {
        const char *name;
        collective_fn_t call;
    } all[] = {{"allreduce", allreduce}, {"bcast", bcast},       {"alltoall", alltoall},
               {"barrier", barrier},     {"messages", messages}, {NULL, NULL}};
    for (int i = 0; NULL != all[i].name; ++i) {
        if (0 == strcmp(all[i].name, name)) {
            return all[i].call;
        }
    }
    return NULL;
}

/* ---- results ---- */

static void *array_of(int count, size_t each)
{
    void *array = calloc((size_t)count, each);
    if (NULL == array) {
        fprintf(stderr, "wait_load: no memory for %d iterations\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return array;
}

/* What fits into --seconds if all are as long as those of the warm-up; the same on all ranks. */
static void limit_iterations(options_t *o, uint64_t warmup_ns)
{
    if (0 < o->seconds && 0 < o->warmup) {
        double each_ns = (double)warmup_ns / o->warmup + 1.0;
        double fit = 1e9 * o->seconds / each_ns;
        if (fit < o->iterations) {
            o->iterations = fit < FEWEST_ITERATIONS ? FEWEST_ITERATIONS : (int)fit;
        }
    }
    MPI_Bcast(&o->iterations, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

typedef struct load {
    const char *name;
    /* All ranks. */
    void (*iterate)(const options_t *o, collective_fn_t collective, uint64_t stamps[STAMPS],
                    sums_t *sums);
    bool adds_up; /* stamps are added over ranks; else the largest of each counts */
    /* Of a call.  at[0]: the stamps of all ranks, at[-1]: those of the iteration before. */
    double (*time_us)(const options_t *o, const uint64_t (*at)[STAMPS]);
    bool has_late_rank;
} load_t;

/* ---- one rank is late ---- */

/*
 * Who is late is always the last rank.  In each iteration
 *
 *   1. all ranks leave a barrier.  They do not leave it at once, and how far apart depends on how
 *      they wait.  So all times count from what the late rank does:
 *   2. it notes when it begins to be late, is busy for --late-us, and calls;
 *   3. the others have called meanwhile, each at a time of its own;
 *   4. the call is over when the last rank has returned.
 *
 * The time of the call is from the beginning of 2 to 4.  That after the arrival is from the last
 * call of 2 and 3 on: where ranks share CPUs, a late rank need not be the last.
 */
static void come_late(const options_t *o, collective_fn_t collective, uint64_t stamps[STAMPS],
                      sums_t *sums)
{
    bool late = rank == size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (late) {
        stamps[BEGUN] = pwr_now_ns();
        compute_until(stamps[BEGUN] + (uint64_t)o->late_us * 1000u);
    }
    uint64_t cpu_begin_ns = stamps_cpu_ns();
    uint64_t called_ns = pwr_now_ns();
    collective(o->bytes);
    stamps[ENDED] = pwr_now_ns();
    stamps[late ? ARRIVED : CALLED] = called_ns;
    if (!late) {
        sums->waiting_cpu_ns += stamps_cpu_ns() - cpu_begin_ns;
        sums->waiting_ns += stamps[ENDED] - called_ns;
    }
}

static double since_late(const options_t *o, const uint64_t (*at)[STAMPS])
{
    (void)o;
    return 1e-3 * (double)(at[0][ENDED] - at[0][BEGUN]);
}

/* ---- all ranks do the same ---- */

/* Deterministic, so that every way of waiting gets the same load. */
static double next_share(void)
{
    static uint64_t state;
    state = 0 == state ? UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(rank + 1) : state;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* CPU time of the process, so computing costs the same however long it is kept off the CPU. */
static void compute_for(double us)
{
    uint64_t end = stamps_cpu_ns() + (uint64_t)(1000.0 * us);
    while (stamps_cpu_ns() < end) {
    }
}

static void compute_and_call(const options_t *o, collective_fn_t collective,
                             uint64_t stamps[STAMPS], sums_t *sums)
{
    (void)sums;
    for (int i = 0; i < o->calls; ++i) {
        if (o->compute_us > 0) {
            compute_for(o->compute_us * (0.95 + 0.1 * next_share()));
        }
        collective(o->bytes);
    }
    stamps[ENDED] = pwr_now_ns();
}

/*
 * A rank may be ahead of others, as the root of a Bcast: an iteration is over when the last
 * rank has done it, and took the time since the one before was over.
 */
static double since_the_one_before(const options_t *o, const uint64_t (*at)[STAMPS])
{
    return 1e-3 * (double)(at[0][ENDED] - at[-1][ENDED]) / o->calls;
}

/* ---- all ranks meet before each call ---- */

static void meet_and_call(const options_t *o, collective_fn_t collective, uint64_t stamps[STAMPS],
                          sums_t *sums)
{
    (void)sums;
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t begin_ns = pwr_now_ns();
    collective(o->bytes);
    stamps[SPENT] = pwr_now_ns() - begin_ns;
}

static double mean_over_ranks(const options_t *o, const uint64_t (*at)[STAMPS])
{
    (void)o;
    return 1e-3 * (double)at[0][SPENT] / size;
}

/* ---- loads ---- */

static const load_t loads[] = {
    {"skew", come_late, .time_us = since_late, .has_late_rank = true},
    {"tight", compute_and_call, .time_us = since_the_one_before},
    {"apart", meet_and_call, .adds_up = true, .time_us = mean_over_ranks},
    {"imbalance", compute_and_call, .time_us = since_the_one_before},
};

static const load_t *load_named(const char *name)
{
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; ++i) {
        if (0 == strcmp(loads[i].name, name)) {
            return &loads[i];
        }
    }
    return NULL;
}

static void print_results(const options_t *o, const load_t *load, const uint64_t (*stamps)[STAMPS],
                          const sums_t *all, const uint64_t window_ns[2])
{
    double *us = array_of(o->iterations, sizeof *us);
    for (int i = 0; i < o->iterations; ++i) {
        us[i] = load->time_us(o, &stamps[i]);
    }
    stamps_print_head(o->load, o->collective, size, o->iterations, o->late_us);
    printf(", \"bytes\": %d, \"calls\": %d, \"compute_us\": %d", o->bytes, o->calls, o->compute_us);
    stamps_print_times("time_us", us, o->iterations);
    if (load->has_late_rank) {
        stamps_print_after_arrival(stamps, us, o->iterations);
        stamps_print_waiting(all, (double)o->iterations * (size - 1));
    } else {
        printf(", \"cpu_us\": %.4f", 1e-3 * (double)all->cpu_ns / o->iterations / o->calls);
    }
    stamps_print_window(window_ns[0], window_ns[1], all);
    puts("}");
    free(us);
}

/* The first of the stamps are those before the first iteration. */
static void run_load(options_t *o, const load_t *load, collective_fn_t collective)
{
    uint64_t unused[STAMPS], window_ns[2], begin_ns = pwr_now_ns();
    sums_t mine = {0}, all = {0};
    for (int i = 0; i < o->warmup; ++i) {
        load->iterate(o, collective, unused, &mine);
    }
    limit_iterations(o, pwr_now_ns() - begin_ns);
    uint64_t(*stamps)[STAMPS] = array_of(o->iterations + 1, sizeof *stamps);
    mine = (sums_t){0};
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t cpu_begin_ns = stamps_cpu_ns();
    window_ns[0] = pwr_clock_ns(CLOCK_REALTIME);
    stamps[0][ENDED] = pwr_now_ns();
    for (int i = 1; i <= o->iterations; ++i) {
        load->iterate(o, collective, stamps[i], &mine);
    }
    window_ns[1] = pwr_clock_ns(CLOCK_REALTIME);
    mine.cpu_ns = stamps_cpu_ns() - cpu_begin_ns;
    MPI_Reduce(0 == rank ? MPI_IN_PLACE : stamps, stamps, STAMPS * (o->iterations + 1),
               MPI_UINT64_T, load->adds_up ? MPI_SUM : MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &all, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        print_results(o, load, (const uint64_t(*)[STAMPS])stamps + 1, &all, window_ns);
    }
    free(stamps);
}

/* ---- command line ---- */

enum { MOST = 100000000 };

#define NUMBER(letter, name, help, member, least)                                                  \
    {                                                                                              \
        letter, name, "N", help, pwr_option_int, offsetof(options_t, member), least, MOST          \
    }
static const pwr_option_t table[] = {
    {'c', "collective", "NAME", "allreduce, bcast, alltoall, barrier, messages (allreduce)",
     pwr_option_text, .at = offsetof(options_t, collective)},
    NUMBER('b', "bytes", "per rank, of an Alltoall per pair; whole ints (8)", bytes, 0),
    NUMBER('i', "iterations", "counted, at most (100)", iterations, 1),
    NUMBER('s', "seconds", "count about as many as fit, but no fewer than 5 (no limit)", seconds,
           0),
    NUMBER('w', "warmup", "before them (10)", warmup, 0),
    NUMBER('n', "calls", "tight: calls of an iteration (100)", calls, 1),
    NUMBER('l', "late-us", "skew: how late the last rank is (1000)", late_us, 0),
    NUMBER('u', "compute-us", "imbalance: what a rank computes between calls (5000)", compute_us,
           0),
    {0},
};

static const pwr_command_t command = {
    .name = "wait_load",
    .usage =
        "Usage: mpirun ... wait_load [options] LOAD\n"
        "What ranks that wait cost: time and CPU seconds.  Prints one JSON object.\n\n"
        "LOAD: skew (one rank is late), tight (nobody is), apart (the same, a barrier before each\n"
        "call), imbalance (compute, collective)\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

static void run(options_t *o, const load_t *load, collective_fn_t collective)
{
    from = array_of(size, (size_t)o->bytes + 1);
    to = array_of(size, (size_t)o->bytes + 1);
    o->calls = 0 == strcmp("tight", o->load) ? o->calls : 1;
    o->late_us = 0 == strcmp("skew", o->load) ? o->late_us : 0;
    o->compute_us = 0 == strcmp("imbalance", o->load) ? o->compute_us : 0;
    run_load(o, load, collective);
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    options_t options = {.load = "",
                         .collective = "allreduce",
                         .bytes = 8,
                         .iterations = 100,
                         .warmup = 10,
                         .calls = 100,
                         .late_us = 1000,
                         .compute_us = 5000};
    pwr_command_read(&command, &options, &options.load, argc, argv);
    const load_t *load = load_named(options.load);
    collective_fn_t collective = collective_named(options.collective);
    if (0 != options.bytes % (int)sizeof(int) || NULL == collective || NULL == load) {
        pwr_command_refuse(&command, "no such load or collective, or no whole ints (see --help)");
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool good = size > 1;
    if (good) {
        run(&options, load, collective);
    } else {
        fputs("wait_load: one rank waits for nobody: start at least two\n", stderr);
    }
    MPI_Finalize();
    return good ? 0 : 2;
}
