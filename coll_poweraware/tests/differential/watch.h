/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Says which call hung or crashed, and ends the job.
 */
#ifndef DIFF_WATCH_H
#define DIFF_WATCH_H

#include "plan.h"

typedef struct diff_watched {
    const char *tester;
    const char *unit; /* "call", "program" */
    /* What is drawn from a seed within limits, and the options that repeat it. */
    void (*describe)(uint64_t seed, const diff_limits_t *limits, char *text, size_t size);
} diff_watched_t;

/* After MPI_Init; once per process.  rank: how this process is called in messages. */
void diff_watch_start(const diff_watched_t *what, int rank, int threads, unsigned limit_s);
void diff_watch_stop(void);

/* This thread is in a call now. */
void diff_watch_enter(int thread, uint64_t index, uint64_t seed, const diff_limits_t *limits);

/* This thread makes no more calls: how long it waits for the others is their affair. */
void diff_watch_leave(int thread);

#endif
