/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Opening and closing what belongs to the process (pwr_ompi/process.h).
 */
#include "process_private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr_ompi/device_memory.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/first_here.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/modex.h"
#include "pwr_ompi/operation.h"

#include "opal/util/proc.h"

static unsigned users; /* components that have published and not closed */
static bool opened;
static bool begun; /* the report of the job */

/* ---- messages ---- */

/* The library's messages: a warning is for the user, the rest for whoever asked for more.  What
   keeps levers off from the start (no guardian, a bad folder) is the same for all ranks; what
   happens later happens to one. */
static void log_line(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    int warning = pwr_process.armed ? 1 : pwr_level_alike(1);
    pwr_say(PWR_LOG_WARN == level ? warning : 2, "%s", line);
}

/* ---- before MPI_Init exchanges what processes know of each other ---- */

int pwr_process_register(void)
{
    int rc = pwr_settings_register();
    if (OMPI_SUCCESS == rc && 0 == users) {
        pwr_settings_take();
    }
    return rc;
}

/* Of the first component that is used. */
static void publish_process(void)
{
    const pwr_process_settings_t *settings = &pwr_process.settings;
    pwr_process.env.root = NULL == settings->root ? "" : settings->root;
    pwr_process.env.helper_dir = settings->helper_dir;
    pwr_process.start_ns = pwr_env_now_ns(&pwr_process.env);
    pwr_job_publish();
}

/* What any component does, the process must be ready for. */
static void add_scheme(const pwr_scheme_t *scheme)
{
    pwr_scheme_t *all = &pwr_process.scheme;
    all->name = NULL == all->name ? scheme->name : all->name;
    all->saves = all->saves || scheme->saves;
    all->throttles = all->throttles || scheme->throttles;
    all->audits = all->audits || scheme->audits;
    all->weighs_levers = all->weighs_levers || scheme->weighs_levers;
}

/* Descriptors that Open MPI opens later: a transport some (UCX 25), and over TCP one to each other
   process; but who has thousands of these uses another network. */
static unsigned transport_descriptors(void)
{
    enum { ITS_OWN = 32, MOST_OTHERS = 256 };
    unsigned others = pwr_modex_num_processes() - 1;
    return ITS_OWN + (others < MOST_OTHERS ? others : MOST_OTHERS);
}

void pwr_process_publish(const pwr_scheme_t *scheme)
{
    if (0 == users++) {
        pwr_process.env = (pwr_env_t){.root = "",
                                      .now_ns = pwr_env_real.now_ns,
                                      .log = log_line,
                                      .later = transport_descriptors()};
    }
    if (NULL == scheme) {
        return;
    }
    bool first = NULL == pwr_process.scheme.name;
    if (first) {
        publish_process();
    }
    bool idled = !first && pwr_process_idles(&pwr_process.scheme);
    add_scheme(scheme);
    if (first) {
        pwr_known_publish();
    }
    if (!idled && pwr_process_idles(scheme)) {
        pwr_doorbell_publish(&pwr_process.env,
                             PWR_IDLE_ALL == (pwr_idle_where_t)pwr_process.settings.idle);
    }
}

void pwr_process_add_setup(uint64_t since_ns)
{
    uint64_t ns = pwr_env_now_ns(&pwr_process.env) - since_ns;
    atomic_fetch_add_explicit(&pwr_process.setup_ns, ns, memory_order_relaxed);
}

/* ---- what waiting and levers cost here ---- */

/* NULL: nobody wants to know, or out of memory. */
static pwr_policy_t *load_policy(void)
{
    const pwr_process_settings_t *settings = &pwr_process.settings;
    const pwr_scheme_t *scheme = &pwr_process.scheme;
    pwr_policy_t *policy;
    bool waits = scheme->saves || PWR_IDLE_ALL == (pwr_idle_where_t)settings->idle;
    if (!waits || (settings->spin_us >= 0 && !scheme->weighs_levers)) {
        return NULL;
    }
    if (PWR_OK != pwr_policy_load(&pwr_process.env, settings->calibration, &policy)) {
        return NULL;
    }
    if ('\0' != policy->why[0]) {
        pwr_say(pwr_level_alike(1), "calibration not used: %s", policy->why);
    }
    return policy;
}

/* ---- levers ---- */

/* Levers need a process whose only computing thread is the one that waits in MPI. */
static const char *why_no_power(bool mpi_threads)
{
    return !pwr_process.scheme.saves ? "scheme is off"
           : mpi_threads             ? "MPI_THREAD_MULTIPLE: another thread may be computing"
                                     : NULL;
}

