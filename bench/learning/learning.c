/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What scheme auto takes, once it has learnt, over the fastest algorithm.
 *
 * For each collective and size there is a communicator for which auto chooses, and one for each
 * algorithm, fixed by the info key coll_poweraware_algorithm.  The first one makes its first calls;
 * then all make rounds of calls in turn.  So ratios are those of neighbouring times.  Experiments
 * of auto go on meanwhile, and are in its time.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/ranks.h"
#include "../osu/osu.h"
#include "pwr/clock.h"
#include "pwr/command.h"

enum { MOST_FIXED = 5, WARM_UP = 20 };
static const double interval = 1.96; /* standard errors, for 95 % */

typedef struct options {
    const char *collectives;
    unsigned long before;
    unsigned long calls;
    unsigned long rounds;
    unsigned long least_bytes;
    unsigned long most_bytes;
} options_t;

typedef struct run {
    const options_t *options;
    MPI_Comm neutral; /* has no functions of ours */
    int np;
    int rank;
} run_t;

typedef struct times {
    int num_fixed;
    const char *fixed[MOST_FIXED];
    double *log_us; /* [rounds][1 + MOST_FIXED]: auto's, then those of fixed ones; on rank 0 */
} times_t;

static const pwr_option_t table[] = {
    {0, "collectives", "NAME,...", "default: allgather,allreduce,alltoall,bcast,reduce",
     pwr_option_text, .at = offsetof(options_t, collectives)},
    {0, "before", "N", "calls that are not timed, in which auto learns (default 200)",
     pwr_option_count, offsetof(options_t, before), 0, 1000000},
    {0, "calls", "N", "of a round (default 200)", pwr_option_count, offsetof(options_t, calls), 1,
     1000000},
    {0, "rounds", "N", "of each size (default 20)", pwr_option_count, offsetof(options_t, rounds),
     2, 1000000},
    {0, "least", "BYTES", "the first size, eight times as long up to the last one (default 8)",
     pwr_option_count, offsetof(options_t, least_bytes), 8, INT_MAX},
    {0, "most", "BYTES", "the last size (default 262144)", pwr_option_count,
     offsetof(options_t, most_bytes), 8, INT_MAX},
    {0},
};

