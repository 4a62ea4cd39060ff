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

static int lead(coll_poweraware_call_t *call, const coll_poweraware_args_t *args, size_t bytes)
{
    bool is_root = call->hierarchy->my_rank == args->root;
    unsigned char *set = coll_poweraware_my_set(call, bytes);
    int rc = OMPI_SUCCESS;
    if (is_root) {
        rc = coll_poweraware_box_pack(set, args->rbuf, args->rcount, args->rdtype); /* 1 */
    }
    coll_poweraware_begin_network(call, rc);
    if (!is_root) {
        rc = coll_poweraware_box_leaders_receive(call, args->root, set, bytes); /* 1 */
    }
    coll_poweraware_box_leaders_forward(call, args->root, set, bytes); /* 2 */
    coll_poweraware_post_set(call, rc);
    if (!is_root && OMPI_SUCCESS == rc) {
        rc = coll_poweraware_box_unpack(args->rbuf, args->rcount, args->rdtype, set); /* 3 */
    }
    rc = coll_poweraware_complete(call, rc);
    coll_poweraware_end_network(call);
    return rc;
}

static int follow(coll_poweraware_call_t *call, const coll_poweraware_args_t *args, int leader,
                  size_t bytes)
{
    int rc;
    const unsigned char *set = coll_poweraware_rest_for_set(call, leader, bytes, &rc);
    if (OMPI_SUCCESS == rc) {
        rc = coll_poweraware_box_unpack(args->rbuf, args->rcount, args->rdtype, set); /* 3 */
    }
    return rc;
}

int coll_poweraware_box_bcast(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    size_t bytes = coll_poweraware_packed_bytes(args->rcount, args->rdtype);
    int leader = coll_poweraware_my_leader(call, args->root);
    coll_poweraware_begin_round(call);
    int rc = call->hierarchy->my_rank == leader ? lead(call, args, bytes)
                                                : follow(call, args, leader, bytes);
    coll_poweraware_end_round(call);
    return rc;
}
