/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Opening and closing what belongs to the process (pwr_ompi/process.h).
 */
#include "process_private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/first_here.h"
#include "pwr_ompi/idle.h"

#include "opal/util/proc.h"

static unsigned users; /* components that have published and not closed */
static bool configured;
static bool opened;
static bool begun; /* the report of the job */

/* ---- the configuration ---- */

static void for_each_string(pwr_process_config_t *config, const char *(*change)(const char *))
{
    const char **const strings[] = {
        &config->calibration, &config->helper_dir, &config->run_dir,   &config->root,
        &config->report_dir,  &config->summary,    &config->ranks_dir,
    };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; ++i) {
        *strings[i] = change(*strings[i]);
    }
}

static const char *copy(const char *text)
{
    return NULL == text ? NULL : strdup(text);
}

static const char *drop(const char *text)
{
    free((char *)text);
    return NULL;
}

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

void pwr_process_publish(const pwr_process_config_t *config)
{
    if (0 == users++) {
        pwr_process.env = (pwr_env_t){.root = "", .now_ns = pwr_env_real.now_ns, .log = log_line};
    }
    if (NULL == config || configured) {
        return;
    }
    configured = true;
    pwr_process.config = *config;
    for_each_string(&pwr_process.config, copy);
    pwr_process.env.root = NULL == config->root ? "" : pwr_process.config.root;
    pwr_process.env.helper_dir = pwr_process.config.helper_dir;
    pwr_process.start_ns = pwr_env_now_ns(&pwr_process.env);
    pwr_job_publish();
    if (pwr_process_idles(config)) {
        pwr_doorbell_publish(config->component, PWR_IDLE_ALL == config->idle);
    }
}

void pwr_process_add_setup(uint64_t since_ns)
{
    uint64_t ns = pwr_env_now_ns(&pwr_process.env) - since_ns;
    atomic_fetch_add_explicit(&pwr_process.setup_ns, ns, memory_order_relaxed);
}

/* ---- what waiting and levers cost here ---- */

/* NULL: nobody wants to know, or out of memory. */
static pwr_policy_t *load_policy(const pwr_process_config_t *config)
{
    pwr_policy_t *policy;
    bool waits = config->saves || PWR_IDLE_ALL == config->idle;
    if (!waits || (config->spin_us >= 0 && !config->weighs_levers)) {
        return NULL;
    }
    if (PWR_OK != pwr_policy_load(&pwr_process.env, config->calibration, &policy)) {
        return NULL;
    }
    if ('\0' != policy->why[0]) {
        pwr_say(pwr_level_alike(1), "calibration not used: %s", policy->why);
    }
    return policy;
}

/* ---- levers ---- */

/* Levers need a process whose only computing thread is the one that waits in MPI. */
static const char *why_no_power(const pwr_process_config_t *config, bool mpi_threads)
{
    return !config->saves ? "scheme is off"
           : mpi_threads  ? "MPI_THREAD_MULTIPLE: another thread may be computing"
                          : NULL;
}

static void open_power(const pwr_process_config_t *config, const pwr_policy_t *policy,
                       bool mpi_threads)
{
    pwr_process.no_power_why = why_no_power(config, mpi_threads);
    if (NULL != pwr_process.no_power_why) {
        return;
    }
    pwr_power_config_t levers = {
        .run_directory = config->run_dir,
        .policy = policy,
    };
    memcpy(levers.use, config->uses, sizeof levers.use);
    pwr_status_t status = pwr_power_open(&pwr_process.env, &levers, &pwr_process.power);
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
        pwr_say(pwr_level_alike(1), "no levers, waiting ranks still give the CPU back: %s", why);
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

/* One rank of each node looks, where somebody wants to know. */
static void open_meter(const pwr_process_config_t *config)
{
    char why[512] = "";
    if (NULL == config->ranks_dir || NULL == pwr_process.power || !config->audits ||
        0 != opal_process_info.my_local_rank) {
        return;
    }
    pwr_process.meter = open_measured(why, sizeof why);
    if (NULL == pwr_process.meter) {
        pwr_say(2, "no energy in the audit: %s", why);
    }
}

/* ---- open and close ---- */

void pwr_process_open(const pwr_process_config_t *config, bool mpi_threads)
{
    if (NULL == config || opened) {
        return;
    }
    opened = true;
    pwr_process.mpi_threads = mpi_threads;
    const pwr_process_config_t *mine = &pwr_process.config;
    pwr_policy_t *policy = load_policy(mine);
    open_power(mine, policy, mpi_threads);
    pwr_waits_prepare(mine, policy, mpi_threads);
    free(policy);
    pwr_job_open();
    open_meter(mine);
}

void pwr_process_begin_job(void)
{
    if (opened && !begun) {
        begun = true;
        pwr_job_begin();
    }
}

static void close_all(void)
{
    pwr_idle_stop();
    pwr_meter_close(pwr_process.meter);
    pwr_power_close(pwr_process.power);
    opened = begun = false;
}

void pwr_process_close(void)
{
    if (0 == users || 0 != --users) {
        return;
    }
    if (opened) {
        close_all();
    }
    pwr_process.account = NULL;
    pwr_job_close();
    pwr_first_here_forget();
    pwr_doorbell_take_down();
    for_each_string(&pwr_process.config, drop);
    configured = false;
    pwr_process = (pwr_process_t){.config = {.summary = "off"}};
}
