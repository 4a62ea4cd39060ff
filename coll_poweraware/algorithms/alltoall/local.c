/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ranks of a node exchange blocks: through boxes where they are short, by single copy where they
 * are long and contiguous on both sides, through the PML else.
 *
 * 1. The block for this rank itself is copied.
 * 2. Every rank fills its box, in which each other one has a slot of the same size: the block
 *    itself if it fits, or a header, which says where the block lies and whether this rank gives
 *    it, and takes the block from the other one, by single copy.
 * 3. What is neither in its box nor given it sends as a message.
 * 4. When all have joined the round it goes through the boxes, starting with its neighbour's.  A
 *    block in a box is unpacked; one that the one gives and the other takes is read from the
 *    sender's memory right to its place; others are messages.
 * 5. Where somebody gives, which all see in the boxes, a second round follows, in which a rank
 *    joins when it reads or writes nobody's memory any more.
 * 6. Who knows that the kernel has refused a single copy says so in its headers, and neither gives
 *    nor takes.  All ranks then end single copy.
 *
 * In place, where the sender's block is the receiver's, 3 and 4 are: pairs meet in the order of a
 * tournament.  A block that both give is swapped by both at once: the lower rank swaps the first
 * half, the higher one the second, piece by piece, by reading a piece, writing its own one in its
 * stead, and copying what was read.  Nobody waits for the other between pieces.  Other blocks:
 * swap.c.
 *
 * For a communicator on one node that is all: there is no phase in which part of the ranks could
 * rest, so nobody is throttled; who waits gives the CPU back.
 *
 * Blocks of an Alltoall that all fit a box: box.c.  Where boxes would be of no use: 1,
 * then messages or swaps only.
 */
#include "algorithms/algorithms.h"

#include <string.h>

#include "algorithms/alltoall/exchange.h"
#include "algorithms/alltoall/schedule.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/packer.h"

typedef coll_poweraware_exchange_t exchange_t;
typedef coll_poweraware_block_t block_t;

/* Head of a slot; a block in the box follows it. */
typedef struct header {
    uint64_t address; /* of the block for the reader, if given */
    uint64_t bytes;   /* of that block */
    uint8_t here;     /* the block follows */
    uint8_t gives;
    uint8_t takes;
    uint8_t gives_some; /* to anybody */
    uint8_t refused;    /* a single copy, by the kernel */
} header_t;

typedef struct local {
    const exchange_t *x;
    coll_poweraware_call_t *call;
    const coll_poweraware_swap_t *swap;
    size_t slot; /* bytes of a slot of a box: the same on all ranks */
    bool single; /* this rank makes single copies */
    bool gives;  /* somebody may read my memory */
    bool sends;  /* some of my blocks are messages, whatever the others say */
    bool second; /* there is a second round */
    bool ends;   /* single copy, with this call */
    int rc;      /* the first error that is none of a message */
    size_t sent; /* bytes */
} local_t;

static void keep_first(local_t *l, int rc)
{
    l->rc = coll_poweraware_first_error(l->rc, rc);
}

static int rank_of(const local_t *l, int local)
{
    return l->call->hierarchy->local_ranks[local];
}

/* The d-th rank after me. */
static int neighbour(const local_t *l, int d)
{
    return (l->call->hierarchy->my_local + d) % l->call->hierarchy->num_local;
}

static bool fits_slot(const local_t *l, size_t bytes)
{
    return sizeof(header_t) + bytes <= l->slot;
}

/* Decided by what is the same on all ranks: of the lengths of blocks, only Alltoall's are. */
static bool uses_offers(const local_t *l)
{
    size_t bytes = l->x->recv.count * l->x->recv.size;
    bool of_use = COLL_POWERAWARE_ALLTOALL != l->call->collective ||
                  (NULL != l->call->pids && bytes >= COLL_POWERAWARE_SHORTEST_SINGLE_COPY);
    return of_use && fits_slot(l, 1);
}

/* The first byte of a block that may be copied at once, else NULL. */
static unsigned char *single_copy_of(const local_t *l, const block_t *b)
{
    return l->single && b->bytes >= COLL_POWERAWARE_SHORTEST_SINGLE_COPY
               ? pwr_packer_contiguous(b->data, b->count, b->datatype)
               : NULL;
}

static header_t header_for(const local_t *l, int peer)
{
    block_t to = coll_poweraware_block_to(l->x, peer);
    block_t from = coll_poweraware_block_from(l->x, peer);
    header_t header = {.bytes = to.bytes, .here = fits_slot(l, to.bytes)};
    unsigned char *address = header.here ? NULL : single_copy_of(l, &to);
    header.address = (uint64_t)(uintptr_t)address;
    header.gives = NULL != address;
    header.takes = NULL != single_copy_of(l, &from);
    header.refused = l->ends;
    return header;
}

