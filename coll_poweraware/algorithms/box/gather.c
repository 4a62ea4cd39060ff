/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gather and Scatter through one round of boxes; blocks travel packed.
 *
 * Gather:
 * 1. everybody packs its block into its box; who does not lead is done;
 * 2. another leader than the root sends its node's blocks to the root in one message;
 * 3. the root unpacks its node's blocks, and then, as many at a time as the boxes have room for,
 *    those of other nodes.
 * Scatter:
 * 1. the root packs the blocks of other nodes, as many at a time as the boxes have room for, and
 *    sends each node its blocks in one message;
 * 2. a leader has its node's blocks in its set, packed or received, and posts it;
 * 3. everybody unpacks its own.
 *
 * Blocks of a node are in rank order.  Leaders talk to the root directly: for messages that fit a
 * box, a tree of nodes saves the root little and costs every block several hops.
 */
#include "algorithms/box/box.h"

#include <string.h>

typedef const coll_poweraware_args_t args_t;

/* What a type means elsewhere only the root or only the others know: bytes, of all blocks, is
   known to all. */
bool coll_poweraware_box_gather_can(const coll_poweraware_call_t *call, args_t *args, size_t bytes)
{
    (void)args;
    return bytes / (size_t)call->hierarchy->size <= call->segment->box_bytes;
}

/* A user's blocks of all ranks, and room for the packed ones of some other nodes, if there are any:
   the root's. */
typedef struct rooted {
    coll_poweraware_call_t *call;
    coll_poweraware_blocks_t blocks;
    size_t block; /* bytes of one */
    unsigned char *room;
} rooted_t;

static rooted_t at_root(coll_poweraware_call_t *call, args_t *args)
{
    coll_poweraware_blocks_t blocks = coll_poweraware_all_blocks(call, args);
    return (rooted_t){
        .call = call,
        .blocks = blocks,
        .block = blocks.count * blocks.size,
        .room = call->hierarchy->num_nodes > 1 ? pwr_boxes_area(call->boxes) : NULL,
    };
}

/* The blocks of a node, as they lie packed. */
static int convert_node(const rooted_t *r, int node, unsigned char *packed, bool pack)
{
    const int *ranks;
    int num = pwr_hierarchy_node(r->call->hierarchy, node, &ranks);
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num && OMPI_SUCCESS == rc; ++i, packed += r->block) {
        coll_poweraware_block_t block = coll_poweraware_block_of(&r->blocks, ranks[i]);
        rc = pack ? coll_poweraware_block_pack(&block, packed)
                  : coll_poweraware_block_unpack(&block, packed);
    }
    return rc;
}

/* Packed bytes from the first rank of one node to that of another. */
static size_t bytes_between(const rooted_t *r, int first, int last)
{
    const int *start = r->call->hierarchy->node_start;
    return (size_t)(start[last] - start[first]) * r->block;
}

/* The nodes from first on, but not this one, that there is room for at once: at least one. */
static int end_of_group(const rooted_t *r, int first)
{
    enum { MOST_MESSAGES = 32 };
    int last = first + 1;
    while (last < r->call->hierarchy->num_nodes && last - first < MOST_MESSAGES &&
           bytes_between(r, first, last + 1) <= r->call->boxes->set_bytes) {
        ++last;
    }
    return last;
}

static unsigned char *room_of(const rooted_t *r, int first, int node)
{
    return r->room + bytes_between(r, first, node);
}

static void post_group(const rooted_t *r, int first, int last, bool send)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    for (int node = first; node < last; ++node) {
        if (node != h->my_node) {
            coll_poweraware_post(r->call, send, room_of(r, first, node),
                                 bytes_between(r, node, node + 1), MPI_BYTE, h->leader_of[node]);
        }
    }
}

static int convert_group(const rooted_t *r, int first, int last, bool pack)
{
    int rc = OMPI_SUCCESS;
    for (int node = first; node < last && OMPI_SUCCESS == rc; ++node) {
        if (node != r->call->hierarchy->my_node) {
            rc = convert_node(r, node, room_of(r, first, node), pack);
        }
    }
    return rc;
}

static int gather_group(const rooted_t *r, int first, int last)
{
    post_group(r, first, last, false);
    int rc = coll_poweraware_complete(r->call, OMPI_SUCCESS);
    return OMPI_SUCCESS == rc ? convert_group(r, first, last, false) : rc;
}

static int scatter_group(const rooted_t *r, int first, int last)
{
    coll_poweraware_note_error(r->call, convert_group(r, first, last, true));
    post_group(r, first, last, true); /* of a group that failed, all is empty */
    return coll_poweraware_complete(r->call, OMPI_SUCCESS);
}

