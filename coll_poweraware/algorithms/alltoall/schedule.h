/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The order in which groups of a node talk to groups of other nodes in an Alltoall.
 * Source: ICPP 2010 section V-A, phases 2 to 4, generalised from two sockets to G groups.
 *
 *   phase 2   group 0 of every node with group 0 of every other node; all other groups throttled
 *   phase 3   the same for groups 1 .. G-1, one after the other
 *   phase 4   rounds in which pairs of nodes meet, every pair in one of them.  One node of a pair
 *             has the role "low", the other "high"; for every ordered pair of different groups
 *             (a, b): group a of the low node with group b of the high node
 *             (with two groups: A_i with B_j, then B_i with A_j)
 *
 * Which pairs of nodes meet in a round of phase 4:
 *
 *   paper     a tournament: each node meets one other; N - 1 rounds (N for odd N), so a rank is
 *             throttled about N times
 *   log       round k: all pairs whose numbers differ in bit k and in no lower one; ceil(log2 N)
 *             rounds, so a rank is throttled at most ceil(log2 N) + 1 times with two groups.  Nodes
 *             that share the bits below k fall into halves by bit k that differ by one node at
 *             most: every node meets as many others as the next one.  (Highest bit first would not:
 *             with 5 nodes, node 4 would meet all others in one round and then be idle.)
 *
 * Every pair of groups on different nodes is served exactly once, at most one group of a node is
 * active in a step, and all nodes number the steps, and the meetings in a step, alike: an exchange
 * only ever waits for a lower meeting of a lower or the same step, so no schedule can deadlock.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_SCHEDULE_H
#define COLL_POWERAWARE_ALLTOALL_SCHEDULE_H

#include <stdbool.h>

#include "pwr_ompi/hierarchy.h"

enum { COLL_POWERAWARE_NOBODY = -1 };

/* Which pairs of nodes meet in phase 4; a word of coll_poweraware_alltoall_schedule. */
typedef struct coll_poweraware_schedule {
    int (*num_rounds)(int num_nodes);
    /* Meetings of a round, one after the other; the most that any of its nodes has. */
    int (*num_meetings)(int num_nodes, int round);
    /* Whom node meets, or COLL_POWERAWARE_NOBODY; if i meets j, then j meets i. */
    int (*peer)(int num_nodes, int round, int meeting, int node);
    /* Of two nodes that meet, one is low; the same in all meetings of a round. */
    bool (*is_low)(int num_nodes, int round, int node);
} coll_poweraware_schedule_t;

enum { COLL_POWERAWARE_PAPER, COLL_POWERAWARE_LOG, COLL_POWERAWARE_NUM_SCHEDULES };
extern const coll_poweraware_schedule_t *const coll_poweraware_schedules[];

/* The nodes and groups of a communicator, as one of its nodes sees them. */
typedef struct coll_poweraware_plan {
    const coll_poweraware_schedule_t *schedule;
    const pwr_hierarchy_t *hierarchy;
    int node;
} coll_poweraware_plan_t;

typedef struct coll_poweraware_step {
    int phase; /* 2, 3 or 4 */
    int round; /* of phase 4 */
    int num_meetings;
    int active_group; /* of this node */
    int peer_group;
} coll_poweraware_step_t;

/* Steps between nodes, the same number on every node. 0 for a single node. */
int coll_poweraware_alltoall_num_steps(const coll_poweraware_plan_t *plan);
/* Step index (0 .. num_steps - 1). */
coll_poweraware_step_t coll_poweraware_alltoall_step(const coll_poweraware_plan_t *plan, int index);
/* The node that is met in a meeting of a step, or COLL_POWERAWARE_NOBODY, also if it has no ranks
   in the peer group. */
int coll_poweraware_alltoall_peer(const coll_poweraware_plan_t *plan,
                                  const coll_poweraware_step_t *step, int meeting);

/* A node's steps as turns of its groups: neighbouring steps of one group are one turn, steps in
   which nobody is met belong to none.  A rank changes its state at most twice per turn. */
typedef struct coll_poweraware_turn {
    int group;
    int first; /* steps first .. end - 1 whose active group is group */
    int end;
} coll_poweraware_turn_t;

/* The first turn from step on; false when there is none.  The next one starts at turn->end. */
bool coll_poweraware_next_turn(const coll_poweraware_plan_t *plan, int step,
                               coll_poweraware_turn_t *turn);

/* ---- meetings of two sets and of one, for nodes and for ranks ---- */

/* Two sets of at most num: the index in the other set that index meets in a round 0 .. num - 1.
   It may be larger than that set. */
int coll_poweraware_match(int num, int index, int round);
/* One set of num: whom index meets in a round 0 .. rounds - 1, or COLL_POWERAWARE_NOBODY. */
int coll_poweraware_tournament_rounds(int num);
int coll_poweraware_opponent(int num, int index, int round);

#endif
