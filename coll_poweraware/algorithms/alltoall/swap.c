/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An Alltoall in place, pair by pair, with three buffers of the segment for each rank.
 *
 * 1. All ranks of the node claim SWAP_BUFFERS slots and divide each among them.
 *
 * A block of one buffer at most:
 * 2. it is packed into a buffer, which is sent; the peer's is received into its place.
 *
 * A longer one is a stream of packed bytes in pieces of a buffer:
 * 3. piece 0 is packed;
 * 4. for each piece k: piece k is sent and the peer's piece k received into the third buffer; in
 *    the meantime piece k + 1 is packed; then the peer's piece k is unpacked into its place.
 *    Packing is ahead of unpacking, so no byte is overwritten before it is packed.
 *
 * 5. When a rank has swapped all of its blocks it releases the slots.
 */
#include "algorithms/alltoall/exchange.h"

#include "pwr_ompi/packer.h"

#include "ompi/datatype/ompi_datatype.h"

/* Pieces shorter than this would be all overhead. */
enum { SHORTEST_BUFFER = 512 };

/* The same on all ranks of all nodes, so that both ends of a pair cut alike. */
static size_t buffer_bytes(const coll_poweraware_call_t *call)
{
    size_t share = call->segment->slot_bytes / (size_t)call->hierarchy->max_local;
    return share / PWR_CACHE_LINE * PWR_CACHE_LINE;
}

bool coll_poweraware_swap_can(const coll_poweraware_call_t *call)
{
    return buffer_bytes(call) >= SHORTEST_BUFFER;
}

void coll_poweraware_swap_begin(coll_poweraware_swap_t *s, coll_poweraware_exchange_t *x)
{
    coll_poweraware_call_t *call = x->call;
    const pwr_hierarchy_t *h = call->hierarchy;
    s->x = x;
    s->bytes = buffer_bytes(call);
    for (int i = 0; i < COLL_POWERAWARE_SWAP_BUFFERS; ++i) { /* 1 */
        s->claim[i] = coll_poweraware_claim(call, s->bytes * (size_t)h->num_local, 0, h->num_local);
    }
    for (int i = 0; i < COLL_POWERAWARE_SWAP_BUFFERS; ++i) {
        coll_poweraware_wait(call, PWR_SITE_SLOT_FREE, &s->claim[i].slot->released,
                             s->claim[i].free);
        s->buffer[i] = s->claim[i].data + (size_t)h->my_local * s->bytes;
    }
}

void coll_poweraware_swap_end(const coll_poweraware_swap_t *s)
{
    for (int i = 0; i < COLL_POWERAWARE_SWAP_BUFFERS; ++i) {
        pwr_flag_arrive(&s->claim[i].slot->released, s->claim[i].gone); /* 5 */
    }
}

static size_t length_of(const coll_poweraware_swap_t *s, size_t total, size_t piece)
{
    size_t left = total - piece * s->bytes;
    return left < s->bytes ? left : s->bytes;
}

/* 4. */
static int swap_piece(const coll_poweraware_swap_t *s, pwr_packer_t *out, pwr_packer_t *in,
                      size_t piece, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    size_t bytes = length_of(s, in->total, piece);
    unsigned char *theirs = s->buffer[2];
    coll_poweraware_post_recv(call, theirs, bytes, MPI_BYTE, peer);
    coll_poweraware_post_send(call, s->buffer[piece % 2], bytes, MPI_BYTE, peer);
    int rc = OMPI_SUCCESS;
    if (out->done < out->total) {
        rc = pwr_packer_pack(out, s->buffer[(piece + 1) % 2], length_of(s, out->total, piece + 1));
    }
    rc = coll_poweraware_complete(call, rc);
    return coll_poweraware_first_error(rc, OMPI_SUCCESS == rc ? pwr_packer_unpack(in, theirs, bytes)
                                                              : rc);
}

/* An error does not end it: the peer waits for as many messages. */
static int swap_pieces(const coll_poweraware_swap_t *s, pwr_packer_t *out, pwr_packer_t *in,
                       int peer)
{
    int rc = pwr_packer_pack(out, s->buffer[0], length_of(s, out->total, 0)); /* 3 */
    rc = coll_poweraware_complete(s->x->call, rc);
    for (size_t piece = 0; piece * s->bytes < in->total; ++piece) {
        rc = coll_poweraware_first_error(rc, swap_piece(s, out, in, piece, peer));
    }
    return rc;
}

/* 2. */
static int swap_whole(const coll_poweraware_swap_t *s, pwr_packer_t *out,
                      const coll_poweraware_block_t *block, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    int rc = pwr_packer_pack(out, s->buffer[0], out->total);
    rc = coll_poweraware_complete(call, rc);
    coll_poweraware_post_recv(call, block->data, block->count, block->datatype, peer);
    coll_poweraware_post_send(call, s->buffer[0], out->total, MPI_BYTE, peer);
    return coll_poweraware_complete(call, rc);
}

/* After an error before the first message: as many of them, empty. */
static int swap_nothing(const coll_poweraware_swap_t *s, size_t total, int rc, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    rc = coll_poweraware_complete(call, rc);
    for (size_t piece = 0; piece * s->bytes < total; ++piece) {
        coll_poweraware_post_recv(call, s->buffer[2], s->bytes, MPI_BYTE, peer);
        coll_poweraware_post_send(call, s->buffer[0], s->bytes, MPI_BYTE, peer);
        coll_poweraware_complete(call, rc);
    }
    return rc;
}

int coll_poweraware_swap(const coll_poweraware_swap_t *s, int peer)
{
    coll_poweraware_block_t block = coll_poweraware_block_from(s->x, peer);
    pwr_packer_t out;
    pwr_packer_t in;
    if (0 == block.bytes) {
        return OMPI_SUCCESS;
    }
    int rc = pwr_packer_begin_pack(&out, block.data, block.count, block.datatype);
    if (OMPI_SUCCESS != rc) {
        return swap_nothing(s, block.bytes, rc, peer);
    }
    rc = pwr_packer_begin_unpack(&in, block.data, block.count, block.datatype);
    if (OMPI_SUCCESS == rc) {
        rc = block.bytes <= s->bytes ? swap_whole(s, &out, &block, peer)
                                     : swap_pieces(s, &out, &in, peer);
        pwr_packer_end(&in);
    } else {
        swap_nothing(s, block.bytes, rc, peer);
    }
    pwr_packer_end(&out);
    return rc;
}
