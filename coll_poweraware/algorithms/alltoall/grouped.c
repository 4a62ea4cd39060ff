/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall in which only one group of a node talks at a time and the others are throttled.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-A.
 *
 * 1.   Ranks of a node exchange among themselves (local.c); nobody is throttled.
 * 2-4. For each turn of a group of this node (schedule.h):
 *      a. a rank of the group waits, throttled, until all earlier turns of its node are over (flag
 *         `turn` counts ranks that completed one);
 *      b. for each step of the turn it exchanges with the ranks of the step's peer group, node by
 *         node: in one window of messages, or in place pair by pair;
 *      c. it counts itself on `turn`, which wakes the next group.
 * A rank whose last turn is over leaves; a rank that waits is throttled; so no rank sends,
 * receives or copies between nodes while its core is throttled.
 */
#include "algorithms/algorithms.h"

#include "algorithms/alltoall/exchange.h"
#include "algorithms/alltoall/schedule.h"
#include "pwr_ompi/events.h"

typedef struct grouped {
    coll_poweraware_exchange_t x;
    coll_poweraware_swap_t swap; /* in place */
    coll_poweraware_plan_t plan;
    int my_index; /* in my group */
    int my_num;   /* of my group */
    int rc;
} grouped_t;

static void find_my_group(grouped_t *g)
{
    const pwr_hierarchy_t *h = g->plan.hierarchy;
    const int *ranks;
    g->my_num = pwr_hierarchy_group(h, h->my_node, h->my_group, &ranks);
    while (ranks[g->my_index] != h->my_rank) {
        ++g->my_index;
    }
}

/* b. Ranks of a group start with different peers.  A group has at most max_local ranks. */
static int exchange_window(const grouped_t *g, const int *ranks, int num, size_t *bytes)
{
    for (int i = 0; i < num; ++i) {
        coll_poweraware_recv_block(&g->x, ranks[(g->my_index + i) % num]);
    }
    for (int i = 0; i < num; ++i) {
        coll_poweraware_send_block(&g->x, ranks[(g->my_index + i) % num], bytes);
    }
    return coll_poweraware_complete(g->x.call, OMPI_SUCCESS);
}

static int exchange_pairs(const grouped_t *g, const int *ranks, int num)
{
    int rounds = num > g->my_num ? num : g->my_num;
    int rc = OMPI_SUCCESS;
    for (int round = 0; round < rounds; ++round) {
        int index = coll_poweraware_match(rounds, g->my_index, round);
        if (index < num) {
            int rc_swap = coll_poweraware_swap(&g->swap, ranks[index]);
            rc = coll_poweraware_first_error(rc, rc_swap);
        }
    }
    return rc;
}

static void exchange_node(grouped_t *g, int node, int group)
{
    const int *ranks;
    int num = pwr_hierarchy_group(g->plan.hierarchy, node, group, &ranks);
    size_t bytes = 0;
    pwr_events_add(PWR_EVENT_NET, node, node, 0);
    int rc = g->x.in_place ? exchange_pairs(g, ranks, num) : exchange_window(g, ranks, num, &bytes);
    pwr_events_add(PWR_EVENT_NET_END, node, node, bytes);
    g->rc = coll_poweraware_first_error(g->rc, rc);
}

static void exchange_step(grouped_t *g, const coll_poweraware_step_t *step)
{
    pwr_events_add(PWR_EVENT_PHASE, step->phase, -1, 0);
    for (int m = 0; m < step->num_meetings; ++m) {
        int node = coll_poweraware_alltoall_peer(&g->plan, step, m);
        if (COLL_POWERAWARE_NOBODY != node) {
            exchange_node(g, node, step->peer_group);
        }
    }
}

static void exchange_turn(grouped_t *g, const coll_poweraware_turn_t *turn)
{
    for (int i = turn->first; i < turn->end; ++i) {
        coll_poweraware_step_t step = coll_poweraware_alltoall_step(&g->plan, i);
        if (step.active_group == turn->group) {
            exchange_step(g, &step);
        }
    }
}

/* 2-4. */
static void exchange_remote(grouped_t *g)
{
    coll_poweraware_call_t *call = g->x.call;
    const pwr_hierarchy_t *h = call->hierarchy;
    pwr_flag_t *flag = &call->segment->control->turn;
    unsigned level = (unsigned)call->settings->tstate;
    uint32_t over = call->segment->expect_turn; /* ranks that completed earlier turns */
    coll_poweraware_turn_t turn = {.end = 0};
    while (coll_poweraware_next_turn(&g->plan, turn.end, &turn)) {
        const int *ranks;
        uint32_t before = over;
        over += (uint32_t)pwr_hierarchy_group(h, h->my_node, turn.group, &ranks);
        if (turn.group == h->my_group) {
            coll_poweraware_wait_throttled(call, PWR_SITE_TURN, flag, before, level); /* a */
            exchange_turn(g, &turn);                                                  /* b */
            pwr_flag_arrive(flag, over);                                              /* c */
        }
    }
    call->segment->expect_turn = over;
}

bool coll_poweraware_alltoall_grouped_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    /* on one node there is no phase in which half of the ranks could rest */
    return call->hierarchy->num_nodes > 1 &&
           (MPI_IN_PLACE != args->sbuf || coll_poweraware_swap_can(call));
}

int coll_poweraware_alltoall_grouped(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    int schedule = call->settings->alltoall_schedule;
    grouped_t g = {
        .plan = {.schedule = coll_poweraware_schedules[schedule],
                 .hierarchy = call->hierarchy,
                 .node = call->hierarchy->my_node},
    };
    coll_poweraware_exchange_begin(&g.x, call, args);
    find_my_group(&g);
    if (g.x.in_place) {
        coll_poweraware_swap_begin(&g.swap, &g.x);
    }
    g.rc = coll_poweraware_exchange_local(&g.x, g.x.in_place ? &g.swap : NULL);
    exchange_remote(&g);
    if (g.x.in_place) {
        coll_poweraware_swap_end(&g.swap);
    }
    return g.rc;
}
