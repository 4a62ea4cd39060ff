/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Allgather and Allgatherv through boxes; blocks travel packed.
 *
 * 1. everybody packs its block into its box.
 * On one node:
 * 2. everybody unpacks all blocks from the boxes.
 * On several:
 * 2. the leader copies its node's blocks into its set, and leaders exchange theirs (Bruck), until
 *    the set has the blocks of all ranks, by node and rank; the others rest;
 * 3. the leader posts the set, and everybody unpacks all blocks.
 */
#include "algorithms/box/box.h"

#include <string.h>

typedef const coll_poweraware_args_t args_t;

bool coll_poweraware_box_allgather_can(const coll_poweraware_call_t *call, args_t *args,
                                       size_t bytes)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    coll_poweraware_blocks_t blocks = coll_poweraware_recv_blocks(call, args);
    size_t largest = coll_poweraware_block_bytes(&blocks, 0);
    for (int rank = 1; rank < h->size && coll_poweraware_blocks_vary(&blocks); ++rank) {
        size_t block = coll_poweraware_block_bytes(&blocks, rank);
        largest = block > largest ? block : largest;
    }
    return largest <= call->segment->box_bytes &&
           (1 == h->num_nodes || bytes <= call->boxes->set_bytes);
}

/* 1. */
static int fill_and_join(coll_poweraware_call_t *call, args_t *args)
{
    coll_poweraware_block_t own = coll_poweraware_own_block(call, args);
    coll_poweraware_begin_round(call);
    int rc = coll_poweraware_block_pack(&own, pwr_boxes_fill(call->boxes, own.bytes));
    pwr_boxes_join(call->boxes, rc);
    return rc;
}

static int gather_on_node(coll_poweraware_call_t *call, args_t *args,
                          const coll_poweraware_blocks_t *blocks)
{
    int rc = fill_and_join(call, args);
    rc = coll_poweraware_first_error(rc, pwr_boxes_wait_all(call->boxes));
    for (int rank = 0; rank < call->hierarchy->size && OMPI_SUCCESS == rc; ++rank) { /* 2 */
        if (MPI_IN_PLACE != args->sbuf || rank != call->hierarchy->my_rank) {
            coll_poweraware_block_t block = coll_poweraware_block_of(blocks, rank);
            rc = coll_poweraware_block_unpack(&block,
                                              pwr_boxes_read(call->boxes, rank, block.bytes));
        }
    }
    return rc;
}

/* From the boxes of the round before, in the order of by_node. */
static void collect(const coll_poweraware_call_t *call, const coll_poweraware_blocks_t *blocks,
                    unsigned char *all)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t at = coll_poweraware_bytes_before_node(call, blocks, h->my_node);
    for (int i = 0; i < h->num_local; ++i) {
        size_t bytes = coll_poweraware_block_bytes(blocks, h->local_ranks[i]);
        memcpy(all + at, pwr_boxes_read_last(call->boxes, i, bytes), bytes);
        at += bytes;
    }
}

/* 2, 3: the leader's part. */
static const unsigned char *lead(coll_poweraware_call_t *call,
                                 const coll_poweraware_blocks_t *blocks, size_t total, int *rc)
{
    int rc_join = pwr_boxes_wait_all(call->boxes);
    coll_poweraware_begin_round(call);
    unsigned char *all = pwr_boxes_fill_set(call->boxes, total);
    collect(call, blocks, all);
    coll_poweraware_begin_network(call, rc_join);
    *rc = coll_poweraware_box_leaders_allgather(call, blocks, all);
    coll_poweraware_end_network(call);
    pwr_boxes_post(call->boxes, *rc);
    return all;
}

static int gather_over_nodes(coll_poweraware_call_t *call, args_t *args,
                             const coll_poweraware_blocks_t *blocks)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t total = coll_poweraware_bytes_before_node(call, blocks, h->num_nodes);
    int leader = coll_poweraware_my_leader(call, COLL_POWERAWARE_NO_RANK);
    const unsigned char *all;
    int rc_net;
    int rc = fill_and_join(call, args);
    if (h->my_rank == leader) {
        all = lead(call, blocks, total, &rc_net);
    } else {
        pwr_boxes_end(call->boxes);
        coll_poweraware_begin_round(call);
        all = coll_poweraware_rest_for_set(call, leader, total, &rc_net);
    }
    rc = coll_poweraware_first_error(rc, rc_net);
    for (int i = 0; i < h->size && OMPI_SUCCESS == rc; ++i) { /* 3 */
        int rank = h->by_node[i];
        coll_poweraware_block_t block = coll_poweraware_block_of(blocks, rank);
        if (MPI_IN_PLACE != args->sbuf || rank != h->my_rank) {
            rc = coll_poweraware_block_unpack(&block, all);
        }
        all += block.bytes;
    }
    pwr_boxes_end(call->boxes);
    return rc;
}

int coll_poweraware_box_allgather(coll_poweraware_call_t *call, args_t *args)
{
    coll_poweraware_blocks_t blocks = coll_poweraware_recv_blocks(call, args);
    return 1 == call->hierarchy->num_nodes ? gather_on_node(call, args, &blocks)
                                           : gather_over_nodes(call, args, &blocks);
}
