/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Allreduce through shared memory and node leaders; the others rest while leaders are on the
 * network.
 *
 * Steps 1, 2 and 4 for each chunk are those of reduce_node.h; every rank takes the whole sum.
 * 3. Leader i of each node reduces part i of the chunk with the leaders i of the other nodes
 *    (coll_poweraware_sum_everywhere).
 *
 * Where two ranks of a node are alone, each contributes the whole chunk and reduces all of it
 * straight into its buffer: as many bytes as with slices, one wait less.
 *
 * Floating point: which operands are combined in which order depends on layout, count and
 * parameters, so the bytes are the same in every run; and on every rank, because a sum is computed
 * once and copied, or computed in the same order by both ranks.
 */
#include "algorithms/leader/among_leaders.h"
#include "algorithms/leader/reduce_node.h"
#include "algorithms/single_copy/single_copy.h"

static void cut(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    coll_poweraware_reduction_cut_evenly(r, chunk);
    if (r->gives_all) {
        chunk->from = 0;
        chunk->to = chunk->count;
    }
}

/* 3. */
static void network(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk)
{
    coll_poweraware_range_t part = coll_poweraware_my_part(r, chunk);
    size_t count = part.to - part.from;
    char *sum = coll_poweraware_reduction_sum(r, chunk, part.from);
    char *room = coll_poweraware_reduction_room(r, chunk, part.from);
    char *result = coll_poweraware_sum_everywhere(&r->leaders, sum, room, count);
    coll_poweraware_note_error(r->call,
                               coll_poweraware_copy_operands(&r->operands, sum, result, count));
}

int coll_poweraware_allreduce_leader(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    const coll_poweraware_reduce_copy_t message = {
        .args = args, .count = args->rcount, .to = COLL_POWERAWARE_TO_ALL};
    int rc;
    if (coll_poweraware_reduce_single_copy(call, &message, &rc)) {
        return rc;
    }
    coll_poweraware_reduction_t r;
    coll_poweraware_reduction_begin(&r, call, args, args->rcount, 1);
    /* in place, the sum would overwrite the first rank's operand before it is used */
    bool both_reduce = 1 == h->num_nodes && 2 == h->num_local && !r.operands.in_place;
    r.gives_all = both_reduce;
    r.direct = both_reduce;
    r.shares_sum = !both_reduce;
    r.awaits_sum = !both_reduce;
    r.cut = cut;
    r.network = network;
    return coll_poweraware_reduction_run(&r);
}