/* 2. for one other rank. */
static void fill_slot(local_t *l, int local, unsigned char *slot)
{
    header_t header = header_for(l, rank_of(l, local));
    memcpy(slot, &header, sizeof header);
    if (header.here) {
        block_t block = coll_poweraware_block_to(l->x, rank_of(l, local));
        keep_first(l, coll_poweraware_block_pack(&block, slot + sizeof header));
    }
    l->gives = l->gives || header.gives;
    l->sends = l->sends || (!header.here && !header.gives);
}

static void fill_box(local_t *l)
{
    const pwr_hierarchy_t *h = l->call->hierarchy;
    bool may = NULL != l->call->pids;
    l->ends = may && coll_poweraware_single_copy_refused(l->call);
    l->single = may && !l->ends;
    coll_poweraware_begin_round(l->call);
    unsigned char *box = pwr_boxes_fill(l->call->boxes, l->call->segment->box_bytes);
    for (int d = 1; d < h->num_local; ++d) {
        fill_slot(l, neighbour(l, d), box + (size_t)neighbour(l, d) * l->slot);
    }
    for (int d = 1; d < h->num_local && l->gives; ++d) {
        header_t *header = (header_t *)(void *)(box + (size_t)neighbour(l, d) * l->slot);
        header->gives_some = true;
    }
    pwr_boxes_join(l->call->boxes, OMPI_SUCCESS);
}

/* *data is what follows the header. */
static header_t offer_from(local_t *l, int local, const unsigned char **data)
{
    const unsigned char *box = pwr_boxes_read(l->call->boxes, local, l->call->segment->box_bytes);
    const unsigned char *slot = box + (size_t)l->call->hierarchy->my_local * l->slot;
    header_t header;
    memcpy(&header, slot, sizeof header);
    *data = slot + sizeof header;
    l->second = l->second || header.gives_some;
    l->ends = l->ends || header.refused;
    return header;
}

static int take_from_box(const local_t *l, int local, const header_t *theirs,
                         const unsigned char *data)
{
    block_t block = coll_poweraware_block_from(l->x, rank_of(l, local));
    if (theirs->bytes > block.bytes) {
        return MPI_ERR_TRUNCATE;
    }
    block.bytes = theirs->bytes;
    return coll_poweraware_block_unpack(&block, data);
}

static int take_by_single_copy(const local_t *l, int local, const header_t *theirs)
{
    block_t block = coll_poweraware_block_from(l->x, rank_of(l, local));
    if (theirs->bytes > block.bytes) {
        return MPI_ERR_TRUNCATE;
    }
    coll_poweraware_read(l->call, local, single_copy_of(l, &block), theirs->address, theirs->bytes);
    return OMPI_SUCCESS;
}

/* 4. with one other rank; the rest of 3. */
static void exchange_with(local_t *l, int local)
{
    int peer = rank_of(l, local);
    const unsigned char *data;
    header_t theirs = offer_from(l, local, &data);
    if (theirs.here && !l->gives) {
        keep_first(l, take_from_box(l, local, &theirs, data));
        return;
    }
    header_t mine = header_for(l, peer);
    if (mine.gives && !theirs.takes) {
        coll_poweraware_send_block(l->x, peer, &l->sent);
    }
    if (theirs.here) {
        keep_first(l, take_from_box(l, local, &theirs, data));
    } else if (theirs.gives && mine.takes) {
        keep_first(l, take_by_single_copy(l, local, &theirs));
    } else {
        coll_poweraware_recv_block(l->x, peer);
    }
}

static void exchange_apart(local_t *l)
{
    const pwr_hierarchy_t *h = l->call->hierarchy;
    for (int d = 1; d < h->num_local && l->sends; ++d) { /* 3 */
        int peer = rank_of(l, neighbour(l, d));
        header_t mine = header_for(l, peer);
        if (!mine.here && !mine.gives) {
            coll_poweraware_send_block(l->x, peer, &l->sent);
        }
    }
    pwr_boxes_wait_all(l->call->boxes);
    for (int d = 1; d < h->num_local; ++d) { /* 4 */
        exchange_with(l, neighbour(l, d));
    }
}

/* 4. in place: bytes from..to of my block against the same of the peer's. */
static void swap_part(const local_t *l, int local, unsigned char *mine, uint64_t theirs,
                      size_t from, size_t to)
{
    unsigned char *spare = l->swap->buffer[0];
    for (; from < to; from += l->swap->bytes) {
        size_t bytes = to - from < l->swap->bytes ? to - from : l->swap->bytes;
        coll_poweraware_read(l->call, local, spare, theirs + from, bytes);
        coll_poweraware_write(l->call, local, theirs + from, mine + from, bytes);
        memcpy(mine + from, spare, bytes);
    }
}

