/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders do with their part of a chunk on the network (step 3 of reduce_node.h).
 *
 * Every function works on the sum area in place and uses the area to receive into; elements are
 * numbered within the chunk.  While messages travel, the previous chunk is taken out.  All return
 * the first error, and take part to the end after one.
 */
#ifndef COLL_POWERAWARE_AMONG_LEADERS_H
#define COLL_POWERAWARE_AMONG_LEADERS_H

#include "algorithms/leader/reduce_node.h"

typedef struct coll_poweraware_range {
    size_t from;
    size_t to;
} coll_poweraware_range_t;

/* Elements of a chunk that belong to a node, of my part.  The same on all nodes. */
typedef coll_poweraware_range_t (*coll_poweraware_range_of_t)(
    const coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk, int node);

/* Leader part's share of from .. to - 1. */
coll_poweraware_range_t coll_poweraware_range_of_part(const coll_poweraware_reduction_t *r,
                                                      coll_poweraware_range_t all);

/* To node top: recv op mine up a binomial tree in which node top - v (modulo the number of nodes)
   is virtual node v, so that for the last node as top the order of the nodes is kept.  chain: a
   chain instead, in which each node receives each element once: for messages of many chunks. */
int coll_poweraware_chunk_to_node(coll_poweraware_reduction_t *r,
                                  const coll_poweraware_reduce_chunk_t *chunk,
                                  coll_poweraware_range_t range, int top, bool chain);

/* From node from to node to, as it is. */
int coll_poweraware_chunk_pass(coll_poweraware_reduction_t *r,
                               const coll_poweraware_reduce_chunk_t *chunk,
                               coll_poweraware_range_t range, int from, int to);

/* The sum on all nodes, by recursive doubling: few messages, each of the whole range.  Thakur,
   Rabenseifner, Gropp, IJHPCA 2005, section 4.5; order kept, because only neighbouring runs of
   nodes are ever combined.  The same bytes on all nodes: both partners combine in the same order.
 */
int coll_poweraware_chunk_double(coll_poweraware_reduction_t *r,
                                 const coll_poweraware_reduce_chunk_t *chunk,
                                 coll_poweraware_range_t range);

/* How many times its own range a leader needs room for in coll_poweraware_chunk_scatter. */
int coll_poweraware_chunk_least_rooms(const coll_poweraware_reduction_t *r);

/* Every node's sum of its own range, pairwise: in step d node i sends node i + d its range and
   receives its own from node i - d (Thakur et al., section 4.4).  As many steps are in flight as
   there is room for in the area to receive into, elements room.from to room.to - 1.
   Node i combines
       x_0 op ... op x_i         as they come: i - 1, i - 2, ... are put to the left, and
       x_i+1 op ... op x_last    likewise, from the last node on,
   and for an operator that does not commute the two in that order; for one that does, all are put
   to the left of x_i. */
int coll_poweraware_chunk_scatter(coll_poweraware_reduction_t *r,
                                  const coll_poweraware_reduce_chunk_t *chunk,
                                  coll_poweraware_range_of_t range_of,
                                  coll_poweraware_range_t room);

/* Every node's range to all other nodes. */
int coll_poweraware_chunk_gather(coll_poweraware_reduction_t *r,
                                 const coll_poweraware_reduce_chunk_t *chunk,
                                 coll_poweraware_range_of_t range_of);

#endif
