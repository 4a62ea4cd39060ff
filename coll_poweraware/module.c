/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One module per communicator: what was there before us is saved first, our functions come last.
 */
#include "module.h"

#include <stdatomic.h>
#include <string.h>

#include "comm/components.h"
#include "comm/state.h"
#include "repeat.h"

coll_poweraware_totals_t coll_poweraware_totals;

static void construct(mca_coll_poweraware_module_t *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        m->bytes[c].agreed = PWR_BYTES_UNKNOWN;
    }
}

/* Communicators may be freed in several threads at once. */
static void add_to_totals(const mca_coll_poweraware_module_t *m)
{
    for (int i = 0; i < COLL_POWERAWARE_NUM_OPERATIONS; ++i) {
        __atomic_fetch_add(&coll_poweraware_totals.calls[i], m->calls[i], __ATOMIC_RELAXED);
    }
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        __atomic_fetch_add(&coll_poweraware_totals.handled[i], m->handled[i], __ATOMIC_RELAXED);
    }
}

static void destruct(mca_coll_poweraware_module_t *m)
{
    coll_poweraware_end_all_repeats(m);
    add_to_totals(m);
    pwr_operations_end(&m->operations);
    coll_poweraware_state_free(m->state);
    coll_poweraware_release_modules(&m->saved);
}

OBJ_CLASS_INSTANCE(mca_coll_poweraware_module_t, mca_coll_base_module_t, construct, destruct);

/* Without a function to fall back on a collective could not be declined. */
static bool everything_is_there(const mca_coll_base_comm_coll_t *table)
{
#define IS_THERE(constant, name, arguments, bytes, known) &&NULL != table->coll_##name
    return true COLL_POWERAWARE_HANDLED(IS_THERE);
#undef IS_THERE
}

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (!everything_is_there(comm->c_coll)) {
        return OMPI_ERR_NOT_FOUND;
    }
    m->saved = *comm->c_coll;
    coll_poweraware_retain_modules(&m->saved);
    /* What this communicator or series does not have (neighbours without a topology) it does not
       get from us either. */
#define EACH(name)                                                                                 \
    if (NULL == m->saved.coll_##name) {                                                            \
        m->super.coll_##name = NULL;                                                               \
    }
    COLL_POWERAWARE_FOR_ALL
#undef EACH
#define EACH(name)                                                                                 \
    if (NULL != m->super.coll_##name) {                                                            \
        comm->c_coll->coll_##name = m->super.coll_##name;                                          \
        comm->c_coll->coll_##name##_module = &m->super;                                            \
    }
    if (PWR_MODULE_INSTALLS_ITSELF) {
        COLL_POWERAWARE_FOR_ALL
    }
#undef EACH
    /* Pairs with coll_poweraware_of. */
    atomic_store_explicit(&m->enabled, true, memory_order_release);
    return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    if (MPI_COMM_WORLD == comm) {
        pwr_process_world_ends();
    }
#define EACH(name)                                                                                 \
    if (comm->c_coll->coll_##name##_module == &m->super) {                                         \
        comm->c_coll->coll_##name = m->saved.coll_##name;                                          \
        comm->c_coll->coll_##name##_module = m->saved.coll_##name##_module;                        \
    }
    if (PWR_MODULE_INSTALLS_ITSELF) {
        COLL_POWERAWARE_FOR_ALL
    }
#undef EACH
    return OMPI_SUCCESS;
}

/* A rank without a module would leave the others alone in their calls, so there is always one more
   than there are communicators. */
static _Atomic(mca_coll_poweraware_module_t *) spare;

void coll_poweraware_module_reserve(void)
{
    mca_coll_poweraware_module_t *none = NULL;
    mca_coll_poweraware_module_t *more =
        NULL == atomic_load(&spare) ? OBJ_NEW(mca_coll_poweraware_module_t) : NULL;
    if (NULL != more && !atomic_compare_exchange_strong(&spare, &none, more)) {
        OBJ_RELEASE(more);
    }
}

void coll_poweraware_module_reserve_no_more(void)
{
    mca_coll_poweraware_module_t *last = atomic_exchange(&spare, NULL);
    if (NULL != last) {
        OBJ_RELEASE(last);
    }
}

mca_coll_poweraware_module_t *coll_poweraware_module_new(struct ompi_communicator_t *comm,
                                                         const coll_poweraware_settings_t *settings,
                                                         const pwr_scheme_t *scheme,
                                                         unsigned first_operation,
                                                         unsigned first_algorithm)
{
    mca_coll_poweraware_module_t *m = OBJ_NEW(mca_coll_poweraware_module_t);
    m = NULL == m ? atomic_exchange(&spare, NULL) : m;
    coll_poweraware_module_reserve();
    if (NULL != m) {
        m->comm = comm;
        m->settings = settings;
        m->first_algorithm = first_algorithm;
        pwr_operations_init(&m->operations, comm, scheme, first_operation,
                            COLL_POWERAWARE_NUM_COLLECTIVES, m->classes);
        m->super.coll_module_enable = enable;
        m->super.coll_module_disable = disable;
    }
    return m;
}
