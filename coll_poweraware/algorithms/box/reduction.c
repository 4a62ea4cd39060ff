/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Operands in boxes, and combining them (contracts: reduction.h).
 */
#include "algorithms/box/reduction.h"

#include "ompi/op/op.h"

typedef coll_poweraware_box_reduction_t reduction_t;

reduction_t coll_poweraware_box_reduction(coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t total)
{
    reduction_t r = {
        .call = call,
        .operands = coll_poweraware_operands(args),
        .total = total,
        .count = total,
        .root = COLL_POWERAWARE_REDUCE == call->collective ? args->root : COLL_POWERAWARE_NO_RANK,
    };
    r.bytes = coll_poweraware_operand_bytes(&r.operands, total);
    return r;
}

static int leader_of_node(const void *self, int node)
{
    const reduction_t *r = self;
    return coll_poweraware_leader(r->call, node, r->root);
}

coll_poweraware_leaders_t coll_poweraware_box_leaders(const reduction_t *r)
{
    return (coll_poweraware_leaders_t){
        .call = r->call, .operands = &r->operands, .of_node = leader_of_node, .self = (void *)r};
}

int coll_poweraware_box_contribute(const reduction_t *r, bool others_read)
{
    coll_poweraware_begin_round(r->call);
    unsigned char *box = pwr_boxes_fill(r->call->boxes, r->bytes);
    int rc = OMPI_SUCCESS;
    if (others_read || r->operands.in_place) {
        rc = coll_poweraware_copy_operands(&r->operands, coll_poweraware_in_box(r, box),
                                           r->operands.contribution, r->total);
    }
    pwr_boxes_join(r->call->boxes, rc);
    return rc;
}

/* Elements from first on of local rank i, which are in its box of the round that box tells of. */
static char *operand(const reduction_t *r, coll_poweraware_box_fn_t box, int i, size_t first)
{
    const char *start = i == r->call->hierarchy->my_local && !r->operands.in_place
                            ? r->operands.contribution
                            : coll_poweraware_in_box(r, box(r->call->boxes, i, r->bytes));
    return (char *)start + (ptrdiff_t)first * r->operands.extent;
}

int coll_poweraware_box_combine(const reduction_t *r, coll_poweraware_box_fn_t box, int num,
                                size_t first, size_t count, char *to)
{
    int last = num - 1;
    int rc = coll_poweraware_copy_operands(&r->operands, to, operand(r, box, last, first), count);
    for (int i = last - 1; i >= 0 && count > 0; --i) {
        ompi_op_reduce(r->operands.op, operand(r, box, i, first), to, (int)count,
                       r->operands.datatype);
    }
    return rc;
}
