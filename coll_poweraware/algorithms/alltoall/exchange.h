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

#endif
