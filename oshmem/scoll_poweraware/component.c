/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component: found, registered, opened, asked for each set of PEs, closed.
 *
 * All of it comes after MPI_Init, where coll_poweraware has opened the process (process.h): that
 * looks whether the user has named us.  In the open hook no spml has made its worker yet.  The first
 * set of PEs is enabled when spml and atomics are selected: their calls become ours then.
 */
#include "calls.h"
#include "module.h"

#include <dlfcn.h>

#include "pwr_ompi/idle.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/select.h"
#include "pwr_ompi/ucx.h"

#include "oshmem/constants.h"
#include "oshmem/mca/scoll/base/base.h"
#include "oshmem/proc/proc.h"

static const char component_name[] = "poweraware";

enum { PRIORITY = 90 }; /* above scoll/mpi (78) */

static int register_component(void);
static int open_component(void);
static int close_component(void);
static int init(bool progress_threads, bool threads);
static mca_scoll_base_module_t *query(struct oshmem_group_t *group, int *priority);

typedef struct mca_scoll_poweraware_component {
    mca_scoll_base_component_t super;
    pwr_scheme_t scheme;
    bool named;     /* by the user, in --mca scoll */
    bool published; /* from open to close */
    bool has_asked; /* OpenSHMEM, for the first set of PEs */
} mca_scoll_poweraware_component_t;

extern mca_scoll_poweraware_component_t mca_scoll_poweraware_component;

__attribute__((visibility("default")))
mca_scoll_poweraware_component_t mca_scoll_poweraware_component = {
    .super =
        {
            .scoll_version =
                {
                    MCA_SCOLL_BASE_VERSION_2_0_0,
                    .mca_component_name = "poweraware",
                    MCA_BASE_MAKE_VERSION(component, PWR_MAJOR, PWR_MINOR, PWR_RELEASE),
                    .mca_open_component = open_component,
                    .mca_close_component = close_component,
                    .mca_register_component_params = register_component,
                },
            .scoll_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .scoll_init = init,
            .scoll_query = query,
        },
};

#define SELF (&mca_scoll_poweraware_component)

static int register_component(void)
{
    scoll_poweraware_ways.first_operation = pwr_process_add_names(
        PWR_OPERATION, scoll_poweraware_names, SCOLL_POWERAWARE_NUM_CALLS);
    SELF->named = pwr_ompi_named_in_selection(&oshmem_scoll_base_framework, component_name);
    int rc = pwr_process_register();
    return OMPI_SUCCESS == rc ? pwr_ompi_select_companions(&oshmem_scoll_base_framework,
                                                           component_name, NULL)
                              : rc;
}

/* Not used: neither named nor beside another component of ours that is. */
static int open_component(void)
{
    if (NULL == pwr_process.scheme.name) {
        if (SELF->named) {
            pwr_say(1, "scoll_poweraware has no effect: coll_poweraware is not there, or did not "
                       "see --mca scoll poweraware; name it, too: --mca coll poweraware");
        }
        return OSHMEM_ERR_NOT_AVAILABLE;
    }
    scoll_poweraware_ways_t *ways = &scoll_poweraware_ways;
    SELF->scheme = pwr_process.scheme;
    pwr_process_publish(&SELF->scheme);
    SELF->published = true;
    ways->scheme = &SELF->scheme;
    ways->sleeps = pwr_process_idles(&SELF->scheme);
    ways->levers = SELF->scheme.saves && SELF->scheme.audits;
    ways->counts = pwr_process_is_watched();
    pwr_process_tell_names();
    pwr_idle_loops_start();
    pwr_ucx_users_start(&pwr_process.env);
    return OSHMEM_SUCCESS;
}

static int init(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OSHMEM_SUCCESS;
}

/* 4.1 unloads it before memory is unmapped that it has asked to be told of: every program crashed in
   shmem_finalize.  It stays until the end. */
static void keep_common_ucx(void)
{
    void *object = dlopen("libmca_common_ucx.so.40", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (NULL != object) {
        (void)dlclose(object);
    }
}

/* spml/ucx is there by then. */
static mca_scoll_base_module_t *query(struct oshmem_group_t *group, int *priority)
{
    mca_scoll_base_module_t *module =
        group->proc_count > 1 ? scoll_poweraware_module_new() : NULL;
    *priority = PRIORITY;
    if (!SELF->has_asked) {
        SELF->has_asked = true;
        keep_common_ucx();
    }
    return module;
}

static int close_component(void)
{
    if (SELF->published) {
        SELF->published = SELF->has_asked = false;
        scoll_poweraware_give_back_calls();
        pwr_ucx_users_stop();
        pwr_idle_loops_stop();
        pwr_process_close();
    }
    return OSHMEM_SUCCESS;
}
