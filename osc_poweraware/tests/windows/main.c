/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random programs of one-sided calls, every byte compared with a sequential model that does not use
 * MPI: windows, epochs, calls, datatypes and operators are drawn from a seed.
 *
 *   mpirun -np N random_windows [options]        (options.c says which)
 *
 *   names.c    what programs are made of             model.c   what must come out
 *   program.c  what is drawn of windows and epochs   tasks.c   a call and its buffers
 *   calls.c    ... and of calls                      window.c  windows of each flavour
 *   epochs.c   synchronisation                       run.c     one program after the other
 *   shrink.c   the smallest program that fails
 *
 * What all rests on (random numbers, datatypes, operators, communicators, the watch) is that of the
 * tester of collectives, coll_poweraware/tests/differential.
 */
#include <mpi.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "layouts.h"
#include "operators.h"
#include "run.h"
#include "watch.h"

static void *run_one(void *arg)
{
    rma_run_t *run = arg;
    rma_run_all(run);
    diff_watch_leave(run->thread);
    return NULL;
}

static void run_threads(rma_run_t *runs, int threads)
{
    pthread_t ids[RMA_MAX_THREADS];
    for (int t = 1; t < threads; ++t) {
        if (0 != pthread_create(&ids[t], NULL, run_one, &runs[t])) {
            fprintf(stderr, "random_windows: cannot start a thread\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    run_one(&runs[0]);
    for (int t = 1; t < threads; ++t) {
        pthread_join(ids[t], NULL);
    }
}

static uint64_t run_all(const rma_options_t *options, uint64_t *calls)
{
    rma_run_t runs[RMA_MAX_THREADS];
    uint64_t failures = 0;
    for (int t = 0; t < options->threads; ++t) {
        rma_run_open(&runs[t], options, t);
    }
    run_threads(runs, options->threads);
    for (int t = 0; t < options->threads; ++t) {
        rma_run_close(&runs[t]);
        failures += runs[t].all_failures;
        *calls += runs[t].all_calls;
    }
    return failures;
}

static const diff_watched_t watched = {"random_windows", "program", rma_run_describe};

int main(int argc, char **argv)
{
    rma_options_t options;
    setvbuf(stderr, NULL, _IOLBF, 0); /* a line at once: ranks tell at the same time */
    if (!rma_options_parse(&options, argc, argv, true)) {
        return 2;
    }
    if (options.help) {
        rma_options_help(stdout);
        return 0;
    }
    int want = options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    int have;
    int rank;
    uint64_t calls = 0;
    MPI_Init_thread(&argc, &argv, want, &have);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (have < want) {
        fprintf(stderr, "random_windows: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    diff_watch_start(&watched, rank, options.threads, options.limit_s);
    diff_layouts_start();
    uint64_t failures = run_all(&options, &calls);
    diff_layouts_stop();
    diff_watch_stop();
    if (0 == rank) {
        printf("random_windows: %" PRIu64 " calls in %d threads, %" PRIu64 " wrong results\n",
               calls, options.threads, failures);
    }
    MPI_Finalize();
    return failures > 0 ? 1 : 0;
}
