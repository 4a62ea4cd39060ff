/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Alltoallv with blocks of one length.
 */
#include "config.h"

#include "blocks.h"

static const pwr_osu_blocks_t blocks = {.send_each = true, .recv_each = true};

static void run(const pwr_osu_call_t *call)
{
    const pwr_osu_vectors_t *v = pwr_osu_vectors(call->np, call->bytes);
    MPI_Alltoallv(call->send, v->counts, v->displs, MPI_CHAR, call->recv, v->counts, v->displs,
                  MPI_CHAR, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    pwr_osu_blocks_fill(&blocks, call);
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    return pwr_osu_blocks_check(&blocks, call, error);
}

const pwr_osu_benchmark_t pwr_osu_alltoallv = {
    .name = "osu_alltoallv",
    .title = "All-to-Allv Personalized Exchange",
    .datatype = "MPI_CHAR",
    .unit = 1,
    .rooted = false,
    .send_bytes = pwr_osu_all_blocks,
    .recv_bytes = pwr_osu_all_blocks,
    .run = run,
    .fill = fill,
    .check = check,
};
