/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The way of a call: count it, choose its algorithm, move the levers around it, account for it.
 *
 * The algorithm depends only on what every rank knows equally (scheme, parameters, bytes, operator,
 * communicator), so all ranks take the same one.  Whether a rank moves its levers is its own
 * affair.
 */
#include "coll_poweraware.h"

#include <stdatomic.h>

#include "algorithms/algorithms.h"
#include "coll_poweraware_stock.h"
#include "pwr_ompi/events.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

typedef const coll_poweraware_args_t args_t;
typedef struct ompi_communicator_t comm_t;
typedef struct ompi_datatype_t datatype_t;

#define TAG_ROW(constant, name) [COLL_POWERAWARE_##constant] = MCA_COLL_BASE_TAG_##constant,
static const int tags[COLL_POWERAWARE_NUM_COLLECTIVES] = {COLL_POWERAWARE_HANDLED(TAG_ROW)};

/* ---- the way of every call ---- */

/* Once per process: rank 0 of the job tells the user, the others whoever asked for more. */
void coll_poweraware_arm_levers(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (NULL != SELF->power) {
        pwr_power_arm(SELF->power);
    }
    if (atomic_flag_test_and_set(&told)) {
        return;
    }
    SELF->armed = true;
    const char *why = NULL == SELF->power ? SELF->no_power_why : pwr_power_why_off(SELF->power);
    if (NULL != why && '\0' != why[0]) {
        coll_poweraware_say(coll_poweraware_level_alike(1),
                            "no levers, waiting ranks still give the CPU back: %s", why);
    }
}

static void note_speed(int usual)
{
    if (pwr_power_has_pstates(SELF->power)) {
        pwr_events_add(PWR_EVENT_SPEED, usual, -1, 0);
    }
}

static bool begin_levers(size_t own_bytes)
{
    if (COLL_POWERAWARE_OFF == SELF->params.scheme || own_bytes < SELF->params.min_bytes) {
        return false;
    }
    coll_poweraware_arm_levers();
    if (NULL != SELF->power) {
        pwr_power_low(SELF->power);
        note_speed(0);
    }
    return true;
}

static void end_levers(bool moved)
{
    if (moved && NULL != SELF->power) {
        pwr_power_full(SELF->power);
        note_speed(1);
    }
}

static int run(mca_coll_poweraware_module_t *m, const coll_poweraware_algorithm_t *algorithm,
               coll_poweraware_class_t *class, args_t *args, bool levers)
{
    coll_poweraware_call_t *call = m->state->call;
    call->policy = m->state->wait_policy;
    call->sites = coll_poweraware_class_begin(class, &call->policy);
    call->tag = tags[algorithm->collective];
    call->lane = 0;
    call->error = OMPI_SUCCESS;
    call->levers = levers;
    call->measured_bytes = 0;
    call->work_ns = 0;
    __atomic_fetch_add(&SELF->handled, 1, __ATOMIC_RELAXED);
    return coll_poweraware_run(m, algorithm, call, args);
}

/* Most calls of most programs are small: where they are stock, they go the short way of PASS_ON.
   own_bytes: of this rank; where all ranks know the bytes of the call, those.  Calls within a call
   are those of a saved function, coll/basic's Allreduce for one: they are not the application's,
   and what they are made for may be the very thing that one of our algorithms needs first. */
static inline bool is_left_alone(mca_coll_poweraware_module_t *m,
                                 coll_poweraware_collective_t collective, size_t own_bytes)
{
    if (m->depth > 0) {
        return true;
    }
    ++m->counters[collective].calls;
    m->bytes = own_bytes;
    return own_bytes < m->from_bytes[collective] && NULL == SELF->params.trace_dir;
}

