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

#include "alltoall_schedule.h"
#include "pwr_ompi/events.h"

#include "ompi/datatype/ompi_datatype.h"

typedef struct exchange {
    coll_poweraware_call_t *call;
    const char *sbuf;
    char *rbuf;
    size_t scount;
    size_t rcount;
    struct ompi_datatype_t *sdtype;
    struct ompi_datatype_t *rdtype;
    ptrdiff_t sblock; /* bytes between blocks */
    ptrdiff_t rblock;
    size_t bytes; /* of one block on the wire */
} exchange_t;

static const char *block_for(const exchange_t *x, int rank)
{
    return x->sbuf + rank * x->sblock;
}

static char *block_from(const exchange_t *x, int rank)
{
    return x->rbuf + rank * x->rblock;
}

/* One window: all messages to the ranks to[num_to] and from the ranks from[num_from], which are at
   most max_local each. */
static int exchange_window(const exchange_t *x, const int *to, int num_to, const int *from,
                           int num_from)
{
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num_from && OMPI_SUCCESS == rc; ++i) {
        rc = coll_poweraware_post_recv(x->call, block_from(x, from[i]), x->rcount, x->rdtype,
                                       from[i]);
    }
    for (int i = 0; i < num_to && OMPI_SUCCESS == rc; ++i) {
        rc = coll_poweraware_post_send(x->call, block_for(x, to[i]), x->scount, x->sdtype, to[i]);
    }
    return coll_poweraware_complete(x->call, rc, NULL);
}

/* 1. Inside the node: the block for myself is copied, the others are exchanged in one window. */
static int exchange_local(const exchange_t *x)
{
    const pwr_hierarchy_t *h = x->call->hierarchy;
    pwr_events_add(PWR_EVENT_PHASE, 1, -1, 0);
    int rc = ompi_datatype_sndrcv(block_for(x, h->my_rank), (pwr_count_t)x->scount, x->sdtype,
                                  block_from(x, h->my_rank), (pwr_count_t)x->rcount, x->rdtype);
    pwr_events_add(PWR_EVENT_LOCAL, h->my_node, -1, x->bytes * (size_t)(h->num_local - 1));
    for (int d = 1; d < h->num_local && OMPI_SUCCESS == rc; ++d) {
        int from = h->local_ranks[(h->my_local + h->num_local - d) % h->num_local];
        rc = coll_poweraware_post_recv(x->call, block_from(x, from), x->rcount, x->rdtype, from);
    }
    for (int d = 1; d < h->num_local && OMPI_SUCCESS == rc; ++d) {
        int to = h->local_ranks[(h->my_local + d) % h->num_local];
        rc = coll_poweraware_post_send(x->call, block_for(x, to), x->scount, x->sdtype, to);
    }
    rc = coll_poweraware_complete(x->call, rc, NULL);
    pwr_events_add(PWR_EVENT_LOCAL_END, h->my_node, -1, 0);
    return rc;
}

/* 2b. With the same group of another node, or of two: send distance nodes up, receive from
   distance nodes down. */
static int exchange_nodes(const exchange_t *x, int to_node, int from_node, int group)
{
    const int *to;
    const int *from;
    int num_to = pwr_hierarchy_group(x->call->hierarchy, to_node, group, &to);
    int num_from = pwr_hierarchy_group(x->call->hierarchy, from_node, group, &from);
    pwr_events_add(PWR_EVENT_NET, from_node, to_node, x->bytes * (size_t)num_to);
    int rc = exchange_window(x, to, num_to, from, num_from);
    pwr_events_add(PWR_EVENT_NET_END, from_node, to_node, 0);
    return rc;
}

static int exchange_step(const exchange_t *x, const coll_poweraware_step_t *step)
{
    const pwr_hierarchy_t *h = x->call->hierarchy;
    if (COLL_POWERAWARE_ALL_NODES != step->peer_node) {
        return exchange_nodes(x, step->peer_node, step->peer_node, step->peer_group);
    }
    int rc = OMPI_SUCCESS;
    for (int d = 1; d < h->num_nodes && OMPI_SUCCESS == rc; ++d) {
        int to = (h->my_node + d) % h->num_nodes;
        int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
        rc = exchange_nodes(x, to, from, step->peer_group);
    }
    return rc;
}

/* 2-4.  After an error the rank stops exchanging but keeps counting itself, so that its node's
   other ranks are not left waiting. */
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
            if (OMPI_SUCCESS == rc) {
                rc = exchange_step(x, &step); /* b */
            }
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
    ptrdiff_t lb;
    ptrdiff_t sextent;
    ptrdiff_t rextent;
    size_t size;
    ompi_datatype_get_extent(args->sdtype, &lb, &sextent);
    ompi_datatype_get_extent(args->rdtype, &lb, &rextent);
    ompi_datatype_type_size(args->sdtype, &size);
    const exchange_t x = {
        .call = call,
        .sbuf = args->sbuf,
        .rbuf = args->rbuf,
        .scount = args->scount,
        .rcount = args->rcount,
        .sdtype = args->sdtype,
        .rdtype = args->rdtype,
        .sblock = (ptrdiff_t)args->scount * sextent,
        .rblock = (ptrdiff_t)args->rcount * rextent,
        .bytes = args->scount * size,
    };
    return exchange_remote(&x, exchange_local(&x));
}
