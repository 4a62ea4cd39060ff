/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the algorithms for small messages share: packed blocks, operands, what leaders do.
 *
 * All of them are made of three parts, of which a call takes those that it needs:
 *
 * fan-in   a round of boxes in which everybody has a message
 * leaders  one rank per node exchanges what it made of them with the leaders of other nodes
 * fan-out  a round in which the leader has a message for its node
 *
 * On one node a collective whose result goes to all is over after the first round: everybody reads
 * everybody's box.  The leader of a node is its lowest rank; of the root's node, the root.
 */
#ifndef COLL_POWERAWARE_BOX_H
#define COLL_POWERAWARE_BOX_H

#include "algorithms/algorithms.h"

/* ---- packed data (blocks.c) ---- */

size_t coll_poweraware_packed_bytes(size_t count, const struct ompi_datatype_t *datatype);

/* Return an OMPI_* code. */
int coll_poweraware_box_pack(unsigned char *box, const void *buffer, size_t count,
                             struct ompi_datatype_t *datatype);
int coll_poweraware_box_unpack(void *buffer, size_t count, struct ompi_datatype_t *datatype,
                               const unsigned char *box);

/* A user's buffer with a block for every rank of the communicator. */
typedef struct coll_poweraware_rank_blocks {
    char *buffer;
    struct ompi_datatype_t *datatype;
    size_t size;      /* of an element, packed */
    ptrdiff_t extent; /* of an element */
    size_t count;     /* elements of every block, or */
    bool varying;     /* ... of block rank: counts[rank], at displs[rank] */
    pwr_counts_t counts;
    pwr_displs_t displs;
} coll_poweraware_rank_blocks_t;

coll_poweraware_rank_blocks_t coll_poweraware_rank_blocks(void *buffer, size_t count,
                                                          struct ompi_datatype_t *datatype);
char *coll_poweraware_block_address(const coll_poweraware_rank_blocks_t *blocks, int rank);
size_t coll_poweraware_block_bytes(const coll_poweraware_rank_blocks_t *blocks, int rank);
int coll_poweraware_pack_block(unsigned char *box, const coll_poweraware_rank_blocks_t *blocks,
                               int rank);
int coll_poweraware_unpack_block(const coll_poweraware_rank_blocks_t *blocks, int rank,
                                 const unsigned char *box);
/* Packed blocks of all ranks in the order of hierarchy->by_node: bytes before those of a node; of
   all, for num_nodes. */
size_t coll_poweraware_bytes_before_node(const coll_poweraware_call_t *call,
                                         const coll_poweraware_rank_blocks_t *blocks, int node);

/* ---- what leaders do between fan-in and fan-out (leaders.c) ----
   Nothing where there is one node.  All return the call's first error, and go on after it: every
   message that another leader waits for is sent. */

int coll_poweraware_box_leaders_meet(coll_poweraware_call_t *call);
/* Down the tree of nodes from root's.  Receive: all but root.  Forward only posts: complete it. */
int coll_poweraware_box_leaders_receive(coll_poweraware_call_t *call, int root, void *buffer,
                                        size_t bytes);
void coll_poweraware_box_leaders_forward(coll_poweraware_call_t *call, int root, const void *buffer,
                                         size_t bytes);
/* all holds the packed blocks of all ranks in the order of hierarchy->by_node, so far those of my
   node; afterwards all of them. */
int coll_poweraware_box_leaders_allgather(coll_poweraware_call_t *call,
                                          const coll_poweraware_rank_blocks_t *blocks,
                                          unsigned char *all);

#endif
