/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of the collectives that move blocks or a message between ranks: which block goes where,
 * written and checked.  A buffer that means nothing on a rank must stay as it is.
 */
#include "config.h"

#include "osu.h"

#include <string.h>

enum { TO_EVERYBODY = -1, NOT_A_MESSAGE = 0x5a };

typedef struct side {
    unsigned char *data;
    int blocks;   /* in the buffer */
    bool is_used; /* on this rank */
    bool is_recv;
    const char *where;
} side_t;

static bool sends(const pwr_osu_call_t *call)
{
    return !call->benchmark->rooted || call->benchmark->recv_each || call->rank == call->root;
}

static bool receives(const pwr_osu_call_t *call)
{
    return !call->benchmark->rooted || call->benchmark->send_each || call->rank == call->root;
}

static side_t send_side(const pwr_osu_call_t *call)
{
    bool each = call->benchmark->send_each;
    return (side_t){
        .data = call->send,
        .blocks = each ? call->np : 1,
        .is_used = sends(call),
        .where = each ? "own send buffer, block for rank" : "own send buffer of rank",
    };
}

static side_t recv_side(const pwr_osu_call_t *call)
{
    return (side_t){
        .data = call->recv,
        .blocks = call->benchmark->recv_each ? call->np : 1,
        .is_used = receives(call),
        .is_recv = true,
        .where = "block received from rank",
    };
}

/* The message that block number index of a side is. */
static pwr_pattern_t message(const pwr_osu_call_t *call, const side_t *side, int index)
{
    int source = side->is_recv ? (call->benchmark->recv_each ? index : call->root) : call->rank;
    int dest = side->is_recv ? call->rank : index;
    if (!call->benchmark->send_each) {
        dest = call->benchmark->rooted ? call->root : TO_EVERYBODY;
    }
    return pwr_pattern(source, dest, call->tag);
}

static void fill_side(const pwr_osu_call_t *call, const side_t *side)
{
    if (!side->is_used) {
        memset(side->data, NOT_A_MESSAGE, (size_t)side->blocks * call->bytes);
        return;
    }
    for (int i = 0; i < side->blocks; i++) {
        unsigned char *block = side->data + (size_t)i * call->bytes;
        pwr_pattern_t pattern = message(call, side, i);
        if (side->is_recv) {
            pwr_pattern_fill_wrong(pattern, 0, block, call->bytes);
        } else {
            pwr_pattern_fill(pattern, 0, block, call->bytes);
        }
    }
}

static void fill_blocks(const pwr_osu_call_t *call)
{
    side_t send = send_side(call);
    side_t recv = recv_side(call);
    fill_side(call, &send);
    fill_side(call, &recv);
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

static bool check_side(const pwr_osu_call_t *call, const side_t *side, pwr_osu_error_t *error)
{
    if (!side->is_used) {
        return check_untouched(side, call, error);
    }
    error->where = side->where;
    for (int i = 0; i < side->blocks; i++) {
        error->peer = side->blocks > 1 ? i : side->is_recv ? call->root : call->rank;
        if (!pwr_pattern_check(message(call, side, i), 0, side->data + (size_t)i * call->bytes,
                               call->bytes, &error->byte)) {
            return false;
        }
    }
    return true;
}

static bool check_blocks(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    side_t send = send_side(call);
    side_t recv = recv_side(call);
    return check_side(call, &recv, error) && check_side(call, &send, error);
}

static size_t send_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    return benchmark->send_each ? (size_t)np * bytes : bytes;
}

static size_t recv_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    return benchmark->recv_each ? (size_t)np * bytes : bytes;
}

const pwr_osu_data_t pwr_osu_blocks = {
    .datatype = "MPI_CHAR",
    .unit = 1,
    .send_bytes = send_bytes,
    .recv_bytes = recv_bytes,
    .fill = fill_blocks,
    .check = check_blocks,
};

/* ---- a message in one buffer ---- */

size_t pwr_osu_no_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    (void)benchmark;
    (void)np;
    (void)bytes;
    return 0;
}

static void fill_message(const pwr_osu_call_t *call)
{
    pwr_pattern_t pattern = pwr_pattern(call->root, TO_EVERYBODY, call->tag);
    if (call->rank == call->root) {
        pwr_pattern_fill(pattern, 0, call->recv, call->bytes);
    } else {
        pwr_pattern_fill_wrong(pattern, 0, call->recv, call->bytes);
    }
}

static bool check_message(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    error->where = "message from root";
    error->peer = call->root;
    return pwr_pattern_check(pwr_pattern(call->root, TO_EVERYBODY, call->tag), 0, call->recv,
                             call->bytes, &error->byte);
}

const pwr_osu_data_t pwr_osu_message = {
    .datatype = "MPI_CHAR",
    .unit = 1,
    .send_bytes = pwr_osu_no_bytes,
    .recv_bytes = recv_bytes,
    .fill = fill_message,
    .check = check_message,
};
