/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders do with sums of many elements on the network, pairwise, each node with a range of
 * them; partial_sums.h has what they do with all of them at once.
 *
 * Addresses of elements are as MPI is given them.  What goes wrong is the call's error.
 */
#ifndef COLL_POWERAWARE_AMONG_LEADERS_H
#define COLL_POWERAWARE_AMONG_LEADERS_H

#include "algorithms/leader/partial_sums.h"

/* Elements that belong to a node.  The same on all nodes. */
typedef coll_poweraware_range_t coll_poweraware_range_of_t(const void *arg, int node);

/* What a leader has. */
typedef struct coll_poweraware_pairwise {
    const coll_poweraware_leaders_t *leaders;
    coll_poweraware_range_of_t *range_of;
    const void *arg;
    char *sum;         /* element 0 */
    char *room;        /* to receive into, ... */
    size_t room_count; /* ... for so many elements */
} coll_poweraware_pairwise_t;

/* How many times its own range a leader needs room for in coll_poweraware_pairwise_scatter. */
int coll_poweraware_pairwise_rooms(const pwr_hierarchy_t *hierarchy);

/* Every node's sum of its own range, pairwise: in step d node i sends node i + d its range and
   receives its own from node i - d (Thakur et al., section 4.4).  As many steps are in flight as
   there is room for.
   Node i combines
       x_0 op ... op x_i         as they come: i - 1, i - 2, ... are put to the left, and
       x_i+1 op ... op x_last    likewise, from the last node on,
   and for an operator that does not commute the two in that order; for one that does, all are put
   to the left of x_i. */
void coll_poweraware_pairwise_scatter(const coll_poweraware_pairwise_t *pairwise);

/* The sum on all nodes: few elements by coll_poweraware_sum_whole; more in pieces, one per node,
   by a pairwise reduce-scatter and an allgather (Thakur, Rabenseifner, Gropp, IJHPCA 2005, section
   4.5).  room: for count elements.  Returns where it is: sum or room. */
char *coll_poweraware_sum_everywhere(const coll_poweraware_leaders_t *leaders, char *sum,
                                     char *room, size_t count);

#endif
