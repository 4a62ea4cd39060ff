/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Says which call hung or crashed, and ends the job.
 */
#ifndef DIFF_WATCH_H
#define DIFF_WATCH_H

#include "plan.h"

/* After MPI_Init; once per process.  rank: how this process is called in messages. */
void diff_watch_start(int rank, int threads, unsigned limit_s, const diff_choice_t *choice);
void diff_watch_stop(void);

/* This thread is in a call now. */
void diff_watch_enter(int thread, uint64_t index, uint64_t seed, const diff_limits_t *limits);

/* This thread makes no more calls: how long it waits for the others is their affair. */
void diff_watch_leave(int thread);

#endif
