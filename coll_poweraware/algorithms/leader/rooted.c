/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Streams of blocks between a root and the nodes (order and pieces: rooted.h).
 */
#include "algorithms/leader/rooted.h"

#include "algorithms/single_copy/single_copy.h"

#include "ompi/datatype/ompi_datatype.h"

/* Blocks in a node's stream. */
static size_t num_blocks(const coll_poweraware_rooted_t *r, int node)
{
    const int *ranks;
    int num = pwr_hierarchy_node(r->call->hierarchy, node, &ranks);
    return (size_t)(num - (node == r->root_node));
}

static int rank_at(const coll_poweraware_rooted_t *r, int node, size_t index)
{
    const int *ranks;
    pwr_hierarchy_node(r->call->hierarchy, node, &ranks);
    bool after_root = node == r->root_node && ranks[index] >= r->root;
    return ranks[after_root ? index + 1 : index];
}

static size_t pieces_of(const coll_poweraware_rooted_t *r, int node)
{
    return (num_blocks(r, node) * r->block + r->piece_bytes - 1) / r->piece_bytes;
}

static int my_index(const coll_poweraware_rooted_t *r)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    if (h->my_rank == r->root) {
        return -1;
    }
    return h->my_local - (h->my_node == r->root_node && h->my_rank > r->root);
}

static void open_mine(coll_poweraware_rooted_t *r, bool packs)
{
    pwr_packer_t *packer = &r->mine.packer;
    int rc = packs ? pwr_packer_begin_pack(packer, r->buffer, r->count, r->datatype)
                   : pwr_packer_begin_unpack(packer, r->buffer, r->count, r->datatype);
    if (OMPI_SUCCESS == rc) {
        r->mine.rank = r->call->hierarchy->my_rank;
    } else {
        r->call->error = rc;
    }
}

void coll_poweraware_rooted_begin(coll_poweraware_rooted_t *r, coll_poweraware_call_t *call,
                                  int root, const void *buffer, size_t count,
                                  struct ompi_datatype_t *datatype, bool packs)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    ptrdiff_t lb;
    ptrdiff_t extent;
    size_t size;
    ompi_datatype_get_extent(datatype, &lb, &extent);
    ompi_datatype_type_size(datatype, &size);
    *r = (coll_poweraware_rooted_t){
        .call = call,
        .root = root,
        .root_node = h->node_of[root],
        .block = count * size,
        .piece_bytes = coll_poweraware_piece_bytes(call, count * size * (size_t)h->max_local),
        .buffer = (char *)buffer,
        .count = count,
        .datatype = datatype,
        .stride = (ptrdiff_t)count * extent,
        .mine.rank = COLL_POWERAWARE_NO_RANK,
        .of_node[0].rank = COLL_POWERAWARE_NO_RANK,
        .of_node[1].rank = COLL_POWERAWARE_NO_RANK,
    };
    r->leader = coll_poweraware_my_leader(call, root);
    r->my_index = my_index(r);
    r->other_node = (r->root_node + 1) % h->num_nodes;
    for (int node = 0; node < h->num_nodes; ++node) {
        if (node == h->my_node || h->my_node == r->root_node) {
            r->num_pieces += pieces_of(r, node);
        }
    }
    if (h->my_rank != root) {
        open_mine(r, packs);
    }
}

bool coll_poweraware_rooted_lend(const coll_poweraware_rooted_t *r, bool to_root, int *rc)
{
    const coll_poweraware_rooted_copy_t message = {
        .root = r->root,
        .to_root = to_root,
        .memory = pwr_packer_contiguous(r->buffer, r->count, r->datatype),
        .stride = r->stride,
        .block = coll_poweraware_one_block(r->buffer, r->count, r->datatype),
    };
    return coll_poweraware_rooted_single_copy(r->call, &message, rc);
}

static void take_piece(const coll_poweraware_rooted_t *r, coll_poweraware_piece_t *piece, int node,
                       size_t *first)
{
    size_t left = num_blocks(r, node) * r->block - *first;
    piece->node = node;
    piece->first = *first;
    piece->bytes = left < r->piece_bytes ? left : r->piece_bytes;
    *first += piece->bytes;
}

void coll_poweraware_rooted_next(coll_poweraware_rooted_t *r, size_t index,
                                 coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    bool own_left = r->own_first < num_blocks(r, h->my_node) * r->block;
    bool others_left = h->my_node == r->root_node && r->other_node != r->root_node;
    if (own_left && (!others_left || 1 == index % 2)) {
        take_piece(r, piece, h->my_node, &r->own_first);
        return;
    }
    take_piece(r, piece, r->other_node, &r->other_first);
    if (r->other_first == num_blocks(r, r->other_node) * r->block) {
        r->other_node = (r->other_node + 1) % h->num_nodes;
        r->other_first = 0;
    }
}

int coll_poweraware_rooted_num_parts(const coll_poweraware_rooted_t *r,
                                     const coll_poweraware_piece_t *piece)
{
    size_t last = (piece->first + piece->bytes - 1) / r->block;
    return (int)(last - piece->first / r->block) + 1;
}

static coll_poweraware_part_t part_of_block(const coll_poweraware_rooted_t *r,
                                            const coll_poweraware_piece_t *piece, size_t index)
{
    size_t begin = index * r->block;
    size_t end = begin + r->block;
    size_t from = begin > piece->first ? begin : piece->first;
    size_t piece_end = piece->first + piece->bytes;
    size_t to = end < piece_end ? end : piece_end;
    return (coll_poweraware_part_t){
        .rank = rank_at(r, piece->node, index),
        .first = from - begin,
        .bytes = to > from ? to - from : 0,
        .at = from - piece->first,
    };
}

