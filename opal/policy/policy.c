/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Finds the table that fits this machine and answers from it.
 */
#include "config.h"

#include "pwr/policy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "why.h"

enum { FILE_BYTES_MAX = 256 * 1024, REASON_BYTES = 256 };

static const uint64_t spin_max_ns = 1000000000;

/* ---- this machine ---- */

pwr_status_t pwr_policy_identify(const pwr_env_t *env, pwr_policy_table_t *table)
{
    pwr_cpu_model_t cpu;
    char kernel[sizeof table->kernel];
    char host[sizeof table->host] = "";
    pwr_status_t status = pwr_cpu_model_read(env, &cpu);
    if (status == PWR_OK) {
        status = pwr_env_read_text(env, "/proc/sys/kernel/osrelease", kernel, sizeof kernel);
    }
    if (status != PWR_OK) {
        return status;
    }
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') {
        snprintf(host, sizeof host, "unknown");
    }
    table->cpu = cpu;
    memcpy(table->kernel, kernel, sizeof kernel);
    memcpy(table->host, host, sizeof host);
    return PWR_OK;
}

pwr_status_t pwr_policy_user_path(char *path, unsigned size)
{
    return pwr_env_user_path("XDG_CONFIG_HOME", ".config", "poweraware/calibration.json", path,
                             size);
}

/* ---- choosing ---- */

typedef struct search {
    const pwr_env_t *env;
    const pwr_policy_table_t *machine; /* cpu and kernel */
    pwr_why_t why;
    pwr_policy_table_t table; /* what was found */
} search_t;

static bool is_of_this_machine(const search_t *search, const char *path)
{
    const pwr_policy_table_t *table = &search->table;
    const pwr_policy_table_t *machine = search->machine;
    if (strcmp(table->cpu.vendor, machine->cpu.vendor) != 0 ||
        table->cpu.family != machine->cpu.family || table->cpu.model != machine->cpu.model ||
        strcmp(table->cpu.name, machine->cpu.name) != 0) {
        pwr_why_add(&search->why,
                    "%s: measured on %s family %u model %u (%s), this is %s family %u model %u "
                    "(%s): run poweraware-calibrate here",
                    path, table->cpu.vendor, table->cpu.family, table->cpu.model, table->cpu.name,
                    machine->cpu.vendor, machine->cpu.family, machine->cpu.model,
                    machine->cpu.name);
        return false;
    }
    if (strcmp(table->kernel, machine->kernel) != 0) {
        pwr_why_add(&search->why,
                    "%s: measured under Linux %s, this is %s: run poweraware-calibrate again", path,
                    table->kernel, machine->kernel);
        return false;
    }
    return true;
}

/* True when path holds a table for this machine.  A file that is absent is a reason only if it was
   asked for. */
static bool try_file(search_t *search, const char *path, bool asked_for)
{
    char *text = NULL;
    size_t size = 0;
    char reason[REASON_BYTES];
    pwr_status_t status = pwr_env_read_file(search->env, path, FILE_BYTES_MAX, &text, &size);
    if (status == PWR_ERR_UNSUPPORTED && !asked_for) {
        return false;
    }
    if (status != PWR_OK) {
        pwr_why_add(&search->why, "%s: %s", path, pwr_env_why_unread(status));
        return false;
    }
    status = pwr_policy_parse(text, size, reason, sizeof reason, &search->table);
    free(text);
    if (status != PWR_OK) {
        pwr_why_add(&search->why, "%s: %s", path, reason);
        return false;
    }
    return is_of_this_machine(search, path);
}

/* Whether there is a table; its name is in source[PATH_MAX] then. */
static bool find_table(search_t *search, const char *path, char *source)
{
    if (path) {
        snprintf(source, PATH_MAX, "%s", path);
        return try_file(search, path, true);
    }
    if (pwr_policy_user_path(source, PATH_MAX) == PWR_OK && try_file(search, source, false)) {
        return true;
    }
    snprintf(source, PATH_MAX, "%s", PWR_SYSCONFDIR "/poweraware/calibration.json");
    return try_file(search, source, false);
}

/* ---- the policy ---- */

/* What the table says, and what it leaves open as it is built in. */
static void take_row(pwr_policy_row_t *row, const pwr_policy_row_t *measured)
{
    pwr_policy_row_t builtin = *row;
    if (measured->origin == PWR_POLICY_ABSENT) {
        return;
    }
    *row = *measured;
    if (row->entry_settle_ns == PWR_POLICY_NS_UNKNOWN) {
        row->entry_settle_ns = builtin.entry_settle_ns;
    }
    if (row->exit_settle_ns == PWR_POLICY_NS_UNKNOWN) {
        row->exit_settle_ns = builtin.exit_settle_ns;
    }
}

