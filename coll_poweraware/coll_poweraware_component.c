/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component: found, registered, opened, asked, closed.
 */
#include "coll_poweraware.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pwr/policy.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/first_here.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/select.h"
#include "pwr_ompi/ucx.h"

#include "opal/util/output.h"
#include "opal/util/proc.h"

static const char component_name[] = "poweraware";

enum { PRIORITY_WHEN_NAMED = 77 }; /* below the components that stage GPU buffers (78) */
enum { TRACE_EVENTS = 1 << 18 };

static int register_component(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool progress_threads, bool mpi_threads);

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
            .collm_comm_query = coll_poweraware_comm_query,
        },
};

#define SELF (&mca_coll_poweraware_component)

void coll_poweraware_say(int level, const char *format, ...)
{
    if (level > SELF->params.verbose) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    opal_output(0, "poweraware: %s", line);
}

int coll_poweraware_level_alike(int level)
{
    return 0 == OPAL_PROC_MY_NAME.vpid ? level : 2;
}

/* The library's messages: a warning is for the user, the rest for whoever asked for more.  What
   keeps levers off from the start (no guardian, a bad folder) is the same for all ranks; what
   happens later happens to one. */
static void log_line(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    int warning = SELF->armed ? 1 : coll_poweraware_level_alike(1);
    coll_poweraware_say(PWR_LOG_WARN == level ? warning : 2, "%s", line);
}

static int register_component(void)
{
    const mca_base_component_t *component = &SELF->super.collm_version;
    int rc = coll_poweraware_params_register(&SELF->params, component);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (SELF->params.priority < 0) {
        SELF->params.priority =
            pwr_ompi_named_in_selection(component_name) ? PRIORITY_WHEN_NAMED : 0;
    }
    return pwr_ompi_select_companions(component_name);
}

/* With scheme off, the default of the papers, only if that is said. */
static bool saves_in_waits(void)
{
    return COLL_POWERAWARE_IDLE_ALL == SELF->params.idle ||
           (COLL_POWERAWARE_IDLE_COLLECTIVES == SELF->params.idle &&
            COLL_POWERAWARE_OFF != SELF->params.scheme);
}

/* The only time at which processes can still be told something before they talk. */
static int open_component(void)
{
    if (SELF->params.priority > 0 && saves_in_waits()) {
        pwr_doorbell_publish(&SELF->super.collm_version,
                             COLL_POWERAWARE_IDLE_ALL == SELF->params.idle);
    }
    if (SELF->params.priority > 0) {
        coll_poweraware_job_publish();
    }
    if (SELF->params.priority > 0 && 0 != SELF->params.ucx_min_bytes) {
        SELF->no_ucx_why = pwr_ucx_publish(&SELF->super.collm_version);
    }
    return OMPI_SUCCESS;
}

/* Levers need a process whose only computing thread is the one that waits in MPI. */
static void open_power(bool mpi_threads)
{
    const coll_poweraware_params_t *params = &SELF->params;
    if (COLL_POWERAWARE_OFF == params->scheme) {
        SELF->no_power_why = "scheme is off";
        return;
    }
    if (mpi_threads) {
        SELF->no_power_why = "MPI_THREAD_MULTIPLE: another thread may be computing";
        return;
    }
    const pwr_power_config_t config = {
        .use_pstates = params->pstates,
        .use_tstates = params->tstates && COLL_POWERAWARE_DVFS != params->scheme,
        .run_directory = params->run_dir,
    };
    pwr_status_t status = pwr_power_open(&SELF->env, &config, &SELF->power);
    if (PWR_OK != status) {
        SELF->power = NULL;
        SELF->no_power_why = pwr_status_text(status);
    }
}

/* How long waiting ranks spin and rest before they sleep. */
static void set_lengths(pwr_wait_policy_t *waits)
{
    const coll_poweraware_params_t *params = &SELF->params;
    pwr_policy_t *policy;
    if (params->spin_us >= 0) {
        waits->spin_ns = (uint32_t)params->spin_us * 1000u;
        waits->monitor_ns = waits->spin_ns;
        return;
    }
    if (PWR_OK != pwr_policy_load(&SELF->env, params->calibration, &policy)) {
        return; /* out of memory: sleeping at once is right, if not best */
    }
    waits->spin_ns = pwr_policy_spin_ns(policy);
    waits->monitor_ns = pwr_policy_monitor_ns(policy);
    if ('\0' != pwr_policy_why(policy)[0]) {
        coll_poweraware_say(coll_poweraware_level_alike(1), "calibration not used: %s",
                            pwr_policy_why(policy));
    }
    coll_poweraware_say(2, "waiting ranks spin for %u.%03u us before they sleep (%s)",
                        waits->spin_ns / 1000, waits->spin_ns % 1000, pwr_policy_source(policy));
    pwr_policy_free(policy);
}

