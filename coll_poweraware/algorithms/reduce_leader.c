/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduce through shared memory and node leaders; the others rest while leaders are on the network.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-B.
 *
 * A slot is divided into max_local + 1 areas: one per rank of the node, in rank order, and one for
 * what the leader receives.  The leader of a node is its lowest rank; on the root's node, the root.
 * For each chunk of elements:
 * 1. every rank copies its contribution into its area and counts itself on `arrived`;
 * 2. every rank reduces its slice of the elements over all areas, in rank order, into the last
 *    rank's area and counts itself on `reduced`;
 * 3. the leader receives the partial results of its child nodes (binomial tree) and reduces them
 *    in node order, sends the sum to its parent node, and counts on `ready`; meanwhile the others
 *    rest, throttled;
 * 4. the root copies the result into rbuf; everybody releases the slot.
 *
 * Order: within a node the operands are combined in rank order, and a tree node combines its own
 * range of nodes with the following one.  For a non-commutative operator the tree is rooted at node
 * 0, whose leader passes the result on, and nodes must hold consecutive ranks.  For a commutative
 * one it is rooted at the root's node.  Either way the order depends on layout and root only.
 */
#include "algorithms.h"

#include <stdlib.h>

#include "node_tree.h"
#include "pwr_ompi/events.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

enum { ALIGNMENT = 64 };

typedef struct reduce {
    coll_poweraware_call_t *call;
    struct ompi_datatype_t *datatype;
    struct ompi_op_t *op;
    const char *contribution;
    char *rbuf; /* root only */
    ptrdiff_t extent;
    ptrdiff_t base; /* from the start of an area to the address MPI is given */
    size_t area_bytes;
    int root;
    int leader;   /* of my node */
    int rotation; /* node of virtual node 0 */
    int sum_area; /* where slices are reduced to */
    bool node_failed;
} reduce_t;

static size_t area_bytes_of(const coll_poweraware_call_t *call)
{
    size_t areas = (size_t)call->hierarchy->max_local + 1;
    return call->segment->slot_bytes / areas / ALIGNMENT * ALIGNMENT;
}

/* Elements of a chunk: as many as fit an area, whatever the type's gaps; 0 if not even one does.
   The same on all nodes: it depends on max_local, not on num_local. */
static size_t chunk_elements(size_t area_bytes, const struct ompi_datatype_t *datatype)
{
    ptrdiff_t gap;
    ptrdiff_t one = opal_datatype_span(&datatype->super, 1, &gap);
    ptrdiff_t extent;
    ptrdiff_t lb;
    ompi_datatype_get_extent(datatype, &lb, &extent);
    ptrdiff_t room = (ptrdiff_t)area_bytes - ALIGNMENT - one;
    if (extent <= 0 || room < 0) {
        return 0;
    }
    return 1 + (size_t)(room / extent);
}

bool coll_poweraware_reduce_leader_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    bool order_kept = ompi_op_is_commute(args->op) || call->hierarchy->ordered;
    return order_kept && chunk_elements(area_bytes_of(call), args->rdtype) > 0;
}

/* The address to hand to MPI for an area: the first byte of data lies inside the area, and the
   address is as aligned as the area itself. */
static char *area(const reduce_t *r, const coll_poweraware_chunk_t *chunk, int index)
{
    return (char *)chunk->data + (size_t)index * r->area_bytes + r->base;
}

static ptrdiff_t area_base(const struct ompi_datatype_t *datatype)
{
    ptrdiff_t gap;
    opal_datatype_span(&datatype->super, 1, &gap);
    ptrdiff_t below = gap % ALIGNMENT;
    below += below < 0 ? ALIGNMENT : 0;
    return below - gap;
}

/* 1. */
static int contribute(const reduce_t *r, coll_poweraware_chunk_t *chunk, size_t first, size_t count)
{
    pwr_events_add(PWR_EVENT_COPY, 1, -1, 0);
    int rc = ompi_datatype_copy_content_same_ddt(
        r->datatype, count, area(r, chunk, r->call->hierarchy->my_local),
        (char *)r->contribution + (ptrdiff_t)first * r->extent);
    pwr_events_add(PWR_EVENT_COPY_END, 1, -1, 0);
    coll_poweraware_arrive(&chunk->slot->arrived, chunk->expect->arrived);
    return rc < 0 ? OMPI_ERROR : OMPI_SUCCESS;
}

/* 2.  Operands are combined from the right: sum = x op sum keeps the order. */
static void reduce_slice(const reduce_t *r, coll_poweraware_chunk_t *chunk, size_t count)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    size_t from = count * (size_t)h->my_local / (size_t)h->num_local;
    size_t to = count * (size_t)(h->my_local + 1) / (size_t)h->num_local;
    coll_poweraware_wait(r->call, &chunk->slot->arrived, chunk->expect->arrived);
    pwr_events_add(PWR_EVENT_COPY, 2, -1, 0);
    ptrdiff_t offset = (ptrdiff_t)from * r->extent;
    for (int i = h->num_local - 2; i >= 0 && to > from; --i) {
        ompi_op_reduce(r->op, area(r, chunk, i) + offset, area(r, chunk, r->sum_area) + offset,
                       (int)(to - from), r->datatype);
    }
    pwr_events_add(PWR_EVENT_COPY_END, 2, -1, 0);
    coll_poweraware_arrive(&chunk->slot->reduced, chunk->expect->reduced);
}

static int leader_of_node(const reduce_t *r, int node)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    return node == h->node_of[r->root] ? r->root : h->leader_of[node];
}

static int leader_of_vnode(const reduce_t *r, int vnode)
{
    return leader_of_node(r, (vnode + r->rotation) % r->call->hierarchy->num_nodes);
}

