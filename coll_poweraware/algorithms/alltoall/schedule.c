/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Phases 2 to 4 of the grouped Alltoall, the orders of nodes in phase 4, and who meets whom, as
 * pure functions.
 */
#include "algorithms/alltoall/schedule.h"

#include <stddef.h>

/* ---- meetings of two sets and of one, for nodes and for ranks ---- */

int coll_poweraware_match(int num, int index, int round)
{
    return (round - index + num) % num;
}

/* A tournament of an odd number needs one more seat: who sits opposite it rests. */
static int seats(int num)
{
    return num + num % 2;
}

int coll_poweraware_tournament_rounds(int num)
{
    return seats(num) - 1;
}

/* Circle method: in round r, seats p and q < last meet when p + q = r (mod last); whoever would
   meet itself meets the last seat. */
int coll_poweraware_opponent(int num, int index, int round)
{
    int last = seats(num) - 1;
    int other;
    if (index == last) {
        /* the p with 2 p = r (mod last): last is odd, (last + 1) / 2 is the inverse of 2 */
        other = (int)((long)round * ((last + 1) / 2) % last);
    } else {
        other = coll_poweraware_match(last, index, round);
        other = other == index ? last : other;
    }
    return other < num ? other : COLL_POWERAWARE_NOBODY;
}

/* ---- the paper's phase 4: node by node ---- */

static int paper_meetings(int num_nodes, int round)
{
    (void)num_nodes;
    (void)round;
    return 1;
}

static int paper_peer(int num_nodes, int round, int meeting, int node)
{
    (void)meeting;
    return coll_poweraware_opponent(num_nodes, node, round);
}

static bool paper_is_low(int num_nodes, int round, int node)
{
    return node < coll_poweraware_opponent(num_nodes, node, round);
}

static const coll_poweraware_schedule_t schedule_paper = {
    .num_rounds = coll_poweraware_tournament_rounds,
    .num_meetings = paper_meetings,
    .peer = paper_peer,
    .is_low = paper_is_low,
};

/* ---- the log order ----
   In round k the nodes that share the bits below bit k (a class) fall into two halves by bit k: low
   has 0 there, high 1.  Every node of one half meets every node of the other, in as many meetings
   as the larger half has nodes; in a meeting each node meets one other at most. */

static int log_rounds(int num_nodes)
{
    int rounds = 0;
    while ((1L << rounds) < num_nodes) {
        ++rounds;
    }
    return rounds;
}

/* Nodes first, first + 2^(round + 1), first + 2 * 2^(round + 1), ... */
static int size_of_half(int num_nodes, int round, int first)
{
    long stride = 2L << round;
    return first < num_nodes ? (int)((num_nodes - first + stride - 1) / stride) : 0;
}

/* The low half of class 0 is the largest of all. */
static int log_meetings(int num_nodes, int round)
{
    return size_of_half(num_nodes, round, 0);
}

static bool log_is_low(int num_nodes, int round, int node)
{
    (void)num_nodes;
    return 0 == (node >> round & 1);
}

static int log_peer(int num_nodes, int round, int meeting, int node)
{
    long stride = 2L << round;
    int first = (int)(node % stride);
    int opposite = first ^ (1 << round);
    int low_half = size_of_half(num_nodes, round, first < opposite ? first : opposite);
    if (meeting >= low_half) {
        return COLL_POWERAWARE_NOBODY;
    }
    int index = coll_poweraware_match(low_half, (int)(node / stride), meeting);
    long peer = opposite + index * stride;
    return peer < num_nodes ? (int)peer : COLL_POWERAWARE_NOBODY;
}

static const coll_poweraware_schedule_t schedule_log = {
    .num_rounds = log_rounds,
    .num_meetings = log_meetings,
    .peer = log_peer,
    .is_low = log_is_low,
};

const coll_poweraware_schedule_t *const coll_poweraware_schedules[] = {
    [COLL_POWERAWARE_PAPER] = &schedule_paper,
    [COLL_POWERAWARE_LOG] = &schedule_log,
};

/* ---- steps ---- */

