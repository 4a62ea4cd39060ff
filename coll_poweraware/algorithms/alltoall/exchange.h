/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall, Alltoallv and Alltoallw as one: what this rank sends to, and receives from, each peer.
 *
 *               displacement of peer's block                count, datatype
 *   Alltoall    peer * count * extent                       the same for all
 *   Alltoallv   displs[peer] * extent                       counts[peer], one datatype
 *   Alltoallw   displs[peer], in bytes                      counts[peer], datatypes[peer]
 *
 * With MPI_IN_PLACE the block for a peer is the block from it; MPI then demands that both ranks
 * describe as many bytes for each other.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_EXCHANGE_H
#define COLL_POWERAWARE_ALLTOALL_EXCHANGE_H

#include "primitives/primitives.h"

/* What MPI calls a buffer: data points where count elements of datatype begin. */
typedef struct coll_poweraware_block {
    char *data; /* of a send block: not to be written to */
    size_t count;
    struct ompi_datatype_t *datatype;
    size_t bytes; /* packed: what travels */
} coll_poweraware_block_t;

/* One of the two buffers of a call. */
typedef struct coll_poweraware_blocks {
    char *buffer;
    size_t count;
    struct ompi_datatype_t *datatype;
    pwr_counts_t counts;
    pwr_displs_t displs;
    struct ompi_datatype_t *const *datatypes;
    ptrdiff_t extent; /* of datatype */
    size_t size;      /* of datatype, bytes */
} coll_poweraware_blocks_t;

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
coll_poweraware_block_t coll_poweraware_block_to(const coll_poweraware_exchange_t *exchange,
                                                 int peer);
coll_poweraware_block_t coll_poweraware_block_from(const coll_poweraware_exchange_t *exchange,
                                                   int peer);

/* A block as bytes[block->bytes].  Return an OMPI_* code. */
int coll_poweraware_block_pack(const coll_poweraware_block_t *block, unsigned char *to);
int coll_poweraware_block_unpack(const coll_poweraware_block_t *block, const unsigned char *from);

/* From and to this rank itself; nothing in place. */
int coll_poweraware_copy_own_block(const coll_poweraware_exchange_t *exchange);

/* Posts the message for, or from, peer, unless the block is empty: both sides know that.
 *bytes grows by what is sent. */
void coll_poweraware_send_block(const coll_poweraware_exchange_t *exchange, int peer,
                                size_t *bytes);
void coll_poweraware_recv_block(const coll_poweraware_exchange_t *exchange, int peer);

#endif
