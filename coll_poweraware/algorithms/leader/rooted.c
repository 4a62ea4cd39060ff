/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gather and Scatter through node leaders and shared memory; the others rest while leaders are on
 * the network.
 * Source: the leader-based scheme of ICPP 2010, section V-B, for collectives that it leaves out.
 *
 * The leader of a node is its lowest rank; on the root's node it is the root.  Blocks travel as one
 * stream of packed bytes per node.  The stream of a node has the blocks of its ranks in the order
 * of ranks, without the root's own, and is cut into pieces (pipeline.h).  The sequence of pieces is
 * on the root's node: those of its own stream, in turn with those of the other nodes, one node
 * after the other; elsewhere: those of its own stream.
 *
 * Gather:
 * 1. the ranks of a node pack their blocks into slots; a piece that is all the leader's own and has
 *    no gaps needs none;
 * 2. the leader sends them to the root;
 * 3. the root unpacks what its own node's ranks have packed, and receives the other nodes' pieces
 *    in turn with it: where they belong if they have no gaps there, else into a slot from which it
 *    unpacks them.
 * Scatter:
 * 1. the root sends a piece to the leader of another node, from where it is if it has no gaps
 *    there, else packed into a slot; and, in turn with that, packs one for its own node;
 * 2. the leader of another node receives it into a slot; if it is all its own and has no gaps,
 *    where it belongs;
 * 3. the ranks whose blocks it has something of unpack that; the others need not wait for it.
 *
 * On one node the root may expose its memory instead (single_copy.h).
 */
#include "algorithms/algorithms.h"

#include "algorithms/blocks.h"
#include "algorithms/leader/pipeline.h"
#include "algorithms/single_copy/single_copy.h"
#include "pwr_ompi/packer.h"

/* The block that is being packed or unpacked. */
typedef struct open_block {
    pwr_packer_t packer;
    int rank; /* whose, or COLL_POWERAWARE_NO_RANK */
} open_block_t;

typedef struct rooted {
    coll_poweraware_call_t *call;
    bool gathers;
    int root;
    int root_node;
    int leader;                    /* of my node */
    int my_index;                  /* of my block in my node's stream, or -1 */
    coll_poweraware_block_t block; /* rank 0's at the root, elsewhere my own */
    ptrdiff_t stride;              /* at the root: bytes between blocks */
    size_t piece_bytes;
    size_t num_pieces;
    open_block_t open[2]; /* of my node's stream, of the others' */
    size_t own_first;     /* the next piece of my node's stream ... */
    int other_node;       /* ... and of the other nodes' */
    size_t other_first;
} rooted_t;

/* What a piece has of one block. */
typedef struct part {
    int rank;
    size_t first; /* byte of the block */
    size_t bytes;
    size_t at; /* byte of the piece */
} part_t;

static bool am_root(const rooted_t *r)
{
    return r->call->hierarchy->my_rank == r->root;
}

/* ---- streams ---- */

/* Blocks in a node's stream. */
static size_t num_blocks(const rooted_t *r, int node)
{
    const int *ranks;
    int num = pwr_hierarchy_node(r->call->hierarchy, node, &ranks);
    return (size_t)(num - (node == r->root_node));
}

static int rank_at(const rooted_t *r, int node, size_t index)
{
    const int *ranks;
    pwr_hierarchy_node(r->call->hierarchy, node, &ranks);
    bool after_root = node == r->root_node && ranks[index] >= r->root;
    return ranks[after_root ? index + 1 : index];
}

static size_t pieces_of(const rooted_t *r, int node)
{
    return (num_blocks(r, node) * r->block.bytes + r->piece_bytes - 1) / r->piece_bytes;
}

static int my_index(const rooted_t *r)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    if (h->my_rank == r->root) {
        return -1;
    }
    return h->my_local - (h->my_node == r->root_node && h->my_rank > r->root);
}

static void take_piece(const rooted_t *r, coll_poweraware_piece_t *piece, int node, size_t *first)
{
    size_t left = num_blocks(r, node) * r->block.bytes - *first;
    piece->node = node;
    piece->first = *first;
    piece->bytes = left < r->piece_bytes ? left : r->piece_bytes;
    *first += piece->bytes;
}

/* Which bytes the next piece of the sequence has: node, first and bytes. */
static void next_piece(rooted_t *r, size_t index, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    bool own_left = r->own_first < num_blocks(r, h->my_node) * r->block.bytes;
    bool others_left = h->my_node == r->root_node && r->other_node != r->root_node;
    if (own_left && (!others_left || 1 == index % 2)) {
        take_piece(r, piece, h->my_node, &r->own_first);
        return;
    }
    take_piece(r, piece, r->other_node, &r->other_first);
    if (r->other_first == num_blocks(r, r->other_node) * r->block.bytes) {
        r->other_node = (r->other_node + 1) % h->num_nodes;
        r->other_first = 0;
    }
}

