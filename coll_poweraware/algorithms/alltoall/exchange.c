/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Blocks of the three Alltoalls.
 */
#include "algorithms/alltoall/exchange.h"

#include "pwr_ompi/packer.h"

#include "ompi/datatype/ompi_datatype.h"

static void measure(coll_poweraware_blocks_t *blocks)
{
    if (NULL != blocks->datatype) {
        ptrdiff_t lb;
        ompi_datatype_get_extent(blocks->datatype, &lb, &blocks->extent);
        ompi_datatype_type_size(blocks->datatype, &blocks->size);
    }
}

void coll_poweraware_exchange_begin(coll_poweraware_exchange_t *x, coll_poweraware_call_t *call,
                                    const coll_poweraware_args_t *args)
{
    *x = (coll_poweraware_exchange_t){
        .call = call,
        .in_place = MPI_IN_PLACE == args->sbuf,
        .recv = {.buffer = args->rbuf,
                 .count = args->rcount,
                 .datatype = args->rdtype,
                 .counts = args->rcounts,
                 .displs = args->rdispls,
                 .datatypes = args->rdtypes},
    };
    measure(&x->recv);
    x->send = x->recv;
    if (!x->in_place) {
        x->send = (coll_poweraware_blocks_t){.buffer = (char *)args->sbuf,
                                             .count = args->scount,
                                             .datatype = args->sdtype,
                                             .counts = args->scounts,
                                             .displs = args->sdispls,
                                             .datatypes = args->sdtypes};
        measure(&x->send);
    }
}

static coll_poweraware_block_t block_of(const coll_poweraware_blocks_t *b,
                                        coll_poweraware_collective_t collective, int peer)
{
    coll_poweraware_block_t block = {.count = b->count, .datatype = b->datatype};
    size_t size = b->size;
    switch (collective) {
    case COLL_POWERAWARE_ALLTOALLW:
        block.data = b->buffer + pwr_ompi_displ(b->displs, peer);
        block.count = pwr_ompi_count(b->counts, peer);
        block.datatype = b->datatypes[peer];
        ompi_datatype_type_size(block.datatype, &size);
        break;
    case COLL_POWERAWARE_ALLTOALLV:
        block.data = b->buffer + pwr_ompi_displ(b->displs, peer) * b->extent;
        block.count = pwr_ompi_count(b->counts, peer);
        break;
    default:
        block.data = b->buffer + peer * (ptrdiff_t)b->count * b->extent;
        break;
    }
    block.bytes = block.count * size;
    return block;
}

coll_poweraware_block_t coll_poweraware_block_to(const coll_poweraware_exchange_t *x, int peer)
{
    return block_of(&x->send, x->call->collective, peer);
}

coll_poweraware_block_t coll_poweraware_block_from(const coll_poweraware_exchange_t *x, int peer)
{
    return block_of(&x->recv, x->call->collective, peer);
}

int coll_poweraware_block_pack(const coll_poweraware_block_t *b, unsigned char *to)
{
    pwr_packer_t packer;
    if (0 == b->bytes) {
        return OMPI_SUCCESS;
    }
    int rc = pwr_packer_begin_pack(&packer, b->data, b->count, b->datatype);
    if (OMPI_SUCCESS == rc) {
        rc = pwr_packer_pack(&packer, to, b->bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}

int coll_poweraware_block_unpack(const coll_poweraware_block_t *b, const unsigned char *from)
{
    pwr_packer_t packer;
    if (0 == b->bytes) {
        return OMPI_SUCCESS;
    }
    int rc = pwr_packer_begin_unpack(&packer, b->data, b->count, b->datatype);
    if (OMPI_SUCCESS == rc) {
        rc = pwr_packer_unpack(&packer, from, b->bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}

int coll_poweraware_copy_own_block(const coll_poweraware_exchange_t *x)
{
    int me = x->call->hierarchy->my_rank;
    if (x->in_place) {
        return OMPI_SUCCESS;
    }
    coll_poweraware_block_t from = coll_poweraware_block_to(x, me);
    coll_poweraware_block_t to = coll_poweraware_block_from(x, me);
    const unsigned char *data = pwr_packer_contiguous(from.data, from.count, from.datatype);
    if (NULL != data && from.bytes == to.bytes) {
        return coll_poweraware_block_unpack(&to, data);
    }
    return ompi_datatype_sndrcv(from.data, (pwr_count_t)from.count, from.datatype, to.data,
                                (pwr_count_t)to.count, to.datatype);
}

void coll_poweraware_send_block(const coll_poweraware_exchange_t *x, int peer, size_t *bytes)
{
    coll_poweraware_block_t b = coll_poweraware_block_to(x, peer);
    if (0 != b.bytes) {
        *bytes += b.bytes;
        coll_poweraware_post_send(x->call, b.data, b.count, b.datatype, peer);
    }
}

void coll_poweraware_recv_block(const coll_poweraware_exchange_t *x, int peer)
{
    coll_poweraware_block_t b = coll_poweraware_block_from(x, peer);
    if (0 != b.bytes) {
        coll_poweraware_post_recv(x->call, b.data, b.count, b.datatype, peer);
    }
}
