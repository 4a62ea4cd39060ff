/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall in which only one group of a node talks at a time and the others are throttled.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-A.
 *
 * 1.   Ranks of a node exchange among themselves; nobody is throttled.
 * 2-4. For each step of alltoall_schedule.h:
 *      a. a rank of the active group waits, throttled, until all earlier steps of its node are
 *         over (flag `turn` counts ranks that completed a step);
 *      b. it exchanges with the ranks of the step's peer group, node by node;
 *      c. it counts itself on `turn`, which wakes the next group.
 * A rank whose last step is over leaves; a rank that waits is throttled; so no rank sends,
 * receives or copies between nodes while its core is throttled.
 */
#include "algorithms.h"

#include "alltoall_exchange.h"
#include "alltoall_schedule.h"
#include "pwr_ompi/events.h"

#include "ompi/datatype/ompi_datatype.h"

typedef coll_poweraware_exchange_t exchange_t;
typedef coll_poweraware_block_t block_t;

/* Both sides know that a block is empty: nothing is sent. */
static void post_recv(const exchange_t *x, int peer)
{
    block_t b = coll_poweraware_block_from(x, peer);
    if (0 != b.bytes) {
        coll_poweraware_post_recv(x->call, b.data, b.count, b.datatype, peer);
    }
}

static void post_send(const exchange_t *x, int peer, size_t *bytes)
{
    block_t b = coll_poweraware_block_to(x, peer);
    *bytes += b.bytes;
    if (0 != b.bytes) {
        coll_poweraware_post_send(x->call, b.data, b.count, b.datatype, peer);
    }
}

static int copy_own_block(const exchange_t *x)
{
    int me = x->call->hierarchy->my_rank;
    block_t from = coll_poweraware_block_to(x, me);
    block_t to = coll_poweraware_block_from(x, me);
    return ompi_datatype_sndrcv(from.data, (pwr_count_t)from.count, from.datatype, to.data,
                                (pwr_count_t)to.count, to.datatype);
}

/* 1. Inside the node: the block for myself is copied, the others are exchanged in one window. */
static int exchange_local(const exchange_t *x)
{
    const pwr_hierarchy_t *h = x->call->hierarchy;
    pwr_events_add(PWR_EVENT_PHASE, 1, -1, 0);
    int rc = copy_own_block(x);
    size_t bytes = 0;
    pwr_events_add(PWR_EVENT_LOCAL, h->my_node, -1, 0);
    for (int d = 1; d < h->num_local; ++d) {
        post_recv(x, h->local_ranks[(h->my_local + h->num_local - d) % h->num_local]);
    }
    for (int d = 1; d < h->num_local; ++d) {
        post_send(x, h->local_ranks[(h->my_local + d) % h->num_local], &bytes);
    }
    rc = coll_poweraware_complete(x->call, rc, NULL);
    pwr_events_add(PWR_EVENT_LOCAL_END, h->my_node, -1, bytes);
    return rc;
}

/* 2b. One window with the same group of another node, or of two: send distance nodes up, receive
   from distance nodes down.  A group has at most max_local ranks. */
static int exchange_nodes(const exchange_t *x, int to_node, int from_node, int group)
{
    const int *to;
    const int *from;
    int num_to = pwr_hierarchy_group(x->call->hierarchy, to_node, group, &to);
    int num_from = pwr_hierarchy_group(x->call->hierarchy, from_node, group, &from);
    size_t bytes = 0;
    pwr_events_add(PWR_EVENT_NET, from_node, to_node, 0);
    for (int i = 0; i < num_from; ++i) {
        post_recv(x, from[i]);
    }
    for (int i = 0; i < num_to; ++i) {
        post_send(x, to[i], &bytes);
    }
    int rc = coll_poweraware_complete(x->call, OMPI_SUCCESS, NULL);
    pwr_events_add(PWR_EVENT_NET_END, from_node, to_node, bytes);
    return rc;
}

static int exchange_step(const exchange_t *x, const coll_poweraware_step_t *step)
{
    const pwr_hierarchy_t *h = x->call->hierarchy;
    if (COLL_POWERAWARE_ALL_NODES != step->peer_node) {
        return exchange_nodes(x, step->peer_node, step->peer_node, step->peer_group);
    }
    int rc = OMPI_SUCCESS;
    for (int d = 1; d < h->num_nodes; ++d) {
        int to = (h->my_node + d) % h->num_nodes;
        int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
        rc = exchange_nodes(x, to, from, step->peer_group);
    }
    return rc;
}

/* 2-4.  rc: of the exchange so far; the first error of the call is that of every later step. */
static int exchange_remote(const exchange_t *x, int rc)
{
    coll_poweraware_call_t *call = x->call;
    const pwr_hierarchy_t *h = call->hierarchy;
    pwr_flag_t *turn = &call->segment->control->turn;
    unsigned level = (unsigned)mca_coll_poweraware_component.params.tstate;
    uint32_t over = call->segment->expect_turn; /* ranks that completed earlier steps */
    int num_steps = coll_poweraware_alltoall_num_steps(h->num_nodes, h->num_groups);

    for (int i = 0; i < num_steps; ++i) {
        coll_poweraware_step_t step =
            coll_poweraware_alltoall_step(h->num_nodes, h->num_groups, h->my_node, i);
        if (COLL_POWERAWARE_NOBODY == step.active_group) {
            continue;
        }
        const int *ranks;
        uint32_t before = over;
        over += (uint32_t)pwr_hierarchy_group(h, h->my_node, step.active_group, &ranks);
        if (step.active_group == h->my_group) {
            coll_poweraware_wait_throttled(call, turn, before, level); /* a */
            pwr_events_add(PWR_EVENT_PHASE, step.phase, step.peer_node, 0);
            rc = exchange_step(x, &step);       /* b */
            coll_poweraware_arrive(turn, over); /* c */
        }
    }
    call->segment->expect_turn = over;
    return rc;
}

bool coll_poweraware_alltoall_grouped_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    /* on one node there is no phase in which half of the ranks could rest */
    return MPI_IN_PLACE != args->sbuf && call->hierarchy->num_nodes > 1;
}

int coll_poweraware_alltoall_grouped(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    exchange_t x;
    coll_poweraware_exchange_begin(&x, call, args);
    return exchange_remote(&x, exchange_local(&x));
}