static int move_groups(const rooted_t *r, int (*move)(const rooted_t *, int, int))
{
    int nodes = r->call->hierarchy->num_nodes;
    int rc = OMPI_SUCCESS;
    for (int first = 0, last; first < nodes && nodes > 1; first = last) {
        last = end_of_group(r, first);
        rc = coll_poweraware_first_error(rc, move(r, first, last));
    }
    return rc;
}

/* What is a node's, packed; of its leader. */
static int move_to_or_from_root(coll_poweraware_call_t *call, bool send, unsigned char *packed,
                                size_t bytes, int root, int error)
{
    coll_poweraware_begin_network(call, error);
    coll_poweraware_post(call, send, packed, bytes, MPI_BYTE, root);
    int rc = coll_poweraware_complete(call, OMPI_SUCCESS);
    coll_poweraware_end_network(call);
    return rc;
}

/* ---- Gather ---- */

static int gather_at_root(coll_poweraware_call_t *call, args_t *args, int error)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    rooted_t r = at_root(call, args);
    int rc = error;
    for (int i = 0; i < h->num_local && OMPI_SUCCESS == rc; ++i) {
        if (MPI_IN_PLACE != args->sbuf || i != h->my_local) {
            coll_poweraware_block_t block = coll_poweraware_block_of(&r.blocks, h->local_ranks[i]);
            rc = coll_poweraware_block_unpack(&block, pwr_boxes_read(call->boxes, i, r.block));
        }
    }
    coll_poweraware_begin_network(call, rc);
    rc = coll_poweraware_first_error(rc, move_groups(&r, gather_group));
    coll_poweraware_end_network(call);
    return rc;
}

/* The boxes are further apart than the blocks are long. */
static int send_to_root(coll_poweraware_call_t *call, size_t block, int root, int error)
{
    unsigned char *together = pwr_boxes_area(call->boxes);
    size_t bytes = 0;
    for (int i = 0; i < call->hierarchy->num_local; ++i, bytes += block) {
        memmove(together + bytes, pwr_boxes_read(call->boxes, i, block), block);
    }
    return move_to_or_from_root(call, true, together, bytes, root, error);
}

int coll_poweraware_box_gather(coll_poweraware_call_t *call, args_t *args)
{
    bool is_root = call->hierarchy->my_rank == args->root;
    coll_poweraware_block_t own = coll_poweraware_own_block(call, args);
    coll_poweraware_begin_round(call); /* 1 */
    unsigned char *box = pwr_boxes_fill(call->boxes, own.bytes);
    int rc = MPI_IN_PLACE == args->sbuf ? OMPI_SUCCESS : coll_poweraware_block_pack(&own, box);
    pwr_boxes_join(call->boxes, rc);
    if (call->hierarchy->my_rank == coll_poweraware_my_leader(call, args->root)) {
        rc = coll_poweraware_first_error(rc, pwr_boxes_wait_all(call->boxes));
        rc = is_root ? gather_at_root(call, args, rc)                 /* 3 */
                     : send_to_root(call, own.bytes, args->root, rc); /* 2 */
    }
    pwr_boxes_end(call->boxes);
    return rc;
}

/* ---- Scatter ---- */

static int scatter_from_root(coll_poweraware_call_t *call, args_t *args, unsigned char *set)
{
    rooted_t r = at_root(call, args);
    coll_poweraware_begin_network(call, OMPI_SUCCESS);
    int rc = move_groups(&r, scatter_group); /* 1 */
    coll_poweraware_end_network(call);
    return coll_poweraware_first_error(
        rc, convert_node(&r, call->hierarchy->my_node, set, true)); /* 2 */
}

int coll_poweraware_box_scatter(coll_poweraware_call_t *call, args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    bool is_root = h->my_rank == args->root;
    coll_poweraware_block_t own = coll_poweraware_own_block(call, args);
    size_t bytes = (size_t)h->num_local * own.bytes;
    int leader = coll_poweraware_my_leader(call, args->root);
    const unsigned char *blocks;
    int rc;
    coll_poweraware_begin_round(call);
    if (h->my_rank == leader) {
        unsigned char *set = pwr_boxes_fill_set(call->boxes, bytes);
        rc = is_root
                 ? scatter_from_root(call, args, set)
                 : move_to_or_from_root(call, false, set, bytes, args->root, OMPI_SUCCESS); /* 2 */
        pwr_boxes_post(call->boxes, rc);
        blocks = set;
    } else {
        blocks = coll_poweraware_rest_for_set(call, leader, bytes, &rc);
    }
    if (OMPI_SUCCESS == rc && MPI_IN_PLACE != args->rbuf) { /* 3 */
        rc = coll_poweraware_block_unpack(&own, blocks + (size_t)h->my_local * own.bytes);
    }
    pwr_boxes_end(call->boxes);
    return rc;
}