static void open_power(const pwr_policy_t *policy, bool mpi_threads)
{
    const pwr_process_settings_t *settings = &pwr_process.settings;
    const pwr_power_config_t levers = {
        .run_directory = settings->run_dir,
        .policy = policy,
        .hardware_first = true, /* it is an application's call that is to be short */
        .use = {[PWR_LEVER_PSTATE] = settings->pstates,
                [PWR_LEVER_TSTATE] = settings->tstates && pwr_process.scheme.throttles,
                [PWR_LEVER_UNCORE] = settings->uncore},
    };
    pwr_process.no_power_why = why_no_power(mpi_threads);
    if (NULL != pwr_process.no_power_why) {
        return;
    }
    /* claim of CPUs; guardian: directory, socket, journal; levers, of one CPU */
    enum { DESCRIPTORS = 1 + 3 + 4 };
    pwr_status_t status = pwr_env_may_keep(&pwr_process.env, DESCRIPTORS)
                              ? pwr_power_open(&pwr_process.env, &levers, &pwr_process.power)
                              : PWR_ERR_DESCRIPTORS;
    if (PWR_OK != status) {
        pwr_process.power = NULL;
        pwr_process.no_power_why = pwr_status_text(status);
    }
}

/* Once per process: rank 0 of the job tells the user, the others whoever asked for more. */
void pwr_process_arm_levers(void)
{
    if (NULL != pwr_process.power) {
        pwr_power_arm(pwr_process.power);
    }
    if (atomic_exchange(&pwr_process.armed, true)) {
        return;
    }
    const char *why =
        NULL == pwr_process.power ? pwr_process.no_power_why : pwr_power_why_off(pwr_process.power);
    if (NULL != why && '\0' != why[0]) {
        pwr_say(pwr_level_alike(pwr_process.unasked ? 2 : 1),
                "no levers, waiting ranks still give the CPU back: %s", why);
    }
}

/* ---- the meter of the audit ---- */

/* Only what is measured: what a model says of CPU time the audit knows already. */
static pwr_meter_t *open_measured(char *why, unsigned why_size)
{
    pwr_meter_t *meter = NULL;
    const char *name;
    for (unsigned nth = 0; NULL == meter && NULL != (name = pwr_meter_backend_name(nth)); ++nth) {
        if (0 != strcmp("model", name) && 0 != strcmp("nvml", name) &&
            PWR_OK != pwr_meter_open_nth(&pwr_process.env, pwr_power_topo(pwr_process.power), nth,
                                         why, why_size, &meter)) {
            meter = NULL;
        }
    }
    return meter;
}

/* One rank of each node tells of it in its report, rank 0 in the job's. */
static bool tells_energy(void)
{
    return 0 == opal_process_info.my_local_rank &&
           (NULL != pwr_process.settings.ranks_dir ||
            (NULL != pwr_process.settings.report_dir && 0 == OPAL_PROC_MY_NAME.vpid));
}

static void open_meter(void)
{
    char why[512] = "";
    if (!tells_energy() || NULL == pwr_process.power || !pwr_process_audits(&pwr_process.scheme)) {
        return;
    }
    enum { DESCRIPTORS = 8 }; /* domains of two packages or so */
    if (pwr_env_may_keep(&pwr_process.env, DESCRIPTORS)) {
        pwr_process.meter = open_measured(why, sizeof why);
    } else {
        snprintf(why, sizeof why, "%s", pwr_status_text(PWR_ERR_DESCRIPTORS));
    }
    if (NULL == pwr_process.meter) {
        pwr_say(2, "no energy in the audit: %s", why);
    }
}

/* ---- open and close ---- */

void pwr_process_open(bool mpi_threads)
{
    enum { TRACE_EVENTS = 1 << 18 };
    if (opened) {
        return;
    }
    opened = true;
    pwr_process.mpi_threads = mpi_threads;
    pwr_device_memory_open(pwr_process.env.root);
    pwr_policy_t *policy = load_policy();
    open_power(policy, mpi_threads);
    pwr_waits_prepare(policy, mpi_threads);
    free(policy);
    pwr_job_open();
    pwr_known_open();
    open_meter();
    if (NULL != pwr_process.settings.trace_dir) {
        pwr_events_start(TRACE_EVENTS);
    }
}

void pwr_process_begin_job(json_t *(*decisions)(void))
{
    if (opened && !begun) {
        begun = true;
        pwr_job_begin(decisions);
    }
}

static void close_all(void)
{
    pwr_idle_stop();
    pwr_meter_close(pwr_process.meter);
    pwr_power_close(pwr_process.power);
    pwr_device_memory_close();
    opened = begun = false;
}

void pwr_process_close(void)
{
    if (0 == users || 0 != --users) {
        return;
    }
    if (opened) {
        if (!begun && pwr_process_wants_report()) {
            pwr_say(pwr_level_alike(1), "no report of the job: it needs component "
                                        "coll/poweraware, which is left out");
        }
        pwr_known_close();
        close_all();
    }
    pwr_decided_forget();
    pwr_process.account = NULL;
    pwr_job_close();
    pwr_first_here_forget();
    pwr_doorbell_take_down();
    pwr_settings_drop();
    json_decref(pwr_process.of_components);
    pwr_process = (pwr_process_t){0};
}
