/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component: found, registered, opened, asked, closed.
 */
#include "settings.h"

#include <string.h>

#include "algorithms/algorithms.h"
#include "call.h"
#include "choose/choose.h"
#include "module.h"
#include "pwr/file.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/pvars.h"
#include "pwr_ompi/select.h"
#include "pwr_ompi/ucx.h"

static const char component_name[] = "poweraware";

enum { PRIORITY_WHEN_NAMED = 77 }; /* below the components that stage GPU buffers (78) */
enum { TRACE_EVENTS = 1 << 18 };

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
    bool watched;           /* somebody wants a report or a trace */
    bool published;
    bool running; /* between init_query and close in an MPI process */
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
                    MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
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

/* ---- what the process is told ---- */

/* What a job's document says of them. */
static json_t *settings(void)
{
    const coll_poweraware_settings_t *s = &SELF->settings;
    return json_pack("{s:s, s:s, s:f}", "scheme", coll_poweraware_word("scheme", s->scheme), "idle",
                     coll_poweraware_word("idle", s->idle), "max_slowdown_percent",
                     s->max_slowdown);
}

static pwr_process_config_t process_config(void)
{
    const coll_poweraware_settings_t *s = &SELF->settings;
    return (pwr_process_config_t){
        .component = &SELF->super.collm_version,
        .idle = (pwr_idle_where_t)s->idle,
        .saves = COLL_POWERAWARE_OFF != s->scheme,
        .uses = {[PWR_LEVER_PSTATE] = s->pstates,
                 [PWR_LEVER_TSTATE] = s->tstates && COLL_POWERAWARE_DVFS != s->scheme,
                 [PWR_LEVER_UNCORE] = s->uncore},
        /* schemes other than auto do what they are told, whatever it costs */
        .audits = COLL_POWERAWARE_AUTO == s->scheme && s->max_slowdown > 0.0 &&
                  PWR_IDLE_OFF != (pwr_idle_where_t)s->idle,
        .max_slowdown = s->max_slowdown / 100.0,
        .lever_bytes = s->min_bytes,
        .weighs_levers = COLL_POWERAWARE_AUTO == s->scheme,
        .hang_report_s = s->hang_report,
        .spin_us = s->spin_us,
        .rests_on_cache_line = s->wait_monitor,
        .calibration = s->calibration,
        .helper_dir = s->helper_dir,
        .run_dir = s->run_dir,
        .root = s->root,
        .report_dir = s->report_dir,
        .summary = coll_poweraware_word("report", s->report),
        .ranks_dir = s->ranks_dir,
        .settings = settings,
    };
}

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

static int register_pvars(const mca_base_component_t *component)
{
    int rc = pwr_pvar_register(component, "handled",
                               "Calls of this process that took an algorithm of ours, number",
                               MCA_BASE_PVAR_CLASS_COUNTER, NULL, &coll_poweraware_num_handled);
    const pwr_process_config_t config = process_config();
    const char *note =
        pwr_process_wants_report(&config) ? "" : "; not counted: no report is wanted";
    return OMPI_SUCCESS == rc ? pwr_pvars_register(component, SELF->first_operation,
                                                   COLL_POWERAWARE_NUM_COLLECTIVES, note)
                              : rc;
}

static int register_component(void)
{
    const mca_base_component_t *component = &SELF->super.collm_version;
    add_names();
    int rc = coll_poweraware_settings_register(&SELF->settings, component);
    rc = OMPI_SUCCESS == rc ? register_pvars(component) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (SELF->settings.priority < 0) {
        SELF->settings.priority =
            pwr_ompi_named_in_selection(&ompi_coll_base_framework, component_name)
                ? PRIORITY_WHEN_NAMED
                : 0;
    }
    return pwr_ompi_select_companions(&ompi_coll_base_framework, component_name);
}

/* ---- opened ---- */

/* The only time at which processes can still be told something before they talk. */
static int open_component(void)
{
    if (SELF->settings.priority > 0) {
        const pwr_process_config_t config = process_config();
        pwr_process_publish(&config);
        SELF->published = true;
    }
    if (SELF->settings.priority > 0 && 0 != SELF->settings.ucx_min_bytes) {
        SELF->no_ucx_why = pwr_ucx_publish(&SELF->super.collm_version);
    }
    if (SELF->published) {
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

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    if (SELF->settings.priority <= 0) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    uint64_t since_ns = pwr_env_now_ns(&pwr_process.env);
    const pwr_process_config_t config = process_config();
    SELF->running = true;
    SELF->watched = pwr_process_wants_report(&config) || NULL != SELF->settings.ranks_dir ||
                    NULL != SELF->settings.trace_dir;
    pwr_process_open(&config, mpi_threads);
    start_ucx();
    if (COLL_POWERAWARE_AUTO == SELF->settings.scheme) {
        coll_poweraware_tables_load(SELF->settings.decision_table);
    }
    if (NULL != SELF->settings.trace_dir) {
        pwr_events_start(TRACE_EVENTS);
    }
    pwr_process_add_setup(since_ns);
    return OMPI_SUCCESS;
}

/* NULL: this communicator goes without us. */
static mca_coll_poweraware_module_t *module_for(struct ompi_communicator_t *comm)
{
    bool nothing_to_do = COLL_POWERAWARE_OFF == SELF->settings.scheme && !SELF->watched;
    if (nothing_to_do || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) {
        return NULL;
    }
    mca_coll_poweraware_module_t *m = coll_poweraware_module_new(
        comm, &SELF->settings, SELF->first_operation, SELF->first_algorithm);
    if (NULL == m) {
        return NULL;
    }
    if (!coll_poweraware_prepare(m)) {
        OBJ_RELEASE(m);
        return NULL;
    }
    /* In others nobody waits, and nobody would see their counts without a report. */
    coll_poweraware_offer(&m->super, SELF->watched);
    return m;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    uint64_t since_ns = pwr_env_now_ns(&pwr_process.env);
    if (MPI_COMM_SELF == comm) {
        pwr_process_begin_job();
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
    return json_pack("{s:s, s:o, s:o}", "scheme",
                     coll_poweraware_word("scheme", SELF->settings.scheme), "collectives",
                     collectives, "counted", counted);
}

static void write_results(void)
{
    const char *traces = SELF->settings.trace_dir;
    const char *reports = NULL != SELF->settings.ranks_dir ? SELF->settings.ranks_dir : traces;
    char path[4096];
    if (NULL != reports && pwr_rank_path(path, sizeof path, reports, "json")) {
        pwr_report_write(path, own_report());
    }
    if (NULL != traces && pwr_rank_path(path, sizeof path, traces, "events.csv")) {
        int err = pwr_events_write(path);
        if (0 != err) {
            pwr_say(1, "cannot write %s: %s", path, pwr_file_why(err));
        }
    }
}

static int close_component(void)
{
    if (SELF->running) {
        SELF->running = false;
        write_results();
    }
    if (SELF->published) {
        SELF->published = false;
        pwr_process_close();
    }
    pwr_ucx_stop();
    coll_poweraware_tables_free();
    coll_poweraware_settings_free(&SELF->settings);
    return OMPI_SUCCESS;
}
