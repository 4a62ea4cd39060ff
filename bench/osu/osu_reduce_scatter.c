/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Reduce_scatter: the message is dealt out evenly, the first ranks get what is left
 * over.
 */
#include "config.h"

#include "sums.h"

static const int *parts(const pwr_osu_call_t *call)
{
    return pwr_osu_parts(call->np, call->bytes / sizeof(float));
}

static size_t first_of(const pwr_osu_call_t *call)
{
    size_t first = 0;
    for (int rank = 0; rank < call->rank; rank++) {
        first += (size_t)parts(call)[rank];
    }
    return first;
}

static size_t largest_part(int np, size_t bytes)
{
    return (size_t)pwr_osu_parts(np, bytes / sizeof(float))[0] * sizeof(float);
}

static void run(const pwr_osu_call_t *call)
{
    MPI_Reduce_scatter(call->send, call->recv, parts(call), MPI_FLOAT, MPI_SUM, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_sums_fill(call, largest_part(call->np, call->bytes));
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    pwr_osu_result_t result = {
        .where = "sum at rank",
        .peer = call->rank,
        .first = first_of(call),
        .count = (size_t)parts(call)[call->rank],
    };
    return pwr_osu_sums_check(call, &result, largest_part(call->np, call->bytes), error);
}

const pwr_osu_benchmark_t pwr_osu_reduce_scatter = {
    .name = "osu_reduce_scatter",
    .title = "Reduce_scatter",
    .datatype = "MPI_FLOAT",
    .unit = sizeof(float),
    .rooted = false,
    .send_bytes = pwr_osu_message,
    .recv_bytes = largest_part,
    .run = run,
    .fill = fill,
    .check = check,
};
