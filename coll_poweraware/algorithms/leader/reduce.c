/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduce through shared memory and node leaders; the others rest while leaders are on the network.
 * Source: Kandalla, Mancini, Sur, Panda, ICPP 2010, section V-B.
 *
 * Steps 1, 2 and 4 for each chunk are those of reduce_node.h; only the root takes the sum.
 * 3. The leaders reduce to the root's node, in a binomial tree, or a chain where there are many
 *    chunks; for an operator that does not commute to the last node, which passes the sum on.
 * Ranks that move T-states rest until their leader is back, as in the paper; the others are done
 * with step 2.
 *
 * Where a node is alone and has few ranks, the root reduces whole chunks itself, straight into its
 * buffer: the others only contribute, and step 2 of a chunk overlaps step 1 of the next.
 */
#include "algorithms/leader/node_tree.h"
#include "algorithms/leader/reduce_node.h"
#include "algorithms/single_copy/single_copy.h"

#include "ompi/op/op.h"

/* Passes over the message on the longest way: num_local - 1 where the root is alone, with slices
   3 - 2 / num_local (contribute, reduce, copy out). */
enum { MOST_RANKS_ALONE = 3 };

/* A chain of nodes fills and empties once per call. */
enum { CHUNKS_PER_NODE_OF_CHAIN = 2 };

typedef struct reduce {
    int root;
    bool root_alone;
} reduce_t;

bool coll_poweraware_reduce_leader_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    return coll_poweraware_reduction_can(call, args, 1);
}

static void cut(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    const reduce_t *reduce = r->collective;
    bool root = r->call->hierarchy->my_rank == reduce->root;
    coll_poweraware_reduction_cut_evenly(r, chunk);
    if (reduce->root_alone) {
        chunk->from = 0;
        chunk->to = root ? chunk->count : 0;
    }
    chunk->take_count = root ? chunk->count : 0;
}

/* 3. */
static void network(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk)
{
    const reduce_t *reduce = r->collective;
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int to = h->node_of[reduce->root];
    int top = ompi_op_is_commute(r->operands.op) ? to : h->num_nodes - 1;
    int fan = r->num_chunks >= CHUNKS_PER_NODE_OF_CHAIN * (size_t)h->num_nodes
                  ? COLL_POWERAWARE_CHAIN
                  : COLL_POWERAWARE_BINOMIAL;
    coll_poweraware_range_t part = coll_poweraware_my_part(r, chunk);
    char *sum = coll_poweraware_reduction_sum(r, chunk, part.from);
    char *room = coll_poweraware_reduction_room(r, chunk, part.from);
    size_t count = part.to - part.from;
    coll_poweraware_sum_to_node(&r->leaders, sum, room, count, top, fan);
    coll_poweraware_sum_pass(&r->leaders, sum, count, top, to);
}

/* Whether this rank is throttled while its leader is on the network: else it need not stay. */
static bool rests(const coll_poweraware_call_t *call)
{
    return call->hierarchy->num_nodes > 1 && coll_poweraware_throttles(call);
}

int coll_poweraware_reduce_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    bool root = h->my_rank == args->root;
    reduce_t reduce = {
        .root = args->root,
        .root_alone = 1 == h->num_nodes && h->num_local <= MOST_RANKS_ALONE,
    };
    const coll_poweraware_reduce_copy_t message = {
        .args = args, .count = args->rcount, .to = args->root, .alone = reduce.root_alone};
    int rc;
    if (coll_poweraware_reduce_single_copy(call, &message, &rc)) {
        return rc;
    }
    coll_poweraware_reduction_t r;
    coll_poweraware_reduction_begin(&r, call, args, args->rcount, 1);
    r.shares_sum = !reduce.root_alone;
    r.awaits_sum = !reduce.root_alone && (root || rests(call));
    /* in place, the last operand is where the sum shall be; another one would be lost */
    bool room = !r.operands.in_place || h->my_local == h->num_local - 1;
    r.direct = reduce.root_alone && root && room;
    r.cut = cut;
    r.network = network;
    r.collective = &reduce;
    return coll_poweraware_reduction_run(&r);
}
