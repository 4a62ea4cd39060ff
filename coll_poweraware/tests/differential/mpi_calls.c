/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One function per collective and way of calling it, made from one list of arguments each.
 */
#include "mpi_calls.h"

#include <stddef.h>
#include <stdlib.h>

#if OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#endif

typedef const diff_args_t args_t;

/* The arguments of each collective, up to and including the communicator. */
#define BLOCKS_OF(a) (a)->sbuf, (a)->scount, (a)->stype, (a)->rbuf, (a)->rcount, (a)->rtype
#define ARGS_ALLGATHER(a) BLOCKS_OF(a), (a)->comm
#define ARGS_ALLGATHERV(a)                                                                         \
    (a)->sbuf, (a)->scount, (a)->stype, (a)->rbuf, (a)->rcounts, (a)->rdispls, (a)->rtype, (a)->comm
#define ARGS_ALLREDUCE(a) (a)->sbuf, (a)->rbuf, (a)->rcount, (a)->rtype, (a)->op, (a)->comm
#define ARGS_ALLTOALL(a) BLOCKS_OF(a), (a)->comm
#define ARGS_ALLTOALLV(a)                                                                          \
    (a)->sbuf, (a)->scounts, (a)->sdispls, (a)->stype, (a)->rbuf, (a)->rcounts, (a)->rdispls,      \
        (a)->rtype, (a)->comm
#define ARGS_ALLTOALLW(a)                                                                          \
    (a)->sbuf, (a)->scounts, (a)->sdispls, (a)->stypes, (a)->rbuf, (a)->rcounts, (a)->rdispls,     \
        (a)->rtypes, (a)->comm
#define ARGS_BARRIER(a) (a)->comm
#define ARGS_BCAST(a) (a)->rbuf, (a)->rcount, (a)->rtype, (a)->root, (a)->comm
#define ARGS_EXSCAN(a) ARGS_ALLREDUCE(a)
#define ARGS_GATHER(a) BLOCKS_OF(a), (a)->root, (a)->comm
#define ARGS_GATHERV(a)                                                                            \
    (a)->sbuf, (a)->scount, (a)->stype, (a)->rbuf, (a)->rcounts, (a)->rdispls, (a)->rtype,         \
        (a)->root, (a)->comm
#define ARGS_NEIGHBOR_ALLTOALL(a) BLOCKS_OF(a), (a)->comm
#define ARGS_REDUCE(a) (a)->sbuf, (a)->rbuf, (a)->rcount, (a)->rtype, (a)->op, (a)->root, (a)->comm
#define ARGS_REDUCE_SCATTER(a) (a)->sbuf, (a)->rbuf, (a)->rcounts, (a)->rtype, (a)->op, (a)->comm
#define ARGS_REDUCE_SCATTER_BLOCK(a) ARGS_ALLREDUCE(a)
#define ARGS_SCAN(a) ARGS_ALLREDUCE(a)
#define ARGS_SCATTER(a) BLOCKS_OF(a), (a)->root, (a)->comm
#define ARGS_SCATTERV(a)                                                                           \
    (a)->sbuf, (a)->scounts, (a)->sdispls, (a)->stype, (a)->rbuf, (a)->rcount, (a)->rtype,         \
        (a)->root, (a)->comm

/* Persistent collectives: an extension before Open MPI 5.0. */
#if OMPI_MAJOR_VERSION >= 5
#define PERSISTENT(mpi_name) MPI_##mpi_name##_init
#define HAVE_PERSISTENT 1
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(mpi_name) MPIX_##mpi_name##_init
#define HAVE_PERSISTENT 1
#else
#define HAVE_PERSISTENT 0
#endif

#define BLOCKING_FUNCTION(constant, name, mpi_name)                                                \
    static int blocking_##name(args_t *a)                                                          \
    {                                                                                              \
        return MPI_##mpi_name(ARGS_##constant(a));                                                 \
    }
#define NONBLOCKING_FUNCTION(constant, name, mpi_name)                                             \
    static int start_##name(args_t *a, MPI_Request *request)                                       \
    {                                                                                              \
        return MPI_I##name(ARGS_##constant(a), request);                                           \
    }

DIFF_COLLECTIVES(BLOCKING_FUNCTION)
#define BLOCKING_ROW(constant, name, mpi_name) [DIFF_##constant] = blocking_##name,
static int (*const blocking[DIFF_NUM_COLLECTIVES])(args_t *) = {DIFF_COLLECTIVES(BLOCKING_ROW)};

DIFF_COLLECTIVES(NONBLOCKING_FUNCTION)
#define START_ROW(constant, name, mpi_name) [DIFF_##constant] = start_##name,
static int (*const nonblocking[DIFF_NUM_COLLECTIVES])(args_t *, MPI_Request *) = {
    DIFF_COLLECTIVES(START_ROW)};

