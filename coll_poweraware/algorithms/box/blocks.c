/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of any type as packed bytes in a box; without gaps, a copy.
 */
#include "algorithms/box/box.h"

#include <string.h>

#include "pwr_ompi/packer.h"

#include "ompi/datatype/ompi_datatype.h"

size_t coll_poweraware_packed_bytes(size_t count, const struct ompi_datatype_t *datatype)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    return count * size;
}

/* Where the bytes lie that a copy has to move; NULL if they do not lie together. */
static char *plain_bytes(const void *buffer, size_t count, struct ompi_datatype_t *datatype,
                         size_t *bytes)
{
    *bytes = coll_poweraware_packed_bytes(count, datatype);
    if (count > INT32_MAX ||
        !opal_datatype_is_contiguous_memory_layout(&datatype->super, (int32_t)count)) {
        return NULL;
    }
    return (char *)buffer + datatype->super.true_lb;
}

int coll_poweraware_box_pack(unsigned char *box, const void *buffer, size_t count,
                             struct ompi_datatype_t *datatype)
{
    size_t bytes;
    const char *from = plain_bytes(buffer, count, datatype, &bytes);
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    if (NULL != from) {
        memcpy(box, from, bytes);
        return OMPI_SUCCESS;
    }
    pwr_packer_t packer;
    int rc = pwr_packer_begin_pack(&packer, buffer, count, datatype);
    if (OMPI_SUCCESS == rc) {
        rc = pwr_packer_pack(&packer, box, bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}

int coll_poweraware_box_unpack(void *buffer, size_t count, struct ompi_datatype_t *datatype,
                               const unsigned char *box)
{
    size_t bytes;
    char *to = plain_bytes(buffer, count, datatype, &bytes);
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    if (NULL != to) {
        memcpy(to, box, bytes);
        return OMPI_SUCCESS;
    }
    pwr_packer_t packer;
    int rc = pwr_packer_begin_unpack(&packer, buffer, count, datatype);
    if (OMPI_SUCCESS == rc) {
        rc = pwr_packer_unpack(&packer, box, bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}

coll_poweraware_rank_blocks_t coll_poweraware_rank_blocks(void *buffer, size_t count,
                                                          struct ompi_datatype_t *datatype)
{
    coll_poweraware_rank_blocks_t blocks = {.buffer = buffer, .datatype = datatype, .count = count};
    ptrdiff_t lb;
    ompi_datatype_type_size(datatype, &blocks.size);
    ompi_datatype_get_extent(datatype, &lb, &blocks.extent);
    return blocks;
}

static size_t count_of(const coll_poweraware_rank_blocks_t *blocks, int rank)
{
    return blocks->varying ? pwr_ompi_count(blocks->counts, rank) : blocks->count;
}

char *coll_poweraware_block_address(const coll_poweraware_rank_blocks_t *blocks, int rank)
{
    ptrdiff_t elements =
        blocks->varying ? pwr_ompi_displ(blocks->displs, rank) : (ptrdiff_t)blocks->count * rank;
    return blocks->buffer + elements * blocks->extent;
}

size_t coll_poweraware_block_bytes(const coll_poweraware_rank_blocks_t *blocks, int rank)
{
    return count_of(blocks, rank) * blocks->size;
}

int coll_poweraware_pack_block(unsigned char *box, const coll_poweraware_rank_blocks_t *blocks,
                               int rank)
{
    return coll_poweraware_box_pack(box, coll_poweraware_block_address(blocks, rank),
                                    count_of(blocks, rank), blocks->datatype);
}

int coll_poweraware_unpack_block(const coll_poweraware_rank_blocks_t *blocks, int rank,
                                 const unsigned char *box)
{
    return coll_poweraware_box_unpack(coll_poweraware_block_address(blocks, rank),
                                      count_of(blocks, rank), blocks->datatype, box);
}

size_t coll_poweraware_bytes_before_node(const coll_poweraware_call_t *call,
                                         const coll_poweraware_rank_blocks_t *blocks, int node)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (!blocks->varying) {
        return (size_t)h->node_start[node] * coll_poweraware_block_bytes(blocks, 0);
    }
    size_t before = 0;
    for (int i = 0; i < h->node_start[node]; ++i) {
        before += coll_poweraware_block_bytes(blocks, h->by_node[i]);
    }
    return before;
}
