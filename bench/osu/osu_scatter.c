/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Scatter.
 */
#include "config.h"

#include "blocks.h"

static const pwr_osu_blocks_t blocks = {.send_each = true, .sends_root = true};

static void run(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Scatter(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->root, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_blocks_fill(&blocks, call);
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    return pwr_osu_blocks_check(&blocks, call, error);
}

const pwr_osu_benchmark_t pwr_osu_scatter = {
    .name = "osu_scatter",
    .title = "Scatter",
    .datatype = "MPI_CHAR",
    .unit = 1,
    .rooted = true,
    .send_bytes = pwr_osu_all_blocks,
    .recv_bytes = pwr_osu_one_block,
    .run = run,
    .fill = fill,
    .check = check,
};
