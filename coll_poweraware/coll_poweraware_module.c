/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One module per communicator: what was there before us is saved first, our functions come last.
 */
#include "coll_poweraware.h"

#include <string.h>

/* Rows of the functions that we keep of our predecessors. */
#define SAVE(api)                                                                                  \
    do {                                                                                           \
        m->saved.api = comm->c_coll->coll_##api;                                                   \
        m->saved.api##_module = comm->c_coll->coll_##api##_module;                                 \
        if (NULL != m->saved.api##_module) {                                                       \
            OBJ_RETAIN(m->saved.api##_module);                                                     \
        }                                                                                          \
    } while (0)
#define DROP(api)                                                                                  \
    do {                                                                                           \
        if (NULL != m->saved.api##_module) {                                                       \
            OBJ_RELEASE(m->saved.api##_module);                                                    \
            m->saved.api##_module = NULL;                                                          \
        }                                                                                          \
    } while (0)
#define INSTALL(api)                                                                               \
    do {                                                                                           \
        comm->c_coll->coll_##api = m->super.coll_##api;                                            \
        comm->c_coll->coll_##api##_module = &m->super;                                             \
    } while (0)
#define UNINSTALL(api)                                                                             \
    do {                                                                                           \
        if (comm->c_coll->coll_##api##_module == &m->super) {                                      \
            comm->c_coll->coll_##api = m->saved.api;                                               \
            comm->c_coll->coll_##api##_module = m->saved.api##_module;                             \
        }                                                                                          \
    } while (0)

static void construct(mca_coll_poweraware_module_t *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
}

/* Communicators may be freed in several threads at once. */
static void add_to_totals(const mca_coll_poweraware_module_t *m)
{
    mca_coll_poweraware_component_t *component = &mca_coll_poweraware_component;
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        coll_poweraware_counters_t *total = &component->totals[i];
        __atomic_fetch_add(&total->calls, m->counters[i].calls, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total->handled, m->counters[i].handled, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total->ns, m->counters[i].ns, __ATOMIC_RELAXED);
    }
    if (NULL != m->state) {
        const pwr_wait_stats_t *waits = &m->state->wait_stats;
        pwr_wait_stats_t *total = &component->wait_stats;
        __atomic_fetch_add(&total->waits, waits->waits, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total->sleeps, waits->sleeps, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total->spin_ns, waits->spin_ns, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total->sleep_ns, waits->sleep_ns, __ATOMIC_RELAXED);
    }
}

static void destruct(mca_coll_poweraware_module_t *m)
{
    add_to_totals(m);
    coll_poweraware_state_free(m->state);
    DROP(allgather);
    DROP(allreduce);
    DROP(alltoall);
    DROP(bcast);
    DROP(reduce);
}

OBJ_CLASS_INSTANCE(mca_coll_poweraware_module_t, mca_coll_base_module_t, construct, destruct);

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    SAVE(allgather);
    SAVE(allreduce);
    SAVE(alltoall);
    SAVE(bcast);
    SAVE(reduce);
    if (NULL == m->saved.allgather || NULL == m->saved.allreduce || NULL == m->saved.alltoall ||
        NULL == m->saved.bcast || NULL == m->saved.reduce) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (PWR_MODULE_INSTALLS_ITSELF) {
        INSTALL(alltoall);
        INSTALL(bcast);
        INSTALL(reduce);
    }
    return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (PWR_MODULE_INSTALLS_ITSELF) {
        UNINSTALL(alltoall);
        UNINSTALL(bcast);
        UNINSTALL(reduce);
    }
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_poweraware_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    bool nothing_to_do = SIZE_MAX == mca_coll_poweraware_component.handled_bytes &&
                         !mca_coll_poweraware_component.watched;
    if (nothing_to_do || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) {
        return NULL;
    }
    mca_coll_poweraware_module_t *m = OBJ_NEW(mca_coll_poweraware_module_t);
    if (NULL == m) {
        return NULL;
    }
    m->super.coll_module_enable = enable;
    m->super.coll_module_disable = disable;
    m->super.coll_alltoall = coll_poweraware_alltoall;
    m->super.coll_bcast = coll_poweraware_bcast;
    m->super.coll_reduce = coll_poweraware_reduce;
    *priority = mca_coll_poweraware_component.params.priority;
    return &m->super;
}
