/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of a collective for valgrind's tool callgrind: after a warm-up, each call of rank 0 begins
 * with empty simulated caches, and nothing else is counted.  Without callgrind it does the same
 * calls.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "../common/ranks.h"
#include "../osu/osu.h"
#include "pwr/command.h"

typedef struct options {
    const char *collective;
    const char *algorithm;
    unsigned long bytes;
    unsigned long warm_up;
    unsigned long calls;
} options_t;

static const pwr_option_t table[] = {
    {0, "collective", "NAME", "default: bcast", pwr_option_text,
     .at = offsetof(options_t, collective)},
    {0, "algorithm", "NAME", "of coll/poweraware, or stock (default)", pwr_option_text,
     .at = offsetof(options_t, algorithm)},
    {0, "bytes", "N", "message size (default 8)", pwr_option_count, offsetof(options_t, bytes), 8,
     1 << 20},
    {0, "warm-up", "N", "calls that are not counted (default 3000)", pwr_option_count,
     offsetof(options_t, warm_up), 0, 1000000},
    {0, "calls", "N", "calls that are (default 20)", pwr_option_count, offsetof(options_t, calls),
     1, 1000000},
    {0},
};

static const pwr_command_t command = {
    .name = "cold_calls",
    .usage = "usage: mpirun -np 1 valgrind --tool=callgrind --instr-atstart=no --cache-sim=yes "
             "cold_calls [options] : -np N cold_calls [options]\n"
             "See bench/footprint/footprint.\n\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

/* Instrumentation that starts empties the caches that callgrind simulates.  The barrier in front
   keeps rank 0 from waiting in the call, as far as others do not wait for it there. */
static void make_calls(const options_t *options, const pwr_osu_call_t *call, MPI_Comm neutral)
{
    for (unsigned long i = 0; i < options->warm_up; ++i) {
        call->benchmark->run(call);
    }
    for (unsigned long i = 0; i < options->calls; ++i) {
        MPI_Barrier(neutral);
        if (call->rank == 0) {
            CALLGRIND_START_INSTRUMENTATION;
        }
        call->benchmark->run(call);
        if (call->rank == 0) {
            CALLGRIND_STOP_INSTRUMENTATION;
        }
    }
}

int main(int argc, char **argv)
{
    options_t options = {
        .collective = "bcast", .algorithm = "stock", .bytes = 8, .warm_up = 3000, .calls = 20};
    pwr_command_read(&command, &options, NULL, argc, argv);
    const char *left = options.collective;
    const pwr_osu_benchmark_t *benchmark = pwr_osu_next(&command, &left);
    if (benchmark == NULL) {
        pwr_command_refuse(&command, "option --collective names none");
    }
    pwr_osu_call_t call = {.benchmark = benchmark, .bytes = options.bytes};
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &call.np);
    MPI_Comm_rank(MPI_COMM_WORLD, &call.rank);
    MPI_Comm neutral = pwr_osu_comm("off");
    call.comm = pwr_osu_comm(options.algorithm);
    call.send =
        pwr_osu_allocate(&command, benchmark->data->send_bytes(benchmark, call.np, options.bytes));
    call.recv =
        pwr_osu_allocate(&command, benchmark->data->recv_bytes(benchmark, call.np, options.bytes));
    benchmark->data->fill(&call);
    make_calls(&options, &call, neutral);
    free(call.send);
    free(call.recv);
    MPI_Comm_free(&call.comm);
    MPI_Comm_free(&neutral);
    MPI_Finalize();
    return 0;
}
