/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One call on one rank: its buffers, what is passed to MPI, and what must be there afterwards.
 *
 * A side (send or receive) is a buffer with blocks in it.  What is in a block before and after the
 * call is said by its contents, not by bytes: "what rank 2 sends to rank 0", "the operands of ranks
 * 0 to 3 combined, from item 17 on".  The oracle computes any item of that from the call's seed.
 */
#ifndef DIFF_CALL_H
#define DIFF_CALL_H

#include "buffers.h"
#include "plan.h"

typedef enum diff_contents_kind {
    DIFF_NOTHING, /* the pattern that buffers are filled with */
    DIFF_MESSAGE, /* from rank a to rank b */
    DIFF_OPERAND, /* of rank a */
    DIFF_RESULT,  /* ranks a to b combined in order */
    DIFF_ANYTHING /* MPI does not say */
} diff_contents_kind_t;

typedef struct diff_contents {
    diff_contents_kind_t kind;
    int a;
    int b;
    size_t first; /* item that the block begins with; operands and results */
} diff_contents_t;

typedef struct diff_block {
    const diff_layout_t *layout;
    size_t elements;
    ptrdiff_t at; /* bytes from the address that MPI is given */
    diff_contents_t before;
    diff_contents_t after;
} diff_block_t;

typedef struct diff_side {
    diff_layout_t layouts[2];
    int num_layouts;
    int num_blocks;
    diff_block_t *blocks; /* [num_blocks] */
    int *counts;          /* [num_blocks] elements */
    int *displs;          /* [num_blocks] elements, for Alltoallw bytes */
    MPI_Datatype *types;  /* [num_blocks] */
    diff_buffer_t buffer;
} diff_side_t;

enum { DIFF_SEND, DIFF_RECEIVE };

typedef struct diff_call {
    const diff_plan_t *plan;
    const diff_comm_t *comm;
    int root;
    uint64_t contents_seed; /* changes with each start of a persistent request */
    diff_side_t side[2];
    diff_args_t args;
    MPI_Request request;
    uint64_t enter_ns;
    uint64_t leave_ns;
    char why[256]; /* what was wrong */
} diff_call_t;

/* Builds a call for this rank; *plan and *comm must stay. */
void diff_call_build(diff_call_t *call, const diff_plan_t *plan, const diff_comm_t *comm);
void diff_call_free(diff_call_t *call);

/* build.c: blocks, counts, displacements and arguments. */
void diff_build_sides(diff_call_t *call);

/* places.c: where a side's blocks lie; makes its buffer. */
void diff_place(diff_call_t *call, int which);

/* oracle.c */
diff_value_t diff_oracle_item(const diff_call_t *call, const diff_contents_t *contents,
                              const diff_kind_t *kind, size_t item);
/* Writes what is there before the call and, beside it, what must be there afterwards. */
void diff_oracle_fill(diff_call_t *call);
/* Whether all bytes of both sides are right; else call->why says which is not.  What MPI leaves
   open and, for an inexact operator, what is near enough, is right.  damage: one byte is flipped
   first. */
bool diff_oracle_check(diff_call_t *call, bool damage);
/* A hash of the items received. */
uint64_t diff_oracle_digest(const diff_call_t *call);

/* Enters MPI.  Nonblocking calls have to be finished; for all others this is the whole call.
   Returns whether MPI returned no error and, of a persistent request's first start, whether its
   result was right. */
bool diff_call_start(diff_call_t *call);
bool diff_call_finish(diff_call_t *call);

#endif