static int transfer(const reduce_t *r, bool send, char *buffer, size_t count, int peer)
{
    int node = r->call->hierarchy->my_node;
    pwr_events_add(PWR_EVENT_NET, node, peer, 0);
    int rc = send ? coll_poweraware_post_send(r->call, buffer, count, r->datatype, peer)
                  : coll_poweraware_post_recv(r->call, buffer, count, r->datatype, peer);
    rc = coll_poweraware_complete(r->call, rc, NULL);
    pwr_events_add(PWR_EVENT_NET_END, node, peer, 0);
    return rc;
}

/* 3.  *sum is the area that holds the result; the other of the two is free to receive into. */
static int reduce_nodes(const reduce_t *r, coll_poweraware_chunk_t *chunk, size_t count, char **sum)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int vnode = (h->my_node - r->rotation + h->num_nodes) % h->num_nodes;
    char *spare = area(r, chunk, h->max_local);
    int rc = OMPI_SUCCESS;
    int child;
    for (int k = 0; (child = coll_poweraware_tree_child(vnode, h->num_nodes, k)) >= 0; ++k) {
        int rc_child = transfer(r, false, spare, count, leader_of_vnode(r, child));
        rc = OMPI_SUCCESS == rc ? rc_child : rc;
        /* the child's nodes follow mine: sum op child, result where the child's was */
        ompi_op_reduce(r->op, *sum, spare, (int)count, r->datatype);
        char *swap = *sum;
        *sum = spare;
        spare = swap;
    }
    if (vnode != 0) {
        int parent = leader_of_vnode(r, coll_poweraware_tree_parent(vnode));
        int rc_parent = transfer(r, true, *sum, count, parent);
        rc = OMPI_SUCCESS == rc ? rc_parent : rc;
    }
    return rc;
}

/* 3. for a tree that is not rooted at the root's node: node r->rotation passes the result on. */
static int pass_to_root(const reduce_t *r, size_t count, char *sum)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int root_node = h->node_of[r->root];
    if (r->rotation == root_node) {
        return OMPI_SUCCESS;
    }
    if (h->my_node == r->rotation) {
        return transfer(r, true, sum, count, r->root);
    }
    if (h->my_node == root_node) {
        return transfer(r, false, sum, count, leader_of_node(r, r->rotation));
    }
    return OMPI_SUCCESS;
}

static int lead_chunk(reduce_t *r, coll_poweraware_chunk_t *chunk, size_t first, size_t count)
{
    coll_poweraware_wait(r->call, &chunk->slot->reduced, chunk->expect->reduced);
    coll_poweraware_begin_leading(r->call);
    char *sum = area(r, chunk, r->sum_area);
    int rc = reduce_nodes(r, chunk, count, &sum);
    int rc_pass = pass_to_root(r, count, sum);
    rc = OMPI_SUCCESS == rc ? rc_pass : rc;
    coll_poweraware_end_leading(r->call);
    chunk->slot->error = rc;
    r->node_failed = OMPI_SUCCESS != rc;
    coll_poweraware_arrive(&chunk->slot->ready, chunk->expect->ready);
    if (OMPI_SUCCESS == rc && r->call->hierarchy->my_rank == r->root) { /* 4 */
        char *to = r->rbuf + (ptrdiff_t)first * r->extent;
        rc = ompi_datatype_copy_content_same_ddt(r->datatype, count, to, sum) < 0 ? OMPI_ERROR
                                                                                  : OMPI_SUCCESS;
    }
    return rc;
}

static int follow_chunk(reduce_t *r, coll_poweraware_chunk_t *chunk)
{
    coll_poweraware_rest(r->call, &chunk->slot->ready, chunk->expect->ready, r->leader);
    r->node_failed = OMPI_SUCCESS != chunk->slot->error;
    return chunk->slot->error;
}

static int reduce_chunk(reduce_t *r, size_t first, size_t count)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    coll_poweraware_chunk_t chunk = coll_poweraware_next_chunk(r->call);
    coll_poweraware_wait_free(r->call, &chunk);
    chunk.expect->arrived += (uint32_t)h->num_local;
    chunk.expect->reduced += (uint32_t)h->num_local;
    chunk.expect->ready += 1;

    int rc = contribute(r, &chunk, first, count);
    reduce_slice(r, &chunk, count);
    int rc_rest =
        h->my_rank == r->leader ? lead_chunk(r, &chunk, first, count) : follow_chunk(r, &chunk);
    coll_poweraware_release_chunk(r->call, &chunk);
    return OMPI_SUCCESS == rc ? rc_rest : rc;
}

int coll_poweraware_reduce_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t count = args->rcount;
    ptrdiff_t lb;
    reduce_t r = {
        .call = call,
        .datatype = args->rdtype,
        .op = args->op,
        .contribution = MPI_IN_PLACE == args->sbuf ? args->rbuf : args->sbuf,
        .rbuf = args->rbuf,
        .base = area_base(args->rdtype),
        .area_bytes = area_bytes_of(call),
        .root = args->root,
        .rotation = ompi_op_is_commute(args->op) ? h->node_of[args->root] : 0,
        .sum_area = h->num_local - 1,
    };
    r.leader = leader_of_node(&r, h->my_node);
    ompi_datatype_get_extent(args->rdtype, &lb, &r.extent);
    size_t most = chunk_elements(r.area_bytes, args->rdtype);

    int rc = OMPI_SUCCESS;
    for (size_t first = 0; first < count && !r.node_failed; first += most) {
        size_t left = count - first;
        int rc_chunk = reduce_chunk(&r, first, left < most ? left : most);
        rc = OMPI_SUCCESS == rc ? rc_chunk : rc;
    }
    return rc;
}
