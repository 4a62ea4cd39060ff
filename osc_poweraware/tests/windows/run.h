/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A run: one thread's communicators and the programs it runs on them.
 */
#ifndef RMA_RUN_H
#define RMA_RUN_H

#include "options.h"
#include "window.h"

typedef struct rma_run {
    const rma_options_t *options;
    int thread;
    MPI_Comm parent;  /* all ranks; other communicators are made from it */
    MPI_Comm control; /* for agreeing on what came of a program */
    int world_rank;
    int world_size;
    diff_comm_t comms[DIFF_NUM_FAMILIES];
    diff_limits_t limits;
    rma_program_t program; /* that runs now */
    uint64_t index;
    int step;
    bool quiet; /* while looking for the smallest program */
    int told;   /* failures this rank has printed */
    uint64_t calls;
    uint64_t failures;
    uint64_t all_calls; /* of all ranks, agreed upon */
    uint64_t all_failures;
} rma_run_t;

/* Collective, one run after the other. */
void rma_run_open(rma_run_t *run, const rma_options_t *options, int thread);
void rma_run_close(rma_run_t *run);

/* Programs up to the first that fails, which is then made small. */
void rma_run_all(rma_run_t *run);
uint64_t rma_run_seed(const rma_run_t *run, uint64_t index);
/* Runs a program; all ranks learn how many failures it had. */
uint64_t rma_run_program(rma_run_t *run, uint64_t index, const diff_limits_t *limits);

/* Something was wrong; call: NULL where it is none's. */
void rma_run_fail(rma_run_t *run, const rma_window_t *window, rma_name_t sync,
                  const rma_call_t *call, const char *text);

/* A program in one line. */
void rma_run_describe(uint64_t seed, const diff_limits_t *limits, char *text, size_t size);

/* shrink.c: collective over the run; prints the smallest form of a program that failed, and the
   command that repeats it. */
void rma_shrink(rma_run_t *run, uint64_t index);

#endif
