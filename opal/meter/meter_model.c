/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The last resort: energy of packages computed from what every user may read.  Busy time is in
 * /proc/stat, frequency in cpufreq, TDP in powercap (its limits are open where its counters are
 * not) or else in a table by processor; the formula is in model_power.h.
 *
 * CPUs that were offline at open are not seen, and T-states neither: a throttled CPU is a busy one.
 */
#include "config.h"

#include "meter/meter_backend.h"
#include "meter/model_power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    UPDATE_US = 100000, /* ten clock ticks: less would mostly show their granularity */
    MOST_CPUS = 8192,
    MAX_ZONES = 64,
    PATH_BYTES = 128,
    NAME_BYTES = 32,
};

static const double most_tdp_w = 2000;
static const char stat_file[] = "/proc/stat";

typedef struct cpu {
    int package; /* -1: not in the topology */
    uint64_t reference_khz;
    uint64_t busy_ticks;
    unsigned seen; /* the update in which it was last in /proc/stat */
} cpu_t;

typedef struct package {
    double tdp_w;
    double energy_uj;
    pwr_model_activity_t activity;
} package_t;

typedef struct model {
    const pwr_env_t *env;
    cpu_t *cpus;
    unsigned num_cpus;
    package_t *packages;
    unsigned num_packages;
    unsigned cores; /* per package */
    double ticks_per_s;
    uint64_t last_ns;
    unsigned updates;    /* from 1 on: a CPU's 0 is "never seen" */
    pwr_status_t status; /* of the last update */
} model_t;

/* ---- following the CPUs ---- */

static uint64_t read_khz(const pwr_env_t *env, unsigned cpu, const char *file)
{
    char path[PATH_BYTES];
    uint64_t khz;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
    return pwr_env_read_u64(env, path, &khz) == PWR_OK ? khz : 0;
}

/* Adds what a CPU did since the last update to its package.  A CPU that was offline then starts
   anew, and so does one whose time went back (both happen with hotplug). */
static void follow_cpu(model_t *model, unsigned number, uint64_t busy_ticks)
{
    cpu_t *cpu = &model->cpus[number];
    if (cpu->seen + 1 == model->updates && busy_ticks > cpu->busy_ticks && cpu->package >= 0) {
        pwr_model_activity_t *activity = &model->packages[cpu->package].activity;
        double busy_s = (double)(busy_ticks - cpu->busy_ticks) / model->ticks_per_s;
        uint64_t khz = read_khz(model->env, number, "scaling_cur_freq");
        activity->busy_s += busy_s;
        activity->weighted_s += busy_s * pwr_model_frequency_weight(khz, cpu->reference_khz);
    }
    cpu->busy_ticks = busy_ticks;
    cpu->seen = model->updates;
}

/* The lines of CPUs come first. */
static pwr_status_t follow_cpus(model_t *model)
{
    FILE *stat;
    char *line = NULL;
    size_t size = 0;
    unsigned found = 0;
    pwr_status_t status = pwr_env_open_stream(model->env, stat_file, &stat);
    if (status != PWR_OK) {
        return status;
    }
    while (getline(&line, &size, stat) > 0 && strncmp(line, "cpu", 3) == 0) {
        unsigned number;
        uint64_t busy_ticks;
        if (pwr_model_parse_stat_line(line, &number, &busy_ticks) && number < model->num_cpus) {
            model->updates += found == 0; /* without CPUs it is none */
            follow_cpu(model, number, busy_ticks);
            found++;
        }
    }
    if (found == 0) {
        status = feof(stat) ? PWR_ERR_IO : PWR_ERR_PARSE; /* cut short, or without CPUs */
    }
    status = ferror(stat) ? PWR_ERR_IO : status;
    free(line);
    fclose(stat);
    return status;
}

static void update(model_t *model)
{
    uint64_t now_ns = pwr_env_now_ns(model->env);
    if (now_ns < model->last_ns + UPDATE_US * UINT64_C(1000)) {
        return;
    }
    for (unsigned i = 0; i < model->num_packages; i++) {
        double passed_s = (double)(now_ns - model->last_ns) / 1e9;
        model->packages[i].activity = (pwr_model_activity_t){.passed_s = passed_s};
    }
    model->status = follow_cpus(model);
    if (model->status != PWR_OK) {
        return; /* last_ns stays: the next update is about all of the time */
    }
    model->last_ns = now_ns;
    for (unsigned i = 0; i < model->num_packages; i++) {
        package_t *package = &model->packages[i];
        package->energy_uj += pwr_model_energy_uj(package->tdp_w, model->cores, &package->activity);
    }
}

