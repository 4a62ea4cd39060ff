/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gather through node leaders and shared memory; the others rest while leaders are on the network.
 * Source: the leader-based scheme of ICPP 2010, section V-B, for a collective that it leaves out.
 *
 * The leader of a node is its lowest rank; on the root's node it is the root.  Blocks travel as one
 * stream of packed bytes per node, in pieces (rooted.h, pipeline.h):
 * 1. the ranks of a node pack their blocks into slots; a piece that is all the leader's own and has
 *    no gaps needs none;
 * 2. the leader sends them to the root;
 * 3. the root unpacks what its own node's ranks have packed, and receives the other nodes' pieces
 *    in turn with it: where they belong if they have no gaps there, else into a slot from which it
 *    unpacks them.
 */
#include "algorithms/algorithms.h"

#include "algorithms/leader/rooted.h"

#include "ompi/datatype/ompi_datatype.h"

typedef coll_poweraware_rooted_t gather_t;

/* 1, 2. */
static void describe_own(const gather_t *g, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = g->call->hierarchy;
    piece->fillers = coll_poweraware_rooted_num_parts(g, piece);
    piece->readers = 1;
    piece->fills = coll_poweraware_rooted_my_part(g, piece).bytes > 0;
    piece->reads = h->my_rank == g->leader;
    piece->takes = h->my_rank == g->root;
    piece->rests = true;
    if (piece->reads && !piece->takes) {
        piece->num_to = 1;
        piece->to = &g->root;
        piece->direct = coll_poweraware_rooted_direct(g, piece);
    }
}

/* 3.  The root's node, another node's piece: an affair of the root alone. */
static void describe_other(const gather_t *g, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = g->call->hierarchy;
    piece->fillers = 1;
    piece->readers = 1;
    if (h->my_rank == g->root) {
        piece->fills = true;
        piece->reads = true;
        piece->from = h->leader_of[piece->node];
        piece->direct = coll_poweraware_rooted_direct(g, piece);
        piece->takes = NULL == piece->direct;
    }
}

static void describe(void *self, size_t index, coll_poweraware_piece_t *piece)
{
    gather_t *g = self;
    coll_poweraware_rooted_next(g, index, piece);
    if (piece->node == g->call->hierarchy->my_node) {
        describe_own(g, piece);
    } else {
        describe_other(g, piece);
    }
}

static int fill(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    return coll_poweraware_rooted_pack_mine(self, piece, slot);
}

static int take(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot)
{
    return coll_poweraware_rooted_unpack(self, piece, slot);
}

int coll_poweraware_gather_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    static const coll_poweraware_pipeline_t pipeline = {describe, fill, take};
    bool root = call->hierarchy->my_rank == args->root;
    gather_t g;
    if (root) {
        coll_poweraware_rooted_begin(&g, call, args->root, args->rbuf, args->rcount, args->rdtype,
                                     true);
    } else {
        coll_poweraware_rooted_begin(&g, call, args->root, args->sbuf, args->scount, args->sdtype,
                                     true);
    }
    int rc = call->error;
    if (!coll_poweraware_rooted_lend(&g, true, &rc)) {
        rc = coll_poweraware_pipeline_run(&pipeline, &g, call, g.num_pieces, g.leader);
    }
    if (root && MPI_IN_PLACE != args->sbuf && OMPI_SUCCESS == rc) {
        rc = ompi_datatype_sndrcv(args->sbuf, (pwr_count_t)args->scount, args->sdtype,
                                  coll_poweraware_rooted_block(&g, args->root),
                                  (pwr_count_t)args->rcount, args->rdtype);
    }
    coll_poweraware_rooted_end(&g);
    return rc;
}