/* By which instruction waiting ranks rest before they sleep. */
static const pwr_monitor_t *find_monitor(uint32_t monitor_ns)
{
    if (!SELF->params.wait_monitor) {
        return NULL;
    }
    const pwr_monitor_t *monitor = pwr_monitor_find();
    if (NULL == monitor) {
        coll_poweraware_say(2, "waiting ranks do not rest on cache lines: the processor offers no "
                               "umwait, mwaitx or WFE");
    } else if (0 == monitor_ns) {
        coll_poweraware_say(2, "waiting ranks do not rest on cache lines: %s",
                            SELF->params.spin_us < 0 ? "by its calibration that saves nothing here"
                                                     : "they are to sleep at once (spin_us 0)");
    } else {
        coll_poweraware_say(2, "waiting ranks rest by %s for %u.%03u us before they sleep",
                            pwr_monitor_name(monitor), monitor_ns / 1000, monitor_ns % 1000);
    }
    return monitor;
}

static bool has_more_ranks_than_cpus(void)
{
    return NULL != SELF->power && (unsigned)opal_process_info.num_local_peers + 1 >
                                      pwr_topo_num_cpus(pwr_power_topo(SELF->power));
}

/* Only ranks that run our algorithms, or are to be idle everywhere, wait by themselves. */
static void prepare_waits(bool mpi_threads)
{
    enum { SLEEP_MIN_NS = 100 * 1000, SLEEP_MAX_NS = 16 * 1000 * 1000 };
    const coll_poweraware_params_t *params = &SELF->params;
    if (COLL_POWERAWARE_OFF == params->scheme && COLL_POWERAWARE_IDLE_ALL != params->idle) {
        return;
    }
    SELF->wait_policy = (pwr_wait_policy_t){
        .sleep_min_ns = SLEEP_MIN_NS,
        .sleep_max_ns = SLEEP_MAX_NS,
        .oversubscribed = has_more_ranks_than_cpus(),
        .poll_ns = COLL_POWERAWARE_IDLE_OFF == params->idle ? PWR_WAIT_POLL_ONLY : 0,
    };
    set_lengths(&SELF->wait_policy);
    SELF->wait_policy.monitor = find_monitor(SELF->wait_policy.monitor_ns);
    if (saves_in_waits()) {
        pwr_doorbell_hang(mpi_threads);
    }
    if (COLL_POWERAWARE_IDLE_ALL == params->idle) {
        pwr_idle_everywhere_start(&SELF->wait_policy);
    } else if (saves_in_waits()) {
        pwr_idle_within_start(mpi_threads);
    }
}

/* A worker that this rank lacks, all others do without when they talk to it. */
static void start_ucx(void)
{
    if (0 != SELF->params.ucx_min_bytes && !pwr_ucx_start()) {
        coll_poweraware_say(coll_poweraware_level_alike(1),
                            "coll_poweraware_ucx_min_bytes has no effect: %s",
                            NULL == SELF->no_ucx_why ? "it is for pml ucx (mpirun --mca pml ucx)"
                                                     : SELF->no_ucx_why);
    }
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    if (SELF->params.priority <= 0) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    SELF->env = (pwr_env_t){
        .root = NULL == SELF->params.root ? "" : SELF->params.root,
        .now_ns = pwr_env_real.now_ns,
        .log = log_line,
        .helper_dir = SELF->params.helper_dir,
    };
    SELF->start_ns = pwr_env_now_ns(&SELF->env);
    SELF->running = true;
    SELF->watched = coll_poweraware_job_is_wanted() || NULL != SELF->params.ranks_dir ||
                    NULL != SELF->params.trace_dir;
    open_power(mpi_threads);
    prepare_waits(mpi_threads);
    coll_poweraware_job_open();
    coll_poweraware_account_open(mpi_threads);
    start_ucx();
    coll_poweraware_meter_open();
    if (COLL_POWERAWARE_AUTO == SELF->params.scheme) {
        coll_poweraware_tables_load();
    }
    if (NULL != SELF->params.trace_dir) {
        pwr_events_start(TRACE_EVENTS);
    }
    return OMPI_SUCCESS;
}

static void write_results(void)
{
    int rank = (int)OPAL_PROC_MY_NAME.vpid;
    const char *traces = SELF->params.trace_dir;
    const char *reports = NULL != SELF->params.ranks_dir ? SELF->params.ranks_dir : traces;
    char path[4096];
    if (NULL != reports && coll_poweraware_report_path(path, sizeof path, reports, rank, "json")) {
        coll_poweraware_report_write(path, rank);
    }
    if (NULL != traces &&
        coll_poweraware_report_path(path, sizeof path, traces, rank, "events.csv")) {
        int err = pwr_events_write(path);
        if (0 != err) {
            coll_poweraware_say(1, "cannot write %s: %s", path, strerror(err));
        }
    }
}

static int close_component(void)
{
    if (SELF->running) {
        SELF->running = false;
        SELF->idle_stats = pwr_idle_stop();
        write_results();
        SELF->account = NULL;
        coll_poweraware_job_close();
        coll_poweraware_meter_close();
        pwr_power_close(SELF->power);
        SELF->power = NULL;
    }
    pwr_first_here_forget();
    pwr_doorbell_take_down();
    pwr_ucx_stop();
    coll_poweraware_tables_free();
    coll_poweraware_params_free(&SELF->params);
    return OMPI_SUCCESS;
}
