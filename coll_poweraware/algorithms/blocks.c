/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Blocks of data in the user's buffers, and as packed bytes; without gaps, a copy.
 */
#include "algorithms/blocks.h"

#include "pwr_ompi/copy.h"
#include "pwr_ompi/packer.h"

#include "ompi/datatype/ompi_datatype.h"

typedef coll_poweraware_block_t block_t;
typedef coll_poweraware_blocks_t blocks_t;

block_t coll_poweraware_one_block(const void *buffer, size_t count,
                                  struct ompi_datatype_t *datatype)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    return (block_t){(char *)buffer, count, datatype, count * size};
}

/* ---- of every rank ---- */

static blocks_t measured(blocks_t blocks)
{
    if (NULL != blocks.datatype) {
        ptrdiff_t lb;
        ompi_datatype_get_extent(blocks.datatype, &lb, &blocks.extent);
        ompi_datatype_type_size(blocks.datatype, &blocks.size);
    }
    return blocks;
}

blocks_t coll_poweraware_recv_blocks(const coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    return measured((blocks_t){.buffer = args->rbuf,
                               .collective = call->collective,
                               .count = args->rcount,
                               .datatype = args->rdtype,
                               .counts = args->rcounts,
                               .displs = args->rdispls,
                               .datatypes = args->rdtypes});
}

blocks_t coll_poweraware_send_blocks(const coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    return measured((blocks_t){.buffer = (char *)args->sbuf,
                               .collective = call->collective,
                               .count = args->scount,
                               .datatype = args->sdtype,
                               .counts = args->scounts,
                               .displs = args->sdispls,
                               .datatypes = args->sdtypes});
}

bool coll_poweraware_blocks_vary(const blocks_t *blocks)
{
    return COLL_POWERAWARE_ALLGATHERV == blocks->collective ||
           COLL_POWERAWARE_ALLTOALLV == blocks->collective;
}

block_t coll_poweraware_block_of(const blocks_t *blocks, int rank)
{
    if (COLL_POWERAWARE_ALLTOALLW == blocks->collective) {
        return coll_poweraware_one_block(blocks->buffer + pwr_ompi_displ(blocks->displs, rank),
                                         pwr_ompi_count(blocks->counts, rank),
                                         blocks->datatypes[rank]);
    }
    block_t block = {.count = blocks->count, .datatype = blocks->datatype};
    ptrdiff_t elements = (ptrdiff_t)blocks->count * rank;
    if (coll_poweraware_blocks_vary(blocks)) {
        block.count = pwr_ompi_count(blocks->counts, rank);
        elements = pwr_ompi_displ(blocks->displs, rank);
    }
    block.data = blocks->buffer + elements * blocks->extent;
    block.bytes = block.count * blocks->size;
    return block;
}

size_t coll_poweraware_block_bytes(const blocks_t *blocks, int rank)
{
    return coll_poweraware_block_of(blocks, rank).bytes;
}

/* ---- of every rank and my own ---- */

static bool scatters(const coll_poweraware_call_t *call)
{
    return COLL_POWERAWARE_SCATTER == call->collective;
}

blocks_t coll_poweraware_all_blocks(const coll_poweraware_call_t *call,
                                    const coll_poweraware_args_t *args)
{
    return scatters(call) ? coll_poweraware_send_blocks(call, args)
                          : coll_poweraware_recv_blocks(call, args);
}

/* Whether my own block is only among those of all. */
static bool in_place(const coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    return MPI_IN_PLACE == (scatters(call) ? args->rbuf : args->sbuf);
}

block_t coll_poweraware_own_block(const coll_poweraware_call_t *call,
                                  const coll_poweraware_args_t *args)
{
    if (in_place(call, args)) {
        blocks_t blocks = coll_poweraware_all_blocks(call, args);
        return coll_poweraware_block_of(&blocks, call->hierarchy->my_rank);
    }
    return scatters(call) ? coll_poweraware_one_block(args->rbuf, args->rcount, args->rdtype)
                          : coll_poweraware_one_block(args->sbuf, args->scount, args->sdtype);
}

/* ---- as bytes ---- */

char *coll_poweraware_block_plain(const block_t *b)
{
    const opal_datatype_t *type = &b->datatype->super;
    return b->count <= INT32_MAX &&
                   opal_datatype_is_contiguous_memory_layout(type, (int32_t)b->count)
               ? b->data + type->true_lb
               : NULL;
}

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes <= PWR_COPY_BLOCK) {
        memcpy(to, from, bytes);
    } else {
        pwr_copy(to, from, bytes);
    }
}

static inline int convert(const block_t *b, bool packs, unsigned char *packed)
{
    if (0 == b->bytes) {
        return OMPI_SUCCESS;
    }
    char *plain = coll_poweraware_block_plain(b);
    if (NULL == plain) {
        return pwr_packer_convert(packs, b->data, b->count, b->datatype, packed, b->bytes);
    }
    if (packs) {
        copy(packed, plain, b->bytes);
    } else {
        copy(plain, packed, b->bytes);
    }
    return OMPI_SUCCESS;
}

int coll_poweraware_block_pack(const block_t *b, unsigned char *to)
{
    return convert(b, true, to);
}

int coll_poweraware_block_unpack(const block_t *b, const unsigned char *from)
{
    return convert(b, false, (unsigned char *)from);
}

int coll_poweraware_block_copy(const block_t *from, const block_t *to)
{
    return ompi_datatype_sndrcv(from->data, (pwr_count_t)from->count, from->datatype, to->data,
                                (pwr_count_t)to->count, to->datatype);
}

int coll_poweraware_copy_own(const coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    if (in_place(call, args)) {
        return OMPI_SUCCESS;
    }
    blocks_t blocks = coll_poweraware_all_blocks(call, args);
    block_t among_all = coll_poweraware_block_of(&blocks, call->hierarchy->my_rank);
    block_t own = coll_poweraware_own_block(call, args);
    return scatters(call) ? coll_poweraware_block_copy(&among_all, &own)
                          : coll_poweraware_block_copy(&own, &among_all);
}
