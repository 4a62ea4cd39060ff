/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Barrier through rounds of boxes.
 *
 * On one node:
 * 1. everybody joins a round and waits for all.
 * On several:
 * 1. everybody joins a round, the leader waits for all of its node;
 * 2. leaders meet (dissemination), the others rest;
 * 3. the leader posts.
 */
#include "algorithms/box/box.h"

static int barrier_of_nodes(coll_poweraware_call_t *call)
{
    int leader = coll_poweraware_my_leader(call, COLL_POWERAWARE_NO_RANK);
    bool leading = call->hierarchy->my_rank == leader;
    coll_poweraware_begin_round(call); /* 1 */
    pwr_boxes_fill(call->boxes, 0);
    pwr_boxes_join(call->boxes, OMPI_SUCCESS);
    int rc = OMPI_SUCCESS;
    if (leading) {
        pwr_boxes_wait_all(call->boxes);
        coll_poweraware_begin_network(call, OMPI_SUCCESS); /* 2 */
        rc = coll_poweraware_box_leaders_meet(call);
        coll_poweraware_end_network(call);
    } else {
        pwr_boxes_end(call->boxes);
    }
    coll_poweraware_begin_round(call); /* 3 */
    if (leading) {
        pwr_boxes_fill_set(call->boxes, 0);
        pwr_boxes_post(call->boxes, rc);
    } else {
        coll_poweraware_rest_for_set(call, leader, 0, &rc);
    }
    pwr_boxes_end(call->boxes);
    return rc;
}

int coll_poweraware_box_barrier(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    (void)args;
    if (call->hierarchy->num_nodes > 1) {
        return barrier_of_nodes(call);
    }
    return coll_poweraware_meet(call, OMPI_SUCCESS); /* 1 */
}