static const pwr_command_t command = {
    .name = "learning",
    .usage = "usage: mpirun -np N --bind-to core --mca coll poweraware learning [options]\n"
             "Time of scheme auto, once it has learnt, over that of the fastest algorithm.\n\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

static void fixed_of(const char *collective, times_t *times)
{
    static const char *const usual[] = {"stock", "box", "leader"};
    static const char *const alltoall[] = {"stock", "box", "node", "grouped", "combined"};
    bool is_alltoall = strcmp(collective, "alltoall") == 0;
    times->num_fixed = is_alltoall ? MOST_FIXED : 3;
    memcpy(times->fixed, is_alltoall ? alltoall : usual,
           (size_t)times->num_fixed * sizeof times->fixed[0]);
}

/* us per call, of the slowest rank, on rank 0 */
static double time_calls(const run_t *run, pwr_osu_call_t *call, MPI_Comm comm, unsigned long calls)
{
    call->comm = comm;
    MPI_Barrier(run->neutral);
    uint64_t begin_ns = pwr_now_ns();
    for (unsigned long i = 0; i < calls; i++) {
        call->benchmark->run(call);
    }
    double us = 1e-3 * (double)(pwr_now_ns() - begin_ns) / (double)calls;
    double slowest = us;
    MPI_Reduce(&us, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, run->neutral);
    return slowest;
}

static double mean_of(const run_t *run, const times_t *times, int column)
{
    double sum = 0.0;
    for (unsigned long r = 0; r < run->options->rounds; r++) {
        sum += times->log_us[r * (1 + MOST_FIXED) + (unsigned)column];
    }
    return sum / (double)run->options->rounds;
}

/* Adds to *sum the logarithm of auto over the fastest. */
static void print_row(const run_t *run, const pwr_osu_call_t *call, const times_t *times,
                      double *sum)
{
    int fastest = 1;
    for (int i = 2; i <= times->num_fixed; i++) {
        fastest = mean_of(run, times, i) < mean_of(run, times, fastest) ? i : fastest;
    }
    double n = (double)run->options->rounds;
    double mean = mean_of(run, times, 0) - mean_of(run, times, fastest);
    double squares = 0.0;
    for (unsigned long r = 0; r < run->options->rounds; r++) {
        const double *row = &times->log_us[r * (1 + MOST_FIXED)];
        squares += pow(row[0] - row[fastest] - mean, 2);
    }
    double error = interval * sqrt(squares / (n - 1.0) / n);
    printf("%-12s %8zu  %8.2f  %8.2f %-9s %6.3f [%.3f, %.3f]\n", call->benchmark->name, call->bytes,
           exp(mean_of(run, times, 0)), exp(mean_of(run, times, fastest)),
           times->fixed[fastest - 1], exp(mean), exp(mean - error), exp(mean + error));
    fflush(stdout);
    *sum += mean;
}

static void measure_size(const run_t *run, pwr_osu_call_t *call, times_t *times, double *sum)
{
    MPI_Comm comms[1 + MOST_FIXED];
    for (int i = 0; i <= times->num_fixed; i++) {
        comms[i] = pwr_osu_comm(i == 0 ? NULL : times->fixed[i - 1]);
        time_calls(run, call, comms[i], i == 0 ? run->options->before + 1 : WARM_UP);
    }
    for (unsigned long r = 0; r < run->options->rounds; r++) {
        for (int i = 0; i <= times->num_fixed; i++) {
            double us = time_calls(run, call, comms[i], run->options->calls);
            times->log_us[r * (1 + MOST_FIXED) + (unsigned)i] = log(us);
        }
    }
    if (run->rank == 0) {
        print_row(run, call, times, sum);
    }
    for (int i = 0; i <= times->num_fixed; i++) {
        MPI_Comm_free(&comms[i]);
    }
}

/* Returns the number of sizes. */
static int measure(const run_t *run, const pwr_osu_benchmark_t *benchmark, double *sum)
{
    size_t most = run->options->most_bytes;
    pwr_osu_call_t call = {.benchmark = benchmark, .np = run->np, .rank = run->rank};
    times_t times = {.log_us = pwr_osu_allocate(&command, run->options->rounds * (1 + MOST_FIXED) *
                                                              sizeof(double))};
    int sizes = 0;
    fixed_of(benchmark->name, &times);
    call.send = pwr_osu_allocate(&command, benchmark->data->send_bytes(benchmark, run->np, most));
    call.recv = pwr_osu_allocate(&command, benchmark->data->recv_bytes(benchmark, run->np, most));
    for (call.bytes = run->options->least_bytes; call.bytes <= most; call.bytes *= 8) {
        benchmark->data->fill(&call);
        measure_size(run, &call, &times, sum);
        sizes++;
    }
    free(times.log_us);
    free(call.send);
    free(call.recv);
    return sizes;
}

static void measure_all(const run_t *run)
{
    const char *left = run->options->collectives;
    const pwr_osu_benchmark_t *benchmark;
    double sum = 0.0;
    int points = 0;
    if (run->rank == 0) {
        printf("Time of a call, us: with auto, with the fastest algorithm; their ratio, geometric "
               "mean of %lu rounds and 95 %% interval\n",
               run->options->rounds);
    }
    while ((benchmark = pwr_osu_next(&command, &left)) != NULL) {
        points += measure(run, benchmark, &sum);
    }
    if (run->rank == 0) {
        printf("geometric mean of %d points: %.3f\n", points, exp(sum / points));
    }
}

int main(int argc, char **argv)
{
    options_t options = {.collectives = "allgather,allreduce,alltoall,bcast,reduce",
                         .before = 200,
                         .calls = 200,
                         .rounds = 20,
                         .least_bytes = 8,
                         .most_bytes = 1 << 18};
    pwr_command_read(&command, &options, NULL, argc, argv);
    for (const char *left = options.collectives; pwr_osu_next(&command, &left) != NULL;) {
    }
    run_t run = {.options = &options};
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &run.np);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    run.neutral = pwr_osu_comm("off");
    measure_all(&run);
    MPI_Comm_free(&run.neutral);
    MPI_Finalize();
    return 0;
}
