/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A run: one thread's communicators and the calls it makes on them.
 */
#ifndef DIFF_RUN_H
#define DIFF_RUN_H

#include "call.h"
#include "options.h"
#include "records.h"

enum { DIFF_BATCH = 64 }; /* calls between two agreements */

/* A call under way; on the heap because a nonblocking one may outlive the next call. */
typedef struct diff_slot {
    diff_plan_t plan;
    diff_call_t call;
    uint64_t index;
    int sub;
    bool started; /* without an error */
} diff_slot_t;

typedef struct diff_run {
    const diff_options_t *options;
    int thread;
    MPI_Comm parent;  /* all ranks; other communicators are made from it */
    MPI_Comm control; /* for agreeing: no collective is ever called on it */
    MPI_Comm inter;   /* even ranks and odd ranks; MPI_COMM_NULL: one rank */
    int world_rank;
    int world_size;
    diff_comm_t comms[DIFF_NUM_FAMILIES];
    diff_records_t records;
    diff_slot_t *held; /* nonblocking, not finished yet */
    diff_limits_t limits;
    bool quiet; /* while looking for the smallest call */
    int told;   /* failures this rank has printed */
    FILE *digests;
    uint64_t failures;
} diff_run_t;

/* Collective, one run after the other. */
void diff_run_open(diff_run_t *run, const diff_options_t *options, int thread);
void diff_run_close(diff_run_t *run);

/* All calls, up to the first batch with a failure, which is then made small. */
void diff_run_all(diff_run_t *run);

uint64_t diff_run_seed(const diff_run_t *run, uint64_t index);
/* Makes calls first .. last and has all ranks agree on what came of them. */
void diff_run_calls(diff_run_t *run, uint64_t first, uint64_t last, diff_verdict_t *verdict);

#endif
