/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Scatter through node leaders and shared memory; the others rest while leaders are on the network.
 * Source: the leader-based scheme of ICPP 2010, section V-B, for a collective that it leaves out.
 *
 * The leader of a node is its lowest rank; on the root's node it is the root.  Blocks travel as one
 * stream of packed bytes per node, in pieces (rooted.h, pipeline.h):
 * 1. the root sends a piece to the leader of another node, from where it is if it has no gaps
 *    there, else packed into a slot; and, in turn with that, packs one for its own node;
 * 2. the leader of another node receives it into a slot; if it is all its own and has no gaps,
 *    where it belongs;
 * 3. the ranks whose blocks it has something of unpack that; the others need not wait for it.
 */
#include "algorithms/algorithms.h"

#include "algorithms/leader/rooted.h"

#include "ompi/datatype/ompi_datatype.h"

typedef coll_poweraware_rooted_t scatter_t;

/* 2, 3; on the root's node 1, 3. */
static void describe_own(const scatter_t *s, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = s->call->hierarchy;
    piece->fillers = 1;
    piece->readers = coll_poweraware_rooted_num_parts(s, piece);
    piece->fills = h->my_rank == s->leader;
    piece->reads = coll_poweraware_rooted_my_part(s, piece).bytes > 0;
    piece->rests = true;
    if (piece->fills && h->my_rank != s->root) {
        piece->from = s->root;
        piece->direct = coll_poweraware_rooted_direct(s, piece);
    }
    piece->takes = piece->reads && NULL == piece->direct;
}

/* 1.  The root's node, another node's piece: an affair of the root alone. */
static void describe_other(const scatter_t *s, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = s->call->hierarchy;
    piece->fillers = 1;
    piece->readers = 1;
    if (h->my_rank == s->root) {
        piece->fills = true;
        piece->reads = true;
        piece->num_to = 1;
        piece->to = &h->leader_of[piece->node];
        piece->direct = coll_poweraware_rooted_direct(s, piece);
    }
}

static void describe(void *self, size_t index, coll_poweraware_piece_t *piece)
{
    scatter_t *s = self;
    coll_poweraware_rooted_next(s, index, piece);
    if (piece->node == s->call->hierarchy->my_node) {
        describe_own(s, piece);
    } else {
        describe_other(s, piece);
    }
}

static int fill(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    return coll_poweraware_rooted_pack(self, piece, slot);
}

static int take(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot)
{
    return coll_poweraware_rooted_unpack_mine(self, piece, slot);
}

int coll_poweraware_scatter_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    static const coll_poweraware_pipeline_t pipeline = {describe, fill, take};
    bool root = call->hierarchy->my_rank == args->root;
    scatter_t s;
    if (root) {
        coll_poweraware_rooted_begin(&s, call, args->root, args->sbuf, args->scount, args->sdtype,
                                     false);
    } else {
        coll_poweraware_rooted_begin(&s, call, args->root, args->rbuf, args->rcount, args->rdtype,
                                     false);
    }
    int rc = call->error;
    if (!coll_poweraware_rooted_lend(&s, false, &rc)) {
        rc = coll_poweraware_pipeline_run(&pipeline, &s, call, s.num_pieces, s.leader);
    }
    if (root && MPI_IN_PLACE != args->rbuf && OMPI_SUCCESS == rc) {
        rc = ompi_datatype_sndrcv(coll_poweraware_rooted_block(&s, args->root),
                                  (pwr_count_t)args->scount, args->sdtype, args->rbuf,
                                  (pwr_count_t)args->rcount, args->rdtype);
    }
    coll_poweraware_rooted_end(&s);
    return rc;
}
