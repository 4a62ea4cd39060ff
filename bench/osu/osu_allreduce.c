/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Allreduce: sums everywhere.
 */
#include "config.h"

#include "sums.h"

static void run(const pwr_osu_call_t *call)
{
    int count = (int)(call->bytes / sizeof(float));
    MPI_Allreduce(call->send, call->recv, count, MPI_FLOAT, MPI_SUM, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_sums_fill(call, pwr_osu_message(call->np, call->bytes));
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    pwr_osu_result_t result = {
        .where = "sum at rank",
        .peer = call->rank,
        .first = 0,
        .count = call->bytes / sizeof(float),
    };
    return pwr_osu_sums_check(call, &result, pwr_osu_message(call->np, call->bytes), error);
}

const pwr_osu_benchmark_t pwr_osu_allreduce = {
    .name = "osu_allreduce",
    .title = "Allreduce",
    .datatype = "MPI_FLOAT",
    .unit = sizeof(float),
    .rooted = false,
    .send_bytes = pwr_osu_message,
    .recv_bytes = pwr_osu_message,
    .run = run,
    .fill = fill,
    .check = check,
};
