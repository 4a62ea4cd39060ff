/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Blocks of the three Alltoalls.
 */
#include "algorithms/alltoall/exchange.h"

#include "pwr_ompi/packer.h"

void coll_poweraware_exchange_begin(coll_poweraware_exchange_t *x, coll_poweraware_call_t *call,
                                    const coll_poweraware_args_t *args)
{
    x->call = call;
    x->in_place = MPI_IN_PLACE == args->sbuf;
    x->recv = coll_poweraware_recv_blocks(call, args);
    x->send = x->in_place ? x->recv : coll_poweraware_send_blocks(call, args);
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
    return coll_poweraware_block_copy(&from, &to);
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
