/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The log order of nodes in phase 4 of the grouped Alltoall, as pure functions.
 *
 * In round k the nodes that share the bits below bit k (a class) fall into two halves by bit k: low
 * has 0 there, high 1.  Every node of one half meets every node of the other, in as many meetings
 * as the larger half has nodes; in a meeting each node meets one other at most.
 */
#include "algorithms/alltoall/schedule.h"

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

const coll_poweraware_schedule_t coll_poweraware_schedule_log = {
    .name = "log",
    .num_rounds = log_rounds,
    .num_meetings = log_meetings,
    .peer = log_peer,
    .is_low = log_is_low,
};
