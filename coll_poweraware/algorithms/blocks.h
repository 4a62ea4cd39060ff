/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Blocks of data in the user's buffers, and as packed bytes.
 *
 *                           displacement of rank's block     count, datatype
 *   Alltoallv, Allgatherv   displs[rank] * extent            counts[rank], one datatype
 *   Alltoallw               displs[rank], in bytes           counts[rank], datatypes[rank]
 *   others                  rank * count * extent            the same for all
 */
#ifndef COLL_POWERAWARE_BLOCKS_H
#define COLL_POWERAWARE_BLOCKS_H

#include "primitives/primitives.h"

/* What MPI calls a buffer: data points where count elements of datatype begin. */
typedef struct coll_poweraware_block {
    char *data; /* of a block that is sent: not to be written to */
    size_t count;
    struct ompi_datatype_t *datatype;
    size_t bytes; /* packed: what travels */
} coll_poweraware_block_t;

/* A buffer with a block for every rank of the communicator. */
typedef struct coll_poweraware_blocks {
    char *buffer;
    coll_poweraware_collective_t collective;
    size_t count;
    struct ompi_datatype_t *datatype;
    pwr_counts_t counts;
    pwr_displs_t displs;
    struct ompi_datatype_t *const *datatypes;
    ptrdiff_t extent; /* of datatype */
    size_t size;      /* of datatype, packed */
} coll_poweraware_blocks_t;

coll_poweraware_block_t coll_poweraware_one_block(const void *buffer, size_t count,
                                                  struct ompi_datatype_t *datatype);
/* What args says of receive and send buffer, if it has a block for every rank there.  args must
   outlive them. */
coll_poweraware_blocks_t coll_poweraware_recv_blocks(const coll_poweraware_call_t *call,
                                                     const coll_poweraware_args_t *args);
coll_poweraware_blocks_t coll_poweraware_send_blocks(const coll_poweraware_call_t *call,
                                                     const coll_poweraware_args_t *args);

/* Of Gather, Scatter and Allgather: the blocks of all ranks, at the root if there is one; and my
   own, in the other buffer or, in place, there. */
coll_poweraware_blocks_t coll_poweraware_all_blocks(const coll_poweraware_call_t *call,
                                                    const coll_poweraware_args_t *args);
coll_poweraware_block_t coll_poweraware_own_block(const coll_poweraware_call_t *call,
                                                  const coll_poweraware_args_t *args);

coll_poweraware_block_t coll_poweraware_block_of(const coll_poweraware_blocks_t *blocks, int rank);
size_t coll_poweraware_block_bytes(const coll_poweraware_blocks_t *blocks, int rank);
/* Whether each has a count of its own.  Not for an Alltoallw, whose blocks differ in everything. */
bool coll_poweraware_blocks_vary(const coll_poweraware_blocks_t *blocks);

/* Where all bytes of a block lie, one behind the other; NULL if they do not. */
char *coll_poweraware_block_plain(const coll_poweraware_block_t *block);
/* A block as bytes[block->bytes].  Return an OMPI_* code. */
int coll_poweraware_block_pack(const coll_poweraware_block_t *block, unsigned char *to);
int coll_poweraware_block_unpack(const coll_poweraware_block_t *block, const unsigned char *from);

/* Between two buffers of this rank.  Return an OMPI_* code.  own: of Gather and Scatter, at the
   root, and of Allgather: from or to its place among the blocks of all; nothing in place. */
int coll_poweraware_block_copy(const coll_poweraware_block_t *from,
                               const coll_poweraware_block_t *to);
int coll_poweraware_copy_own(const coll_poweraware_call_t *call,
                             const coll_poweraware_args_t *args);

#endif
