/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A reduction through boxes: everybody's operand in its box, combined by whoever needs it.
 */
#ifndef COLL_POWERAWARE_BOX_REDUCTION_H
#define COLL_POWERAWARE_BOX_REDUCTION_H

#include "algorithms/box/box.h"
#include "algorithms/leader/partial_sums.h"

typedef struct coll_poweraware_box_reduction {
    coll_poweraware_call_t *call;
    coll_poweraware_operands_t operands;
    size_t total; /* elements of a contribution */
    size_t first; /* what of the result this rank is to have */
    size_t count;
    size_t bytes; /* of a box for a contribution */
    int root;     /* of a Reduce, else COLL_POWERAWARE_NO_RANK */
} coll_poweraware_box_reduction_t;

/* total: elements of a contribution. */
coll_poweraware_box_reduction_t coll_poweraware_box_reduction(coll_poweraware_call_t *call,
                                                              const coll_poweraware_args_t *args,
                                                              size_t total);

/* Who takes the node's sum to other nodes. */
coll_poweraware_leaders_t
coll_poweraware_box_leaders(const coll_poweraware_box_reduction_t *reduction);

/* The address that MPI is given for what lies in a box. */
static inline char *coll_poweraware_in_box(const coll_poweraware_box_reduction_t *r,
                                           const unsigned char *box)
{
    return (char *)box + r->operands.base;
}

/* Begins a round and puts my operand into my box.  others_read: else who combines has no need of
   its own box, unless its operand is about to be overwritten.  Returns an OMPI_* code. */
int coll_poweraware_box_contribute(const coll_poweraware_box_reduction_t *r, bool others_read);

/* pwr_boxes_read, or of the round before pwr_boxes_read_last. */
typedef const unsigned char *(*coll_poweraware_box_fn_t)(const pwr_boxes_t *, int, size_t);

/* Combines count elements of the operands of the node's first num ranks, num > 0, from element
   first on, from the right.  Returns an OMPI_* code. */
int coll_poweraware_box_combine(const coll_poweraware_box_reduction_t *r,
                                coll_poweraware_box_fn_t box, int num, size_t first, size_t count,
                                char *to);

#endif
