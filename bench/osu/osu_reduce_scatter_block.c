/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Reduce_scatter_block: the message is dealt out evenly, what is left over is not
 * sent.
 */
#include "config.h"

#include "sums.h"

static size_t part(int np, size_t bytes)
{
    return bytes / sizeof(float) / (size_t)np * sizeof(float);
}

static void run(const pwr_osu_call_t *call)
{
    int count = (int)(part(call->np, call->bytes) / sizeof(float));
    MPI_Reduce_scatter_block(call->send, call->recv, count, MPI_FLOAT, MPI_SUM, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_sums_fill(call, part(call->np, call->bytes));
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    pwr_osu_result_t result = {
        .where = "sum at rank",
        .peer = call->rank,
        .first = (size_t)call->rank * part(call->np, call->bytes) / sizeof(float),
        .count = part(call->np, call->bytes) / sizeof(float),
    };
    return pwr_osu_sums_check(call, &result, part(call->np, call->bytes), error);
}

const pwr_osu_benchmark_t pwr_osu_reduce_scatter_block = {
    .name = "osu_reduce_scatter_block",
    .title = "Reduce_scatter_block",
    .datatype = "MPI_FLOAT",
    .unit = sizeof(float),
    .rooted = false,
    .send_bytes = pwr_osu_message,
    .recv_bytes = part,
    .run = run,
    .fill = fill,
    .check = check,
};
