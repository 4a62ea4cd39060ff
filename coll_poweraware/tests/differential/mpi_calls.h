/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives under test and every way to call them.
 */
#ifndef DIFF_MPI_CALLS_H
#define DIFF_MPI_CALLS_H

#include <mpi.h>

/* X(constant, name, MPI's name).  First the component's thirteen, then what it must leave alone. */
#define DIFF_COLLECTIVES(X)                                                                        \
    X(ALLGATHER, allgather, Allgather)                                                             \
    X(ALLGATHERV, allgatherv, Allgatherv)                                                          \
    X(ALLREDUCE, allreduce, Allreduce)                                                             \
    X(ALLTOALL, alltoall, Alltoall)                                                                \
    X(ALLTOALLV, alltoallv, Alltoallv)                                                             \
    X(ALLTOALLW, alltoallw, Alltoallw)                                                             \
    X(BARRIER, barrier, Barrier)                                                                   \
    X(BCAST, bcast, Bcast)                                                                         \
    X(GATHER, gather, Gather)                                                                      \
    X(REDUCE, reduce, Reduce)                                                                      \
    X(REDUCE_SCATTER, reduce_scatter, Reduce_scatter)                                              \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, Reduce_scatter_block)                            \
    X(SCATTER, scatter, Scatter)                                                                   \
    X(EXSCAN, exscan, Exscan)                                                                      \
    X(GATHERV, gatherv, Gatherv)                                                                   \
    X(NEIGHBOR_ALLTOALL, neighbor_alltoall, Neighbor_alltoall)                                     \
    X(SCAN, scan, Scan)                                                                            \
    X(SCATTERV, scatterv, Scatterv)

typedef enum diff_collective {
#define DIFF_CONSTANT(constant, name, mpi_name) DIFF_##constant,
    DIFF_COLLECTIVES(DIFF_CONSTANT)
#undef DIFF_CONSTANT
        DIFF_NUM_COLLECTIVES
} diff_collective_t;

enum { DIFF_NUM_HANDLED = DIFF_SCATTER + 1 };

typedef enum diff_mode {
    DIFF_BLOCKING,
    DIFF_NONBLOCKING,
    DIFF_PERSISTENT,
    DIFF_BIG_COUNT, /* blocking, with counts and displacements of 64 bits */
    DIFF_NUM_MODES
} diff_mode_t;

/* What is passed to MPI; a collective uses the members that its function has. */
typedef struct diff_args {
    void *sbuf;
    void *rbuf;
    int scount;
    int rcount;
    MPI_Datatype stype;
    MPI_Datatype rtype;
    int *scounts;
    int *rcounts;
    int *sdispls;
    int *rdispls;
    MPI_Datatype *stypes;
    MPI_Datatype *rtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} diff_args_t;

const char *diff_collective_name(diff_collective_t collective);
const char *diff_mode_name(diff_mode_t mode);
/* Whether this MPI has it. */
int diff_mode_exists(diff_mode_t mode);

/* Blocking or with big counts: the whole call.  Nonblocking: starts *request.  Persistent: makes
 *request, which is then started.  Returns MPI's code. */
int diff_mpi_call(diff_collective_t collective, diff_mode_t mode, const diff_args_t *args, int size,
                  MPI_Request *request);

#endif
