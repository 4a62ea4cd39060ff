/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The way of a call: count it, choose its path, move the levers around it, account for it.
 *
 * The path depends only on what every rank knows equally (scheme, bytes, operator, communicator),
 * so all ranks take the same one.
 */
#include "coll_poweraware.h"

#include <stdatomic.h>

#include "algorithms/algorithms.h"
#include "pwr_ompi/events.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

typedef enum path { PATH_STOCK, PATH_DVFS, PATH_THROTTLE } path_t;

/* What a call needs from entry to exit. */
typedef struct visit {
    coll_poweraware_counters_t *counters;
    coll_poweraware_collective_t collective;
    path_t path;
    uint64_t start_ns; /* 0: no report wanted, no clock read */
    coll_poweraware_call_t call;
} visit_t;

static const int tags[COLL_POWERAWARE_NUM_COLLECTIVES] = {
    [COLL_POWERAWARE_ALLTOALL] = MCA_COLL_BASE_TAG_ALLTOALL,
    [COLL_POWERAWARE_BCAST] = MCA_COLL_BASE_TAG_BCAST,
    [COLL_POWERAWARE_REDUCE] = MCA_COLL_BASE_TAG_REDUCE,
};

/* Once per process: rank 0 of the job tells the user, the others whoever asked for more. */
static void arm_levers(void)
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

static path_t choose_path(mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                          size_t bytes)
{
    if (bytes < SELF->handled_bytes) {
        return PATH_STOCK;
    }
    if (COLL_POWERAWARE_THROTTLE == SELF->params.scheme &&
        NULL != coll_poweraware_state_get(m, comm)) {
        return PATH_THROTTLE;
    }
    return PATH_DVFS;
}

static visit_t enter(mca_coll_base_module_t *module, struct ompi_communicator_t *comm,
                     coll_poweraware_collective_t collective, size_t bytes)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    visit_t visit = {
        .counters = &m->counters[collective],
        .collective = collective,
        .path = choose_path(m, comm, bytes),
    };
    ++visit.counters->calls;
    if (NULL != SELF->params.report_dir) {
        visit.start_ns = pwr_env_now_ns(&SELF->env);
    }
    pwr_events_add(PWR_EVENT_CALL, collective, -1, bytes);
    if (PATH_THROTTLE == visit.path) {
        visit.call = (coll_poweraware_call_t){
            .comm = comm,
            .hierarchy = m->state->hierarchy,
            .segment = m->state->segment,
            .wait_policy = &m->state->wait_policy,
            .wait_stats = &m->state->wait_stats,
            .requests = m->state->requests,
            .tag = tags[collective],
        };
    }
    if (PATH_STOCK != visit.path) {
        arm_levers();
        ++visit.counters->handled;
        if (NULL != SELF->power) {
            pwr_power_low(SELF->power);
        }
    }
    return visit;
}

static int leave(const visit_t *visit, int rc)
{
    if (PATH_STOCK != visit->path && NULL != SELF->power) {
        pwr_power_full(SELF->power);
    }
    pwr_events_add(PWR_EVENT_RETURN, visit->collective, -1, 0);
    if (0 != visit->start_ns) {
        visit->counters->ns += pwr_env_now_ns(&SELF->env) - visit->start_ns;
    }
    return rc;
}

/* Most calls of most programs are small: they must cost no more than this on their way to the stock
   function. */
static inline bool passes_through(mca_coll_base_module_t *module,
                                  coll_poweraware_collective_t collective, size_t bytes)
{
    if (SELF->watched || bytes >= SELF->handled_bytes) {
        return false;
    }
    ++((mca_coll_poweraware_module_t *)module)->counters[collective].calls;
    return true;
}

static inline const coll_poweraware_saved_t *saved_of(const mca_coll_base_module_t *module)
{
    return &((const mca_coll_poweraware_module_t *)module)->saved;
}

static inline size_t bytes_of(size_t count, struct ompi_datatype_t *datatype)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    return count * size;
}

int coll_poweraware_alltoall(const void *sbuf, pwr_count_t scount, struct ompi_datatype_t *sdtype,
                             void *rbuf, pwr_count_t rcount, struct ompi_datatype_t *rdtype,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    /* sdtype means nothing when sbuf is MPI_IN_PLACE */
    size_t bytes = bytes_of((size_t)rcount, rdtype) * (size_t)ompi_comm_size(comm);
    const coll_poweraware_saved_t *saved = saved_of(module);
    if (passes_through(module, COLL_POWERAWARE_ALLTOALL, bytes)) {
        return saved->alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                               saved->alltoall_module);
    }
    visit_t visit = enter(module, comm, COLL_POWERAWARE_ALLTOALL, bytes);
    /* on one node there is no phase in which half of the ranks could rest */
    bool ours =
        PATH_THROTTLE == visit.path && MPI_IN_PLACE != sbuf && visit.call.hierarchy->num_nodes > 1;
    int rc = ours ? coll_poweraware_alltoall_grouped(&visit.call, sbuf, (size_t)scount, sdtype,
                                                     rbuf, (size_t)rcount, rdtype)
                  : saved->alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                                    saved->alltoall_module);
    return leave(&visit, rc);
}

int coll_poweraware_bcast(void *buffer, pwr_count_t count, struct ompi_datatype_t *datatype,
                          int root, struct ompi_communicator_t *comm,
                          mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)count, datatype);
    const coll_poweraware_saved_t *saved = saved_of(module);
    if (passes_through(module, COLL_POWERAWARE_BCAST, bytes)) {
        return saved->bcast(buffer, count, datatype, root, comm, saved->bcast_module);
    }
    visit_t visit = enter(module, comm, COLL_POWERAWARE_BCAST, bytes);
    int rc = PATH_THROTTLE == visit.path
                 ? coll_poweraware_bcast_leader(&visit.call, buffer, (size_t)count, datatype, root)
                 : saved->bcast(buffer, count, datatype, root, comm, saved->bcast_module);
    return leave(&visit, rc);
}

int coll_poweraware_reduce(const void *sbuf, void *rbuf, pwr_count_t count,
                           struct ompi_datatype_t *datatype, struct ompi_op_t *op, int root,
                           struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    size_t bytes = bytes_of((size_t)count, datatype);
    const coll_poweraware_saved_t *saved = saved_of(module);
    if (passes_through(module, COLL_POWERAWARE_REDUCE, bytes)) {
        return saved->reduce(sbuf, rbuf, count, datatype, op, root, comm, saved->reduce_module);
    }
    visit_t visit = enter(module, comm, COLL_POWERAWARE_REDUCE, bytes);
    bool ours =
        PATH_THROTTLE == visit.path && coll_poweraware_reduce_leader_can(&visit.call, datatype, op);
    int rc = ours
                 ? coll_poweraware_reduce_leader(&visit.call, sbuf, rbuf, (size_t)count, datatype,
                                                 op, root)
                 : saved->reduce(sbuf, rbuf, count, datatype, op, root, comm, saved->reduce_module);
    return leave(&visit, rc);
}
