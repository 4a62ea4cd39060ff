/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What single calls take beyond the usual one of their size: what is set up for a communicator
 * or a process is seen there, and in no mean.
 *
 * Every collective has a communicator of its own, which goes through the sizes in ascending order.
 * A call takes what the rank that took longest took of its CPU, so other processes on the machine
 * do not count, and polling does.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/ranks.h"
#include "../osu/osu.h"
#include "pwr/clock.h"
#include "pwr/command.h"

enum { SHOWN = 3 };

typedef struct options {
    const char *collectives;
    unsigned long calls;
    unsigned long least_bytes;
    unsigned long most_bytes;
} options_t;

typedef struct run {
    const options_t *options;
    MPI_Comm neutral; /* has no functions of ours */
    int np;
    int rank;
    double *us;     /* [calls], of the call's slowest rank on rank 0 */
    double *sorted; /* [calls] */
} run_t;

static const pwr_option_t table[] = {
    {0, "collectives", "NAME,...", "default: allgather,allreduce,alltoall,bcast,reduce",
     pwr_option_text, .at = offsetof(options_t, collectives)},
    {0, "calls", "N", "of each size (default 200)", pwr_option_count, offsetof(options_t, calls),
     SHOWN, 1000000},
    {0, "least", "BYTES", "the first size, doubled up to the last one (default 8)",
     pwr_option_count, offsetof(options_t, least_bytes), 8, INT_MAX},
    {0, "most", "BYTES", "the last size (default 1048576)", pwr_option_count,
     offsetof(options_t, most_bytes), 8, INT_MAX},
    {0},
};

static const pwr_command_t command = {
    .name = "first_calls",
    .usage = "usage: mpirun -np N --bind-to core first_calls [options]\n"
             "What the slowest single calls of each message size take beyond the median one, CPU "
             "time.\n\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

static double cpu_us(void)
{
    return 1e-3 * (double)pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The barrier keeps ranks together: nobody is charged for what another one did before. */
static void time_calls(const run_t *run, const pwr_osu_call_t *call)
{
    for (unsigned long i = 0; i < run->options->calls; i++) {
        double begin_us = cpu_us();
        call->benchmark->run(call);
        run->us[i] = cpu_us() - begin_us;
        MPI_Barrier(run->neutral);
    }
    const void *send = run->rank == 0 ? MPI_IN_PLACE : run->us;
    MPI_Reduce(send, run->us, (int)run->options->calls, MPI_DOUBLE, MPI_MAX, 0, run->neutral);
}

/* Takes the slowest calls out of run->us. */
static void print_slowest(const run_t *run, double median_us)
{
    for (int shown = 0; shown < SHOWN; shown++) {
        unsigned long slowest = 0;
        for (unsigned long i = 1; i < run->options->calls; i++) {
            slowest = run->us[i] > run->us[slowest] ? i : slowest;
        }
        printf("  %9.1f [%lu]", run->us[slowest] - median_us, slowest);
        run->us[slowest] = 0;
    }
    printf("\n");
    fflush(stdout);
}

static void print_row(const run_t *run, const pwr_osu_call_t *call)
{
    size_t calls = run->options->calls;
    memcpy(run->sorted, run->us, calls * sizeof *run->us);
    qsort(run->sorted, calls, sizeof *run->sorted, ascending);
    double median_us = run->sorted[calls / 2];
    printf("%-20s %8zu  %9.2f", call->benchmark->name, call->bytes, median_us);
    print_slowest(run, median_us);
}

static void measure(const run_t *run, const pwr_osu_benchmark_t *benchmark)
{
    size_t most = run->options->most_bytes;
    pwr_osu_call_t call = {.benchmark = benchmark, .np = run->np, .rank = run->rank};
    call.send = pwr_osu_allocate(&command, benchmark->data->send_bytes(benchmark, run->np, most));
    call.recv = pwr_osu_allocate(&command, benchmark->data->recv_bytes(benchmark, run->np, most));
    MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    for (call.bytes = run->options->least_bytes; call.bytes <= most; call.bytes *= 2) {
        benchmark->data->fill(&call);
        time_calls(run, &call);
        if (run->rank == 0) {
            print_row(run, &call);
        }
    }
    MPI_Comm_free(&call.comm);
    free(call.send);
    free(call.recv);
}

static void measure_all(run_t *run)
{
    const char *left = run->options->collectives;
    const pwr_osu_benchmark_t *benchmark;
    if (run->rank == 0) {
        printf("CPU time of a call, us: the median, and what the slowest ones [number] took beyond "
               "it\n");
    }
    while ((benchmark = pwr_osu_next(&command, &left)) != NULL) {
        measure(run, benchmark);
    }
}

int main(int argc, char **argv)
{
    options_t options = {.collectives = "allgather,allreduce,alltoall,bcast,reduce",
                         .calls = 200,
                         .least_bytes = 8,
                         .most_bytes = 1 << 20};
    pwr_command_read(&command, &options, NULL, argc, argv);
    for (const char *left = options.collectives; pwr_osu_next(&command, &left) != NULL;) {
    }
    run_t run = {.options = &options};
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &run.np);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    run.neutral = pwr_osu_comm("off");
    run.us = pwr_osu_allocate(&command, options.calls * sizeof *run.us);
    run.sorted = pwr_osu_allocate(&command, options.calls * sizeof *run.sorted);
    measure_all(&run);
    free(run.us);
    free(run.sorted);
    MPI_Comm_free(&run.neutral);
    MPI_Finalize();
    return 0;
}
