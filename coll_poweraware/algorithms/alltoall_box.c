/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall of small messages within a node: one round of boxes.
 *
 * 1. Every rank packs its blocks into its box, in the order of the node's ranks, and joins.
 * 2. When all have joined it unpacks its own block from every box and ends the round.
 * In place that is no different: what a rank sends is in its box before anything is received.
 */
#include "algorithms.h"

#include "alltoall_local.h"
#include "pwr_ompi/events.h"

static int first_of(int one, int other)
{
    return OMPI_SUCCESS == one ? other : one;
}

bool coll_poweraware_exchange_box_fits(const coll_poweraware_call_t *call, size_t block_bytes)
{
    return block_bytes <= call->segment->box_bytes / (size_t)call->hierarchy->max_local;
}

int coll_poweraware_exchange_box(const coll_poweraware_exchange_t *x)
{
    coll_poweraware_call_t *call = x->call;
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t block_bytes = x->recv.count * x->recv.size;
    size_t bytes = block_bytes * (size_t)h->num_local;
    int rc = OMPI_SUCCESS;
    pwr_events_add(PWR_EVENT_LOCAL, h->my_node, -1, 0);
    coll_poweraware_begin_round(call);
    unsigned char *box = coll_poweraware_my_box(call, bytes);
    for (int i = 0; i < h->num_local; ++i) { /* 1 */
        coll_poweraware_block_t block = coll_poweraware_block_to(x, h->local_ranks[i]);
        rc = first_of(rc, coll_poweraware_block_pack(&block, box + (size_t)i * block_bytes));
    }
    coll_poweraware_join(call);
    coll_poweraware_wait_all(call);
    for (int i = 0; i < h->num_local; ++i) { /* 2 */
        coll_poweraware_block_t block = coll_poweraware_block_from(x, h->local_ranks[i]);
        const unsigned char *theirs = coll_poweraware_box(call, i, bytes);
        rc = first_of(
            rc, coll_poweraware_block_unpack(&block, theirs + (size_t)h->my_local * block_bytes));
    }
    coll_poweraware_end_round(call);
    pwr_events_add(PWR_EVENT_LOCAL_END, h->my_node, -1, bytes);
    return rc;
}

bool coll_poweraware_alltoall_box_can(const coll_poweraware_call_t *call,
                                      const coll_poweraware_args_t *args, size_t bytes)
{
    (void)args;
    return 1 == call->hierarchy->num_nodes &&
           coll_poweraware_exchange_box_fits(call, bytes / (size_t)call->hierarchy->size);
}

int coll_poweraware_alltoall_box(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    coll_poweraware_exchange_t x;
    coll_poweraware_exchange_begin(&x, call, args);
    return coll_poweraware_exchange_box(&x);
}
