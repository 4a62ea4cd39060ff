/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Alltoall.
 */
#include "config.h"

#include "blocks.h"

static const pwr_osu_blocks_t blocks = {.send_each = true, .recv_each = true};

static void run(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Alltoall(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_blocks_fill(&blocks, call);
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    return pwr_osu_blocks_check(&blocks, call, error);
}

const pwr_osu_benchmark_t pwr_osu_alltoall = {
    .name = "osu_alltoall",
    .title = "All-to-All Personalized Exchange",
    .datatype = "MPI_CHAR",
    .unit = 1,
    .rooted = false,
    .send_bytes = pwr_osu_all_blocks,
    .recv_bytes = pwr_osu_all_blocks,
    .run = run,
    .fill = fill,
    .check = check,
};
