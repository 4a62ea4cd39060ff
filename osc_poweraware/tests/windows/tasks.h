/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A call on the rank that makes it: its buffers, and what must be in them once it is complete.
 */
#ifndef RMA_TASKS_H
#define RMA_TASKS_H

#include "buffers.h"
#include "program.h"

enum { RMA_ORIGIN, RMA_RESULT, RMA_SIDES };

typedef struct rma_task {
    const rma_call_t *call;
    uint64_t order;
    bool used[RMA_SIDES];
    diff_layout_t layout[RMA_SIDES];
    int elements[RMA_SIDES];
    diff_buffer_t buffer[RMA_SIDES];
    unsigned char compare[16];
    MPI_Request request;
    bool issued;
    bool complete; /* here: buffers were compared and filled anew */
} rma_task_t;

static inline const diff_kind_t *rma_item_kind(const diff_layout_t *layout, size_t item)
{
    return layout->kind[item % (size_t)layout->num];
}

static inline unsigned char *rma_item_at(const diff_layout_t *layout, unsigned char *base,
                                         size_t item)
{
    size_t num = (size_t)layout->num;
    return base + (ptrdiff_t)(item / num) * layout->extent + layout->offset[item % num];
}

void rma_task_make(rma_task_t *task, const rma_call_t *call, const rma_program_t *program);
void rma_task_free(rma_task_t *task);
/* Item `index` of what it fetches is that. */
void rma_task_fetches(rma_task_t *task, size_t index, diff_value_t value);

/* Where a window is: what MPI has to be told of a target. */
typedef struct rma_place {
    MPI_Win win;
    MPI_Aint base; /* of the target: 0, or the address of dynamic memory */
    int unit;
} rma_place_t;

/* Calls MPI with that target, which may be MPI_PROC_NULL; returns MPI's code. */
int rma_task_issue(rma_task_t *task, const rma_place_t *place, int target, MPI_Request *request);

/* The call is complete on this side: compares buffers, then overwrites them as a program may.
   Returns whether they were right, else says in text what was not. */
bool rma_task_conclude(rma_task_t *task, char *text, size_t size);

#endif