static pwr_status_t read_package(pwr_meter_counter_t *counter, uint64_t *count)
{
    model_t *model = counter->state;
    update(model);
    if (model->status == PWR_OK) {
        *count = (uint64_t)model->packages[counter->domain.package].energy_uj;
    }
    return model->status;
}

/* ---- open and close ---- */

static unsigned count_cpus(const pwr_topo_t *topo)
{
    unsigned count = 0;
    for (unsigned cpu = 0; cpu < MOST_CPUS; cpu++) {
        count = pwr_topo_package_of(topo, cpu) >= 0 ? cpu + 1 : count;
    }
    return count;
}

/* NULL: no memory. */
static model_t *make_model(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    model_t *model = calloc(1, sizeof *model);
    counters->state = model;
    if (!model) {
        return NULL;
    }
    model->env = request->env;
    model->updates = 1;
    model->num_cpus = count_cpus(request->topo);
    model->num_packages = pwr_topo_num_packages(request->topo);
    model->cores = pwr_topo_num_cores(request->topo) / model->num_packages;
    model->cores += model->cores == 0;
    model->ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    model->last_ns = pwr_env_now_ns(request->env);
    model->cpus = calloc(model->num_cpus + 1u, sizeof *model->cpus);
    model->packages = calloc(model->num_packages, sizeof *model->packages);
    return model->cpus && model->packages ? model : NULL;
}

/* TDP as powercap has it, all dies of a package together. */
static void read_tdp(model_t *model)
{
    for (unsigned number = 0; number < MAX_ZONES; number++) {
        char path[PATH_BYTES];
        char name[NAME_BYTES];
        unsigned package;
        uint64_t tdp_uw;
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%u/name", number);
        if (pwr_env_read_text(model->env, path, name, sizeof name) != PWR_OK ||
            sscanf(name, "package-%9u", &package) != 1 || package >= model->num_packages) {
            continue;
        }
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%u/constraint_0_max_power_uw",
                 number);
        if (pwr_env_read_u64(model->env, path, &tdp_uw) == PWR_OK) {
            model->packages[package].tdp_w += (double)tdp_uw / 1e6;
        }
    }
}

static void learn_machine(const pwr_meter_request_t *request, model_t *model)
{
    pwr_cpu_model_t cpu_model;
    bool known = pwr_cpu_model_read(request->env, &cpu_model) == PWR_OK;
    const pwr_model_row_t *row = pwr_model_row_of(known ? &cpu_model : NULL);
    read_tdp(model);
    for (unsigned i = 0; i < model->num_packages; i++) {
        package_t *package = &model->packages[i];
        if (package->tdp_w < 1 || package->tdp_w > most_tdp_w) {
            package->tdp_w = row->core_tdp_w * model->cores;
        }
        pwr_env_log(request->env, PWR_LOG_INFO, "modelled package-%u: %.0f W at most, %u cores", i,
                    package->tdp_w, model->cores);
    }
    for (unsigned i = 0; i < model->num_cpus; i++) {
        cpu_t *cpu = &model->cpus[i];
        cpu->package = pwr_topo_package_of(request->topo, i);
        if (cpu->package >= 0) {
            uint64_t base_khz = read_khz(request->env, i, "base_frequency");
            cpu->reference_khz =
                base_khz > 0 ? base_khz : read_khz(request->env, i, "cpuinfo_max_freq");
        }
    }
}

static pwr_status_t add_package(model_t *model, unsigned package, pwr_meter_counters_t *counters)
{
    pwr_meter_counter_t counter = {
        .domain = {.kind = PWR_DOMAIN_PACKAGE,
                   .provenance = PWR_METER_MODELLED,
                   .package = package,
                   .update_us = UPDATE_US},
        .fd = -1,
        .state = model,
        .unit_uj = 1,
        .most_w = model->packages[package].tdp_w,
        .drift_share = pwr_model_error_share,
    };
    return pwr_meter_counters_add(counters, &counter);
}

static pwr_status_t model_open(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    model_t *model = make_model(request, counters);
    if (!model) {
        return PWR_ERR_NOMEM;
    }
    pwr_status_t status = follow_cpus(model);
    if (status != PWR_OK) {
        pwr_why_add(request->why, "model: %s: %s", stat_file, pwr_status_text(status));
        return status;
    }
    learn_machine(request, model);
    for (unsigned i = 0; i < model->num_packages && status == PWR_OK; i++) {
        status = add_package(model, i, counters);
    }
    return status;
}

static void model_close(pwr_meter_counters_t *counters)
{
    model_t *model = counters->state;
    if (model) {
        free(model->cpus);
        free(model->packages);
        free(model);
    }
}

const pwr_meter_backend_t pwr_meter_model = {
    .name = "model", .open = model_open, .read = read_package, .close = model_close};
