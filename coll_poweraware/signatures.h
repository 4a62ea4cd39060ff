/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The arguments of collectives, each kind of list once: as parameters, as they are passed on, and
 * as members of coll_poweraware_args_t; and how many bytes they are.  For entry.c alone.
 *
 * Collectives with alike arguments share a list; which names of send and receive sides are meant
 * does not matter to those that only pass them on.
 */
#ifndef COLL_POWERAWARE_SIGNATURES_H
#define COLL_POWERAWARE_SIGNATURES_H

#include "collectives.h"

#include "ompi/datatype/ompi_datatype.h"

typedef struct ompi_communicator_t comm_t;
typedef struct ompi_datatype_t datatype_t;
typedef struct ompi_op_t op_t;

#if OMPI_MAJOR_VERSION >= 6
typedef ompi_disp_array_t byte_displs_t;
#else
typedef const MPI_Aint *byte_displs_t;
#endif

/* What a collective is passed before the communicator.  TAKE: buffers of args, which may be others
   than those passed. */
#define TAKE_BUFFERS sbuf = args.sbuf, rbuf = args.rbuf
#define PARAMS_ALLGATHER                                                                           \
    const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf, pwr_count_t rcount,      \
        datatype_t *rdtype,
#define ARGS_ALLGATHER sbuf, scount, sdtype, rbuf, rcount, rdtype,
#define TAKE_ALLGATHER TAKE_BUFFERS
#define MEMBERS_ALLGATHER                                                                          \
    .sbuf = sbuf, .scount = (size_t)scount, .sdtype = sdtype, .rbuf = rbuf,                        \
    .rcount = (size_t)rcount, .rdtype = rdtype

#define PARAMS_ALLGATHERV                                                                          \
    const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf, pwr_counts_t rcounts,    \
        pwr_displs_t rdispls, datatype_t *rdtype,
#define ARGS_ALLGATHERV sbuf, scount, sdtype, rbuf, rcounts, rdispls, rdtype,
#define TAKE_ALLGATHERV TAKE_BUFFERS
#define MEMBERS_ALLGATHERV                                                                         \
    .sbuf = sbuf, .scount = (size_t)scount, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts,    \
    .rdispls = rdispls, .rdtype = rdtype

#define PARAMS_ALLTOALLV                                                                           \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *sdtype, void *rbuf,  \
        pwr_counts_t rcounts, pwr_displs_t rdispls, datatype_t *rdtype,
#define ARGS_ALLTOALLV sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype,
#define TAKE_ALLTOALLV TAKE_BUFFERS
#define MEMBERS_ALLTOALLV                                                                          \
    .sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtype = sdtype, .rbuf = rbuf,          \
    .rcounts = rcounts, .rdispls = rdispls, .rdtype = rdtype

#define PARAMS_ALLTOALLW                                                                           \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *const *sdtypes,      \
        void *rbuf, pwr_counts_t rcounts, pwr_displs_t rdispls, datatype_t *const *rdtypes,
#define ARGS_ALLTOALLW sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes,
#define TAKE_ALLTOALLW TAKE_BUFFERS
#define MEMBERS_ALLTOALLW                                                                          \
    .sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtypes = sdtypes, .rbuf = rbuf,        \
    .rcounts = rcounts, .rdispls = rdispls, .rdtypes = rdtypes

#define PARAMS_BARRIER
#define ARGS_BARRIER
#define TAKE_BARRIER
#define MEMBERS_BARRIER .root = 0

#define PARAMS_BCAST void *rbuf, pwr_count_t rcount, datatype_t *rdtype, int root,
#define ARGS_BCAST rbuf, rcount, rdtype, root,
#define TAKE_BCAST rbuf = args.rbuf
#define MEMBERS_BCAST .rbuf = rbuf, .rcount = (size_t)rcount, .rdtype = rdtype, .root = root

#define PARAMS_GATHER PARAMS_ALLGATHER int root,
#define ARGS_GATHER ARGS_ALLGATHER root,
#define TAKE_GATHER TAKE_BUFFERS
#define MEMBERS_GATHER MEMBERS_ALLGATHER, .root = root

#define PARAMS_REDUCTION                                                                           \
    const void *sbuf, void *rbuf, pwr_count_t rcount, datatype_t *rdtype, op_t *op,
