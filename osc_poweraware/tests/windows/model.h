/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The model: the memory of all ranks, and what calls do to it one after the other, without MPI.
 */
#ifndef RMA_MODEL_H
#define RMA_MODEL_H

#include "program.h"
#include "tasks.h"

typedef struct rma_model {
    int size;
    size_t bytes; /* room for each rank */
    unsigned char *memory;
} rma_model_t;

void rma_model_make(rma_model_t *model, const rma_window_plan_t *plan, int size);
void rma_model_free(rma_model_t *model);
unsigned char *rma_model_memory(const rma_model_t *model, int rank);

/* What the owner of slots writes into them before the epoch: into a window that begins at base. */
void rma_model_store(const rma_epoch_t *epoch, int owner, unsigned char *base);
/* Everybody's calls.  tasks: those of this rank, in the order of their calls; they learn what they
 * fetch. */
void rma_model_apply(const rma_model_t *model, const rma_epoch_t *epoch, rma_task_t *tasks,
                     int num_tasks);

#endif
