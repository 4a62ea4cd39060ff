/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of algorithms.
 */
#include "algorithms.h"

const coll_poweraware_algorithm_t coll_poweraware_algorithms[] = {
    {COLL_POWERAWARE_ALLGATHER, "box", coll_poweraware_box_allgather_can,
     coll_poweraware_box_allgather},
    {COLL_POWERAWARE_ALLGATHER, "leader", coll_poweraware_allgather_leader_can,
     coll_poweraware_allgather_leader},
    {COLL_POWERAWARE_ALLGATHERV, "box", coll_poweraware_box_allgatherv_can,
     coll_poweraware_box_allgatherv},
    {COLL_POWERAWARE_ALLGATHERV, "leader", coll_poweraware_allgather_leader_can,
     coll_poweraware_allgather_leader},
    {COLL_POWERAWARE_ALLREDUCE, "box", coll_poweraware_box_allreduce_can,
     coll_poweraware_box_allreduce},
    {COLL_POWERAWARE_ALLREDUCE, "leader", coll_poweraware_allreduce_leader_can,
     coll_poweraware_allreduce_leader},
    {COLL_POWERAWARE_ALLTOALL, "box", coll_poweraware_alltoall_box_can,
     coll_poweraware_alltoall_box},
    {COLL_POWERAWARE_ALLTOALL, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped},
    {COLL_POWERAWARE_ALLTOALL, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node},
    {COLL_POWERAWARE_ALLTOALL, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined},
    {COLL_POWERAWARE_ALLTOALLV, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped},
    {COLL_POWERAWARE_ALLTOALLV, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node},
    {COLL_POWERAWARE_ALLTOALLV, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined},
    {COLL_POWERAWARE_ALLTOALLW, "grouped", coll_poweraware_alltoall_grouped_can,
     coll_poweraware_alltoall_grouped},
    {COLL_POWERAWARE_ALLTOALLW, "node", coll_poweraware_alltoall_node_can,
     coll_poweraware_alltoall_node},
    {COLL_POWERAWARE_ALLTOALLW, "combined", coll_poweraware_alltoall_combined_can,
     coll_poweraware_alltoall_combined},
    {COLL_POWERAWARE_BARRIER, "box", NULL, coll_poweraware_box_barrier},
    {COLL_POWERAWARE_BCAST, "box", coll_poweraware_box_bcast_can, coll_poweraware_box_bcast},
    {COLL_POWERAWARE_BCAST, "leader", NULL, coll_poweraware_bcast_leader},
    {COLL_POWERAWARE_GATHER, "box", coll_poweraware_box_gather_can, coll_poweraware_box_gather},
    {COLL_POWERAWARE_GATHER, "leader", NULL, coll_poweraware_gather_leader},
    {COLL_POWERAWARE_REDUCE, "box", coll_poweraware_box_reduce_can, coll_poweraware_box_reduce},
    {COLL_POWERAWARE_REDUCE, "leader", coll_poweraware_reduce_leader_can,
     coll_poweraware_reduce_leader},
    {COLL_POWERAWARE_REDUCE_SCATTER, "box", coll_poweraware_box_reduce_scatter_can,
     coll_poweraware_box_reduce_scatter},
    {COLL_POWERAWARE_REDUCE_SCATTER, "leader", coll_poweraware_reduce_scatter_leader_can,
     coll_poweraware_reduce_scatter_leader},
    {COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, "box", coll_poweraware_box_reduce_scatter_block_can,
     coll_poweraware_box_reduce_scatter_block},
    {COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, "leader", coll_poweraware_reduce_scatter_leader_can,
     coll_poweraware_reduce_scatter_block_leader},
    {COLL_POWERAWARE_SCATTER, "box", coll_poweraware_box_scatter_can, coll_poweraware_box_scatter},
    {COLL_POWERAWARE_SCATTER, "leader", NULL, coll_poweraware_scatter_leader},
};

const int coll_poweraware_num_algorithms =
    sizeof coll_poweraware_algorithms / sizeof coll_poweraware_algorithms[0];