#define ARGS_REDUCTION sbuf, rbuf, rcount, rdtype, op,
#define TAKE_REDUCTION TAKE_BUFFERS
#define MEMBERS_REDUCTION                                                                          \
    .sbuf = sbuf, .rbuf = rbuf, .rcount = (size_t)rcount, .rdtype = rdtype, .op = op

#define PARAMS_REDUCE PARAMS_REDUCTION int root,
#define ARGS_REDUCE ARGS_REDUCTION root,
#define TAKE_REDUCE TAKE_BUFFERS
#define MEMBERS_REDUCE MEMBERS_REDUCTION, .root = root

#define PARAMS_REDUCE_SCATTER                                                                      \
    const void *sbuf, void *rbuf, pwr_counts_t rcounts, datatype_t *rdtype, op_t *op,
#define ARGS_REDUCE_SCATTER sbuf, rbuf, rcounts, rdtype, op,
#define TAKE_REDUCE_SCATTER TAKE_BUFFERS
#define MEMBERS_REDUCE_SCATTER                                                                     \
    .sbuf = sbuf, .rbuf = rbuf, .rcounts = rcounts, .rdtype = rdtype, .op = op

/* Of those that are only passed on. */
#define PARAMS_GATHERV PARAMS_ALLGATHERV int root,
#define ARGS_GATHERV ARGS_ALLGATHERV root,
#define PARAMS_SCATTERV                                                                            \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *sdtype, void *rbuf,  \
        pwr_count_t rcount, datatype_t *rdtype, int root,
#define ARGS_SCATTERV sbuf, scounts, sdispls, sdtype, rbuf, rcount, rdtype, root,
#define PARAMS_NEIGHBOR_ALLTOALLW                                                                  \
    const void *sbuf, pwr_counts_t scounts, byte_displs_t sdispls, datatype_t *const *sdtypes,     \
        void *rbuf, pwr_counts_t rcounts, byte_displs_t rdispls, datatype_t *const *rdtypes,
#define ARGS_NEIGHBOR_ALLTOALLW ARGS_ALLTOALLW

/* What follows the communicator. */
#define PARAMS_BLOCKING
#define ARGS_BLOCKING
#define PARAMS_NONBLOCKING ompi_request_t **request,
#define ARGS_NONBLOCKING request,
#define PARAMS_PERSISTENT struct ompi_info_t *info, ompi_request_t **request,
#define ARGS_PERSISTENT info, request,

/* ---- bytes of this rank ---- */

static inline size_t bytes_of(size_t count, datatype_t *datatype)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    return count * size;
}

static inline size_t bytes_of_each(pwr_counts_t counts, datatype_t *const *datatypes, comm_t *comm)
{
    size_t bytes = 0;
    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        bytes += bytes_of(pwr_ompi_count(counts, i), datatypes[i]);
    }
    return bytes;
}

static inline size_t size_of(comm_t *comm)
{
    return (size_t)ompi_comm_size(comm);
}

#define BYTES_NONE 0
#define BYTES_MESSAGE bytes_of((size_t)rcount, rdtype)
/* The sender's type means nothing when sbuf is MPI_IN_PLACE. */
#define BYTES_BLOCKS (bytes_of((size_t)rcount, rdtype) * size_of(comm))
#define BYTES_COUNTS bytes_of(coll_poweraware_sum_of(rcounts, comm), rdtype)
#define BYTES_COUNTS_AND_TYPES bytes_of_each(rcounts, rdtypes, comm)
/* At the root one side may be MPI_IN_PLACE, elsewhere the other side means nothing. */
#define BYTES_BLOCKS_AT_ROOT                                                                       \
    ((root == ompi_comm_rank(comm) ? bytes_of((size_t)rcount, rdtype)                              \
                                   : bytes_of((size_t)scount, sdtype)) *                           \
     size_of(comm))
#define BYTES_BLOCKS_FROM_ROOT                                                                     \
    ((root == ompi_comm_rank(comm) ? bytes_of((size_t)scount, sdtype)                              \
                                   : bytes_of((size_t)rcount, rdtype)) *                           \
     size_of(comm))

#endif