#if HAVE_PERSISTENT
#define INIT_FUNCTION(constant, name, mpi_name)                                                    \
    static int init_##name(args_t *a, MPI_Request *request)                                        \
    {                                                                                              \
        return PERSISTENT(mpi_name)(ARGS_##constant(a), MPI_INFO_NULL, request);                   \
    }
DIFF_COLLECTIVES(INIT_FUNCTION)
#define INIT_ROW(constant, name, mpi_name) [DIFF_##constant] = init_##name,
static int (*const persistent[DIFF_NUM_COLLECTIVES])(args_t *,
                                                     MPI_Request *) = {DIFF_COLLECTIVES(INIT_ROW)};
#endif

#if OMPI_MAJOR_VERSION >= 6
#define HAVE_BIG_COUNT 1

/* The same with arrays of 64 bits; the member names are those of diff_args_t, so that the argument
   lists above serve both. */
typedef struct big_args {
    void *sbuf;
    void *rbuf;
    MPI_Count scount;
    MPI_Count rcount;
    MPI_Datatype stype;
    MPI_Datatype rtype;
    MPI_Count *scounts;
    MPI_Count *rcounts;
    MPI_Aint *sdispls;
    MPI_Aint *rdispls;
    MPI_Datatype *stypes;
    MPI_Datatype *rtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} big_args_t;

#define BIG_FUNCTION(constant, name, mpi_name)                                                     \
    static int big_##name(const big_args_t *a)                                                     \
    {                                                                                              \
        return MPI_##mpi_name##_c(ARGS_##constant(a));                                             \
    }
#define MPI_Barrier_c MPI_Barrier
DIFF_COLLECTIVES(BIG_FUNCTION)
#define BIG_ROW(constant, name, mpi_name) [DIFF_##constant] = big_##name,
static int (*const big[DIFF_NUM_COLLECTIVES])(const big_args_t *) = {DIFF_COLLECTIVES(BIG_ROW)};

static MPI_Count *widen_counts(const int *from, int num)
{
    MPI_Count *to = NULL == from ? NULL : calloc((size_t)num + 1, sizeof *to);
    for (int i = 0; NULL != to && i < num; ++i) {
        to[i] = from[i];
    }
    return to;
}

static MPI_Aint *widen_displs(const int *from, int num)
{
    MPI_Aint *to = NULL == from ? NULL : calloc((size_t)num + 1, sizeof *to);
    for (int i = 0; NULL != to && i < num; ++i) {
        to[i] = from[i];
    }
    return to;
}

static int call_big(diff_collective_t collective, args_t *a, int size)
{
    big_args_t wide = {
        .sbuf = a->sbuf,
        .rbuf = a->rbuf,
        .scount = a->scount,
        .rcount = a->rcount,
        .stype = a->stype,
        .rtype = a->rtype,
        .scounts = widen_counts(a->scounts, size),
        .rcounts = widen_counts(a->rcounts, size),
        .sdispls = widen_displs(a->sdispls, size),
        .rdispls = widen_displs(a->rdispls, size),
        .stypes = a->stypes,
        .rtypes = a->rtypes,
        .op = a->op,
        .root = a->root,
        .comm = a->comm,
    };
    int rc = big[collective](&wide);
    free(wide.scounts);
    free(wide.rcounts);
    free(wide.sdispls);
    free(wide.rdispls);
    return rc;
}
#else
#define HAVE_BIG_COUNT 0
#endif

const char *diff_collective_name(diff_collective_t collective)
{
#define NAME_ROW(constant, name, mpi_name) [DIFF_##constant] = #name,
    static const char *const names[DIFF_NUM_COLLECTIVES] = {DIFF_COLLECTIVES(NAME_ROW)};
    return names[collective];
}

const char *diff_mode_name(diff_mode_t mode)
{
    static const char *const names[DIFF_NUM_MODES] = {
        [DIFF_BLOCKING] = "blocking",
        [DIFF_NONBLOCKING] = "nonblocking",
        [DIFF_PERSISTENT] = "persistent",
        [DIFF_BIG_COUNT] = "big",
    };
    return names[mode];
}

int diff_mode_exists(diff_mode_t mode)
{
    return DIFF_PERSISTENT == mode ? HAVE_PERSISTENT : DIFF_BIG_COUNT == mode ? HAVE_BIG_COUNT : 1;
}

int diff_mpi_call(diff_collective_t collective, diff_mode_t mode, const diff_args_t *args, int size,
                  MPI_Request *request)
{
    (void)size;
    switch (mode) {
    case DIFF_NONBLOCKING:
        return nonblocking[collective](args, request);
#if HAVE_PERSISTENT
    case DIFF_PERSISTENT:
        return persistent[collective](args, request);
#endif
#if HAVE_BIG_COUNT
    case DIFF_BIG_COUNT:
        return call_big(collective, args, size);
#endif
    default:
        return blocking[collective](args);
    }
}
