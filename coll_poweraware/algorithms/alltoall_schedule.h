/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The order in which groups of a node talk to groups of other nodes in an Alltoall.
 * Source: ICPP 2010 section V-A, phases 2 to 4, generalised from two sockets to G groups.
 *
 *   phase 2   group 0 of every node with group 0 of every other node; all other groups throttled
 *   phase 3   the same for groups 1 .. G-1, one after the other
 *   phase 4   rounds of a tournament in which every two nodes i < j meet once; within a round,
 *             for every ordered pair of different groups (a, b): group a of i with group b of j
 *             (with two groups: A_i with B_j, then B_i with A_j)
 *
 * Every pair of groups on different nodes is served exactly once, at most one group of a node is
 * active in a step, and all nodes number the steps alike: an exchange only ever waits for a lower
 * step, so the schedule cannot deadlock.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_SCHEDULE_H
#define COLL_POWERAWARE_ALLTOALL_SCHEDULE_H

enum {
    COLL_POWERAWARE_NOBODY = -1,    /* active_group: this node rests in this step */
    COLL_POWERAWARE_ALL_NODES = -1, /* peer_node: every other node */
};

typedef struct coll_poweraware_step {
    int phase;        /* 2, 3 or 4 */
    int active_group; /* the one group of this node that talks */
    int peer_node;
    int peer_group;
} coll_poweraware_step_t;

/* Steps between nodes, the same number on every node. 0 for a single node. */
int coll_poweraware_alltoall_num_steps(int num_nodes, int num_groups);

/* Step index (0 .. num_steps - 1) as node sees it. */
coll_poweraware_step_t coll_poweraware_alltoall_step(int num_nodes, int num_groups, int node,
                                                     int index);

#endif
