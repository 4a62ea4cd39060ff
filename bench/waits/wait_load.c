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

#include "../common/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

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

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void compute_until(uint64_t end_ns)
{
    while (now_ns() < end_ns) {
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double q)
{
    return sorted[(int)(q * (count - 1) + 0.5)];
}

static void print_times(const char *name, double *us, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += us[i];
    }
    qsort(us, (size_t)count, sizeof *us, by_value);
    printf(", \"%s\": {\"mean\": %.4f, \"p25\": %.4f, \"p50\": %.4f, \"p75\": %.4f, \"p95\": %.4f}",
           name, sum / count, quantile(us, count, 0.25), quantile(us, count, 0.5),
           quantile(us, count, 0.75), quantile(us, count, 0.95));
}

/* What mpi_yield_when_idle is now, whoever has set it; -1: not known. */
static int yields(void)
{
    char name[64], description[8];
    int level, index, length = sizeof name, unused = sizeof description, verbosity, bind, scope;
    int count, value = -1;
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_handle handle;
    if (MPI_SUCCESS != MPI_T_init_thread(MPI_THREAD_SINGLE, &level)) {
        return -1;
    }
    if (MPI_SUCCESS == MPI_T_cvar_get_index("mpi_yield_when_idle", &index) &&
        MPI_SUCCESS == MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &words,
                                           description, &unused, &bind, &scope) &&
        MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, &handle, &count)) {
        union {
            int word;
            bool flag;
        } read = {.word = 0};
        if (MPI_SUCCESS == MPI_T_cvar_read(handle, &read)) {
            value = MPI_INT == type ? 0 != read.word : read.flag;
        }
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

static void print_head(const options_t *o)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\"\\\n")] = '\0';
    printf("{\"library\": \"%s\", \"load\": \"%s\", \"collective\": \"%s\", \"ranks\": %d, "
           "\"bytes\": %d, \"iterations\": %d, \"calls\": %d, \"late_us\": %d, "
           "\"compute_us\": %d, \"yields\": %d",
           library, o->load, o->collective, size, o->bytes, o->iterations, o->calls, o->late_us,
           o->compute_us, yields());
}

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
enum { BEGUN, ARRIVED, CALLED, ENDED, STAMPS };

typedef struct waits {
    uint64_t cpu_ns; /* of waiting ranks, in the calls that count */
    uint64_t ns;     /* how long those calls took them */
} waits_t;

static void come_late(const options_t *o, collective_fn_t collective, uint64_t stamps[STAMPS],
                      waits_t *waits)
{
    bool late = rank == size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (late) {
        stamps[BEGUN] = now_ns();
        compute_until(stamps[BEGUN] + (uint64_t)o->late_us * 1000u);
    }
    uint64_t cpu_begin_ns = cpu_ns();
    uint64_t called_ns = now_ns();
    collective(o->bytes);
    stamps[ENDED] = now_ns();
    stamps[late ? ARRIVED : CALLED] = called_ns;
    if (!late) {
        waits->cpu_ns += cpu_ns() - cpu_begin_ns;
        waits->ns += stamps[ENDED] - called_ns;
    }
}

static void print_skew(const options_t *o, uint64_t (*stamps)[STAMPS], const waits_t *all)
{
    double *time_us = array_of(o->iterations, sizeof *time_us);
    double *after_us = array_of(o->iterations, sizeof *after_us);
    double calls = (double)o->iterations * (size - 1);
    int last = 0;
    for (int i = 0; i < o->iterations; ++i) {
        const uint64_t *at = stamps[i];
        bool is_last = at[ARRIVED] >= at[CALLED];
        time_us[i] = 1e-3 * (double)(at[ENDED] - at[BEGUN]);
        after_us[i] = 1e-3 * (double)(at[ENDED] - at[is_last ? ARRIVED : CALLED]);
        last += is_last;
    }
    print_head(o);
    print_times("time_us", time_us, o->iterations);
    print_times("after_us", after_us, o->iterations);
    printf(", \"waiting_us\": %.4f, \"cpu_us\": %.4f, \"late_was_last\": %.4f}\n",
           1e-3 * (double)all->ns / calls, 1e-3 * (double)all->cpu_ns / calls,
           (double)last / o->iterations);
    free(time_us);
    free(after_us);
}

static void run_skew(options_t *o, collective_fn_t collective)
{
    uint64_t unused[STAMPS];
    waits_t waits = {0, 0}, all = {0, 0};
    uint64_t begin_ns = now_ns();
    for (int i = 0; i < o->warmup; ++i) {
        come_late(o, collective, unused, &waits);
    }
    limit_iterations(o, now_ns() - begin_ns);
    uint64_t(*stamps)[STAMPS] = array_of(o->iterations, sizeof *stamps);
    waits = (waits_t){0, 0};
    for (int i = 0; i < o->iterations; ++i) {
        come_late(o, collective, stamps[i], &waits);
    }
    MPI_Reduce(0 == rank ? MPI_IN_PLACE : stamps, stamps, STAMPS * o->iterations, MPI_UINT64_T,
               MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&waits, &all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        print_skew(o, stamps, &all);
    }
    free(stamps);
}

/* ---- all ranks do the same ---- */

/* Deterministic, so that every way of waiting gets the same load. */
static double next_share(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
}