/* Of how many blocks a piece has something. */
static int num_parts(const rooted_t *r, const coll_poweraware_piece_t *piece)
{
    size_t last = (piece->first + piece->bytes - 1) / r->block.bytes;
    return (int)(last - piece->first / r->block.bytes) + 1;
}

static part_t part_of_block(const rooted_t *r, const coll_poweraware_piece_t *piece, size_t index)
{
    size_t begin = index * r->block.bytes;
    size_t end = begin + r->block.bytes;
    size_t from = begin > piece->first ? begin : piece->first;
    size_t piece_end = piece->first + piece->bytes;
    size_t to = end < piece_end ? end : piece_end;
    return (part_t){
        .rank = rank_at(r, piece->node, index),
        .first = from - begin,
        .bytes = to > from ? to - from : 0,
        .at = from - piece->first,
    };
}

static part_t part_of(const rooted_t *r, const coll_poweraware_piece_t *piece, int part)
{
    return part_of_block(r, piece, piece->first / r->block.bytes + (size_t)part);
}

/* What a piece has of my own block: bytes is 0 if nothing. */
static part_t my_part(const rooted_t *r, const coll_poweraware_piece_t *piece)
{
    if (r->my_index < 0 || piece->node != r->call->hierarchy->my_node) {
        return (part_t){.rank = COLL_POWERAWARE_NO_RANK};
    }
    return part_of_block(r, piece, (size_t)r->my_index);
}

/* Elsewhere than at the root, mine. */
static char *block_at(const rooted_t *r, int rank)
{
    return r->block.data + (ptrdiff_t)rank * r->stride;
}

/* Memory that holds the piece as it travels, else NULL: at the root, and elsewhere if it is all of
   my own block. */
static unsigned char *direct(const rooted_t *r, const coll_poweraware_piece_t *piece)
{
    part_t part = am_root(r) ? part_of(r, piece, 0) : my_part(r, piece);
    int last = num_parts(r, piece) - 1;
    bool adjacent = am_root(r) && (ptrdiff_t)r->block.bytes == r->stride &&
                    part_of(r, piece, last).rank - part.rank == last;
    unsigned char *data =
        pwr_packer_contiguous(block_at(r, part.rank), r->block.count, r->block.datatype);
    return NULL != data && (part.bytes == piece->bytes || adjacent) ? data + part.first : NULL;
}

/* ---- packing and unpacking ---- */

static bool packs(const rooted_t *r)
{
    return r->gathers != am_root(r);
}

static void close_block(open_block_t *open)
{
    if (COLL_POWERAWARE_NO_RANK != open->rank) {
        pwr_packer_end(&open->packer);
        open->rank = COLL_POWERAWARE_NO_RANK;
    }
}

static int open_block(const rooted_t *r, open_block_t *open, int rank)
{
    int rc = pwr_packer_begin(&open->packer, packs(r), block_at(r, rank), r->block.count,
                              r->block.datatype);
    open->rank = OMPI_SUCCESS == rc ? rank : COLL_POWERAWARE_NO_RANK;
    return rc;
}

/* Pieces of a stream come in order, so parts of a block do; those that went without a slot were not
   packed: seek. */
static int convert_part(rooted_t *r, const coll_poweraware_piece_t *piece, const part_t *part,
                        unsigned char *slot)
{
    open_block_t *open = &r->open[piece->node != r->call->hierarchy->my_node];
    int rc = OMPI_SUCCESS;
    if (open->rank != part->rank) {
        close_block(open);
        rc = open_block(r, open, part->rank);
    }
    rc = OMPI_SUCCESS == rc ? pwr_packer_seek(&open->packer, part->first) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    return packs(r) ? pwr_packer_pack(&open->packer, slot + part->at, part->bytes)
                    : pwr_packer_unpack(&open->packer, slot + part->at, part->bytes);
}

/* All of a piece at the root, elsewhere what it has of my block. */
static int convert(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    rooted_t *r = self;
    part_t part = my_part(r, piece);
    if (!am_root(r)) {
        return convert_part(r, piece, &part, slot);
    }
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num_parts(r, piece) && OMPI_SUCCESS == rc; ++i) {
        part = part_of(r, piece, i);
        rc = convert_part(r, piece, &part, slot);
    }
    return rc;
}

