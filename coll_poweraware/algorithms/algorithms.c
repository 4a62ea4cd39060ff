/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of algorithms.
 */
#include "algorithms/algorithms.h"

#include <string.h>

#include "choose/decision.h"

#define ROW(its_collective, its_name, its_run, its_can, part)                                      \
    {                                                                                              \
        .collective = COLL_POWERAWARE_##its_collective, .name = (its_name), .can = (its_can),      \
        .run = coll_poweraware_##its_run, .memory = PWR_SEGMENT_##part                             \
    }
#define BASIC(its_collective, its_name, arguments, bytes, known)                                   \
    {.collective = COLL_POWERAWARE_##its_collective,                                               \
     .name = "basic",                                                                              \
     .can = coll_poweraware_few_can,                                                               \
     .component = COLL_POWERAWARE_BASIC},
#define TUNED(its_collective, its_name, arguments, bytes, known)                                   \
    {.collective = COLL_POWERAWARE_##its_collective,                                               \
     .name = "tuned",                                                                              \
     .component = COLL_POWERAWARE_TUNED},
const coll_poweraware_algorithm_t coll_poweraware_algorithms[] = {
    ROW(ALLGATHER, "box", box_allgather, coll_poweraware_box_allgather_can, BOXES),
    ROW(ALLGATHER, "gpu", gpu_copy, coll_poweraware_gpu_copy_can, BOXES),
    ROW(ALLGATHER, "leader", allgather_leader, coll_poweraware_allgather_leader_can, CHUNKS),
    ROW(ALLGATHERV, "box", box_allgather, coll_poweraware_box_allgather_can, BOXES),
    ROW(ALLGATHERV, "leader", allgather_leader, coll_poweraware_allgather_leader_can, CHUNKS),
    ROW(ALLREDUCE, "box", box_allreduce, coll_poweraware_box_reduce_can, BOXES),
    ROW(ALLREDUCE, "gpu", gpu_reduce, coll_poweraware_gpu_reduce_can, BOXES),
    ROW(ALLREDUCE, "leader", allreduce_leader, coll_poweraware_reduce_leader_can, CHUNKS),
    ROW(ALLTOALL, "box", alltoall_box, coll_poweraware_alltoall_box_can, BOXES),
    ROW(ALLTOALL, "gpu", gpu_copy, coll_poweraware_gpu_copy_can, BOXES),
    ROW(ALLTOALL, "grouped", alltoall_grouped, coll_poweraware_alltoall_grouped_can, CHUNKS),
    ROW(ALLTOALL, "node", alltoall_node, coll_poweraware_alltoall_node_can, CHUNKS),
    ROW(ALLTOALL, "combined", alltoall_combined, coll_poweraware_alltoall_combined_can, CHUNKS),
    ROW(ALLTOALLV, "grouped", alltoall_grouped, coll_poweraware_alltoall_grouped_can, CHUNKS),
    ROW(ALLTOALLV, "node", alltoall_node, coll_poweraware_alltoall_node_can, CHUNKS),
    ROW(ALLTOALLV, "combined", alltoall_combined, coll_poweraware_alltoall_combined_can, CHUNKS),
    ROW(ALLTOALLW, "grouped", alltoall_grouped, coll_poweraware_alltoall_grouped_can, CHUNKS),
    ROW(ALLTOALLW, "node", alltoall_node, coll_poweraware_alltoall_node_can, CHUNKS),
    ROW(ALLTOALLW, "combined", alltoall_combined, coll_poweraware_alltoall_combined_can, CHUNKS),
    ROW(BARRIER, "box", box_barrier, NULL, BOXES),
    ROW(BCAST, "box", box_bcast, coll_poweraware_box_bcast_can, BOXES),
    ROW(BCAST, "gpu", gpu_copy, coll_poweraware_gpu_copy_can, BOXES),
    ROW(BCAST, "leader", bcast_leader, NULL, CHUNKS),
    ROW(EXSCAN, "box", box_scan, coll_poweraware_box_scan_can, BOXES),
    ROW(EXSCAN, "leader", scan_leader, coll_poweraware_scan_leader_can, CHUNKS),
    ROW(GATHER, "box", box_gather, coll_poweraware_box_gather_can, BOXES),
    ROW(GATHER, "gpu", gpu_copy, coll_poweraware_gpu_copy_can, BOXES),
    ROW(GATHER, "leader", rooted_leader, NULL, CHUNKS),
    ROW(GATHER, "linear", linear, coll_poweraware_few_can, BOXES),
    ROW(REDUCE, "box", box_reduce, coll_poweraware_box_reduce_can, BOXES),
    ROW(REDUCE, "gpu", gpu_reduce, coll_poweraware_gpu_reduce_can, BOXES),
    ROW(REDUCE, "leader", reduce_leader, coll_poweraware_reduce_leader_can, CHUNKS),
    ROW(REDUCE_SCATTER, "box", box_reduce_scatter, coll_poweraware_box_reduce_scatter_can, BOXES),
    ROW(REDUCE_SCATTER, "leader", reduce_scatter_leader, coll_poweraware_reduce_scatter_leader_can,
        CHUNKS),
    ROW(REDUCE_SCATTER_BLOCK, "box", box_reduce_scatter, coll_poweraware_box_reduce_scatter_can,
        BOXES),
    ROW(REDUCE_SCATTER_BLOCK, "leader", reduce_scatter_leader,
        coll_poweraware_reduce_scatter_leader_can, CHUNKS),
    ROW(SCAN, "box", box_scan, coll_poweraware_box_scan_can, BOXES),
    ROW(SCAN, "leader", scan_leader, coll_poweraware_scan_leader_can, CHUNKS),
    ROW(SCATTER, "box", box_scatter, coll_poweraware_box_gather_can, BOXES),
    ROW(SCATTER, "gpu", gpu_copy, coll_poweraware_gpu_copy_can, BOXES),
    ROW(SCATTER, "leader", rooted_leader, NULL, CHUNKS),
    ROW(SCATTER, "linear", linear, coll_poweraware_few_can, BOXES),
    COLL_POWERAWARE_HANDLED(BASIC) /* linear algorithms most of all */
    COLL_POWERAWARE_HANDLED(TUNED)};

const int coll_poweraware_num_algorithms =
    sizeof coll_poweraware_algorithms / sizeof coll_poweraware_algorithms[0];

/* More ranks would have a root handle more messages than a tree has rounds, by far. */
bool coll_poweraware_few_can(const coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                             size_t bytes)
{
    enum { FEW = 64 };
    (void)args;
    (void)bytes;
    return call->hierarchy->size <= FEW;
}

int coll_poweraware_algorithm_index(int collective, const char *name)
{
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        if (collective == (int)coll_poweraware_algorithms[i].collective &&
            0 == strcmp(name, coll_poweraware_algorithms[i].name)) {
            return i;
        }
    }
    return COLL_POWERAWARE_DECISION_UNKNOWN;
}
