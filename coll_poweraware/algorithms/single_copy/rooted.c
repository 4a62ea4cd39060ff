/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast, Scatter and Gather of long blocks on one node: the root exposes its memory.
 *
 * 1. The root tells where its memory is, or that it does not expose it, and whether to end single
 *    copy.
 * 2. All others copy at the same time, from there or to there.
 * 3. They join a round when they are through; the root waits for all.
 */
#include "algorithms/single_copy/single_copy.h"

#include <string.h>

typedef const coll_poweraware_rooted_copy_t message_t;

/* What the root posts. */
typedef struct exposed {
    uint64_t memory; /* 0: not exposed */
    int64_t stride;
    uint64_t bytes;
    uint32_t measures;
    uint32_t ends; /* single copy: the kernel has refused one */
} exposed_t;

static exposed_t expose_mine(const coll_poweraware_call_t *call, message_t *message)
{
    exposed_t exposed = {.stride = message->stride, .bytes = message->block.bytes};
    pwr_copier_t *copier = &call->segment->copier;
    int class = pwr_copy_class((int)call->collective, message->block.bytes);
    exposed.ends = coll_poweraware_single_copy_refused(call);
    if (NULL != message->memory && !exposed.ends) {
        pwr_copy_way_t way = pwr_copier_choose(copier, class);
        exposed.memory = PWR_COPY_SINGLE == way ? (uint64_t)(uintptr_t)message->memory : 0;
        exposed.measures = pwr_copier_measures(copier, class);
    }
    return exposed;
}

/* 1. */
static exposed_t agree(coll_poweraware_call_t *call, message_t *message)
{
    exposed_t exposed;
    int rc;
    coll_poweraware_begin_round(call);
    if (call->hierarchy->my_rank == message->root) {
        exposed = expose_mine(call, message);
        memcpy(pwr_boxes_fill_set(call->boxes, sizeof exposed), &exposed, sizeof exposed);
        pwr_boxes_post(call->boxes, OMPI_SUCCESS);
    } else {
        memcpy(&exposed, coll_poweraware_rest_for_set(call, message->root, sizeof exposed, &rc),
               sizeof exposed);
    }
    pwr_boxes_end(call->boxes);
    return exposed;
}

/* 2. */
static int copy(coll_poweraware_call_t *call, message_t *message, const exposed_t *exposed)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (exposed->bytes != message->block.bytes) {
        return MPI_ERR_TRUNCATE;
    }
    uint64_t there = exposed->memory + (uint64_t)(exposed->stride * h->my_rank);
    uint64_t begin_ns = coll_poweraware_begin_work(call, 0, message->block.bytes);
    int rc = coll_poweraware_copy_exposed(call, h->local_of[message->root], there, message->to_root,
                                          &message->block);
    coll_poweraware_end_work(call, 0, begin_ns);
    coll_poweraware_report_work(call, PWR_COPY_SINGLE);
    return rc;
}

bool coll_poweraware_rooted_single_copy(coll_poweraware_call_t *call, message_t *message, int *rc)
{
    if (!coll_poweraware_single_copy_can(call, message->block.bytes)) {
        return false;
    }
    exposed_t exposed = agree(call, message); /* 1 */
    call->measured_bytes = 0 != exposed.measures ? message->block.bytes : 0;
    if (0 != exposed.ends) {
        coll_poweraware_end_single_copy(call);
    }
    if (0 == exposed.memory) {
        pwr_segment_touch_used(call->segment); /* the other way needs them */
        return false;
    }
    bool root = call->hierarchy->my_rank == message->root;
    *rc = root ? OMPI_SUCCESS : copy(call, message, &exposed);
    coll_poweraware_begin_round(call); /* 3 */
    pwr_boxes_fill(call->boxes, 0);
    pwr_boxes_join(call->boxes, *rc);
    if (root) {
        *rc = pwr_boxes_wait_all(call->boxes);
    }
    pwr_boxes_end(call->boxes);
    return true;
}