static void fill(const pwr_env_t *env, const char *path, pwr_policy_t *policy)
{
    pwr_policy_table_t machine = {0};
    search_t search = {
        .env = env, .machine = &machine, .why = pwr_why_init(policy->why, sizeof policy->why)};
    pwr_status_t status = pwr_policy_identify(env, &machine);
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        pwr_policy_builtin(status == PWR_OK ? &machine.cpu : NULL, (pwr_policy_row_id_t)id,
                           &policy->rows[id]);
    }
    if (status != PWR_OK && path) {
        pwr_why_add(&search.why, "%s: cannot tell whether it is for this machine (%s)", path,
                    pwr_status_text(status));
    }
    if (status != PWR_OK || !find_table(&search, path, policy->source)) {
        snprintf(policy->source, sizeof policy->source, "built-in");
        return;
    }
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        take_row(&policy->rows[id], &search.table.rows[id]);
    }
}

pwr_status_t pwr_policy_load(const pwr_env_t *env, const char *path, pwr_policy_t **policy)
{
    pwr_policy_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    fill(env, path, made);
    if (made->why[0] != '\0') {
        pwr_env_log(env, PWR_LOG_INFO, "calibration not used: %s", made->why);
    }
    *policy = made;
    return PWR_OK;
}

/* Entering and leaving; each at most PWR_POLICY_NS_MAX. */
static uint64_t price_ns(const pwr_policy_t *policy, pwr_policy_row_id_t rung)
{
    return policy->rows[rung].entry_ns + policy->rows[rung].exit_ns;
}

uint32_t pwr_policy_spin_ns(const pwr_policy_t *policy)
{
    const pwr_policy_row_t *futex = &policy->rows[PWR_POLICY_FUTEX];
    uint64_t price = price_ns(policy, PWR_POLICY_FUTEX);
    uint64_t on_time = PWR_POLICY_ON_TIME_FACTOR * futex->exit_ns;
    uint64_t longer = price > on_time ? price : on_time;
    return (uint32_t)(longer < spin_max_ns ? longer : spin_max_ns);
}

/* How many times longer resting may last than pausing for the same energy beyond what sleeping
   takes: 0 when it saves nothing, 1 where nobody measured. */
static double longer_than_pausing(const pwr_policy_t *policy)
{
    static const double longest = 4.0; /* differences of watts are noisy */
    double pause_w = policy->rows[PWR_POLICY_PAUSE].power_w;
    double monitor_w = policy->rows[PWR_POLICY_MONITOR].power_w;
    double futex_w = policy->rows[PWR_POLICY_FUTEX].power_w;
    if (pause_w < 0.0 || monitor_w < 0.0 || futex_w < 0.0) {
        return 1.0;
    }
    if (monitor_w >= pause_w) {
        return 0.0;
    }
    double rent_w = monitor_w - futex_w;
    return rent_w * longest > pause_w - futex_w ? (pause_w - futex_w) / rent_w : longest;
}

uint32_t pwr_policy_monitor_ns(const pwr_policy_t *policy)
{
    if (price_ns(policy, PWR_POLICY_MONITOR) >= price_ns(policy, PWR_POLICY_FUTEX)) {
        return 0;
    }
    double length = longer_than_pausing(policy) * (double)pwr_policy_spin_ns(policy);
    return (uint32_t)(length < (double)spin_max_ns ? length : (double)spin_max_ns);
}

/* Full watts per watt that is saved; negative where none is. */
static double price_of_power(const pwr_policy_t *policy, pwr_lever_id_t lever)
{
    double full_w = policy->rows[PWR_POLICY_PAUSE].power_w;
    double low_w = policy->rows[PWR_POLICY_LEVER(lever)].power_w;
    if (full_w < 0.0 || low_w < 0.0) {
        return 1.0 / (1.0 - pwr_lever_type(lever)->power_left);
    }
    return full_w > low_w ? full_w / (full_w - low_w) : -1.0;
}

pwr_break_even_t pwr_policy_break_even(const pwr_policy_t *policy, pwr_lever_id_t lever)
{
    const pwr_policy_row_t *row = &policy->rows[PWR_POLICY_LEVER(lever)];
    double price = price_of_power(policy, lever);
    return pwr_break_even(price, (double)row->entry_settle_ns + (double)row->exit_settle_ns * price,
                          (double)row->entry_ns, (double)row->exit_ns);
}
