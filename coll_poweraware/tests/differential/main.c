/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random calls of all collectives, every byte compared with a sequential oracle that does not use
 * MPI: datatypes, counts, displacements, roots, operators and communicators are drawn from a seed.
 *
 *   mpirun -np N check_collectives [options]        (options.c says which)
 *
 *   plan.c    what is drawn of a call                 oracle.c   what must come out
 *   build.c   its buffers and arguments on a rank     records.c  how ranks agree
 *   run.c     one call after the other                shrink.c   the smallest call that fails
 *
 * A wrong byte anywhere, gaps and the space around buffers included, is a failure; so is a call
 * that hangs.  --fault proves that none is overlooked.
 */
#include <mpi.h>

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

#include "device.h"
#include "layouts.h"
#include "operators.h"
#include "run.h"
#include "watch.h"

static void *run_one(void *arg)
{
    diff_run_t *run = arg;
    diff_run_all(run);
    diff_watch_leave(run->thread);
    return NULL;
}

static uint64_t run_threads(diff_run_t *runs, int threads)
{
    pthread_t ids[DIFF_MAX_THREADS];
    for (int t = 1; t < threads; ++t) {
        if (0 != pthread_create(&ids[t], NULL, run_one, &runs[t])) {
            fprintf(stderr, "check_collectives: cannot start a thread\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    run_one(&runs[0]);
    uint64_t failures = runs[0].failures;
    for (int t = 1; t < threads; ++t) {
        pthread_join(ids[t], NULL);
        failures += runs[t].failures;
    }
    return failures;
}

static uint64_t run_all(const diff_options_t *options)
{
    diff_run_t runs[DIFF_MAX_THREADS];
    for (int t = 0; t < options->threads; ++t) {
        diff_run_open(&runs[t], options, t);
    }
    uint64_t failures = run_threads(runs, options->threads);
    for (int t = 0; t < options->threads; ++t) {
        diff_run_close(&runs[t]);
        failures += runs[t].failures > 0 && 0 == failures;
    }
    return failures;
}

static const diff_choice_t *drawn_from;

static void describe(uint64_t seed, const diff_limits_t *limits, char *text, size_t size)
{
    diff_plan_t plan;
    char what[512];
    diff_plan_draw(&plan, seed, drawn_from, limits);
    diff_plan_describe(&plan, what, sizeof what);
    snprintf(text, size, "--call 0x%" PRIx64 " --simpler 0x%" PRIx64 " --most-units %zu: %s", seed,
             limits->simpler, limits->most_units, what);
}

static const diff_watched_t watched = {"check_collectives", "call", describe};

int main(int argc, char **argv)
{
    diff_options_t options;
    setvbuf(stderr, NULL, _IOLBF, 0); /* a line at once: ranks tell at the same time */
    if (!diff_options_parse(&options, argc, argv, true)) {
        return 2;
    }
    /* Buffers come and go with every call: keep their memory instead of asking the kernel anew. */
    mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 512 * 1024 * 1024);
    int want = options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    int have;
    int rank;
    MPI_Init_thread(&argc, &argv, want, &have);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (have < want) {
        fprintf(stderr, "check_collectives: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    if (options.device) {
        diff_device_open(options.device_all);
    }
    drawn_from = &options.choice;
    diff_watch_start(&watched, rank, options.threads, options.limit_s);
    diff_layouts_start();
    diff_operators_start();
    uint64_t failures = run_all(&options);
    diff_operators_stop();
    diff_layouts_stop();
    diff_watch_stop();
    if (0 == rank) {
        printf("check_collectives: %" PRIu64 " calls in each of %d threads, %" PRIu64
               " wrong results\n",
               options.calls, options.threads, failures);
    }
    MPI_Finalize();
    return failures > 0 ? 1 : 0;
}
