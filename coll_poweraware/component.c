/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component: found, registered, opened, asked, closed.
 */
#include "settings.h"

#include <stdlib.h>

#include "algorithms/algorithms.h"
#include "call.h"
#include "choose/choose.h"
#include "module.h"
#include "pwr_ompi/presence.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/pvars.h"
#include "pwr_ompi/select.h"
#include "pwr_ompi/ucx.h"

static const char framework_name[] = "coll", component_name[] = "poweraware";

enum { PRIORITY_WHEN_NAMED = 77 }; /* below the components that stage GPU buffers (78) */

static int register_component(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool progress_threads, bool mpi_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority);

typedef struct mca_coll_poweraware_component {
    mca_coll_base_component_t super;
    coll_poweraware_settings_t settings;
    unsigned first_operation; /* numbers of the process */
    unsigned first_algorithm;
    const char *no_ucx_why; /* the worker of ucx_min_bytes */
    pwr_scheme_t scheme;
    bool published;
    bool told;               /* others know that this rank has this component */
    bool looked, everywhere; /* all of the job have it */
    bool running;            /* between init_query and close in an MPI process */
} mca_coll_poweraware_component_t;

extern mca_coll_poweraware_component_t mca_coll_poweraware_component;

__attribute__((visibility("default")))
mca_coll_poweraware_component_t mca_coll_poweraware_component = {
    .super =
        {
            .collm_version =
                {
                    PWR_COLL_VERSION,
                    .mca_component_name = "poweraware",
                    MCA_BASE_MAKE_VERSION(component, PWR_MAJOR, PWR_MINOR, PWR_RELEASE),
                    .mca_open_component = open_component,
                    .mca_close_component = close_component,
                    .mca_register_component_params = register_component,
                },
            .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .collm_init_query = init_query,
            .collm_comm_query = comm_query,
        },
};

#define SELF (&mca_coll_poweraware_component)

/* ---- registered ---- */

static void add_names(void)
{
    const char *names[PWR_PROCESS_NAMES];
    int num = 0;
    while (num < coll_poweraware_num_algorithms && num < PWR_PROCESS_NAMES) {
        names[num] = coll_poweraware_algorithms[num].name;
        ++num;
    }
    SELF->first_algorithm = pwr_process_add_names(PWR_ALGORITHM, names, (unsigned)num);
    SELF->first_operation =
        pwr_process_add_names(PWR_OPERATION, coll_poweraware_names, COLL_POWERAWARE_NUM_OPERATIONS);
}

static void register_pvars(const mca_base_component_t *component)
{
    pwr_pvar_register(
        component, "handled",
        "Calls of this process that took an algorithm of ours, or of a component that was not "
        "selected, number",
        MCA_BASE_PVAR_CLASS_COUNTER, NULL, &coll_poweraware_num_handled);
    const char *note = pwr_process_wants_report() ? "" : "; not counted: no report is wanted";
    pwr_pvars_register(component, SELF->first_operation, COLL_POWERAWARE_NUM_COLLECTIVES, note);
}

static pwr_scheme_t scheme_of(int scheme)
{
    /* schemes other than auto do what they are told, whatever it costs */
    bool automatic = COLL_POWERAWARE_AUTO == scheme;
    return (pwr_scheme_t){
        .name = coll_poweraware_scheme_name(scheme),
        .saves = COLL_POWERAWARE_OFF != scheme,
        .throttles = COLL_POWERAWARE_THROTTLE == scheme || automatic,
        .audits = automatic,
        .weighs_levers = automatic,
    };
}

/* For OpenSHMEM, too (oshmem/scoll_poweraware): the framework that has that parameter is not there
   yet. */
static bool is_named(void)
{
    return pwr_ompi_named_in_selection(&ompi_coll_base_framework, component_name) ||
           pwr_ompi_named_in_list(getenv("OMPI_MCA_scoll"), component_name);
}

static int register_component(void)
{
    add_names();
    int rc = pwr_process_register();
    rc = OMPI_SUCCESS == rc ? coll_poweraware_settings_register(&SELF->settings) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc; /* other ranks have other settings */
    }
    register_pvars(&SELF->super.collm_version);
    SELF->scheme = scheme_of(SELF->settings.scheme);
    pwr_process.unasked =
        PWR_DEFAULT_PRIORITY > 0 && PWR_DEFAULT_PRIORITY == SELF->settings.priority && !is_named();
    if (SELF->settings.priority < 0) {
        SELF->settings.priority = is_named() ? PRIORITY_WHEN_NAMED : 0;
    }
    return pwr_ompi_select_companions(&ompi_coll_base_framework, component_name, NULL);
}

/* ---- opened ---- */

/* The only time at which processes can still be told something before they talk. */
static int open_component(void)
{
    bool used = SELF->settings.priority > 0;
    pwr_process_publish(used ? &SELF->scheme : NULL);
    SELF->published = true;
    SELF->told = used && pwr_presence_tell(framework_name);
    if (used && 0 != SELF->settings.ucx_min_bytes) {
        SELF->no_ucx_why = pwr_ucx_publish();
    }
    if (used) {
        pwr_process_add_setup(pwr_process.start_ns);
    }
    return OMPI_SUCCESS;
}