static void swap_by_single_copy(const local_t *l, int local, uint64_t theirs)
{
    block_t block = coll_poweraware_block_from(l->x, rank_of(l, local));
    size_t half = block.bytes / 2;
    bool first = l->call->hierarchy->my_local < local;
    swap_part(l, local, single_copy_of(l, &block), theirs, first ? 0 : half,
              first ? half : block.bytes);
}

static void swap_with(local_t *l, int local)
{
    int peer = rank_of(l, local);
    const unsigned char *data;
    header_t mine = header_for(l, peer);
    header_t theirs = offer_from(l, local, &data);
    if (theirs.bytes != mine.bytes) {
        keep_first(l, MPI_ERR_TRUNCATE);
    } else if (theirs.here) {
        keep_first(l, take_from_box(l, local, &theirs, data));
    } else if (mine.gives && theirs.gives) {
        swap_by_single_copy(l, local, theirs.address);
    } else {
        keep_first(l, coll_poweraware_swap(l->swap, peer));
    }
}

static void exchange_in_place(local_t *l, bool headers)
{
    const pwr_hierarchy_t *h = l->call->hierarchy;
    int rounds = coll_poweraware_tournament_rounds(h->num_local);
    if (headers) {
        pwr_boxes_wait_all(l->call->boxes);
    }
    for (int round = 0; round < rounds; ++round) {
        int local = coll_poweraware_opponent(h->num_local, h->my_local, round);
        if (COLL_POWERAWARE_NOBODY == local) {
            continue;
        }
        if (headers) {
            swap_with(l, local);
        } else {
            keep_first(l, coll_poweraware_swap(l->swap, rank_of(l, local)));
        }
    }
}

static void exchange_with_offers(local_t *l)
{
    fill_box(l); /* 2 */
    if (l->x->in_place) {
        exchange_in_place(l, true);
    } else {
        exchange_apart(l);
    }
    l->rc = coll_poweraware_complete(l->call, l->rc);
    l->second = l->second || l->gives;
    if (l->second) {
        coll_poweraware_meet(l->call, OMPI_SUCCESS); /* 5 */
    }
    if (l->ends) {
        coll_poweraware_end_single_copy(l->call); /* 6 */
    }
    pwr_boxes_end(l->call->boxes);
}

/* Without boxes: all in one window. */
static void exchange_messages(local_t *l)
{
    const pwr_hierarchy_t *h = l->call->hierarchy;
    for (int d = 1; d < h->num_local; ++d) {
        coll_poweraware_recv_block(l->x, rank_of(l, neighbour(l, h->num_local - d)));
    }
    for (int d = 1; d < h->num_local; ++d) {
        coll_poweraware_send_block(l->x, rank_of(l, neighbour(l, d)), &l->sent);
    }
    l->rc = coll_poweraware_complete(l->call, l->rc);
}

static void exchange(local_t *l)
{
    pwr_events_add(PWR_EVENT_LOCAL, l->call->hierarchy->my_node, -1, 0);
    keep_first(l, coll_poweraware_copy_own_block(l->x)); /* 1 */
    if (uses_offers(l)) {
        exchange_with_offers(l);
    } else if (l->x->in_place) {
        exchange_in_place(l, false);
    } else {
        exchange_messages(l);
    }
    pwr_events_add(PWR_EVENT_LOCAL_END, l->call->hierarchy->my_node, -1, l->sent);
}

int coll_poweraware_exchange_local(const exchange_t *x, const coll_poweraware_swap_t *swap)
{
    coll_poweraware_call_t *call = x->call;
    local_t l = {
        .x = x,
        .call = call,
        .swap = swap,
        .slot = call->segment->box_bytes / (size_t)call->hierarchy->max_local / 8 * 8,
    };
    pwr_events_add(PWR_EVENT_PHASE, 1, -1, 0);
    if (COLL_POWERAWARE_ALLTOALL == call->collective &&
        coll_poweraware_exchange_box_fits(call, x->recv.count * x->recv.size)) {
        return coll_poweraware_complete(call, coll_poweraware_exchange_box(x));
    }
    exchange(&l);
    return coll_poweraware_complete(call, l.rc);
}

/* ---- a communicator on one node ---- */

bool coll_poweraware_alltoall_node_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    return 1 == call->hierarchy->num_nodes &&
           (MPI_IN_PLACE != args->sbuf || coll_poweraware_swap_can(call));
}

int coll_poweraware_alltoall_node(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    coll_poweraware_exchange_t x;
    coll_poweraware_swap_t swap;
    coll_poweraware_exchange_begin(&x, call, args);
    if (!x.in_place) {
        return coll_poweraware_exchange_local(&x, NULL);
    }
    coll_poweraware_swap_begin(&swap, &x);
    int rc = coll_poweraware_exchange_local(&x, &swap);
    coll_poweraware_swap_end(&swap);
    return rc;
}
