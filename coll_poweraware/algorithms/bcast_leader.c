/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast through node leaders and shared memory; the others rest while leaders are on the network.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-B.
 *
 * The leader of a node is its lowest rank; on the root's node it is the root.  The message travels
 * as packed bytes, chunk by chunk, so that ranks may describe it by different datatypes.
 * For each chunk:
 * 1. the root packs it into its node's slot; another leader receives it from its parent node into
 *    its slot (binomial tree over the nodes, rooted at the root's node);
 * 2. the leader posts the sends to its child nodes from the slot;
 * 3. it publishes the slot (`ready`) and unpacks its own copy while the sends go on;
 * 4. the node's other ranks, throttled until now, unpack it;
 * 5. everybody releases the slot.  With two slots, step 4 of a chunk overlaps step 1 of the next.
 */
#include "algorithms.h"

#include "node_tree.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/packer.h"

typedef struct bcast {
    coll_poweraware_call_t *call;
    pwr_packer_t *packer;
    int root;
    int root_node;
    int leader;       /* of my node */
    bool node_failed; /* the same on all ranks of the node */
} bcast_t;

static int leader_of_vnode(const bcast_t *b, int vnode)
{
    const pwr_hierarchy_t *h = b->call->hierarchy;
    int node = (vnode + b->root_node) % h->num_nodes;
    return node == b->root_node ? b->root : h->leader_of[node];
}

static int my_vnode(const bcast_t *b)
{
    const pwr_hierarchy_t *h = b->call->hierarchy;
    return (h->my_node - b->root_node + h->num_nodes) % h->num_nodes;
}

static int pack_chunk(const bcast_t *b, coll_poweraware_chunk_t *chunk, size_t *bytes)
{
    pwr_events_add(PWR_EVENT_COPY, 0, -1, 0);
    int rc = pwr_packer_pack(b->packer, chunk->data, b->call->segment->slot_bytes, bytes);
    pwr_events_add(PWR_EVENT_COPY_END, 0, -1, *bytes);
    return rc;
}

static int unpack_chunk(const bcast_t *b, coll_poweraware_chunk_t *chunk, size_t bytes)
{
    pwr_events_add(PWR_EVENT_COPY, 0, -1, bytes);
    int rc = pwr_packer_unpack(b->packer, chunk->data, bytes);
    pwr_events_add(PWR_EVENT_COPY_END, 0, -1, 0);
    return rc;
}

/* Step 1. */
static int fill_chunk(const bcast_t *b, coll_poweraware_chunk_t *chunk, size_t *bytes)
{
    if (b->call->hierarchy->my_rank == b->root) {
        return pack_chunk(b, chunk, bytes);
    }
    int parent = leader_of_vnode(b, coll_poweraware_tree_parent(my_vnode(b)));
    pwr_events_add(PWR_EVENT_NET, b->call->hierarchy->my_node, parent, 0);
    int rc = coll_poweraware_post_recv(b->call, chunk->data, b->call->segment->slot_bytes, MPI_BYTE,
                                       parent);
    rc = coll_poweraware_complete(b->call, rc, bytes);
    pwr_events_add(PWR_EVENT_NET_END, b->call->hierarchy->my_node, parent, *bytes);
    return rc;
}

/* Step 2. */
static int post_to_children(const bcast_t *b, coll_poweraware_chunk_t *chunk, size_t bytes)
{
    int num_nodes = b->call->hierarchy->num_nodes;
    int rc = OMPI_SUCCESS;
    int highest = 0;
    while (coll_poweraware_tree_child(my_vnode(b), num_nodes, highest) >= 0) {
        ++highest;
    }
    for (int k = highest - 1; k >= 0 && OMPI_SUCCESS == rc; --k) { /* largest subtree first */
        int child = leader_of_vnode(b, coll_poweraware_tree_child(my_vnode(b), num_nodes, k));
        rc = coll_poweraware_post_send(b->call, chunk->data, bytes, MPI_BYTE, child);
    }
    return rc;
}

/* Step 3.  An error found so far is the node's error: every rank of it stops after this chunk. */
static void publish(bcast_t *b, coll_poweraware_chunk_t *chunk, size_t bytes, int error)
{
    chunk->slot->bytes = bytes;
    chunk->slot->error = error;
    b->node_failed = OMPI_SUCCESS != error;
    coll_poweraware_arrive(&chunk->slot->ready, chunk->expect->ready);
}

static int lead_chunk(bcast_t *b, coll_poweraware_chunk_t *chunk, size_t *bytes)
{
    coll_poweraware_wait_free(b->call, chunk);
    coll_poweraware_begin_leading(b->call);
    int rc = fill_chunk(b, chunk, bytes); /* 1 */
    if (OMPI_SUCCESS == rc) {
        pwr_events_add(PWR_EVENT_NET, b->call->hierarchy->my_node, -1, *bytes);
        rc = post_to_children(b, chunk, *bytes); /* 2 */
    }
    publish(b, chunk, *bytes, rc); /* 3 */
    if (b->call->hierarchy->my_rank != b->root && OMPI_SUCCESS == rc) {
        rc = unpack_chunk(b, chunk, *bytes);
    }
    rc = coll_poweraware_complete(b->call, rc, NULL);
    pwr_events_add(PWR_EVENT_NET_END, b->call->hierarchy->my_node, -1, 0);
    coll_poweraware_end_leading(b->call);
    return rc;
}

/* Step 4. */
static int follow_chunk(bcast_t *b, coll_poweraware_chunk_t *chunk, size_t *bytes)
{
    coll_poweraware_rest(b->call, &chunk->slot->ready, chunk->expect->ready, b->leader);
    *bytes = chunk->slot->bytes;
    int rc = chunk->slot->error;
    b->node_failed = OMPI_SUCCESS != rc;
    return b->node_failed ? rc : unpack_chunk(b, chunk, *bytes);
}

static int move_chunks(bcast_t *b)
{
    int rc = OMPI_SUCCESS;
    size_t moved = 0;
    while (moved < b->packer->total && !b->node_failed) {
        coll_poweraware_chunk_t chunk = coll_poweraware_next_chunk(b->call);
        size_t bytes = 0;
        chunk.expect->ready += 1;
        int rc_chunk = b->call->hierarchy->my_rank == b->leader ? lead_chunk(b, &chunk, &bytes)
                                                                : follow_chunk(b, &chunk, &bytes);
        coll_poweraware_release_chunk(b->call, &chunk); /* 5 */
        moved += bytes;
        rc = OMPI_SUCCESS == rc ? rc_chunk : rc;
    }
    return rc;
}

int coll_poweraware_bcast_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    pwr_packer_t packer;
    int root = args->root;
    int rc = h->my_rank == root
                 ? pwr_packer_begin_pack(&packer, args->rbuf, args->rcount, args->rdtype)
                 : pwr_packer_begin_unpack(&packer, args->rbuf, args->rcount, args->rdtype);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    int root_node = h->node_of[root];
    bcast_t b = {
        .call = call,
        .packer = &packer,
        .root = root,
        .root_node = root_node,
        .leader = h->my_node == root_node ? root : h->leader_of[h->my_node],
    };
    rc = move_chunks(&b);
    pwr_packer_end(&packer);
    return rc;
}