static int take(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot)
{
    return convert(self, piece, (unsigned char *)slot);
}

/* ---- pieces ---- */

/* Gather 1 and 2; on the root's node 1 and 3. */
static void describe_gathered(const rooted_t *r, coll_poweraware_piece_t *piece)
{
    piece->fillers = num_parts(r, piece);
    piece->readers = 1;
    piece->fills = my_part(r, piece).bytes > 0;
    piece->reads = r->call->hierarchy->my_rank == r->leader;
    piece->takes = am_root(r);
    piece->rests = true;
    if (piece->reads && !piece->takes) {
        piece->num_to = 1;
        piece->to = &r->root;
        piece->direct = direct(r, piece);
    }
}

/* Scatter 2 and 3; on the root's node 1 and 3. */
static void describe_scattered(const rooted_t *r, coll_poweraware_piece_t *piece)
{
    piece->fillers = 1;
    piece->readers = num_parts(r, piece);
    piece->fills = r->call->hierarchy->my_rank == r->leader;
    piece->reads = my_part(r, piece).bytes > 0;
    piece->rests = true;
    if (piece->fills && !am_root(r)) {
        piece->from = r->root;
        piece->direct = direct(r, piece);
    }
    piece->takes = piece->reads && NULL == piece->direct;
}

/* The root's node, another node's piece: an affair of the root alone, 3 of a Gather, 1 of a
   Scatter. */
static void describe_other(const rooted_t *r, coll_poweraware_piece_t *piece)
{
    const int *leader = &r->call->hierarchy->leader_of[piece->node];
    piece->fillers = 1;
    piece->readers = 1;
    if (!am_root(r)) {
        return;
    }
    piece->fills = true;
    piece->reads = true;
    piece->direct = direct(r, piece);
    if (r->gathers) {
        piece->from = *leader;
        piece->takes = NULL == piece->direct;
    } else {
        piece->num_to = 1;
        piece->to = leader;
    }
}

static void describe(void *self, size_t index, coll_poweraware_piece_t *piece)
{
    rooted_t *r = self;
    next_piece(r, index, piece);
    if (piece->node != r->call->hierarchy->my_node) {
        describe_other(r, piece);
    } else if (r->gathers) {
        describe_gathered(r, piece);
    } else {
        describe_scattered(r, piece);
    }
}

/* ---- the call ---- */

static void begin(rooted_t *r, const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    if (am_root(r)) {
        coll_poweraware_blocks_t blocks = coll_poweraware_all_blocks(r->call, args);
        r->block = coll_poweraware_block_of(&blocks, 0);
        r->stride = (ptrdiff_t)blocks.count * blocks.extent;
    } else {
        r->block = coll_poweraware_own_block(r->call, args);
    }
    r->my_index = my_index(r);
    r->other_node = (r->root_node + 1) % h->num_nodes;
    r->piece_bytes = coll_poweraware_piece_bytes(r->call, r->block.bytes * (size_t)h->max_local);
    for (int node = 0; node < h->num_nodes; ++node) {
        if (node == h->my_node || h->my_node == r->root_node) {
            r->num_pieces += pieces_of(r, node);
        }
    }
}

/* On one node: the same on all ranks. */
static bool lend(const rooted_t *r, int *rc)
{
    const coll_poweraware_rooted_copy_t message = {
        .root = r->root,
        .to_root = r->gathers,
        .memory = pwr_packer_contiguous(r->block.data, r->block.count, r->block.datatype),
        .stride = r->stride,
        .block = r->block,
    };
    return coll_poweraware_rooted_single_copy(r->call, &message, rc);
}

int coll_poweraware_rooted_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    static const coll_poweraware_pipeline_t pipeline = {describe, convert, take};
    rooted_t r = {
        .call = call,
        .gathers = COLL_POWERAWARE_GATHER == call->collective,
        .root = args->root,
        .root_node = call->hierarchy->node_of[args->root],
        .leader = coll_poweraware_my_leader(call, args->root),
        .open[0].rank = COLL_POWERAWARE_NO_RANK,
        .open[1].rank = COLL_POWERAWARE_NO_RANK,
    };
    begin(&r, args);
    int rc;
    if (!lend(&r, &rc)) {
        rc = coll_poweraware_pipeline_run(&pipeline, &r, call, r.num_pieces, r.leader);
    }
    if (am_root(&r) && OMPI_SUCCESS == rc) {
        rc = coll_poweraware_copy_own(call, args);
    }
    close_block(&r.open[0]);
    close_block(&r.open[1]);
    return rc;
}
