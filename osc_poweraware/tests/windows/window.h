/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A window of a program on this rank, and the model beside it.
 */
#ifndef RMA_WINDOW_H
#define RMA_WINDOW_H

#include "model.h"

typedef struct rma_window {
    const rma_window_plan_t *plan;
    const diff_comm_t *comm;
    uint64_t without;
    MPI_Win win;
    unsigned char *base;
    size_t bytes;
    unsigned char *own;  /* the program's memory around it; NULL: MPI's */
    MPI_Aint *addresses; /* [size] of dynamic memory; else NULL */
    rma_model_t model;
} rma_window_t;

/* Collective over comm.  Returns MPI's code. */
int rma_window_make(rma_window_t *window, const rma_program_t *program, int number,
                    const diff_comm_t *comm);
void rma_window_free(rma_window_t *window);

rma_place_t rma_window_place(const rma_window_t *window, int target);
/* Compares memory and what is around it with the model; else *at is the first wrong byte. */
bool rma_window_right(const rma_window_t *window, ptrdiff_t *at);
/* What must be there. */
unsigned char rma_window_expected(const rma_window_t *window, ptrdiff_t at);

#endif
