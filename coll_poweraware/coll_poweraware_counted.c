/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives that are only counted: every function adds one and calls what was selected before us.
 * Ranks that wait in one that blocks give the CPU back.
 */
#include "coll_poweraware_stock.h"

typedef struct ompi_communicator_t comm_t;
typedef struct ompi_datatype_t datatype_t;

#if OMPI_MAJOR_VERSION >= 6
typedef ompi_disp_array_t byte_displs_t;
#else
typedef const MPI_Aint *byte_displs_t;
#endif

/* What a collective is passed before the communicator, as parameters and as arguments.  Which names
   of send and receive sides are meant does not matter here, so alike ones share a line. */
#define PARAMS_ALLGATHER                                                                           \
    const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf, pwr_count_t rcount,      \
        datatype_t *rdtype,
#define ARGS_ALLGATHER sbuf, scount, sdtype, rbuf, rcount, rdtype,
#define PARAMS_ALLGATHERV                                                                          \
    const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf, pwr_counts_t rcounts,    \
        pwr_displs_t rdispls, datatype_t *rdtype,
#define ARGS_ALLGATHERV sbuf, scount, sdtype, rbuf, rcounts, rdispls, rdtype,
#define PARAMS_ALLTOALLV                                                                           \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *sdtype, void *rbuf,  \
        pwr_counts_t rcounts, pwr_displs_t rdispls, datatype_t *rdtype,
#define ARGS_ALLTOALLV sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype,
#define PARAMS_ALLTOALLW                                                                           \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *const *sdtypes,      \
        void *rbuf, pwr_counts_t rcounts, pwr_displs_t rdispls, datatype_t *const *rdtypes,
#define ARGS_ALLTOALLW sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes,
#define PARAMS_NEIGHBOR_ALLTOALLW                                                                  \
    const void *sbuf, pwr_counts_t scounts, byte_displs_t sdispls, datatype_t *const *sdtypes,     \
        void *rbuf, pwr_counts_t rcounts, byte_displs_t rdispls, datatype_t *const *rdtypes,
#define ARGS_NEIGHBOR_ALLTOALLW ARGS_ALLTOALLW
#define PARAMS_BARRIER
#define ARGS_BARRIER
#define PARAMS_BCAST void *buffer, pwr_count_t count, datatype_t *datatype, int root,
#define ARGS_BCAST buffer, count, datatype, root,
#define PARAMS_GATHER PARAMS_ALLGATHER int root,
#define ARGS_GATHER ARGS_ALLGATHER root,
#define PARAMS_GATHERV PARAMS_ALLGATHERV int root,
#define ARGS_GATHERV ARGS_ALLGATHERV root,
#define PARAMS_SCATTERV                                                                            \
    const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls, datatype_t *sdtype, void *rbuf,  \
        pwr_count_t rcount, datatype_t *rdtype, int root,
#define ARGS_SCATTERV sbuf, scounts, sdispls, sdtype, rbuf, rcount, rdtype, root,
#define PARAMS_REDUCTION                                                                           \
    const void *sbuf, void *rbuf, pwr_count_t count, datatype_t *datatype, struct ompi_op_t *op,
#define ARGS_REDUCTION sbuf, rbuf, count, datatype, op,
#define PARAMS_REDUCE PARAMS_REDUCTION int root,
#define ARGS_REDUCE ARGS_REDUCTION root,
#define PARAMS_REDUCE_SCATTER                                                                      \
    const void *sbuf, void *rbuf, pwr_counts_t rcounts, datatype_t *datatype, struct ompi_op_t *op,
#define ARGS_REDUCE_SCATTER sbuf, rbuf, rcounts, datatype, op,

/* What follows the communicator. */
#define PARAMS_BLOCKING
#define ARGS_BLOCKING
#define PARAMS_NONBLOCKING ompi_request_t **request,
#define ARGS_NONBLOCKING request,
#define PARAMS_PERSISTENT struct ompi_info_t *info, ompi_request_t **request,
#define ARGS_PERSISTENT info, request,

/* A call, by whether its caller waits in it. */
#define CALL_BLOCKING(name, call)                                                                  \
    COLL_POWERAWARE_PASS_ON(m, COLL_POWERAWARE_WHAT_COUNTED(COLL_POWERAWARE_COUNTED_##name), NULL, \
                            call)
#define CALL_NONBLOCKING(name, call) call
#define CALL_PERSISTENT(name, call) call

#define COUNTED(name, parameters, kind)                                                            \
    static int name(PARAMS_##parameters comm_t *comm,                                              \
                    PARAMS_##kind mca_coll_base_module_t *module)                                  \
    {                                                                                              \
        mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;                  \
        ++m->counted[COLL_POWERAWARE_COUNTED_##name];                                              \
        return CALL_##kind(name, m->saved.coll_##name(ARGS_##parameters comm,                      \
                                                      ARGS_##kind m->saved.coll_##name##_module)); \
    }
COLL_POWERAWARE_COUNTED(COUNTED)
#undef COUNTED

void coll_poweraware_offer_counted(mca_coll_poweraware_module_t *m, bool all)
{
    const bool BLOCKING = true, NONBLOCKING = all, PERSISTENT = all;
#define OFFER(name, parameters, kind)                                                              \
    if (kind) {                                                                                    \
        m->super.coll_##name = name;                                                               \
    }
    COLL_POWERAWARE_COUNTED(OFFER)
#undef OFFER
}

const char *coll_poweraware_counted_name(coll_poweraware_counted_t counted)
{
#define NAME(name, parameters, kind) [COLL_POWERAWARE_COUNTED_##name] = #name,
    static const char *const names[COLL_POWERAWARE_NUM_COUNTED] = {COLL_POWERAWARE_COUNTED(NAME)};
#undef NAME
    return names[counted];
}
