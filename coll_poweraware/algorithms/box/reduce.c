/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduce, Allreduce, Reduce_scatter and Reduce_scatter_block through boxes.
 *
 * Reduce:
 * 1. everybody puts its operand into its box; who does not lead is done;
 * 2. the leader combines the operands of its node; leaders combine theirs up a tree
 *    (node_tree.h).
 * The others, on one node, while reading all boxes is cheap:
 * 1. everybody puts its operand into its box;
 * 2. everybody combines what it needs of all boxes: all elements, or those that it is to have.
 * Allreduce on one node, otherwise:
 * 1. as above;
 * 2. everybody combines a slice, puts it into its next box,
 * 3. and copies all slices.
 * On several nodes, or with very many ranks:
 * 1. as above;
 * 2. the leader combines the operands of its node into its set; leaders sum theirs up
 *    (coll_poweraware_sum_whole); the others rest;
 * 3. the leader posts the set, and everybody copies what it needs.
 *
 * Operands of a node are combined in rank order from the right, x0 op (x1 op (x2 ...)), element by
 * element the same way in all variants; partial_sums.h has the order of nodes.  So the order
 * depends on the layout, the root, and whether ranks share CPUs, and every rank has the same bytes.
 */
#include "algorithms/box/reduction.h"
#include "algorithms/leader/node_tree.h"

#include "ompi/op/op.h"

/* More ranks than these do not read each other's boxes; more bytes than these in all boxes are
   worth a second round. */
enum { TOGETHER_RANKS = 16, TOGETHER_BYTES = 16 * 1024 };

typedef const coll_poweraware_args_t args_t;
typedef coll_poweraware_box_reduction_t reduction_t;

static int all_of(const reduction_t *r)
{
    return r->call->hierarchy->num_local;
}

/* ---- one node ---- */

/* 1, 2.  The sum of count elements from first on comes to lie at to. */
static int reduce_part(const reduction_t *r, size_t first, size_t count, char *to)
{
    int rc = coll_poweraware_box_contribute(r, true);
    rc = coll_poweraware_first_error(rc, pwr_boxes_wait_all(r->call->boxes));
    if (OMPI_SUCCESS == rc) {
        rc = coll_poweraware_box_combine(r, pwr_boxes_read, all_of(r), first, count, to);
    }
    return rc;
}

static int reduce_together(const reduction_t *r)
{
    return reduce_part(r, r->first, r->count, r->operands.rbuf);
}

static size_t slice_start(const reduction_t *r, int i)
{
    return r->total * (size_t)i / (size_t)r->call->hierarchy->num_local;
}

static size_t slice_count(const reduction_t *r, int i)
{
    return slice_start(r, i + 1) - slice_start(r, i);
}

/* Bytes of a box for the longest slice. */
static size_t slice_bytes(const reduction_t *r)
{
    size_t ranks = (size_t)r->call->hierarchy->num_local;
    return coll_poweraware_operand_bytes(&r->operands, (r->total + ranks - 1) / ranks);
}

static char *slice_of(const reduction_t *r, int i)
{
    return r->operands.rbuf + (ptrdiff_t)slice_start(r, i) * r->operands.extent;
}

static int reduce_in_slices(const reduction_t *r)
{
    int me = r->call->hierarchy->my_local;
    size_t bytes = slice_bytes(r);
    int rc = reduce_part(r, slice_start(r, me), slice_count(r, me), slice_of(r, me));
    coll_poweraware_begin_round(r->call);
    char *mine = coll_poweraware_in_box(r, pwr_boxes_fill(r->call->boxes, bytes));
    int rc_copy =
        coll_poweraware_copy_operands(&r->operands, mine, slice_of(r, me), slice_count(r, me));
    rc = coll_poweraware_first_error(rc, rc_copy);
    pwr_boxes_join(r->call->boxes, rc);
    rc = coll_poweraware_first_error(rc, pwr_boxes_wait_all(r->call->boxes));
    for (int i = 0; i < r->call->hierarchy->num_local && OMPI_SUCCESS == rc; ++i) { /* 3 */
        if (i != me) {
            const char *from = coll_poweraware_in_box(r, pwr_boxes_read(r->call->boxes, i, bytes));
            rc = coll_poweraware_copy_operands(&r->operands, slice_of(r, i), from,
                                               slice_count(r, i));
        }
    }
    return rc;
}

/* ---- through leaders ---- */

/* 2, 3: the leader's part.  The sum comes to lie in the set; what leaders receive, in the leader's
   box, which nobody else reads. */
static const unsigned char *lead(const reduction_t *r, int error, int *rc)
{
    *rc = coll_poweraware_first_error(error, pwr_boxes_wait_all(r->call->boxes));
    coll_poweraware_begin_round(r->call);
    unsigned char *set = pwr_boxes_fill_set(r->call->boxes, r->bytes);
    char *sum = coll_poweraware_in_box(r, set);
    char *spare = coll_poweraware_in_box(
        r, pwr_boxes_read_last(r->call->boxes, r->call->hierarchy->my_local, r->bytes));
    if (OMPI_SUCCESS == *rc) {
        *rc = coll_poweraware_box_combine(r, pwr_boxes_read_last, all_of(r), 0, r->total, sum);
    }
    coll_poweraware_begin_network(r->call, *rc);
    coll_poweraware_leaders_t leaders = coll_poweraware_box_leaders(r);
    char *result = coll_poweraware_sum_whole(&leaders, sum, spare, r->total);
    coll_poweraware_end_network(r->call);
    *rc = coll_poweraware_first_error(*rc, r->call->error);
    if (OMPI_SUCCESS == *rc) {
        *rc = coll_poweraware_copy_operands(&r->operands, sum, result, r->total);
    }
    pwr_boxes_post(r->call->boxes, *rc);
    return set;
}

