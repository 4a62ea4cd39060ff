/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An epoch on one window, cut in pieces so that epochs of two windows may be open at a time.
 */
#ifndef RMA_EPOCHS_H
#define RMA_EPOCHS_H

#include "run.h"

typedef struct rma_open {
    rma_run_t *run;
    rma_window_t *window;
    rma_epoch_t epoch;
    rma_name_t next_sync; /* of the window's next epoch */
    int num_tasks;
    rma_task_t *tasks;  /* [num_tasks] in the order of the model */
    rma_task_t **order; /* [num_tasks] in the order in which they are made */
    int made;
    int locked; /* target; -1: none */
    bool held;  /* lock_all around stores and loads, too, with MPI_Win_sync */
    MPI_Group origins;
    MPI_Group targets;
} rma_open_t;

/* 1. Draws the epoch, applies it to the model, stores what is to be there before. */
void rma_epoch_prepare(rma_open_t *open, rma_run_t *run, rma_window_t *window, int number,
                       int step);
/* 2. */
void rma_epoch_begin(rma_open_t *open);
/* 3. Makes the next call; returns false if there is none left. */
bool rma_epoch_call(rma_open_t *open);
/* 4. */
void rma_epoch_end(rma_open_t *open);
/* 5. Compares the window, and frees what the epoch had. */
void rma_epoch_check(rma_open_t *open);

#endif
