/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Scan and Exscan through shared memory and node leaders; the others rest while leaders are on the
 * network.
 *
 * Steps for each chunk, as in reduce_node.h but for what is combined and taken:
 * 1. every rank copies its contribution into its area;
 * 2. every rank combines its slice of the elements from area to area, so that area i comes to hold
 *    x_0 op ... op x_i of the node;
 * 3. leader part of each node receives what all nodes before it come to, into the area to receive
 *    into, and sends that, combined with its node's last area, to the next one: a chain, in which
 *    chunks follow each other;
 * 4. every rank copies its area (Exscan: that of the rank before it) and combines it with what the
 *    nodes before come to.
 *
 * Source: leaders and rests as in ICPP 2010, section V-B, carried over; the chain of nodes, and
 * slices instead of a chain of ranks, are ours.
 *
 * Order: always lower ranks on the left, so it holds for operators that do not commute; on several
 * nodes, because prefixes of ranks must be prefixes of nodes, only where nodes are runs of ranks.
 * The order depends on layout alone: the same bytes in every run.
 */
#include "algorithms/leader/among_leaders.h"

#include <stdlib.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

typedef coll_poweraware_reduction_t reduction_t;
typedef coll_poweraware_reduce_chunk_t reduce_chunk_t;

typedef struct scan {
    size_t count; /* of the message */
    bool exclusive;
    char *spare; /* of a leader between others: [area_bytes] */
} scan_t;

bool coll_poweraware_scan_leader_can(const coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    return (1 == call->hierarchy->num_nodes || call->hierarchy->ordered) &&
           coll_poweraware_reduction_can(call, args, 1);
}

static void cut(reduction_t *r, reduce_chunk_t *chunk)
{
    const scan_t *scan = r->collective;
    size_t first = coll_poweraware_part(scan->count, chunk->number, r->num_chunks);
    size_t end = coll_poweraware_part(scan->count, chunk->number + 1, r->num_chunks);
    coll_poweraware_reduction_cut_one_run(r, chunk, first, end - first);
    chunk->take_count = chunk->count;
    chunk->take_to = first;
}

static char *in_area(const reduction_t *r, const reduce_chunk_t *chunk, int index, size_t element)
{
    return coll_poweraware_reduction_area(r, chunk, index) + (ptrdiff_t)element * r->extent;
}

/* 2. */
static void combine(reduction_t *r, const reduce_chunk_t *chunk, const coll_poweraware_stretch_t *s)
{
    for (int i = 1; i < r->call->hierarchy->num_local; ++i) {
        ompi_op_reduce(r->op, in_area(r, chunk, i - 1, s->at), in_area(r, chunk, i, s->at),
                       (int)s->count, r->datatype);
    }
}

/* ---- 3. ---- */

static int transfer(reduction_t *r, bool send, char *buffer, size_t count, int node)
{
    int peer = coll_poweraware_reduction_leader(r, node, r->my_part);
    int rc = send ? coll_poweraware_post_send(r->call, buffer, count, r->datatype, peer)
                  : coll_poweraware_post_recv(r->call, buffer, count, r->datatype, peer);
    coll_poweraware_reduction_meanwhile(r);
    return coll_poweraware_complete(r->call, rc);
}

/* What the nodes up to mine come to, in spare. */
static int combine_with_node(const reduction_t *r, char *before, char *mine, size_t count,
                             char *spare)
{
    if (ompi_datatype_copy_content_same_ddt(r->datatype, count, spare, mine) < 0) {
        return OMPI_ERROR;
    }
    ompi_op_reduce(r->op, before, spare, (int)count, r->datatype);
    return OMPI_SUCCESS;
}

static int network(reduction_t *r, const reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    const scan_t *scan = r->collective;
    coll_poweraware_range_t part =
        coll_poweraware_range_of_part(r, (coll_poweraware_range_t){0, chunk->count});
    size_t count = part.to - part.from;
    char *before = in_area(r, chunk, h->max_local, part.from);
    char *mine = coll_poweraware_reduction_sum(r, chunk) + (ptrdiff_t)part.from * r->extent;
    int rc = OMPI_SUCCESS;
    if (0 == count) {
        return rc;
    }
    if (h->my_node > 0) {
        rc = transfer(r, false, before, count, h->my_node - 1);
    }
    if (h->my_node + 1 < h->num_nodes) {
        if (h->my_node > 0 && OMPI_SUCCESS == rc) {
            rc = combine_with_node(r, before, mine, count, scan->spare + r->base);
            mine = scan->spare + r->base;
        }
        int rc_send = transfer(r, true, mine, count, h->my_node + 1);
        rc = coll_poweraware_first_error(rc, rc_send);
    }
    return rc;
}

/* ---- 4. ---- */

static int take(reduction_t *r, const reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    const scan_t *scan = r->collective;
    int from = scan->exclusive ? h->my_local - 1 : h->my_local;
    bool others_before = h->my_node > 0;
    char *to = r->rbuf + (ptrdiff_t)chunk->take_to * r->extent;
    char *before = in_area(r, chunk, h->max_local, 0);
    char *first = from >= 0 ? in_area(r, chunk, from, 0) : before;
    if (from < 0 && !others_before) {
        return OMPI_SUCCESS; /* rank 0 of an Exscan: its buffer stays as it is */
    }
    if (ompi_datatype_copy_content_same_ddt(r->datatype, chunk->count, to, first) < 0) {
        return OMPI_ERROR;
    }
    if (from >= 0 && others_before) {
        ompi_op_reduce(r->op, before, to, (int)chunk->count, r->datatype);
    }
    return OMPI_SUCCESS;
}

/* ---- all of it ---- */

int coll_poweraware_scan_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    scan_t scan = {.count = args->rcount, .exclusive = COLL_POWERAWARE_EXSCAN == call->collective};
    reduction_t r;
    int error = OMPI_SUCCESS;
    coll_poweraware_reduction_begin(&r, call, args, scan.count, 1);
    if (r.my_part >= 0 && h->my_node > 0 && h->my_node + 1 < h->num_nodes) {
        scan.spare = malloc(r.area_bytes);
        error = NULL == scan.spare ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != error) {
        coll_poweraware_complete(call, error); /* what it sends from here on is empty */
    }
    r.num_chunks = (scan.count + r.capacity - 1) / r.capacity;
    r.gives_all = true;
    r.cut = cut;
    r.combine = combine;
    r.network = network;
    r.take = take;
    r.collective = &scan;
    int rc = coll_poweraware_reduction_run(&r);
    free(scan.spare);
    return coll_poweraware_first_error(error, rc);
}
