/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One module per communicator: what was there before us is saved first, our functions come last.
 */
#include "coll_poweraware.h"

#include <string.h>

/* EACH(name), defined where it is used, for all collectives of ours and all that are counted. */
#define EACH_HANDLED(constant, name) EACH(name)
#define EACH_COUNTED(name, parameters, kind) EACH(name)
#define FOR_ALL COLL_POWERAWARE_HANDLED(EACH_HANDLED) COLL_POWERAWARE_COUNTED(EACH_COUNTED)

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
    }
    for (int i = 0; i < COLL_POWERAWARE_NUM_COUNTED; ++i) {
        __atomic_fetch_add(&component->counted[i], m->counted[i], __ATOMIC_RELAXED);
    }
    if (NULL != m->state) {
        pwr_wait_stats_add(&component->wait_stats, &m->state->wait_stats);
    }
}

static void destruct(mca_coll_poweraware_module_t *m)
{
    add_to_totals(m);
    coll_poweraware_classes_free(m);
    coll_poweraware_state_free(m->state);
#define EACH(name)                                                                                 \
    if (NULL != m->super.coll_##name && NULL != m->saved.coll_##name##_module) {                   \
        OBJ_RELEASE(m->saved.coll_##name##_module);                                                \
    }
    FOR_ALL
#undef EACH
}

OBJ_CLASS_INSTANCE(mca_coll_poweraware_module_t, mca_coll_base_module_t, construct, destruct);

/* Without a function to fall back on a collective could not be declined. */
static bool everything_is_there(const mca_coll_base_comm_coll_t *table)
{
#define IS_THERE(constant, name) &&NULL != table->coll_##name
    return true COLL_POWERAWARE_HANDLED(IS_THERE);
#undef IS_THERE
}

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (!everything_is_there(comm->c_coll)) {
        return OMPI_ERR_NOT_FOUND;
    }
    m->comm = comm;
    m->saved = *comm->c_coll;
    /* What this communicator or series does not have (neighbours without a topology) it does not
       get from us either. */
#define EACH(name)                                                                                 \
    if (NULL == m->saved.coll_##name) {                                                            \
        m->super.coll_##name = NULL;                                                               \
    } else if (NULL != m->super.coll_##name && NULL != m->saved.coll_##name##_module) {            \
        OBJ_RETAIN(m->saved.coll_##name##_module);                                                 \
    }
    FOR_ALL
#undef EACH
#define EACH(name)                                                                                 \
    if (NULL != m->super.coll_##name) {                                                            \
        comm->c_coll->coll_##name = m->super.coll_##name;                                          \
        comm->c_coll->coll_##name##_module = &m->super;                                            \
    }
    if (PWR_MODULE_INSTALLS_ITSELF) {
        FOR_ALL
    }
#undef EACH
    return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
#define EACH(name)                                                                                 \
    if (comm->c_coll->coll_##name##_module == &m->super) {                                         \
        comm->c_coll->coll_##name = m->saved.coll_##name;                                          \
        comm->c_coll->coll_##name##_module = m->saved.coll_##name##_module;                        \
    }
    if (PWR_MODULE_INSTALLS_ITSELF) {
        FOR_ALL
    }
#undef EACH
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_poweraware_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    if (MPI_COMM_SELF == comm) {
        coll_poweraware_job_begin();
    }
    bool nothing_to_do = COLL_POWERAWARE_OFF == mca_coll_poweraware_component.params.scheme &&
                         !mca_coll_poweraware_component.watched;
    if (nothing_to_do || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) {
        return NULL;
    }
    mca_coll_poweraware_module_t *m = OBJ_NEW(mca_coll_poweraware_module_t);
    if (NULL == m) {
        return NULL;
    }
    if (!coll_poweraware_prepare(m, comm)) {
        OBJ_RELEASE(m);
        return NULL;
    }
    m->super.coll_module_enable = enable;
    m->super.coll_module_disable = disable;
#define OFFER(constant, name) m->super.coll_##name = coll_poweraware_##name;
    COLL_POWERAWARE_HANDLED(OFFER)
#undef OFFER
    /* In others nobody waits, and nobody would see their counts without a report. */
    coll_poweraware_offer_counted(m, mca_coll_poweraware_component.watched);
    *priority = mca_coll_poweraware_component.params.priority;
    return &m->super;
}