#define PASS_ON(m, constant, bytes, name, ...)                                                     \
    COLL_POWERAWARE_PASS_ON(m, COLL_POWERAWARE_WHAT(COLL_POWERAWARE_##constant),                   \
                            coll_poweraware_class_of(m, COLL_POWERAWARE_##constant, bytes),        \
                            COLL_POWERAWARE_CALL_SAVED(&(m)->saved, name, __VA_ARGS__))

/* bytes: what all ranks know, own_bytes: what this rank moves. */
static int handle(mca_coll_poweraware_module_t *m, comm_t *comm,
                  coll_poweraware_collective_t collective, size_t bytes, size_t own_bytes,
                  args_t *args)
{
    coll_poweraware_counters_t *counters = &m->counters[collective];
    pwr_events_add(PWR_EVENT_CALL, collective, -1, own_bytes);
    ++m->depth;
    m->what = COLL_POWERAWARE_WHAT(collective);
    coll_poweraware_class_t *class = coll_poweraware_class_of(m, collective, bytes);
    if (NULL != SELF->account) {
        coll_poweraware_bill_open(m, class);
    }
    const coll_poweraware_algorithm_t *algorithm =
        coll_poweraware_choose(m, comm, collective, args, bytes);
    bool levers = coll_poweraware_class_may_move_levers(class) && begin_levers(own_bytes);
    counters->handled += NULL != algorithm || levers;
    int rc = NULL != algorithm ? run(m, algorithm, class, args, levers)
                               : coll_poweraware_stock_run(m, collective, class, args, comm);
    end_levers(levers);
    coll_poweraware_class_end(class);
    --m->depth;
    if (NULL != SELF->account) {
        coll_poweraware_bill_close(m, class, algorithm);
    }
    pwr_events_add(PWR_EVENT_RETURN, collective, -1, 0);
    return rc;
}

/* ---- what Open MPI calls ---- */

static inline size_t bytes_of(size_t count, datatype_t *datatype)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    return count * size;
}

static inline size_t sum_of(pwr_counts_t counts, comm_t *comm)
{
    size_t sum = 0;
    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        sum += pwr_ompi_count(counts, i);
    }
    return sum;
}

int coll_poweraware_allgather(const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf,
                              pwr_count_t rcount, datatype_t *rdtype, comm_t *comm,
                              mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)rcount, rdtype) * (size_t)ompi_comm_size(comm);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLGATHER, bytes)) {
        return PASS_ON(m, ALLGATHER, bytes, allgather, sbuf, scount, sdtype, rbuf, rcount, rdtype,
                       comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scount = (size_t)scount,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcount = (size_t)rcount,
                   .rdtype = rdtype};
    return handle(m, comm, COLL_POWERAWARE_ALLGATHER, bytes, bytes, &args);
}

int coll_poweraware_allgatherv(const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf,
                               pwr_counts_t rcounts, pwr_displs_t rdispls, datatype_t *rdtype,
                               comm_t *comm, mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of(sum_of(rcounts, comm), rdtype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLGATHERV, bytes)) {
        return PASS_ON(m, ALLGATHERV, bytes, allgatherv, sbuf, scount, sdtype, rbuf, rcounts,
                       rdispls, rdtype, comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scount = (size_t)scount,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcounts = rcounts,
                   .rdispls = rdispls,
                   .rdtype = rdtype};
    return handle(m, comm, COLL_POWERAWARE_ALLGATHERV, bytes, bytes, &args);
}

int coll_poweraware_allreduce(const void *sbuf, void *rbuf, pwr_count_t count, datatype_t *datatype,
                              struct ompi_op_t *op, comm_t *comm, mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)count, datatype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLREDUCE, bytes)) {
        return PASS_ON(m, ALLREDUCE, bytes, allreduce, sbuf, rbuf, count, datatype, op, comm);
    }
    args_t args = {
        .sbuf = sbuf, .rbuf = rbuf, .rcount = (size_t)count, .rdtype = datatype, .op = op};
    return handle(m, comm, COLL_POWERAWARE_ALLREDUCE, bytes, bytes, &args);
}

