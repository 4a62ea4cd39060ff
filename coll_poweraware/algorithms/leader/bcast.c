/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast through node leaders and shared memory; the others rest while leaders are on the network.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-B.
 *
 * The leader of a node is its lowest rank; on the root's node it is the root.  The message travels
 * as packed bytes, so that ranks may describe it by different datatypes, and in pieces
 * (pipeline.h):
 * 1. the root packs a piece into its node's slot; another leader receives it from its parent node
 *    into its slot;
 * 2. leaders send it to their child nodes;
 * 3. all ranks but the root, throttled until now, unpack it.
 * On one node the root may expose its memory instead (single_copy.h).
 * Where nobody shares the node and the data have no gaps, messages go to and from user memory.
 *
 * Leaders form a binomial tree or a chain, whichever is through first if a leader passes on one
 * piece at a time: the root of the tree sends each piece log2(nodes) times; the last of the chain
 * has its first piece after nodes - 1 hops.
 */
#include "algorithms/algorithms.h"

#include "algorithms/single_copy/single_copy.h"
#include "algorithms/leader/node_tree.h"
#include "algorithms/leader/pipeline.h"
#include "pwr_ompi/packer.h"

typedef struct bcast {
    coll_poweraware_call_t *call;
    pwr_packer_t packer;
    size_t piece_bytes;
    int root;
    int root_node;
    int leader; /* of my node */
    int parent; /* rank */
    int num_children;
    int children[COLL_POWERAWARE_LANE_MESSAGES]; /* ranks */
} bcast_t;

static int leader_of_vnode(const bcast_t *b, int vnode)
{
    int node = (vnode + b->root_node) % b->call->hierarchy->num_nodes;
    return coll_poweraware_leader(b->call, node, b->root);
}

/* Where ranks share CPUs, it takes a while until a leader runs that a piece has come for: as long
   as so many bytes take (measured: 60 us). */
enum { TURN_BYTES = 32 * 1024 };

static bool is_chain(const bcast_t *b, size_t num_pieces)
{
    size_t nodes = (size_t)b->call->hierarchy->num_nodes;
    size_t turn = b->call->crowded ? TURN_BYTES / b->piece_bytes : 0; /* in pieces */
    return num_pieces + nodes - 2 + turn * (nodes - 1) <
           (num_pieces + turn) *
               (size_t)coll_poweraware_num_children(0, (int)nodes, COLL_POWERAWARE_BINOMIAL);
}

static void find_peers(bcast_t *b, size_t num_pieces)
{
    const pwr_hierarchy_t *h = b->call->hierarchy;
    int vnode = (h->my_node - b->root_node + h->num_nodes) % h->num_nodes;
    if (h->my_rank != b->leader) {
        return;
    }
    int fan = is_chain(b, num_pieces) ? COLL_POWERAWARE_CHAIN : COLL_POWERAWARE_BINOMIAL;
    if (vnode > 0) {
        b->parent = leader_of_vnode(b, coll_poweraware_node_parent(vnode, fan));
    }
    int num = coll_poweraware_num_children(vnode, h->num_nodes, fan);
    for (int k = num - 1; k >= 0; --k) { /* largest subtree first */
        int child = coll_poweraware_node_child(vnode, h->num_nodes, k, fan);
        b->children[b->num_children++] = leader_of_vnode(b, child);
    }
}

static void describe(void *self, size_t index, coll_poweraware_piece_t *piece)
{
    const bcast_t *b = self;
    const pwr_hierarchy_t *h = b->call->hierarchy;
    bool root = h->my_rank == b->root;
    piece->first = index * b->piece_bytes;
    size_t left = b->packer.total - piece->first;
    piece->bytes = left < b->piece_bytes ? left : b->piece_bytes;
    piece->fillers = 1;
    piece->fills = h->my_rank == b->leader;
    piece->reads = !piece->fills || h->num_nodes > 1; /* a leader sends out of it */
    piece->readers = h->num_nodes > 1 ? h->num_local : h->num_local - 1;
    piece->rests = true;
    piece->from = b->parent; /* 1 */
    piece->num_to = b->num_children;
    piece->to = b->children;
    if (NULL != b->packer.contiguous && (root || 1 == h->num_local)) {
        piece->direct = b->packer.contiguous + piece->first;
    }
    piece->takes = !root && (NULL == piece->direct); /* 3 */
}

static int fill(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    bcast_t *b = self;
    return pwr_packer_pack(&b->packer, slot, piece->bytes);
}

static int take(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot)
{
    bcast_t *b = self;
    return pwr_packer_unpack(&b->packer, slot, piece->bytes);
}

int coll_poweraware_bcast_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    static const coll_poweraware_pipeline_t pipeline = {describe, fill, take};
    const pwr_hierarchy_t *h = call->hierarchy;
    int root_node = h->node_of[args->root];
    bcast_t b = {
        .call = call,
        .root = args->root,
        .root_node = root_node,
        .leader = coll_poweraware_my_leader(call, args->root),
        .parent = COLL_POWERAWARE_NO_RANK,
    };
    int rc = pwr_packer_begin(&b.packer, h->my_rank == args->root, args->rbuf, args->rcount,
                              args->rdtype);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    const coll_poweraware_rooted_copy_t message = {
        .root = args->root,
        .memory = b.packer.contiguous,
        .block = coll_poweraware_one_block(args->rbuf, args->rcount, args->rdtype),
    };
    if (coll_poweraware_rooted_single_copy(call, &message, &rc)) {
        pwr_packer_end(&b.packer);
        return rc;
    }
    b.piece_bytes = coll_poweraware_piece_bytes(call, b.packer.total);
    size_t num_pieces = (b.packer.total + b.piece_bytes - 1) / b.piece_bytes;
    find_peers(&b, num_pieces);
    rc = coll_poweraware_pipeline_run(&pipeline, &b, call, num_pieces, b.leader);
    pwr_packer_end(&b.packer);
    return rc;
}
