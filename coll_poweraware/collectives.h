/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives of the component: one row each.
 */
#ifndef COLL_POWERAWARE_COLLECTIVES_H
#define COLL_POWERAWARE_COLLECTIVES_H

#include "pwr_ompi/compat.h"

#include "ompi/communicator/communicator.h"

/* Blocking collectives we have algorithms for: X(constant, name as in MPI_<name>, arguments as in
   signatures.h, how many bytes this rank moves as in signatures.h, whether all ranks know them). */
#define COLL_POWERAWARE_HANDLED(X)                                                                 \
    X(ALLGATHER, allgather, ALLGATHER, BLOCKS, true)                                               \
    X(ALLGATHERV, allgatherv, ALLGATHERV, COUNTS, true)                                            \
    X(ALLREDUCE, allreduce, REDUCTION, MESSAGE, true)                                              \
    X(ALLTOALL, alltoall, ALLGATHER, BLOCKS, true)                                                 \
    X(ALLTOALLV, alltoallv, ALLTOALLV, COUNTS, false)                                              \
    X(ALLTOALLW, alltoallw, ALLTOALLW, COUNTS_AND_TYPES, false)                                    \
    X(BARRIER, barrier, BARRIER, NONE, true)                                                       \
    X(BCAST, bcast, BCAST, MESSAGE, true)                                                          \
    X(EXSCAN, exscan, REDUCTION, MESSAGE, true)                                                    \
    X(GATHER, gather, GATHER, BLOCKS_AT_ROOT, true)                                                \
    X(REDUCE, reduce, REDUCE, MESSAGE, true)                                                       \
    X(REDUCE_SCATTER, reduce_scatter, REDUCE_SCATTER, COUNTS, true)                                \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, REDUCTION, BLOCKS, true)                         \
    X(SCAN, scan, REDUCTION, MESSAGE, true)                                                        \
    X(SCATTER, scatter, GATHER, BLOCKS_FROM_ROOT, true)

typedef enum coll_poweraware_collective {
#define COLL_POWERAWARE_CONSTANT(constant, name, arguments, bytes, known)                          \
    COLL_POWERAWARE_##constant,
    COLL_POWERAWARE_HANDLED(COLL_POWERAWARE_CONSTANT)
#undef COLL_POWERAWARE_CONSTANT
        COLL_POWERAWARE_NUM_COLLECTIVES
} coll_poweraware_collective_t;

/* Collectives that stay with the stock components, counted when a report is wanted (a persistent
   one when it is initialised); ranks wait in those that block: X(name as in MPI_<name>, arguments
   and kind as in signatures.h). */
#define COLL_POWERAWARE_COUNTED(X)                                                                 \
    X(gatherv, GATHERV, BLOCKING)                                                                  \
    X(scatterv, SCATTERV, BLOCKING)                                                                \
    X(neighbor_allgather, ALLGATHER, BLOCKING)                                                     \
    X(neighbor_allgatherv, ALLGATHERV, BLOCKING)                                                   \
    X(neighbor_alltoall, ALLGATHER, BLOCKING)                                                      \
    X(neighbor_alltoallv, ALLTOALLV, BLOCKING)                                                     \
    X(neighbor_alltoallw, NEIGHBOR_ALLTOALLW, BLOCKING)                                            \
    X(iallgather, ALLGATHER, NONBLOCKING)                                                          \
    X(iallgatherv, ALLGATHERV, NONBLOCKING)                                                        \
    X(iallreduce, REDUCTION, NONBLOCKING)                                                          \
    X(ialltoall, ALLGATHER, NONBLOCKING)                                                           \
    X(ialltoallv, ALLTOALLV, NONBLOCKING)                                                          \
    X(ialltoallw, ALLTOALLW, NONBLOCKING)                                                          \
    X(ibarrier, BARRIER, NONBLOCKING)                                                              \
    X(ibcast, BCAST, NONBLOCKING)                                                                  \
    X(iexscan, REDUCTION, NONBLOCKING)                                                             \
    X(igather, GATHER, NONBLOCKING)                                                                \
    X(igatherv, GATHERV, NONBLOCKING)                                                              \
    X(ireduce, REDUCE, NONBLOCKING)                                                                \
    X(ireduce_scatter, REDUCE_SCATTER, NONBLOCKING)                                                \
    X(ireduce_scatter_block, REDUCTION, NONBLOCKING)                                               \
    X(iscan, REDUCTION, NONBLOCKING)                                                               \
    X(iscatter, GATHER, NONBLOCKING)                                                               \
    X(iscatterv, SCATTERV, NONBLOCKING)                                                            \
    X(ineighbor_allgather, ALLGATHER, NONBLOCKING)                                                 \
    X(ineighbor_allgatherv, ALLGATHERV, NONBLOCKING)                                               \
    X(ineighbor_alltoall, ALLGATHER, NONBLOCKING)                                                  \
    X(ineighbor_alltoallv, ALLTOALLV, NONBLOCKING)                                                 \
    X(ineighbor_alltoallw, NEIGHBOR_ALLTOALLW, NONBLOCKING)                                        \
    X(allgather_init, ALLGATHER, PERSISTENT)                                                       \
    X(allgatherv_init, ALLGATHERV, PERSISTENT)                                                     \
    X(allreduce_init, REDUCTION, PERSISTENT)                                                       \
    X(alltoall_init, ALLGATHER, PERSISTENT)                                                        \
    X(alltoallv_init, ALLTOALLV, PERSISTENT)                                                       \
    X(alltoallw_init, ALLTOALLW, PERSISTENT)                                                       \
    X(barrier_init, BARRIER, PERSISTENT)                                                           \
    X(bcast_init, BCAST, PERSISTENT)                                                               \
    X(exscan_init, REDUCTION, PERSISTENT)                                                          \
    X(gather_init, GATHER, PERSISTENT)                                                             \
    X(gatherv_init, GATHERV, PERSISTENT)                                                           \
    X(reduce_init, REDUCE, PERSISTENT)                                                             \
    X(reduce_scatter_init, REDUCE_SCATTER, PERSISTENT)                                             \
    X(reduce_scatter_block_init, REDUCTION, PERSISTENT)                                            \
    X(scan_init, REDUCTION, PERSISTENT)                                                            \
    X(scatter_init, GATHER, PERSISTENT)                                                            \
    X(scatterv_init, SCATTERV, PERSISTENT)                                                         \
    X(neighbor_allgather_init, ALLGATHER, PERSISTENT)                                              \
    X(neighbor_allgatherv_init, ALLGATHERV, PERSISTENT)                                            \
    X(neighbor_alltoall_init, ALLGATHER, PERSISTENT)                                               \
    X(neighbor_alltoallv_init, ALLTOALLV, PERSISTENT)                                              \
    X(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW, PERSISTENT)

