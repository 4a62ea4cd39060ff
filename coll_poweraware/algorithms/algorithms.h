/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Our algorithms: one per file, one row per algorithm in algorithms.c.
 */
#ifndef COLL_POWERAWARE_ALGORITHMS_H
#define COLL_POWERAWARE_ALGORITHMS_H

#include "primitives/primitives.h"

typedef struct coll_poweraware_algorithm {
    coll_poweraware_collective_t collective;
    /* The word of coll_poweraware_<collective>_algorithm and of decision tables. */
    const char *name;
    /* Whether it can do this call; NULL: every call.  The same answer on all ranks: it looks only
       at what they know equally.  bytes is PWR_BYTES_UNKNOWN where they do not know it.
     */
    bool (*can)(const coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                size_t bytes);
    /* Returns an OMPI_* code.  After an error it takes all of its steps all the same: it counts
       itself where others wait for it and posts its messages, which are empty then.  So nobody is
       left waiting, and segment and messages are in order for the next call. */
    int (*run)(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);
    pwr_segment_part_t memory; /* chunks: boxes, too */
} coll_poweraware_algorithm_t;

/* All of them; those of a collective in order of preference.  [coll_poweraware_num_algorithms] */
extern const coll_poweraware_algorithm_t coll_poweraware_algorithms[];
extern const int coll_poweraware_num_algorithms;
/* Index of an algorithm by its name, or COLL_POWERAWARE_DECISION_UNKNOWN. */
int coll_poweraware_algorithm_index(int collective, const char *name);

/* Leader-based shared-memory Allgather and Allgatherv; a chunk has a cache line for each rank. */
bool coll_poweraware_allgather_leader_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_allgather_leader(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args);

/* Socket-grouped Alltoall, Alltoallv and Alltoallw (ICPP 2010 V-A). */
bool coll_poweraware_alltoall_grouped_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_alltoall_grouped(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args);

/* The same three on one node. */
bool coll_poweraware_alltoall_node_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_alltoall_node(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* Alltoall of small blocks on one node. */
bool coll_poweraware_alltoall_box_can(const coll_poweraware_call_t *call,
                                      const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_alltoall_box(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* The three with one message per pair of nodes, for small blocks. */
bool coll_poweraware_alltoall_combined_can(const coll_poweraware_call_t *call,
                                           const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_alltoall_combined(coll_poweraware_call_t *call,
                                      const coll_poweraware_args_t *args);

/* Small messages through rounds of boxes (box.h). */
int coll_poweraware_box_barrier(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);
#define COLL_POWERAWARE_BOX(name)                                                                  \
    bool coll_poweraware_box_##name##_can(const coll_poweraware_call_t *call,                      \
                                          const coll_poweraware_args_t *args, size_t bytes);       \
    int coll_poweraware_box_##name(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
COLL_POWERAWARE_BOX(allgather);
COLL_POWERAWARE_BOX(allgatherv);
COLL_POWERAWARE_BOX(allreduce);
COLL_POWERAWARE_BOX(bcast);
COLL_POWERAWARE_BOX(gather);
COLL_POWERAWARE_BOX(reduce);
COLL_POWERAWARE_BOX(reduce_scatter);
COLL_POWERAWARE_BOX(reduce_scatter_block);
COLL_POWERAWARE_BOX(scan);
COLL_POWERAWARE_BOX(scatter);
#undef COLL_POWERAWARE_BOX
int coll_poweraware_box_exscan(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* Leader-based shared-memory Bcast (ICPP 2010 V-B). */
int coll_poweraware_bcast_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* Leader-based shared-memory Gather. */
int coll_poweraware_gather_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* Gather and Scatter with one message per rank, over few ranks. */
bool coll_poweraware_linear_can(const coll_poweraware_call_t *call,
                                const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_gather_linear(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);
int coll_poweraware_scatter_linear(coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args);

/* Leader-based shared-memory reductions (ICPP 2010 V-B); order kept, elements must fit an area:
   one, or a few per rank for Reduce_scatter. */
bool coll_poweraware_allreduce_leader_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_allreduce_leader(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args);
bool coll_poweraware_reduce_leader_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_reduce_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);
bool coll_poweraware_reduce_scatter_leader_can(const coll_poweraware_call_t *call,
                                               const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_reduce_scatter_leader(coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args);
int coll_poweraware_reduce_scatter_block_leader(coll_poweraware_call_t *call,
                                                const coll_poweraware_args_t *args);

/* Leader-based shared-memory Scan and Exscan; on several nodes only where these are runs of ranks.
 */
bool coll_poweraware_scan_leader_can(const coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args, size_t bytes);
int coll_poweraware_scan_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);
int coll_poweraware_exscan_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args);

/* Leader-based shared-memory Scatter. */
int coll_poweraware_scatter_leader(coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args);

#endif
