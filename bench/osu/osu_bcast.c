/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Bcast.  One buffer: the root's is sent, everybody else's received.
 */
#include "config.h"

#include "osu.h"

enum { TO_EVERYBODY = -1 };

static size_t no_buffer(int np, size_t bytes)
{
    (void)np;
    (void)bytes;
    return 0;
}

static size_t buffer_bytes(int np, size_t bytes)
{
    (void)np;
    return bytes;
}

static void run(const pwr_osu_call_t *call)
{
    MPI_Bcast(call->recv, (int)call->bytes, MPI_CHAR, call->root, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_pattern_t message = pwr_pattern(call->root, TO_EVERYBODY, call->tag);
    if (call->rank == call->root) {
        pwr_pattern_fill(message, 0, call->recv, call->bytes);
    } else {
        pwr_pattern_fill_wrong(message, 0, call->recv, call->bytes);
    }
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    error->where = "message from root";
    error->peer = call->root;
    return pwr_pattern_check(pwr_pattern(call->root, TO_EVERYBODY, call->tag), 0, call->recv,
                             call->bytes, &error->byte);
}

const pwr_osu_benchmark_t pwr_osu_bcast = {
    .name = "osu_bcast",
    .title = "Broadcast",
    .datatype = "MPI_CHAR",
    .unit = 1,
    .rooted = true,
    .send_bytes = no_buffer,
    .recv_bytes = buffer_bytes,
    .run = run,
    .fill = fill,
    .check = check,
};