typedef enum coll_poweraware_counted {
#define COLL_POWERAWARE_CONSTANT(name, arguments, kind) COLL_POWERAWARE_COUNTED_##name,
    COLL_POWERAWARE_COUNTED(COLL_POWERAWARE_CONSTANT)
#undef COLL_POWERAWARE_CONSTANT
        COLL_POWERAWARE_NUM_COUNTED
} coll_poweraware_counted_t;

/* EACH(name), defined where this is used, for all of both lists. */
#define COLL_POWERAWARE_EACH_HANDLED(constant, name, arguments, bytes, known) EACH(name)
#define COLL_POWERAWARE_EACH_COUNTED(name, arguments, kind) EACH(name)
#define COLL_POWERAWARE_FOR_ALL                                                                    \
    COLL_POWERAWARE_HANDLED(COLL_POWERAWARE_EACH_HANDLED)                                          \
    COLL_POWERAWARE_COUNTED(COLL_POWERAWARE_EACH_COUNTED)

/* What the application passed; a collective uses the members its MPI function has.  Bcast has its
   buffer in rbuf; Bcast and reductions have their one count and datatype in rcount and rdtype.
   Buffers may be MPI_IN_PLACE where MPI allows it. */
typedef struct coll_poweraware_args {
    const void *sbuf;
    void *rbuf;
    size_t scount; /* elements; per block where there are several */
    size_t rcount;
    struct ompi_datatype_t *sdtype;
    struct ompi_datatype_t *rdtype;
    pwr_counts_t scounts; /* [size], v and w; read with pwr_ompi_count */
    pwr_counts_t rcounts;
    pwr_displs_t sdispls; /* [size]; elements for v, bytes for w; read with pwr_ompi_displ */
    pwr_displs_t rdispls;
    struct ompi_datatype_t *const *sdtypes; /* [size], w */
    struct ompi_datatype_t *const *rdtypes;
    struct ompi_op_t *op;
    int root;
} coll_poweraware_args_t;

/* Of the counts of all ranks. */
static inline size_t coll_poweraware_sum_of(pwr_counts_t counts, struct ompi_communicator_t *comm)
{
    size_t sum = 0;
    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        sum += pwr_ompi_count(counts, i);
    }
    return sum;
}

/* Numbers of operations, from the first of this component on (pwr_process_add_names): first
   the collectives, then those that are counted. */
enum {
    COLL_POWERAWARE_NUM_OPERATIONS = COLL_POWERAWARE_NUM_COLLECTIVES + COLL_POWERAWARE_NUM_COUNTED
};
extern const char *const coll_poweraware_names[COLL_POWERAWARE_NUM_OPERATIONS];
/* Whether all ranks know the bytes of a call equally: the message for Bcast and reductions, the
   blocks of all ranks together for the others, 0 for Barrier.  Where nobody does (Alltoallv,
   Alltoallw), what an earlier call had stands for it (choose/bytes.h). */
extern const bool coll_poweraware_bytes_known[COLL_POWERAWARE_NUM_COLLECTIVES];

#endif
