/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall, Alltoallv and Alltoallw as one: what this rank sends to, and receives from, each peer.
 *
 * With MPI_IN_PLACE the block for a peer is the block from it; MPI then demands that both ranks
 * describe as many bytes for each other.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_EXCHANGE_H
#define COLL_POWERAWARE_ALLTOALL_EXCHANGE_H

#include "algorithms/blocks.h"

typedef struct coll_poweraware_exchange {
    coll_poweraware_call_t *call;
    bool in_place; /* the same on all ranks: MPI demands it */
    coll_poweraware_blocks_t send;
    coll_poweraware_blocks_t recv;
} coll_poweraware_exchange_t;

/* args must outlive the exchange. */
void coll_poweraware_exchange_begin(coll_poweraware_exchange_t *exchange,
                                    coll_poweraware_call_t *call,
                                    const coll_poweraware_args_t *args);

/* peer: a rank of the communicator, this one included. */
static inline coll_poweraware_block_t
coll_poweraware_block_to(const coll_poweraware_exchange_t *exchange, int peer)
{
    return coll_poweraware_block_of(&exchange->send, peer);
}
static inline coll_poweraware_block_t
coll_poweraware_block_from(const coll_poweraware_exchange_t *exchange, int peer)
{
    return coll_poweraware_block_of(&exchange->recv, peer);
}

/* From and to this rank itself; nothing in place. */
int coll_poweraware_copy_own_block(const coll_poweraware_exchange_t *exchange);

/* Posts the message for, or from, peer, unless the block is empty: both sides know that.
 *bytes grows by what is sent. */
void coll_poweraware_send_block(const coll_poweraware_exchange_t *exchange, int peer,
                                size_t *bytes);
void coll_poweraware_recv_block(const coll_poweraware_exchange_t *exchange, int peer);

/* ---- in place, pair by pair: two ranks swap two blocks where they lie (swap.c) ---- */

enum { COLL_POWERAWARE_SWAP_BUFFERS = 3 };

/* Temporary memory of a rank for one call. */
typedef struct coll_poweraware_swap {
    coll_poweraware_exchange_t *x;
    size_t bytes; /* of a buffer: the same on all ranks */
    unsigned char *buffer[COLL_POWERAWARE_SWAP_BUFFERS];
    coll_poweraware_claim_t claim[COLL_POWERAWARE_SWAP_BUFFERS];
} coll_poweraware_swap_t;

/* Whether there is enough memory for it; the same on all ranks. */
bool coll_poweraware_swap_can(const coll_poweraware_call_t *call);

/* Begin and end are for all ranks of the node. */
void coll_poweraware_swap_begin(coll_poweraware_swap_t *swap, coll_poweraware_exchange_t *exchange);
void coll_poweraware_swap_end(const coll_poweraware_swap_t *swap);

/* Exchanges the blocks of this rank and peer through messages; both call it, in an order in which
   nobody waits in a circle, as the meetings of schedule.h are.  Returns the call's first
   error. */
int coll_poweraware_swap(const coll_poweraware_swap_t *swap, int peer);

/* ---- the part of an Alltoall that stays within a node (local.c) ---- */

/* Exchanges all blocks among the ranks of this node, the one for itself included.  All of them call
   it.  swap: NULL unless in place.  Returns the call's first error. */
int coll_poweraware_exchange_local(const coll_poweraware_exchange_t *exchange,
                                   const coll_poweraware_swap_t *swap);

/* The same for blocks of one length that all fit a box (box.c); needs no swap in place.
   fits says so, from what all ranks know equally. */
bool coll_poweraware_exchange_box_fits(const coll_poweraware_call_t *call, size_t block_bytes);
int coll_poweraware_exchange_box(const coll_poweraware_exchange_t *exchange);

#endif