static int reduce_through_leaders(const reduction_t *r)
{
    int leader = coll_poweraware_my_leader(r->call, COLL_POWERAWARE_NO_RANK);
    bool leading = r->call->hierarchy->my_rank == leader;
    int rc = coll_poweraware_box_contribute(r, !leading); /* 1 */
    const unsigned char *set;
    int rc_lead;
    if (leading) {
        set = lead(r, rc, &rc_lead);
    } else {
        pwr_boxes_end(r->call->boxes);
        coll_poweraware_begin_round(r->call);
        set = coll_poweraware_rest_for_set(r->call, leader, r->bytes, &rc_lead);
    }
    rc = coll_poweraware_first_error(rc, rc_lead);
    if (OMPI_SUCCESS == rc) { /* 3 */
        const char *from =
            coll_poweraware_in_box(r, set) + (ptrdiff_t)r->first * r->operands.extent;
        rc = coll_poweraware_copy_operands(&r->operands, r->operands.rbuf, from, r->count);
    }
    pwr_boxes_end(r->call->boxes);
    return rc;
}

/* ---- the collectives ---- */

int coll_poweraware_box_allreduce(coll_poweraware_call_t *call, args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    reduction_t r = coll_poweraware_box_reduction(call, args, args->rcount);
    if (h->num_nodes > 1) {
        return reduce_through_leaders(&r);
    }
    if (r.bytes * (size_t)h->num_local > TOGETHER_BYTES) {
        return reduce_in_slices(&r);
    }
    return h->num_local > TOGETHER_RANKS ? reduce_through_leaders(&r) : reduce_together(&r);
}

bool coll_poweraware_box_reduce_can(const coll_poweraware_call_t *call, args_t *args, size_t bytes)
{
    (void)bytes;
    return coll_poweraware_operands_fit(call, args, args->rcount);
}

/* Of a Reduce_scatter(_block): elements before a rank's part; of all, before rank size. */
static size_t elements_before(const coll_poweraware_call_t *call, args_t *args, int rank)
{
    if (COLL_POWERAWARE_REDUCE_SCATTER_BLOCK == call->collective) {
        return args->rcount * (size_t)rank;
    }
    size_t before = 0;
    for (int i = 0; i < rank; ++i) {
        before += pwr_ompi_count(args->rcounts, i);
    }
    return before;
}

bool coll_poweraware_box_reduce_scatter_can(const coll_poweraware_call_t *call, args_t *args,
                                            size_t bytes)
{
    (void)bytes;
    return coll_poweraware_operands_fit(call, args,
                                        elements_before(call, args, call->hierarchy->size));
}

/* Who has a part of the result reads all boxes anyway. */
int coll_poweraware_box_reduce_scatter(coll_poweraware_call_t *call, args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    reduction_t r = coll_poweraware_box_reduction(call, args, elements_before(call, args, h->size));
    r.first = elements_before(call, args, h->my_rank);
    r.count = elements_before(call, args, h->my_rank + 1) - r.first;
    return 1 == h->num_nodes ? reduce_together(&r) : reduce_through_leaders(&r);
}

/* Reduce, step 2.  A box that nobody reads any more once its operand is combined, and of which
   another leader than the root has no need before: where to receive, and where to combine. */
static char *spare_box(const reduction_t *r)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    if (1 == h->max_local) {
        return coll_poweraware_in_box(r, pwr_boxes_read_last(r->call->boxes, 0, r->bytes));
    }
    return coll_poweraware_in_box(
        r, pwr_boxes_read(r->call->boxes, 0 == h->my_local ? 1 : 0, r->bytes));
}

/* Going round to the root's node changes the order of nodes. */
static void reduce_nodes(const reduction_t *r, char *sum)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    coll_poweraware_leaders_t leaders = coll_poweraware_box_leaders(r);
    int to = h->node_of[r->root];
    int top = ompi_op_is_commute(r->operands.op) ? to : h->num_nodes - 1;
    int fan = coll_poweraware_fan(r->total * (size_t)r->operands.extent, h->num_nodes);
    coll_poweraware_sum_to_node(&leaders, sum, spare_box(r), r->total, top, fan);
    coll_poweraware_sum_pass(&leaders, sum, r->total, top, to);
}

/* The root's sum comes to lie in rbuf. */
static int lead_reduce(const reduction_t *r, int error)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    char *sum =
        h->my_rank == r->root
            ? r->operands.rbuf
            : coll_poweraware_in_box(r, pwr_boxes_read(r->call->boxes, h->my_local, r->bytes));
    int rc = coll_poweraware_first_error(error, pwr_boxes_wait_all(r->call->boxes));
    if (OMPI_SUCCESS == rc) {
        rc = coll_poweraware_box_combine(r, pwr_boxes_read, all_of(r), 0, r->total, sum);
    }
    if (h->num_nodes > 1) {
        coll_poweraware_begin_network(r->call, rc);
        reduce_nodes(r, sum);
        coll_poweraware_end_network(r->call);
        rc = r->call->error;
    }
    return rc;
}

int coll_poweraware_box_reduce(coll_poweraware_call_t *call, args_t *args)
{
    reduction_t r = coll_poweraware_box_reduction(call, args, args->rcount);
    bool leading = call->hierarchy->my_rank == coll_poweraware_my_leader(call, args->root);
    int rc = coll_poweraware_box_contribute(&r, !leading); /* 1 */
    if (leading) {
        rc = lead_reduce(&r, rc);
    }
    pwr_boxes_end(call->boxes);
    return rc;
}
