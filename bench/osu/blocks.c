/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which block goes where, written and checked.
 */
#include "config.h"

#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO_EVERYBODY = -1, NOT_A_MESSAGE = 0x5a };

typedef struct side {
    unsigned char *data;
    int blocks;   /* in the buffer */
    bool is_used; /* on this rank */
    bool is_recv;
    const char *where;
} side_t;

size_t pwr_osu_one_block(int np, size_t bytes)
{
    (void)np;
    return bytes;
}

size_t pwr_osu_all_blocks(int np, size_t bytes)
{
    return (size_t)np * bytes;
}

static side_t send_side(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call)
{
    return (side_t){
        .data = call->send,
        .blocks = blocks->send_each ? call->np : 1,
        .is_used = !blocks->sends_root || call->rank == call->root,
        .where = blocks->send_each ? "own send buffer, block for rank" : "own send buffer of rank",
    };
}

static side_t recv_side(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call)
{
    return (side_t){
        .data = call->recv,
        .blocks = blocks->recv_each ? call->np : 1,
        .is_used = !blocks->receives_root || call->rank == call->root,
        .is_recv = true,
        .where = "block received from rank",
    };
}

/* The message that block number index of a side is. */
static pwr_pattern_t message(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call,
                             const side_t *side, int index)
{
    int source = side->is_recv ? (blocks->recv_each ? index : call->root) : call->rank;
    int dest = side->is_recv ? call->rank : index;
    if (!blocks->send_each) {
        dest = blocks->receives_root ? call->root : TO_EVERYBODY;
    }
    return pwr_pattern(source, dest, call->tag);
}

static void fill_side(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call,
                      const side_t *side)
{
    if (!side->is_used) {
        memset(side->data, NOT_A_MESSAGE, (size_t)side->blocks * call->bytes);
        return;
    }
    for (int i = 0; i < side->blocks; i++) {
        unsigned char *block = side->data + (size_t)i * call->bytes;
        pwr_pattern_t pattern = message(blocks, call, side, i);
        if (side->is_recv) {
            pwr_pattern_fill_wrong(pattern, 0, block, call->bytes);
        } else {
            pwr_pattern_fill(pattern, 0, block, call->bytes);
        }
    }
}

void pwr_osu_blocks_fill(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call)
{
    side_t send = send_side(blocks, call);
    side_t recv = recv_side(blocks, call);
    fill_side(blocks, call, &send);
    fill_side(blocks, call, &recv);
}

static bool check_untouched(const side_t *side, const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    error->where = side->is_recv ? "receive buffer of a rank that is not root"
                                 : "send buffer of a rank that is not root";
    error->peer = call->root;
    for (size_t i = 0; i < (size_t)side->blocks * call->bytes; i++) {
        if (side->data[i] != NOT_A_MESSAGE) {
            error->byte =
                (pwr_mismatch_t){.position = i, .expected = NOT_A_MESSAGE, .found = side->data[i]};
            return false;
        }
    }
    return true;
}

static bool check_side(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call,
                       const side_t *side, pwr_osu_error_t *error)
{
    if (!side->is_used) {
        return check_untouched(side, call, error);
    }
    error->where = side->where;
    for (int i = 0; i < side->blocks; i++) {
        error->peer = side->blocks > 1 ? i : side->is_recv ? call->root : call->rank;
        if (!pwr_pattern_check(message(blocks, call, side, i), 0,
                               side->data + (size_t)i * call->bytes, call->bytes, &error->byte)) {
            return false;
        }
    }
    return true;
}

bool pwr_osu_blocks_check(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call,
                          pwr_osu_error_t *error)
{
    side_t send = send_side(blocks, call);
    side_t recv = recv_side(blocks, call);
    return check_side(blocks, call, &recv, error) && check_side(blocks, call, &send, error);
}

static void *resize(void *memory, int np, size_t size)
{
    void *resized = realloc(memory, (size_t)np * size);
    if (!resized) {
        fprintf(stderr, "no memory for the counts of %d ranks\n", np);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return resized;
}

const pwr_osu_vectors_t *pwr_osu_vectors(int np, size_t bytes)
{
    static int made_np;
    static size_t made_bytes;
    static int *counts;
    static int *displs;
    static MPI_Datatype *types;
    static pwr_osu_vectors_t vectors;
    if (np == made_np && bytes == made_bytes) {
        return &vectors;
    }
    counts = resize(counts, np, sizeof *counts);
    displs = resize(displs, np, sizeof *displs);
    types = resize(types, np, sizeof *types);
    for (int i = 0; i < np; i++) {
        counts[i] = (int)bytes;
        displs[i] = (int)((size_t)i * bytes);
        types[i] = MPI_CHAR;
    }
    vectors = (pwr_osu_vectors_t){.counts = counts, .displs = displs, .types = types};
    made_np = np;
    made_bytes = bytes;
    return &vectors;
}
