/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast through one round of boxes.
 *
 * The message travels as packed bytes, so that ranks may describe it by different datatypes.
 * 1. the root packs it into its node's set; another leader receives it there from its parent node
 *    (binomial tree over the nodes, rooted at the root's);
 * 2. the leader posts the sends to its child nodes from there, and then the set;
 * 3. everybody else unpacks it, also leaders while their sends go on.
 */
#include "algorithms/box/box.h"

bool coll_poweraware_box_bcast_can(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args, size_t bytes)
{
    (void)args;
    return bytes <= call->segment->box_bytes;
}

static int lead(coll_poweraware_call_t *call, int root, const coll_poweraware_block_t *message)
{
    bool is_root = call->hierarchy->my_rank == root;
    unsigned char *set = pwr_boxes_fill_set(call->boxes, message->bytes);
    int rc = OMPI_SUCCESS;
    if (is_root) {
        rc = coll_poweraware_block_pack(message, set); /* 1 */
    }
    coll_poweraware_begin_network(call, rc);
    if (!is_root) {
        rc = coll_poweraware_box_leaders_receive(call, root, set, message->bytes); /* 1 */
    }
    coll_poweraware_box_leaders_forward(call, root, set, message->bytes); /* 2 */
    pwr_boxes_post(call->boxes, rc);
    if (!is_root && OMPI_SUCCESS == rc) {
        rc = coll_poweraware_block_unpack(message, set); /* 3 */
    }
    rc = coll_poweraware_complete(call, rc);
    coll_poweraware_end_network(call);
    return rc;
}

static int follow(coll_poweraware_call_t *call, int leader, const coll_poweraware_block_t *message)
{
    int rc;
    const unsigned char *set = coll_poweraware_rest_for_set(call, leader, message->bytes, &rc);
    if (OMPI_SUCCESS == rc) {
        rc = coll_poweraware_block_unpack(message, set); /* 3 */
    }
    return rc;
}

int coll_poweraware_box_bcast(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    coll_poweraware_block_t message =
        coll_poweraware_one_block(args->rbuf, args->rcount, args->rdtype);
    int leader = coll_poweraware_my_leader(call, args->root);
    coll_poweraware_begin_round(call);
    int rc = call->hierarchy->my_rank == leader ? lead(call, args->root, &message)
                                                : follow(call, leader, &message);
    pwr_boxes_end(call->boxes);
    return rc;
}
