/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Phases 2 to 4 of the socket-grouped Alltoall as a pure function of (nodes, groups, node, step).
 */
#include "alltoall_schedule.h"

/* A tournament of an odd number of nodes needs one more seat: who sits opposite it rests. */
static int seats(int num_nodes)
{
    return num_nodes + num_nodes % 2;
}

/* Circle method: in round r, seats p and q < last meet when p + q = r (mod last); whoever would
   meet itself meets the last seat. */
static int opponent(int num_nodes, int node, int round)
{
    int last = seats(num_nodes) - 1;
    if (node == last) {
        /* the p with 2 p = r (mod last): last is odd, (last + 1) / 2 is the inverse of 2 */
        return (int)((long)round * ((last + 1) / 2) % last);
    }
    int other = (round - node + last) % last;
    return other == node ? last : other;
}

int coll_poweraware_alltoall_num_steps(int num_nodes, int num_groups)
{
    if (num_nodes < 2) {
        return 0;
    }
    return num_groups + (seats(num_nodes) - 1) * num_groups * (num_groups - 1);
}

coll_poweraware_step_t coll_poweraware_alltoall_step(int num_nodes, int num_groups, int node,
                                                     int index)
{
    if (index < num_groups) {
        return (coll_poweraware_step_t){
            .phase = index == 0 ? 2 : 3,
            .active_group = index,
            .peer_node = COLL_POWERAWARE_ALL_NODES,
            .peer_group = index,
        };
    }
    int pairs = num_groups * (num_groups - 1);
    int round = (index - num_groups) / pairs;
    int pair = (index - num_groups) % pairs;
    int peer = opponent(num_nodes, node, round);
    if (peer >= num_nodes) {
        return (coll_poweraware_step_t){
            .phase = 4,
            .active_group = COLL_POWERAWARE_NOBODY,
            .peer_node = COLL_POWERAWARE_NOBODY,
            .peer_group = COLL_POWERAWARE_NOBODY,
        };
    }
    int low = pair / (num_groups - 1);
    int high = pair % (num_groups - 1);
    high += high >= low; /* ordered pairs of different groups */
    return (coll_poweraware_step_t){
        .phase = 4,
        .active_group = node < peer ? low : high,
        .peer_node = peer,
        .peer_group = node < peer ? high : low,
    };
}
