/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Scan and Exscan through boxes.
 *
 * 1. everybody puts its operand into its box;
 * 2. everybody combines the operands of its node up to its own (Exscan: before its own), and waits
 *    for no others: who is late keeps only ranks after it waiting;
 * on several nodes, whose ranks must be runs of ranks:
 * 3. the leader combines all operands of its node; leaders exchange what their nodes come to, so
 *    that each has what all nodes before it come to; the others rest;
 * 4. the leader posts that, and everybody combines it with what it has.
 *
 * Lower ranks are always on the left: it holds for operators that do not commute.
 */
#include "algorithms/box/reduction.h"

#include "ompi/op/op.h"

typedef const coll_poweraware_args_t args_t;
typedef coll_poweraware_box_reduction_t reduction_t;

bool coll_poweraware_box_scan_can(const coll_poweraware_call_t *call, args_t *args, size_t bytes)
{
    (void)bytes;
    return (1 == call->hierarchy->num_nodes || call->hierarchy->ordered) &&
           coll_poweraware_operands_fit(call, args, args->rcount);
}

/* 2.  Whether there was something to combine. */
static bool combine_mine(const reduction_t *r, int num, int *rc)
{
    if (OMPI_SUCCESS == *rc && num > 0) {
        *rc = coll_poweraware_box_combine(r, pwr_boxes_read, num, 0, r->total, r->operands.rbuf);
    }
    return num > 0;
}

/* 4.  has_some: rbuf has what the ranks of my node before come to. */
static int add_nodes_before(const reduction_t *r, const unsigned char *set, bool has_some)
{
    char *before = coll_poweraware_in_box(r, set);
    if (!has_some) {
        return coll_poweraware_copy_operands(&r->operands, r->operands.rbuf, before, r->total);
    }
    if (r->total > 0) {
        ompi_op_reduce(r->operands.op, before, r->operands.rbuf, (int)r->total,
                       r->operands.datatype);
    }
    return OMPI_SUCCESS;
}

/* 3.  Afterwards the set has what the nodes before come to; on the first node it means nothing. */
static const unsigned char *lead(const reduction_t *r, int error, int *rc)
{
    enum { ALIGNMENT = 64 };
    size_t step = (r->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *scratch = (unsigned char *)coll_poweraware_scratch(r->call);
    /* without memory the messages that come go where nothing is of use any more */
    char *spare = NULL == scratch ? r->operands.rbuf : coll_poweraware_in_box(r, scratch);
    char *sum = NULL == scratch ? r->operands.rbuf : coll_poweraware_in_box(r, scratch + step);
    *rc = NULL == scratch && OMPI_SUCCESS == error ? OMPI_ERR_OUT_OF_RESOURCE : error;
    if (OMPI_SUCCESS == *rc) {
        *rc = coll_poweraware_box_combine(r, pwr_boxes_read_last, r->call->hierarchy->num_local, 0,
                                          r->total, sum);
    }
    unsigned char *set = pwr_boxes_fill_set(r->call->boxes, r->bytes);
    coll_poweraware_begin_network(r->call, *rc);
    coll_poweraware_leaders_t leaders = coll_poweraware_box_leaders(r);
    coll_poweraware_sum_before(&leaders, sum, spare, coll_poweraware_in_box(r, set), r->total);
    coll_poweraware_end_network(r->call);
    *rc = r->call->error;
    pwr_boxes_post(r->call->boxes, *rc);
    return set;
}

int coll_poweraware_box_scan(coll_poweraware_call_t *call, args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    bool exclusive = COLL_POWERAWARE_EXSCAN == call->collective;
    reduction_t r = coll_poweraware_box_reduction(call, args, args->rcount);
    int leader = coll_poweraware_my_leader(call, COLL_POWERAWARE_NO_RANK);
    bool leading = h->num_nodes > 1 && h->my_rank == leader;
    int rc = coll_poweraware_box_contribute(&r, true); /* 1 */
    int rc_lead = OMPI_SUCCESS;
    const unsigned char *set = NULL;
    int rc_joined = leading ? pwr_boxes_wait_all(call->boxes) : pwr_boxes_wait_below(call->boxes);
    rc = coll_poweraware_first_error(rc, rc_joined);
    bool has_some = combine_mine(&r, exclusive ? h->my_local : h->my_local + 1, &rc);
    if (h->num_nodes > 1) {
        if (!leading) {
            pwr_boxes_end(call->boxes);
        }
        coll_poweraware_begin_round(call);
        set = leading ? lead(&r, rc, &rc_lead)
                      : coll_poweraware_rest_for_set(call, leader, r.bytes, &rc_lead);
        rc = coll_poweraware_first_error(rc, rc_lead);
        if (OMPI_SUCCESS == rc && h->my_node > 0) {
            rc = add_nodes_before(&r, set, has_some);
        }
    }
    pwr_boxes_end(call->boxes);
    return rc;
}