/* CPU time of the process, so computing costs the same however long it is kept off the CPU. */
static void compute_for(double us)
{
    uint64_t end = cpu_ns() + (uint64_t)(1000.0 * us);
    while (cpu_ns() < end) {
    }
}

static void iterate(const options_t *o, collective_fn_t collective, uint64_t *state)
{
    for (int i = 0; i < o->calls; ++i) {
        if (o->compute_us > 0) {
            compute_for(o->compute_us * (0.95 + 0.1 * next_share(state)));
        }
        collective(o->bytes);
    }
}

static void print_calls(const options_t *o, double *time_us, uint64_t cpu_all_ns)
{
    print_head(o);
    print_times("time_us", time_us, o->iterations);
    printf(", \"cpu_us\": %.4f}\n", 1e-3 * (double)cpu_all_ns / o->iterations / o->calls);
}

/*
 * A rank may be ahead of others, as the root of a Bcast: an iteration is over when the last
 * rank has done it, and took the time since the one before was over.
 */
static void print_loop(const options_t *o, const uint64_t *ended_ns, uint64_t cpu_all_ns)
{
    double *time_us = array_of(o->iterations, sizeof *time_us);
    for (int i = 0; i < o->iterations; ++i) {
        time_us[i] = 1e-3 * (double)(ended_ns[i + 1] - ended_ns[i]) / o->calls;
    }
    print_calls(o, time_us, cpu_all_ns);
    free(time_us);
}

static void run_loop(options_t *o, collective_fn_t collective)
{
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(rank + 1);
    uint64_t cpu_all_ns = 0, begin_ns = now_ns();
    for (int i = 0; i < o->warmup; ++i) {
        iterate(o, collective, &state);
    }
    limit_iterations(o, now_ns() - begin_ns);
    uint64_t *ended_ns = array_of(o->iterations + 1, sizeof *ended_ns);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t cpu_begin_ns = cpu_ns();
    ended_ns[0] = now_ns();
    for (int i = 0; i < o->iterations; ++i) {
        iterate(o, collective, &state);
        ended_ns[i + 1] = now_ns();
    }
    uint64_t cpu_used_ns = cpu_ns() - cpu_begin_ns;
    MPI_Reduce(0 == rank ? MPI_IN_PLACE : ended_ns, ended_ns, o->iterations + 1, MPI_UINT64_T,
               MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&cpu_used_ns, &cpu_all_ns, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        print_loop(o, ended_ns, cpu_all_ns);
    }
    free(ended_ns);
}

/* ---- all ranks meet before each call ---- */

static uint64_t meet_and_call(const options_t *o, collective_fn_t collective)
{
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t begin_ns = now_ns();
    collective(o->bytes);
    return now_ns() - begin_ns;
}

/* Of a call: the mean of its ranks' times. */
static void run_apart(options_t *o, collective_fn_t collective)
{
    uint64_t cpu_all_ns = 0, begin_ns = now_ns();
    for (int i = 0; i < o->warmup; ++i) {
        meet_and_call(o, collective);
    }
    limit_iterations(o, now_ns() - begin_ns);
    double *time_us = array_of(o->iterations, sizeof *time_us);
    uint64_t cpu_begin_ns = cpu_ns();
    for (int i = 0; i < o->iterations; ++i) {
        time_us[i] = 1e-3 * (double)meet_and_call(o, collective) / size;
    }
    uint64_t cpu_used_ns = cpu_ns() - cpu_begin_ns;
    MPI_Reduce(0 == rank ? MPI_IN_PLACE : time_us, time_us, o->iterations, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(&cpu_used_ns, &cpu_all_ns, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        print_calls(o, time_us, cpu_all_ns);
    }
    free(time_us);
}

/* ---- loads ---- */

typedef void (*load_fn_t)(options_t *o, collective_fn_t collective);

static load_fn_t load_named(const char *name)
{
    static const struct {
        const char *name;
        load_fn_t run;
    } all[] = {{"skew", run_skew},
               {"tight", run_loop},
               {"apart", run_apart},
               {"imbalance", run_loop},
               {NULL, NULL}};
    for (int i = 0; NULL != all[i].name; ++i) {
        if (0 == strcmp(all[i].name, name)) {
            return all[i].run;
        }
    }
    return NULL;
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
};

static void run(options_t *o)
{
    from = array_of(size, (size_t)o->bytes + 1);
    to = array_of(size, (size_t)o->bytes + 1);
    o->calls = 0 == strcmp("tight", o->load) ? o->calls : 1;
    o->late_us = 0 == strcmp("skew", o->load) ? o->late_us : 0;
    o->compute_us = 0 == strcmp("imbalance", o->load) ? o->compute_us : 0;
    load_named(o->load)(o, collective_named(o->collective));
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
    if (0 != options.bytes % (int)sizeof(int) || NULL == collective_named(options.collective) ||
        NULL == load_named(options.load)) {
        pwr_command_refuse(&command, "no such load or collective, or no whole ints (see --help)");
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool good = size > 1;
    if (good) {
        run(&options);
    } else {
        fputs("wait_load: one rank waits for nobody: start at least two\n", stderr);
    }
    MPI_Finalize();
    return good ? 0 : 2;
}
