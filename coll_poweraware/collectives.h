/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives of the component, and one call of any of them in one structure.
 */
#ifndef COLL_POWERAWARE_COLLECTIVES_H
#define COLL_POWERAWARE_COLLECTIVES_H

#include "pwr_ompi/compat.h"

/* Blocking collectives we have algorithms for: X(constant, name as in MPI_<name>). */
#define COLL_POWERAWARE_HANDLED(X)                                                                 \
    X(ALLGATHER, allgather)                                                                        \
    X(ALLGATHERV, allgatherv)                                                                      \
    X(ALLREDUCE, allreduce)                                                                        \
    X(ALLTOALL, alltoall)                                                                          \
    X(ALLTOALLV, alltoallv)                                                                        \
    X(ALLTOALLW, alltoallw)                                                                        \
    X(BARRIER, barrier)                                                                            \
    X(BCAST, bcast)                                                                                \
    X(GATHER, gather)                                                                              \
    X(REDUCE, reduce)                                                                              \
    X(REDUCE_SCATTER, reduce_scatter)                                                              \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block)                                                  \
    X(SCATTER, scatter)

typedef enum coll_poweraware_collective {
#define COLL_POWERAWARE_CONSTANT(constant, name) COLL_POWERAWARE_##constant,
    COLL_POWERAWARE_HANDLED(COLL_POWERAWARE_CONSTANT)
#undef COLL_POWERAWARE_CONSTANT
        COLL_POWERAWARE_NUM_COLLECTIVES
} coll_poweraware_collective_t;

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

/* Bytes of a call as all ranks know them equally: the message for Bcast and reductions, the blocks
   of all ranks together for the others, 0 for Barrier; this where nobody knows (Alltoallv/w). */
#define COLL_POWERAWARE_BYTES_UNKNOWN SIZE_MAX

#endif
