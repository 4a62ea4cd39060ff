/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of algorithms.
 */
#include "algorithms/algorithms.h"

#include <string.h>

#include "choose/decision.h"

const coll_poweraware_algorithm_t coll_poweraware_algorithms[] = {
    {COLL_POWERAWARE_ALLGATHER, "box", coll_poweraware_box_allgather_can,
     coll_poweraware_box_allgather, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_ALLGATHER, "leader", coll_poweraware_allgather_leader_can,
     coll_poweraware_allgather_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLGATHERV, "box", coll_poweraware_box_allgatherv_can,
     coll_poweraware_box_allgatherv, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_ALLGATHERV, "leader", coll_poweraware_allgather_leader_can,
     coll_poweraware_allgather_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLREDUCE, "box", coll_poweraware_box_allreduce_can,
     coll_poweraware_box_allreduce, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_ALLREDUCE, "leader", coll_poweraware_allreduce_leader_can,
     coll_poweraware_allreduce_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALL, "box", coll_poweraware_alltoall_box_can,
     coll_poweraware_alltoall_box, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_ALLTOALL, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALL, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALL, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLV, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLV, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLV, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLW, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLW, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_ALLTOALLW, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_BARRIER, "box", NULL, coll_poweraware_box_barrier, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_BCAST, "box", coll_poweraware_box_bcast_can, coll_poweraware_box_bcast,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_BCAST, "leader", NULL, coll_poweraware_bcast_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_EXSCAN, "box", coll_poweraware_box_scan_can, coll_poweraware_box_exscan,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_EXSCAN, "leader", coll_poweraware_scan_leader_can,
     coll_poweraware_exscan_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_GATHER, "box", coll_poweraware_box_gather_can, coll_poweraware_box_gather,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_GATHER, "leader", NULL, coll_poweraware_gather_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_GATHER, "linear", coll_poweraware_linear_can, coll_poweraware_gather_linear,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_REDUCE, "box", coll_poweraware_box_reduce_can, coll_poweraware_box_reduce,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_REDUCE, "leader", coll_poweraware_reduce_leader_can,
     coll_poweraware_reduce_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_REDUCE_SCATTER, "box", coll_poweraware_box_reduce_scatter_can,
     coll_poweraware_box_reduce_scatter, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_REDUCE_SCATTER, "leader", coll_poweraware_reduce_scatter_leader_can,
     coll_poweraware_reduce_scatter_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, "box", coll_poweraware_box_reduce_scatter_block_can,
     coll_poweraware_box_reduce_scatter_block, PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, "leader", coll_poweraware_reduce_scatter_leader_can,
     coll_poweraware_reduce_scatter_block_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_SCAN, "box", coll_poweraware_box_scan_can, coll_poweraware_box_scan,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_SCAN, "leader", coll_poweraware_scan_leader_can, coll_poweraware_scan_leader,
     PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_SCATTER, "box", coll_poweraware_box_scatter_can, coll_poweraware_box_scatter,
     PWR_SEGMENT_BOXES},
    {COLL_POWERAWARE_SCATTER, "leader", NULL, coll_poweraware_scatter_leader, PWR_SEGMENT_CHUNKS},
    {COLL_POWERAWARE_SCATTER, "linear", coll_poweraware_linear_can, coll_poweraware_scatter_linear,
     PWR_SEGMENT_BOXES},
};

const int coll_poweraware_num_algorithms =
    sizeof coll_poweraware_algorithms / sizeof coll_poweraware_algorithms[0];

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
