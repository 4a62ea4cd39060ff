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

/* Pieces shorter than this would be all overhead. */
enum { SHORTEST_BUFFER = 512 };

/* The same on all ranks of all nodes, so that both ends of a pair cut alike. */
static size_t buffer_bytes(const coll_poweraware_call_t *call)
{
    size_t share = call->slot_bytes / (size_t)call->hierarchy->max_local;
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

/* Piece `piece` of my block into the buffer that is its turn; nothing once the call has failed,
   whose messages are empty then. */
static void pack(const coll_poweraware_swap_t *s, pwr_packer_t *out, size_t total, size_t piece)
{
    coll_poweraware_call_t *call = s->x->call;
    if (OMPI_SUCCESS == call->error && piece * s->bytes < total) {
        size_t bytes = length_of(s, total, piece);
        coll_poweraware_note_error(call, pwr_packer_pack(out, s->buffer[piece % 2], bytes));
    }
}

/* An error does not end it: the peer waits for as many messages. */
static void swap_pieces(const coll_poweraware_swap_t *s, pwr_packer_t *out, pwr_packer_t *in,
                        size_t total, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    unsigned char *theirs = s->buffer[2];
    pack(s, out, total, 0);                                     /* 3 */
    for (size_t piece = 0; piece * s->bytes < total; ++piece) { /* 4 */
        size_t bytes = length_of(s, total, piece);
        coll_poweraware_post_recv(call, theirs, bytes, MPI_BYTE, peer);
        coll_poweraware_post_send(call, s->buffer[piece % 2], bytes, MPI_BYTE, peer);
        pack(s, out, total, piece + 1);
        if (OMPI_SUCCESS == coll_poweraware_complete(call, OMPI_SUCCESS)) {
            coll_poweraware_note_error(call, pwr_packer_unpack(in, theirs, bytes));
        }
    }
}

/* 2. */
static void swap_whole(const coll_poweraware_swap_t *s, pwr_packer_t *out,
                       const coll_poweraware_block_t *block, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    pack(s, out, block->bytes, 0);
    coll_poweraware_post_recv(call, block->data, block->count, block->datatype, peer);
    coll_poweraware_post_send(call, s->buffer[0], block->bytes, MPI_BYTE, peer);
    coll_poweraware_complete(call, OMPI_SUCCESS);
}

int coll_poweraware_swap(const coll_poweraware_swap_t *s, int peer)
{
    coll_poweraware_call_t *call = s->x->call;
    coll_poweraware_block_t block = coll_poweraware_block_from(s->x, peer);
    pwr_packer_t out;
    pwr_packer_t in;
    if (0 == block.bytes) {
        return OMPI_SUCCESS;
    }
    int rc_out = pwr_packer_begin(&out, true, block.data, block.count, block.datatype);
    int rc_in = pwr_packer_begin(&in, false, block.data, block.count, block.datatype);
    coll_poweraware_note_error(call, coll_poweraware_first_error(rc_out, rc_in));
    if (block.bytes <= s->bytes) {
        swap_whole(s, &out, &block, peer);
    } else {
        swap_pieces(s, &out, &in, block.bytes, peer);
    }
    if (OMPI_SUCCESS == rc_out) {
        pwr_packer_end(&out);
    }
    if (OMPI_SUCCESS == rc_in) {
        pwr_packer_end(&in);
    }
    return call->error;
}
