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
#include "algorithms/leader/reduce_node.h"

#include <stdlib.h>

#include "ompi/op/op.h"

typedef coll_poweraware_reduction_t reduction_t;
typedef coll_poweraware_reduce_chunk_t reduce_chunk_t;

typedef struct scan {
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

/* 2. */
static void combine(reduction_t *r, const reduce_chunk_t *chunk, const coll_poweraware_stretch_t *s)
{
    for (int i = 1; i < r->call->hierarchy->num_local; ++i) {
        ompi_op_reduce(r->operands.op, coll_poweraware_reduction_area(r, chunk, i - 1, s->at),
                       coll_poweraware_reduction_area(r, chunk, i, s->at), (int)s->count,
                       r->operands.datatype);
    }
}

/* ---- 3. ---- */

/* What the nodes up to mine come to, in spare. */
static void combine_with_node(const reduction_t *r, char *before, char *mine, size_t count,
                              char *spare)
{
    coll_poweraware_note_error(r->call,
                               coll_poweraware_copy_operands(&r->operands, spare, mine, count));
    coll_poweraware_put_left(&r->leaders, before, spare, count);
}

static void network(reduction_t *r, const reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    const scan_t *scan = r->collective;
    coll_poweraware_range_t part = coll_poweraware_my_part(r, chunk);
    size_t count = part.to - part.from;
    char *before = coll_poweraware_reduction_room(r, chunk, part.from);
    char *mine = coll_poweraware_reduction_sum(r, chunk, part.from);
    if (h->my_node > 0) {
        coll_poweraware_leaders_transfer(&r->leaders, false, before, count, h->my_node - 1);
    }
    if (h->my_node + 1 < h->num_nodes) {
        if (h->my_node > 0 && OMPI_SUCCESS == r->call->error) {
            combine_with_node(r, before, mine, count, scan->spare + r->operands.base);
            mine = scan->spare + r->operands.base;
        }
        coll_poweraware_leaders_transfer(&r->leaders, true, mine, count, h->my_node + 1);
    }
}

/* ---- 4. ---- */

static int take(reduction_t *r, const reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    const scan_t *scan = r->collective;
    int from = scan->exclusive ? h->my_local - 1 : h->my_local;
    bool others_before = h->my_node > 0;
    char *to = r->operands.rbuf + (ptrdiff_t)chunk->take_to * r->operands.extent;
    char *before = coll_poweraware_reduction_room(r, chunk, 0);
    char *first = from >= 0 ? coll_poweraware_reduction_area(r, chunk, from, 0) : before;
    if (from < 0 && !others_before) {
        return OMPI_SUCCESS; /* rank 0 of an Exscan: its buffer stays as it is */
    }
    int rc = coll_poweraware_copy_operands(&r->operands, to, first, chunk->count);
    if (OMPI_SUCCESS == rc && from >= 0 && others_before) {
        ompi_op_reduce(r->operands.op, before, to, (int)chunk->count, r->operands.datatype);
    }
    return rc;
}

/* ---- all of it ---- */

int coll_poweraware_scan_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    scan_t scan = {.exclusive = COLL_POWERAWARE_EXSCAN == call->collective};
    reduction_t r;
    int error = OMPI_SUCCESS;
    coll_poweraware_reduction_begin(&r, call, args, args->rcount, 1);
    if (r.my_part >= 0 && h->my_node > 0 && h->my_node + 1 < h->num_nodes) {
        scan.spare = malloc(r.area_bytes);
        error = NULL == scan.spare ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    }
    coll_poweraware_note_error(call, error); /* what it sends from here on is empty */
    r.gives_all = true;
    r.combine = combine;
    r.network = network;
    r.take = take;
    r.collective = &scan;
    int rc = coll_poweraware_reduction_run(&r);
    free(scan.spare);
    return coll_poweraware_first_error(error, rc);
}
