/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Our algorithms: one per file, one row per algorithm in algorithms.c.
 */
#ifndef COLL_POWERAWARE_ALGORITHMS_H
#define COLL_POWERAWARE_ALGORITHMS_H

#include "comm/components.h"
#include "primitives/primitives.h"

/* Whether an algorithm can do this call.  The same answer on all ranks: it looks only at what they
   know equally.  bytes: of the call; where they do not know that (coll_poweraware_bytes_known) what
   they have agreed on, which says nothing about this one, or PWR_BYTES_UNKNOWN. */
typedef bool coll_poweraware_can_t(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args, size_t bytes);
/* Returns an OMPI_* code.  After an error it takes all of its steps all the same: it counts itself
   where others wait for it and posts its messages, which are empty then.  So nobody is left
   waiting, and segment and messages are in order for the next call. */
typedef int coll_poweraware_run_t(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

typedef struct coll_poweraware_algorithm {
    coll_poweraware_collective_t collective;
    /* The word of coll_poweraware_<collective>_algorithm and of decision tables. */
    const char *name;
    coll_poweraware_can_t *can; /* NULL: every call */
    coll_poweraware_run_t *run; /* NULL: none of ours, but a function of ... */
    coll_poweraware_component_t component;
    pwr_segment_part_t memory; /* if ours; chunks: boxes, too */
} coll_poweraware_algorithm_t;

/* NULL: the stock function. */
static inline bool coll_poweraware_is_ours(const coll_poweraware_algorithm_t *algorithm)
{
    return NULL != algorithm && NULL != algorithm->run;
}

static inline bool coll_poweraware_can(const coll_poweraware_algorithm_t *algorithm,
                                       const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes)
{
    return (NULL == algorithm->can || algorithm->can(call, args, bytes)) &&
           (NULL != algorithm->run ||
            coll_poweraware_has(call->others, algorithm->component, (int)call->collective));
}

/* All of them; those of a collective in order of preference, stock functions behind ours.
   [coll_poweraware_num_algorithms] */
extern const coll_poweraware_algorithm_t coll_poweraware_algorithms[];
extern const int coll_poweraware_num_algorithms;
/* Index of an algorithm by its name, or COLL_POWERAWARE_DECISION_UNKNOWN. */
int coll_poweraware_algorithm_index(int collective, const char *name);

/* Collectives that differ in little (v, w, exclusive, blocks of one length) share a function, which
   asks call->collective. */

/* Over few ranks: linear algorithms. */
coll_poweraware_can_t coll_poweraware_few_can;

/* Small messages through rounds of boxes (box.h). */
coll_poweraware_can_t coll_poweraware_box_allgather_can;
coll_poweraware_run_t coll_poweraware_box_allgather;
coll_poweraware_run_t coll_poweraware_box_allreduce;
coll_poweraware_run_t coll_poweraware_box_barrier;
coll_poweraware_can_t coll_poweraware_box_bcast_can;
coll_poweraware_run_t coll_poweraware_box_bcast;
coll_poweraware_can_t coll_poweraware_box_gather_can; /* Scatter, too */
coll_poweraware_run_t coll_poweraware_box_gather;
coll_poweraware_can_t coll_poweraware_box_reduce_can; /* Allreduce, too */
coll_poweraware_run_t coll_poweraware_box_reduce;
coll_poweraware_can_t coll_poweraware_box_reduce_scatter_can;
coll_poweraware_run_t coll_poweraware_box_reduce_scatter;
coll_poweraware_can_t coll_poweraware_box_scan_can;
coll_poweraware_run_t coll_poweraware_box_scan;
coll_poweraware_run_t coll_poweraware_box_scatter;

/* Leader-based, through shared memory: Bcast and reductions are those of ICPP 2010 V-B.  In an
   Allgather a chunk has a cache line for each rank. */
coll_poweraware_can_t coll_poweraware_allgather_leader_can;
coll_poweraware_run_t coll_poweraware_allgather_leader;
coll_poweraware_run_t coll_poweraware_bcast_leader;
coll_poweraware_run_t coll_poweraware_rooted_leader; /* Gather, Scatter */

/* Leader-based reductions; order kept, elements must fit an area: one, or a few per rank for
   Reduce_scatter.  Scan and Exscan on several nodes only where these are runs of ranks. */
coll_poweraware_run_t coll_poweraware_allreduce_leader;
coll_poweraware_can_t coll_poweraware_reduce_leader_can; /* Allreduce, too */
coll_poweraware_run_t coll_poweraware_reduce_leader;
coll_poweraware_can_t coll_poweraware_reduce_scatter_leader_can;
coll_poweraware_run_t coll_poweraware_reduce_scatter_leader;
coll_poweraware_can_t coll_poweraware_scan_leader_can;
coll_poweraware_run_t coll_poweraware_scan_leader;

/* Gather and Scatter with one message per rank. */
coll_poweraware_run_t coll_poweraware_linear;

/* Alltoall, Alltoallv and Alltoallw: socket-grouped (ICPP 2010 V-A); on one node; with one message
   per pair of nodes, for small blocks.  Alltoall of small blocks on one node. */
coll_poweraware_can_t coll_poweraware_alltoall_grouped_can;
coll_poweraware_run_t coll_poweraware_alltoall_grouped;
coll_poweraware_can_t coll_poweraware_alltoall_node_can;
coll_poweraware_run_t coll_poweraware_alltoall_node;
coll_poweraware_can_t coll_poweraware_alltoall_combined_can;
coll_poweraware_run_t coll_poweraware_alltoall_combined;
coll_poweraware_can_t coll_poweraware_alltoall_box_can;
coll_poweraware_run_t coll_poweraware_alltoall_box;

/* Of buffers in the memory of one GPU that all ranks of a node use: Reduce and Allreduce; on one
   node Allgather, Alltoall, Bcast, Gather, Scatter.  What a rank has, the others learn in the call.
   Where somebody's buffer is elsewhere or cannot be shared, nothing happens, on any rank:
   call->undone says so, and the call has to be made in another way. */
coll_poweraware_can_t coll_poweraware_gpu_reduce_can;
coll_poweraware_run_t coll_poweraware_gpu_reduce;
coll_poweraware_can_t coll_poweraware_gpu_copy_can;
coll_poweraware_run_t coll_poweraware_gpu_copy;
static inline bool coll_poweraware_is_for_gpus(const coll_poweraware_algorithm_t *algorithm)
{
    return coll_poweraware_gpu_reduce == algorithm->run ||
           coll_poweraware_gpu_copy == algorithm->run;
}
/* Whether one of these can on several nodes. */
static inline bool coll_poweraware_crosses_nodes(const coll_poweraware_algorithm_t *algorithm)
{
    return coll_poweraware_gpu_reduce == algorithm->run;
}

#endif