/* sdtype means nothing when sbuf is MPI_IN_PLACE */
int coll_poweraware_alltoall(const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf,
                             pwr_count_t rcount, datatype_t *rdtype, comm_t *comm,
                             mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)rcount, rdtype) * (size_t)ompi_comm_size(comm);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLTOALL, bytes)) {
        return PASS_ON(m, ALLTOALL, bytes, alltoall, sbuf, scount, sdtype, rbuf, rcount, rdtype,
                       comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scount = (size_t)scount,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcount = (size_t)rcount,
                   .rdtype = rdtype};
    return handle(m, comm, COLL_POWERAWARE_ALLTOALL, bytes, bytes, &args);
}

int coll_poweraware_alltoallv(const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls,
                              datatype_t *sdtype, void *rbuf, pwr_counts_t rcounts,
                              pwr_displs_t rdispls, datatype_t *rdtype, comm_t *comm,
                              mca_coll_base_module_t *module)
{
    size_t own_bytes = bytes_of(sum_of(rcounts, comm), rdtype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLTOALLV, own_bytes)) {
        return PASS_ON(m, ALLTOALLV, COLL_POWERAWARE_BYTES_UNKNOWN, alltoallv, sbuf, scounts,
                       sdispls, sdtype, rbuf, rcounts, rdispls, rdtype, comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scounts = scounts,
                   .sdispls = sdispls,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcounts = rcounts,
                   .rdispls = rdispls,
                   .rdtype = rdtype};
    return handle(m, comm, COLL_POWERAWARE_ALLTOALLV, COLL_POWERAWARE_BYTES_UNKNOWN, own_bytes,
                  &args);
}

int coll_poweraware_alltoallw(const void *sbuf, pwr_counts_t scounts, pwr_displs_t sdispls,
                              datatype_t *const *sdtypes, void *rbuf, pwr_counts_t rcounts,
                              pwr_displs_t rdispls, datatype_t *const *rdtypes, comm_t *comm,
                              mca_coll_base_module_t *module)
{
    size_t own_bytes = 0;
    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        own_bytes += bytes_of(pwr_ompi_count(rcounts, i), rdtypes[i]);
    }
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_ALLTOALLW, own_bytes)) {
        return PASS_ON(m, ALLTOALLW, COLL_POWERAWARE_BYTES_UNKNOWN, alltoallw, sbuf, scounts,
                       sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes, comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scounts = scounts,
                   .sdispls = sdispls,
                   .sdtypes = sdtypes,
                   .rbuf = rbuf,
                   .rcounts = rcounts,
                   .rdispls = rdispls,
                   .rdtypes = rdtypes};
    return handle(m, comm, COLL_POWERAWARE_ALLTOALLW, COLL_POWERAWARE_BYTES_UNKNOWN, own_bytes,
                  &args);
}

int coll_poweraware_barrier(comm_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_BARRIER, 0)) {
        return PASS_ON(m, BARRIER, 0, barrier, comm);
    }
    args_t args = {0};
    return handle(m, comm, COLL_POWERAWARE_BARRIER, 0, 0, &args);
}

int coll_poweraware_bcast(void *buffer, pwr_count_t count, datatype_t *datatype, int root,
                          comm_t *comm, mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)count, datatype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_BCAST, bytes)) {
        return PASS_ON(m, BCAST, bytes, bcast, buffer, count, datatype, root, comm);
    }
    args_t args = {.rbuf = buffer, .rcount = (size_t)count, .rdtype = datatype, .root = root};
    return handle(m, comm, COLL_POWERAWARE_BCAST, bytes, bytes, &args);
}