/* ---- asked ---- */

/* A worker that this rank lacks, all others do without when they talk to it. */
static void start_ucx(void)
{
    if (0 != SELF->settings.ucx_min_bytes && !pwr_ucx_start()) {
        pwr_say(pwr_level_alike(1), "coll_poweraware_ucx_min_bytes has no effect: %s",
                NULL == SELF->no_ucx_why ? "it is for pml ucx (mpirun --mca pml ucx)"
                                         : SELF->no_ucx_why);
    }
}

/* Another component of ours is used, and a report is wanted: collectives are part of it. */
static void watch_for_others(void)
{
    if (SELF->settings.priority <= 0 && NULL != pwr_process.scheme.name &&
        pwr_process_is_watched()) {
        SELF->settings.priority = PRIORITY_WHEN_NAMED;
        SELF->settings.scheme = COLL_POWERAWARE_OFF;
        SELF->settings.ucx_min_bytes = 0;
        SELF->scheme = scheme_of(COLL_POWERAWARE_OFF);
    }
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    watch_for_others();
    if (SELF->settings.priority <= 0) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    uint64_t since_ns = pwr_env_now_ns(&pwr_process.env);
    SELF->running = true;
    pwr_process_open(mpi_threads);
    start_ucx();
    if (COLL_POWERAWARE_AUTO == SELF->settings.scheme) {
        coll_poweraware_tables_load(SELF->settings.decision_table);
    }
    coll_poweraware_module_reserve();
    pwr_process_add_setup(since_ns);
    return OMPI_SUCCESS;
}

/* After MPI_Init's exchange.  Stock functions on all ranks need nobody else. */
static bool is_everywhere(void)
{
    if (!SELF->looked) {
        SELF->looked = true;
        SELF->everywhere = COLL_POWERAWARE_OFF == SELF->settings.scheme ||
                           (SELF->told && pwr_presence_is_everywhere(framework_name));
    }
    return SELF->everywhere;
}

/* NULL: this communicator goes without us. */
static mca_coll_poweraware_module_t *module_for(struct ompi_communicator_t *comm)
{
    bool watched = pwr_process_is_watched();
    bool nothing_to_do = !SELF->scheme.saves && !watched;
    if (nothing_to_do || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || !is_everywhere()) {
        return NULL;
    }
    mca_coll_poweraware_module_t *m = coll_poweraware_module_new(
        comm, &SELF->settings, &SELF->scheme, SELF->first_operation, SELF->first_algorithm);
    if (NULL == m) {
        return NULL;
    }
    if (!coll_poweraware_prepare(m)) {
        OBJ_RELEASE(m);
        return NULL;
    }
    /* In others nobody waits, and nobody would see their counts without a report. */
    coll_poweraware_offer(&m->super, watched);
    return m;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    uint64_t since_ns = pwr_env_now_ns(&pwr_process.env);
    if (MPI_COMM_SELF == comm) {
        pwr_process_begin_job(pwr_decisions_of_job);
    }
    mca_coll_poweraware_module_t *m = module_for(comm);
    *priority = SELF->settings.priority;
    pwr_process_add_setup(since_ns);
    return NULL == m ? NULL : &m->super;
}

/* ---- closed ---- */

static double seconds_in(unsigned operation)
{
    uint64_t ns = 0;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    const pwr_account_t *account = pwr_process.account;
    while (NULL != account && NULL != (cell = pwr_account_next(account, &index))) {
        ns += operation == pwr_account_kind(cell).operation ? cell->sums.ns : 0;
    }
    return 1e-9 * (double)ns;
}

/* What this component adds to the report of its rank: those that are only counted, if they were
   called. */
static json_t *own_report(void)
{
    const coll_poweraware_totals_t *totals = &coll_poweraware_totals;
    json_t *collectives = json_object();
    json_t *counted = json_object();
    for (unsigned i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        json_object_set_new(collectives, coll_poweraware_names[i],
                            json_pack("{s:I, s:I, s:f}", "calls", (json_int_t)totals->calls[i],
                                      "handled", (json_int_t)totals->handled[i], "seconds",
                                      seconds_in(SELF->first_operation + i)));
    }
    for (int i = COLL_POWERAWARE_NUM_COLLECTIVES; i < COLL_POWERAWARE_NUM_OPERATIONS; ++i) {
        if (0 != totals->calls[i]) {
            json_object_set_new(counted, coll_poweraware_names[i],
                                json_integer((json_int_t)totals->calls[i]));
        }
    }
    return json_pack("{s:s, s:o, s:o}", "scheme", SELF->scheme.name, "collectives", collectives,
                     "counted", counted);
}

static int close_component(void)
{
    if (SELF->running) {
        SELF->running = false;
        if (NULL != pwr_process_ranks_dir()) {
            pwr_rank_write(own_report());
        }
    }
    if (SELF->published) {
        SELF->published = SELF->looked = false;
        pwr_process_close();
    }
    pwr_ucx_stop();
    coll_poweraware_module_reserve_no_more();
    coll_poweraware_tables_free();
    coll_poweraware_settings_free(&SELF->settings);
    return OMPI_SUCCESS;
}
