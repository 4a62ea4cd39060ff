/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A second component of ours, as small as one can be: MPI_Barrier is an operation of its own.
 *
 * It shows what run_second_component looks for: two components in one process share levers, waits,
 * meter and record, and an operation within another component's is a part of that.
 *
 * With PWR_SECOND_GIVES_WAY in the environment it is below coll poweraware and does as han does
 * with a communicator it does not like: it puts the function that was selected before it in its
 * place, unless somebody else is there, and calls what is there.  With PWR_SECOND_STARTS_S it takes
 * so many seconds in MPI_Init.
 */
#include "pwr_ompi/compat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr_ompi/operation.h"
#include "pwr_ompi/process.h"

/* Above coll poweraware its Barrier is what we call. */
enum { ABOVE = 90, BELOW = 50 };

static int register_component(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool progress_threads, bool mpi_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority);

extern mca_coll_base_component_t mca_coll_pwrsecond_component;

__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_pwrsecond_component = {
    .collm_version =
        {
            PWR_COLL_VERSION,
            .mca_component_name = "pwrsecond",
            MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
            .mca_open_component = open_component,
            .mca_close_component = close_component,
            .mca_register_component_params = register_component,
        },
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

typedef struct second_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t saved;
    pwr_operations_t operations;
    pwr_class_t *classes[1];
} second_module_t;

static const pwr_scheme_t scheme = {.name = "second", .saves = true};
static unsigned name_number;

static int register_component(void)
{
    static const char *const names[] = {"second_barrier"};
    name_number = pwr_process_add_names(PWR_OPERATION, names, 1);
    return pwr_process_register();
}

static int open_component(void)
{
    pwr_process_publish(&scheme);
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    const char *seconds = getenv("PWR_SECOND_STARTS_S");
    if (NULL != seconds) {
        sleep((unsigned)strtoul(seconds, NULL, 10));
    }
    pwr_process_open(mpi_threads);
    return OMPI_SUCCESS;
}

static void construct(second_module_t *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
}

static void destruct(second_module_t *m)
{
    pwr_operations_end(&m->operations);
}

OBJ_CLASS_DECLARATION(second_module_t);
OBJ_CLASS_INSTANCE(second_module_t, mca_coll_base_module_t, construct, destruct);

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    second_module_t *m = (second_module_t *)module;
    pwr_operation_t operation;
    pwr_operation_begin(&operation, &m->operations, name_number, 0, 0);
    pwr_operation_start(&operation, PWR_ACCOUNT_NO_ALGORITHM, true);
    int rc = m->saved.coll_barrier(comm, m->saved.coll_barrier_module);
    pwr_operation_end(&operation);
    return rc;
}

static int barrier_that_gives_way(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const second_module_t *m = (const second_module_t *)module;
    mca_coll_base_comm_coll_t *table = comm->c_coll;
    if (module == table->coll_barrier_module) {
        table->coll_barrier = m->saved.coll_barrier;
        table->coll_barrier_module = m->saved.coll_barrier_module;
        OBJ_RETAIN(table->coll_barrier_module);
        OBJ_RELEASE(module);
    }
    return table->coll_barrier(comm, table->coll_barrier_module);
}

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    second_module_t *m = (second_module_t *)module;
    m->saved = *comm->c_coll;
    pwr_operations_init(&m->operations, comm, &scheme, name_number, 1, m->classes);
    if (PWR_MODULE_INSTALLS_ITSELF) {
        comm->c_coll->coll_barrier = m->super.coll_barrier;
        comm->c_coll->coll_barrier_module = module;
    }
    return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    const second_module_t *m = (const second_module_t *)module;
    if (PWR_MODULE_INSTALLS_ITSELF && module == comm->c_coll->coll_barrier_module) {
        comm->c_coll->coll_barrier = m->saved.coll_barrier;
        comm->c_coll->coll_barrier_module = m->saved.coll_barrier_module;
    }
    return OMPI_SUCCESS;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    if (MPI_COMM_SELF == comm) {
        pwr_process_begin_job(pwr_decisions_of_job);
    }
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) {
        return NULL;
    }
    second_module_t *m = OBJ_NEW(second_module_t);
    if (NULL == m) {
        return NULL;
    }
    m->super.coll_module_enable = enable;
    m->super.coll_module_disable = disable;
    bool gives_way = NULL != getenv("PWR_SECOND_GIVES_WAY");
    m->super.coll_barrier = gives_way ? barrier_that_gives_way : barrier;
    *priority = gives_way ? BELOW : ABOVE;
    return &m->super;
}

static int close_component(void)
{
    if (NULL != pwr_process_ranks_dir()) {
        pwr_rank_write(NULL);
    }
    pwr_process_close();
    return OMPI_SUCCESS;
}
