/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall of small messages within a node: one round of boxes.
 *
 * 1. Every rank packs its blocks for the others into its box, in the order of the node's ranks, and
 *    joins.  The block for itself is copied.
 * 2. When all have joined it unpacks its own block from every box and ends the round.
 * In place that is no different: what a rank sends is in its box before anything is received.
 */
#include "algorithms/algorithms.h"

#include "algorithms/alltoall/exchange.h"
#include "pwr_ompi/events.h"

bool coll_poweraware_exchange_box_fits(const coll_poweraware_call_t *call, size_t block_bytes)
{
    return block_bytes <= call->segment->box_bytes / (size_t)call->hierarchy->max_local;
}

/* Of the block from a rank of the node to another one, in the box of the first. */
static size_t place_of(size_t block_bytes, int from, int to)
{
    return (size_t)(to < from ? to : to - 1) * block_bytes;
}

int coll_poweraware_exchange_box(const coll_poweraware_exchange_t *x)
{
    coll_poweraware_call_t *call = x->call;
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t block_bytes = x->recv.count * x->recv.size;
    size_t bytes = block_bytes * (size_t)(h->num_local - 1);
    pwr_events_add(PWR_EVENT_LOCAL, h->my_node, -1, 0);
    coll_poweraware_begin_round(call);
    unsigned char *box = pwr_boxes_fill(call->boxes, bytes);
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < h->num_local; ++i) { /* 1 */
        if (i != h->my_local) {
            coll_poweraware_block_t block = coll_poweraware_block_to(x, h->local_ranks[i]);
            size_t place = place_of(block_bytes, h->my_local, i);
            rc = coll_poweraware_first_error(rc, coll_poweraware_block_pack(&block, box + place));
        }
    }
    pwr_boxes_join(call->boxes, rc);
    rc = coll_poweraware_first_error(rc, coll_poweraware_copy_own_block(x));
    rc = coll_poweraware_first_error(rc, pwr_boxes_wait_all(call->boxes));
    for (int i = 0; i < h->num_local && OMPI_SUCCESS == rc; ++i) { /* 2 */
        if (i != h->my_local) {
            coll_poweraware_block_t block = coll_poweraware_block_from(x, h->local_ranks[i]);
            const unsigned char *theirs = pwr_boxes_read(call->boxes, i, bytes);
            size_t place = place_of(block_bytes, i, h->my_local);
            rc = coll_poweraware_first_error(rc,
                                             coll_poweraware_block_unpack(&block, theirs + place));
        }
    }
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