/* Ordered pairs of different groups (low, high) in an order in which mostly one of the two stays:
   high = low + s and low + s + 1 (modulo G) for s = 1, 3, ... are a closed walk
   (0, s) (0, s+1) (1, s+1) (1, s+2) ..., and for even G the distance G - 1 is left over. */
static void pair_of_groups(int num_groups, int index, int *low, int *high)
{
    int walk = index / (2 * num_groups);
    int at = index % (2 * num_groups);
    int distance = 2 * walk + 1;
    if (distance + 1 < num_groups) {
        *low = at / 2;
        *high = (*low + distance + at % 2) % num_groups;
    } else {
        *low = at;
        *high = (at + distance) % num_groups;
    }
}

static int num_pairs(const pwr_hierarchy_t *h)
{
    return h->num_groups * (h->num_groups - 1);
}

int coll_poweraware_alltoall_num_steps(const coll_poweraware_plan_t *plan)
{
    const pwr_hierarchy_t *h = plan->hierarchy;
    if (h->num_nodes < 2) {
        return 0;
    }
    return h->num_groups + plan->schedule->num_rounds(h->num_nodes) * num_pairs(h);
}

coll_poweraware_step_t coll_poweraware_alltoall_step(const coll_poweraware_plan_t *plan, int index)
{
    const pwr_hierarchy_t *h = plan->hierarchy;
    if (index < h->num_groups) {
        return (coll_poweraware_step_t){
            .phase = index == 0 ? 2 : 3,
            .num_meetings = coll_poweraware_tournament_rounds(h->num_nodes),
            .active_group = index,
            .peer_group = index,
        };
    }
    int round = (index - h->num_groups) / num_pairs(h);
    bool is_low = plan->schedule->is_low(h->num_nodes, round, plan->node);
    int low;
    int high;
    pair_of_groups(h->num_groups, (index - h->num_groups) % num_pairs(h), &low, &high);
    coll_poweraware_step_t step = {
        .phase = 4,
        .round = round,
        .num_meetings = plan->schedule->num_meetings(h->num_nodes, round),
        .active_group = is_low ? low : high,
        .peer_group = is_low ? high : low,
    };
    return step;
}

static int size_of_group(const coll_poweraware_plan_t *plan, int node, int group)
{
    const int *ranks;
    return pwr_hierarchy_group(plan->hierarchy, node, group, &ranks);
}

int coll_poweraware_alltoall_peer(const coll_poweraware_plan_t *plan,
                                  const coll_poweraware_step_t *step, int meeting)
{
    int num_nodes = plan->hierarchy->num_nodes;
    int peer = 4 == step->phase ? plan->schedule->peer(num_nodes, step->round, meeting, plan->node)
                                : coll_poweraware_opponent(num_nodes, plan->node, meeting);
    if (COLL_POWERAWARE_NOBODY == peer || 0 == size_of_group(plan, peer, step->peer_group)) {
        return COLL_POWERAWARE_NOBODY;
    }
    return peer;
}

/* ---- turns ---- */

static bool meets_somebody(const coll_poweraware_plan_t *plan, const coll_poweraware_step_t *step)
{
    if (0 == size_of_group(plan, plan->node, step->active_group)) {
        return false;
    }
    for (int m = 0; m < step->num_meetings; ++m) {
        if (COLL_POWERAWARE_NOBODY != coll_poweraware_alltoall_peer(plan, step, m)) {
            return true;
        }
    }
    return false;
}

bool coll_poweraware_next_turn(const coll_poweraware_plan_t *plan, int step,
                               coll_poweraware_turn_t *turn)
{
    int num_steps = coll_poweraware_alltoall_num_steps(plan);
    turn->group = COLL_POWERAWARE_NOBODY;
    turn->end = step;
    for (; step < num_steps; ++step) {
        coll_poweraware_step_t at = coll_poweraware_alltoall_step(plan, step);
        if (!meets_somebody(plan, &at)) {
            continue;
        }
        if (COLL_POWERAWARE_NOBODY == turn->group) {
            turn->group = at.active_group;
            turn->first = step;
        } else if (at.active_group != turn->group) {
            break;
        }
        turn->end = step + 1;
    }
    return COLL_POWERAWARE_NOBODY != turn->group;
}
