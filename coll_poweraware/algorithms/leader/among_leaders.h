/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders do with their part of a chunk on the network (step 3 of reduce_node.h), pairwise;
 * partial_sums.h has what they do with all of it.
 *
 * Every function works on the sum area in place and uses the area to receive into; elements are
 * numbered within the chunk.  What goes wrong is the call's error.
 */
#ifndef COLL_POWERAWARE_AMONG_LEADERS_H
#define COLL_POWERAWARE_AMONG_LEADERS_H

#include "algorithms/leader/partial_sums.h"
#include "algorithms/leader/reduce_node.h"

/* Elements of a chunk that belong to a node, of my part as a leader.  The same on all nodes. */
typedef coll_poweraware_range_t (*coll_poweraware_range_of_t)(
    const coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk, int node);

/* My part of a chunk. */
coll_poweraware_range_t coll_poweraware_my_part(const coll_poweraware_reduction_t *r,
                                                const coll_poweraware_reduce_chunk_t *chunk);

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
void coll_poweraware_chunk_scatter(coll_poweraware_reduction_t *r,
                                   const coll_poweraware_reduce_chunk_t *chunk,
                                   coll_poweraware_range_of_t range_of,
                                   coll_poweraware_range_t room);

/* Every node's range to all other nodes. */
void coll_poweraware_chunk_gather(coll_poweraware_reduction_t *r,
                                  const coll_poweraware_reduce_chunk_t *chunk,
                                  coll_poweraware_range_of_t range_of);

#endif
