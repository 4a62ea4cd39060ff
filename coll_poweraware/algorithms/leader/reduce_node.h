/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The reduction of a message over the ranks of a node, chunk by chunk, as all reducing collectives
 * share it; a collective says how its message is cut, what its leaders do on the network and what
 * it copies out.
 *
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-B.
 *
 * A chunk has max_local areas in its slots, one per rank of the node, in rank order, and on several
 * nodes one more into which leaders receive.  The area of the node's last rank is the sum area.
 * For each chunk:
 * 1. every rank copies its contribution, all but its own slice, into its area and counts itself on
 *    `arrived`;
 * 2. every rank reduces its slice of the elements, its own operand straight from the user's buffer,
 *    into the sum area and counts itself on `reduced`;
 * 3. on several nodes, each leader takes its part of the sum area to the leaders of the other nodes
 *    and counts itself on `ready`; meanwhile the others rest, throttled;
 * 4. every rank copies what it wants out of the sum area and releases the slots.  Two chunks are in
 *    hand: steps 4 of a chunk and 1 of the next but one happen while the one between is in step 3.
 * Where nobody but the rank itself wants the sum of its slice, `reduced` is not counted and the sum
 * may go straight into the user's buffer.
 *
 * Order: operands are combined from the right, x_0 op (x_1 op (... op x_last)), in rank order, so
 * the order depends on the number of ranks only; where slices and chunks begin, on layout and
 * count. Every sum is computed by one rank and copied by the others.
 *
 * On one node a long message may go another way (single_copy.h).
 *
 * Errors: a rank that failed goes on counting itself and taking part on the network, so that
 * neither its node nor other nodes wait for ever; the first error is returned.
 */
#ifndef COLL_POWERAWARE_REDUCE_NODE_H
#define COLL_POWERAWARE_REDUCE_NODE_H

#include "algorithms/algorithms.h"
#include "algorithms/leader/partial_sums.h"

/* A chunk as one rank sees it.  Elements of a chunk are numbered from 0. */
typedef struct coll_poweraware_reduce_chunk {
    coll_poweraware_chunk_t slot;
    size_t number; /* among the chunks of the call */
    size_t count;
    size_t place; /* bytes from the start of the node's areas: see step 1 */
    size_t from;  /* my slice */
    size_t to;
    size_t take_from; /* what I want of the sum ... */
    size_t take_count;
    size_t take_to; /* ... and at which element of rbuf */
} coll_poweraware_reduce_chunk_t;

/* Elements at .. at + count - 1 of a chunk are elements user ... of the message. */
typedef struct coll_poweraware_stretch {
    size_t at;
    size_t user;
    size_t count;
} coll_poweraware_stretch_t;

typedef struct coll_poweraware_reduction coll_poweraware_reduction_t;

struct coll_poweraware_reduction {
    /* from coll_poweraware_reduction_begin */
    coll_poweraware_call_t *call;
    coll_poweraware_operands_t operands;
    coll_poweraware_leaders_t leaders; /* of my part */
    size_t elements;                   /* of the message */
    int num_slots;                     /* of a chunk */
    size_t area_bytes;
    size_t room;     /* elements that fit an area */
    size_t capacity; /* elements of a chunk, at most, unless the collective needs more */
    int num_leaders; /* of each node */
    int my_part;     /* which leader I am, negative: none */

    /* from the collective; those marked (node) are the same on all ranks of a node */
    size_t num_chunks; /* (node) so many as elements need, unless the collective needs more */
    bool shares_sum;   /* (node) somebody wants more of the sum than its own slice */
    bool gives_all;    /* (node) slices overlap: contributions are complete */
    bool awaits_sum;   /* I stay until step 3, or step 2 where there is no step 3, is over */
    bool direct;       /* the sum of my slice is what I want: it goes straight into rbuf */
    /* Where chunk->number begins and ends, my slice of it, what I want of it; `run`. */
    void (*cut)(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk);
    /* Step 3, on a leader.  What goes wrong is the call's error. */
    void (*network)(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk);
    /* Steps 2 and 4, of collectives that do not want one sum of all; NULL: that.  A stretch of the
       complete contributions in the areas; and what to copy out of a chunk without an error. */
    void (*combine)(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk,
                    const coll_poweraware_stretch_t *stretch);
    int (*take)(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk);
    void *collective; /* its own */

    /* The chunk that is being cut, in pieces that are contiguous in the message: elements
       run_at[k] .. run_at[k + 1] - 1 of the chunk are run_user[k] ... of the message. */
    size_t num_runs;
    const size_t *run_at;   /* [num_runs + 1] */
    const size_t *run_user; /* [num_runs] */
    size_t one_run_at[2];   /* for collectives that cut evenly */
    size_t one_run_user[1];

    coll_poweraware_reduce_chunk_t previous; /* not taken out yet */
    bool has_previous;
    int error; /* the first */
};

/* Whether the mechanism can reduce this call: order can be kept, least elements fit an area. */
bool coll_poweraware_reduction_can(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args, size_t least);

/* Fills the first part of *r and clears the rest.  elements: of the message.  least: what an area
   must hold, at most what coll_poweraware_reduction_can was asked for. */
void coll_poweraware_reduction_begin(coll_poweraware_reduction_t *r, coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args, size_t elements,
                                     size_t least);
/* Steps 1 to 4 for all chunks.  Returns the first error. */
int coll_poweraware_reduction_run(coll_poweraware_reduction_t *r);

/* Cuts chunk->count elements into equal slices. */
void coll_poweraware_reduction_cut_slices(const coll_poweraware_reduction_t *r,
                                          coll_poweraware_reduce_chunk_t *chunk);
/* Cuts chunk->number of num_chunks even parts of the message, one run, into equal slices; all of it
   is wanted. */
void coll_poweraware_reduction_cut_evenly(coll_poweraware_reduction_t *r,
                                          coll_poweraware_reduce_chunk_t *chunk);

/* An element of an area, as MPI is given it: of the node's ranks from 0; the sum's; and the one to
   receive into. */
char *coll_poweraware_reduction_area(const coll_poweraware_reduction_t *r,
                                     const coll_poweraware_reduce_chunk_t *chunk, int index,
                                     size_t element);
char *coll_poweraware_reduction_sum(const coll_poweraware_reduction_t *r,
                                    const coll_poweraware_reduce_chunk_t *chunk, size_t element);
char *coll_poweraware_reduction_room(const coll_poweraware_reduction_t *r,
                                     const coll_poweraware_reduce_chunk_t *chunk, size_t element);

/* My part of a chunk, as a leader. */
coll_poweraware_range_t coll_poweraware_my_part(const coll_poweraware_reduction_t *r,
                                                const coll_poweraware_reduce_chunk_t *chunk);

/* Where in its slots the next chunk goes, bytes; the same on all ranks of the node, which all have
   had the same chunks. */
size_t coll_poweraware_reduction_place(const coll_poweraware_reduction_t *r, size_t count);

/* What run k has of elements from .. to - 1 of the chunk. */
coll_poweraware_stretch_t coll_poweraware_reduction_clip(const coll_poweraware_reduction_t *r,
                                                         size_t k, size_t from, size_t to);

/* The leader whose T-state is mine, too, if there is one in my package. */
int coll_poweraware_reduction_leader_near_me(const coll_poweraware_reduction_t *r);

#endif
