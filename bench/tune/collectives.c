/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives that are measured.
 */
#include "config.h"

#include "tune.h"

const tune_collective_t tune_collectives[] = {
    {"allgather", &pwr_osu_allgather, true},
    {"allgatherv", &pwr_osu_allgatherv, true},
    {"allreduce", &pwr_osu_allreduce, false},
    {"alltoall", &pwr_osu_alltoall, true},
    {"alltoallv", &pwr_osu_alltoallv, true},
    {"alltoallw", &pwr_osu_alltoallw, true},
    {"barrier", &pwr_osu_barrier, false},
    {"bcast", &pwr_osu_bcast, false},
    {"gather", &pwr_osu_gather, true},
    {"reduce", &pwr_osu_reduce, false},
    {"reduce_scatter", &pwr_osu_reduce_scatter, false},
    {"reduce_scatter_block", &pwr_osu_reduce_scatter_block, false},
    {"scatter", &pwr_osu_scatter, true},
};
const int tune_num_collectives = sizeof tune_collectives / sizeof tune_collectives[0];

uint64_t tune_bytes(const tune_collective_t *collective, int np, size_t size)
{
    return collective->blocks ? (uint64_t)np * size : size;
}
