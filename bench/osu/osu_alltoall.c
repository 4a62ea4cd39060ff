/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Alltoall.
 */
#include "config.h"

#include "osu.h"

static size_t buffer_bytes(int np, size_t bytes)
{
    return (size_t)np * bytes;
}

static void run(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Alltoall(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    for (int peer = 0; peer < call->np; peer++) {
        size_t at = (size_t)peer * call->bytes;
        pwr_pattern_fill(pwr_pattern(call->rank, peer, call->tag), 0, call->send + at, call->bytes);
        pwr_pattern_fill_wrong(pwr_pattern(peer, call->rank, call->tag), 0, call->recv + at,
                               call->bytes);
    }
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    for (int peer = 0; peer < call->np; peer++) {
        size_t at = (size_t)peer * call->bytes;
        error->peer = peer;
        error->where = "block received from rank";
        if (!pwr_pattern_check(pwr_pattern(peer, call->rank, call->tag), 0, call->recv + at,
                               call->bytes, &error->byte)) {
            return false;
        }
        error->where = "own send buffer, block for rank";
        if (!pwr_pattern_check(pwr_pattern(call->rank, peer, call->tag), 0, call->send + at,
                               call->bytes, &error->byte)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const pwr_osu_benchmark_t alltoall = {
        .name = "osu_alltoall",
        .title = "All-to-All Personalized Exchange",
        .datatype = "MPI_CHAR",
        .unit = 1,
        .rooted = false,
        .send_bytes = buffer_bytes,
        .recv_bytes = buffer_bytes,
        .run = run,
        .fill = fill,
        .check = check,
    };
    return pwr_osu_main(&alltoall, argc, argv);
}
