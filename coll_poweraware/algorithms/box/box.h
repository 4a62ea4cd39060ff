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
#include "algorithms/blocks.h"

/* Packed blocks of all ranks in the order of hierarchy->by_node: bytes before those of a node; of
   all, for num_nodes. */
size_t coll_poweraware_bytes_before_node(const coll_poweraware_call_t *call,
                                         const coll_poweraware_blocks_t *blocks, int node);

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
                                          const coll_poweraware_blocks_t *blocks,
                                          unsigned char *all);

#endif