coll_poweraware_part_t coll_poweraware_rooted_part(const coll_poweraware_rooted_t *r,
                                                   const coll_poweraware_piece_t *piece, int part)
{
    return part_of_block(r, piece, piece->first / r->block + (size_t)part);
}

coll_poweraware_part_t coll_poweraware_rooted_my_part(const coll_poweraware_rooted_t *r,
                                                      const coll_poweraware_piece_t *piece)
{
    if (r->my_index < 0 || piece->node != r->call->hierarchy->my_node) {
        return (coll_poweraware_part_t){.rank = COLL_POWERAWARE_NO_RANK};
    }
    return part_of_block(r, piece, (size_t)r->my_index);
}

char *coll_poweraware_rooted_block(const coll_poweraware_rooted_t *r, int rank)
{
    return r->buffer + (ptrdiff_t)rank * r->stride;
}

static unsigned char *direct_at_root(const coll_poweraware_rooted_t *r,
                                     const coll_poweraware_piece_t *piece)
{
    int last = coll_poweraware_rooted_num_parts(r, piece) - 1;
    coll_poweraware_part_t part = coll_poweraware_rooted_part(r, piece, 0);
    unsigned char *data =
        pwr_packer_contiguous(coll_poweraware_rooted_block(r, part.rank), r->count, r->datatype);
    bool adjacent =
        0 == last || ((ptrdiff_t)r->block == r->stride &&
                      coll_poweraware_rooted_part(r, piece, last).rank - part.rank == last);
    return NULL != data && adjacent ? data + part.first : NULL;
}

unsigned char *coll_poweraware_rooted_direct(const coll_poweraware_rooted_t *r,
                                             const coll_poweraware_piece_t *piece)
{
    if (r->call->hierarchy->my_rank == r->root) {
        return direct_at_root(r, piece);
    }
    coll_poweraware_part_t part = coll_poweraware_rooted_my_part(r, piece);
    unsigned char *data = pwr_packer_contiguous(r->buffer, r->count, r->datatype);
    return NULL != data && part.bytes == piece->bytes ? data + part.first : NULL;
}

static void close_block(coll_poweraware_open_block_t *open)
{
    if (COLL_POWERAWARE_NO_RANK != open->rank) {
        pwr_packer_end(&open->packer);
        open->rank = COLL_POWERAWARE_NO_RANK;
    }
}

/* Pieces of a stream come in order, so parts of a block do. */
static int open_part(coll_poweraware_rooted_t *r, coll_poweraware_open_block_t *open,
                     const coll_poweraware_part_t *part, bool pack)
{
    if (open->rank != part->rank) {
        close_block(open);
        char *block = coll_poweraware_rooted_block(r, part->rank);
        int rc = pack ? pwr_packer_begin_pack(&open->packer, block, r->count, r->datatype)
                      : pwr_packer_begin_unpack(&open->packer, block, r->count, r->datatype);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        open->rank = part->rank;
    }
    return pwr_packer_seek(&open->packer, part->first);
}

/* Pieces that went without a slot were not packed: seek. */
int coll_poweraware_rooted_pack_mine(coll_poweraware_rooted_t *r,
                                     const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    coll_poweraware_part_t part = coll_poweraware_rooted_my_part(r, piece);
    if (COLL_POWERAWARE_NO_RANK == r->mine.rank) {
        return OMPI_ERROR;
    }
    int rc = pwr_packer_seek(&r->mine.packer, part.first);
    return OMPI_SUCCESS == rc ? pwr_packer_pack(&r->mine.packer, slot + part.at, part.bytes) : rc;
}

int coll_poweraware_rooted_unpack_mine(coll_poweraware_rooted_t *r,
                                       const coll_poweraware_piece_t *piece,
                                       const unsigned char *slot)
{
    coll_poweraware_part_t part = coll_poweraware_rooted_my_part(r, piece);
    if (COLL_POWERAWARE_NO_RANK == r->mine.rank) {
        return OMPI_ERROR;
    }
    int rc = pwr_packer_seek(&r->mine.packer, part.first);
    return OMPI_SUCCESS == rc ? pwr_packer_unpack(&r->mine.packer, slot + part.at, part.bytes) : rc;
}

int coll_poweraware_rooted_pack(coll_poweraware_rooted_t *r, const coll_poweraware_piece_t *piece,
                                unsigned char *slot)
{
    coll_poweraware_open_block_t *open = &r->of_node[piece->node != r->root_node];
    int num = coll_poweraware_rooted_num_parts(r, piece);
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num && OMPI_SUCCESS == rc; ++i) {
        coll_poweraware_part_t part = coll_poweraware_rooted_part(r, piece, i);
        rc = open_part(r, open, &part, true);
        rc = OMPI_SUCCESS == rc ? pwr_packer_pack(&open->packer, slot + part.at, part.bytes) : rc;
    }
    return rc;
}

int coll_poweraware_rooted_unpack(coll_poweraware_rooted_t *r, const coll_poweraware_piece_t *piece,
                                  const unsigned char *slot)
{
    coll_poweraware_open_block_t *open = &r->of_node[piece->node != r->root_node];
    int num = coll_poweraware_rooted_num_parts(r, piece);
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num && OMPI_SUCCESS == rc; ++i) {
        coll_poweraware_part_t part = coll_poweraware_rooted_part(r, piece, i);
        rc = open_part(r, open, &part, false);
        rc = OMPI_SUCCESS == rc ? pwr_packer_unpack(&open->packer, slot + part.at, part.bytes) : rc;
    }
    return rc;
}

void coll_poweraware_rooted_end(coll_poweraware_rooted_t *r)
{
    close_block(&r->mine);
    close_block(&r->of_node[0]);
    close_block(&r->of_node[1]);
}