/* At the root sbuf may be MPI_IN_PLACE, elsewhere rdtype means nothing. */
int coll_poweraware_gather(const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf,
                           pwr_count_t rcount, datatype_t *rdtype, int root, comm_t *comm,
                           mca_coll_base_module_t *module)
{
    size_t block = root == ompi_comm_rank(comm) ? bytes_of((size_t)rcount, rdtype)
                                                : bytes_of((size_t)scount, sdtype);
    size_t bytes = block * (size_t)ompi_comm_size(comm);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_GATHER, bytes)) {
        return PASS_ON(m, GATHER, bytes, gather, sbuf, scount, sdtype, rbuf, rcount, rdtype, root,
                       comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scount = (size_t)scount,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcount = (size_t)rcount,
                   .rdtype = rdtype,
                   .root = root};
    return handle(m, comm, COLL_POWERAWARE_GATHER, bytes, bytes, &args);
}

int coll_poweraware_reduce(const void *sbuf, void *rbuf, pwr_count_t count, datatype_t *datatype,
                           struct ompi_op_t *op, int root, comm_t *comm,
                           mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)count, datatype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_REDUCE, bytes)) {
        return PASS_ON(m, REDUCE, bytes, reduce, sbuf, rbuf, count, datatype, op, root, comm);
    }
    args_t args = {.sbuf = sbuf,
                   .rbuf = rbuf,
                   .rcount = (size_t)count,
                   .rdtype = datatype,
                   .op = op,
                   .root = root};
    return handle(m, comm, COLL_POWERAWARE_REDUCE, bytes, bytes, &args);
}

int coll_poweraware_reduce_scatter(const void *sbuf, void *rbuf, pwr_counts_t rcounts,
                                   datatype_t *datatype, struct ompi_op_t *op, comm_t *comm,
                                   mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of(sum_of(rcounts, comm), datatype);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_REDUCE_SCATTER, bytes)) {
        return PASS_ON(m, REDUCE_SCATTER, bytes, reduce_scatter, sbuf, rbuf, rcounts, datatype, op,
                       comm);
    }
    args_t args = {.sbuf = sbuf, .rbuf = rbuf, .rcounts = rcounts, .rdtype = datatype, .op = op};
    return handle(m, comm, COLL_POWERAWARE_REDUCE_SCATTER, bytes, bytes, &args);
}

int coll_poweraware_reduce_scatter_block(const void *sbuf, void *rbuf, pwr_count_t rcount,
                                         datatype_t *datatype, struct ompi_op_t *op, comm_t *comm,
                                         mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)rcount, datatype) * (size_t)ompi_comm_size(comm);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, bytes)) {
        return PASS_ON(m, REDUCE_SCATTER_BLOCK, bytes, reduce_scatter_block, sbuf, rbuf, rcount,
                       datatype, op, comm);
    }
    args_t args = {
        .sbuf = sbuf, .rbuf = rbuf, .rcount = (size_t)rcount, .rdtype = datatype, .op = op};
    return handle(m, comm, COLL_POWERAWARE_REDUCE_SCATTER_BLOCK, bytes, bytes, &args);
}

/* At the root rbuf may be MPI_IN_PLACE, elsewhere sdtype means nothing. */
int coll_poweraware_scatter(const void *sbuf, pwr_count_t scount, datatype_t *sdtype, void *rbuf,
                            pwr_count_t rcount, datatype_t *rdtype, int root, comm_t *comm,
                            mca_coll_base_module_t *module)
{
    size_t block = root == ompi_comm_rank(comm) ? bytes_of((size_t)scount, sdtype)
                                                : bytes_of((size_t)rcount, rdtype);
    size_t bytes = block * (size_t)ompi_comm_size(comm);
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (is_left_alone(m, COLL_POWERAWARE_SCATTER, bytes)) {
        return PASS_ON(m, SCATTER, bytes, scatter, sbuf, scount, sdtype, rbuf, rcount, rdtype, root,
                       comm);
    }
    args_t args = {.sbuf = sbuf,
                   .scount = (size_t)scount,
                   .sdtype = sdtype,
                   .rbuf = rbuf,
                   .rcount = (size_t)rcount,
                   .rdtype = rdtype,
                   .root = root};
    return handle(m, comm, COLL_POWERAWARE_SCATTER, bytes, bytes, &args);
}
