/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: the frequency of cores, as a ceiling that is lowered.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst; Intel SDM volume 4, MSR_PLATFORM_INFO,
 * MSR_TURBO_RATIO_LIMIT; volume 3, "Hardware-Controlled Performance States".
 */
#include "config.h"

#include "lever/lever_backend.h"
#include "topo/topo_private.h"

#include <stdio.h>
#include <string.h>

enum { MHZ_100 = 100000, LIST_BYTES = 4096, PATH_BYTES = 128 };

static void file_path(unsigned cpu, const char *file, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
}

/* ---- whose clock ---- */

/* CPUs that share one frequency must all be ours: it moves too often to be agreed on. */
static pwr_status_t domain_of(const pwr_lever_request_t *request, unsigned cpu, pwr_cpuset_t *cpus)
{
    char path[PATH_BYTES];
    char list[LIST_BYTES];
    file_path(cpu, "related_cpus", path);
    pwr_status_t status = pwr_env_read_text(request->held.env, path, list, sizeof list);
    if (status == PWR_OK) {
        status = pwr_cpulist_parse(list, strlen(list), cpus);
    }
    if (status == PWR_OK && pwr_cpuset_count(cpus) == 0) {
        status = PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(request->held.why, path, status, "needs read permission");
        return status;
    }
    int other = pwr_cpuset_first_missing(&pwr_topo_sets(request->topo)->mine, cpus);
    if (other >= 0) {
        pwr_why_add(request->held.why,
                    "%s: one frequency for CPU %u and CPU %d, which is not in this process's "
                    "binding (bind each process to whole frequency domains)",
                    path, cpu, other);
        return PWR_ERR_SHARED;
    }
    return PWR_OK;
}

/* ---- how low: files ---- */

static pwr_status_t read_khz(const pwr_lever_request_t *request, unsigned cpu, const char *file,
                             uint32_t *khz)
{
    char path[PATH_BYTES];
    file_path(cpu, file, path);
    return pwr_khz_read(request->held.env, path, request->held.why, khz);
}

static pwr_status_t lowest_of_files(const pwr_lever_backend_t *backend,
                                    const pwr_lever_request_t *request, unsigned cpu,
                                    uint32_t *lowest)
{
    uint32_t least, most;
    (void)backend;
    pwr_status_t status = read_khz(request, cpu, "cpuinfo_min_freq", &least);
    if (status == PWR_OK) {
        status = read_khz(request, cpu, "cpuinfo_max_freq", &most);
    }
    if (status == PWR_OK && least > most) {
        pwr_why_add(request->held.why, "CPU %u: cpuinfo_min_freq is above cpuinfo_max_freq", cpu);
        status = PWR_ERR_PARSE;
    }
    if (status == PWR_OK) {
        *lowest = least;
    }
    return status;
}

/* The file is there with every governor, but says "<unsupported>" with all but this one. */
static pwr_status_t lowest_of_setspeed(const pwr_lever_backend_t *backend,
                                       const pwr_lever_request_t *request, unsigned cpu,
                                       uint32_t *lowest)
{
    char path[PATH_BYTES];
    char governor[32];
    file_path(cpu, "scaling_governor", path);
    if (pwr_env_read_text(request->held.env, path, governor, sizeof governor) != PWR_OK ||
        strcmp(governor, "userspace") != 0) {
        return PWR_ERR_UNSUPPORTED; /* not worth a reason: the usual case */
    }
    return lowest_of_files(backend, request, cpu, lowest);
}

/* ---- how low: registers of Intel CPUs ---- */

/* A register that is not there, or reads as 0 where that means nothing, ends the style. */
static pwr_status_t read_register(const pwr_msr_t *msr, const pwr_lever_request_t *request,
                                  uint32_t number, uint64_t *value)
{
    pwr_status_t status = msr->access->read(msr, number, value);
    if (status == PWR_OK && *value == 0) {
        status = PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(request->held.why, "%s: CPU %u, MSR 0x%x: %s", msr->access->name, msr->cpu,
                    number, pwr_status_text(status));
    }
    return status;
}

/* The lowest ratio is eight bits of one register from shift on, the highest 7:0 of another. */
static pwr_status_t ask(const pwr_lever_request_t *request, const pwr_msr_t *msr,
                        uint32_t lowest_in, unsigned shift, uint32_t highest_in, uint32_t *khz)
{
    uint64_t lowest, highest;
    pwr_status_t status = read_register(msr, request, lowest_in, &lowest);
    if (status == PWR_OK) {
        status = read_register(msr, request, highest_in, &highest);
    }
    if (status != PWR_OK) {
        return status;
    }
    lowest = lowest >> shift & 0xff;
    highest &= 0xff;
    if (lowest == 0 || lowest > highest) {
        pwr_why_add(request->held.why, "%s: CPU %u: lowest ratio %u, highest %u", msr->access->name,
                    msr->cpu, (unsigned)lowest, (unsigned)highest);
        return PWR_ERR_UNSUPPORTED;
    }
    *khz = (uint32_t)lowest * MHZ_100;
    return PWR_OK;
}

/* Lowest performance level in 31:24, highest in 7:0; only while hardware P-states are enabled. */
static pwr_status_t ask_hwp(const pwr_lever_request_t *request, const pwr_msr_t *msr, uint32_t *khz)
{
    uint64_t enabled;
    pwr_status_t status = read_register(msr, request, PWR_MSR_PM_ENABLE, &enabled);
    return status != PWR_OK
               ? status
               : ask(request, msr, PWR_MSR_HWP_CAPABILITIES, 24, PWR_MSR_HWP_CAPABILITIES, khz);
}

/* Lowest ratio in 47:40 of PLATFORM_INFO, highest turbo ratio in 7:0 of TURBO_RATIO_LIMIT.  With
   hardware P-states enabled the CPU ignores PERF_CTL; where nobody may ask, it has none. */
static pwr_status_t ask_perf_ctl(const pwr_lever_request_t *request, const pwr_msr_t *msr,
                                 uint32_t *khz)
{
    uint64_t hwp;
    if (msr->access->read(msr, PWR_MSR_PM_ENABLE, &hwp) == PWR_OK && (hwp & 1)) {
        pwr_why_add(request->held.why, "%s: CPU %u: PERF_CTL is ignored under hardware P-states",
                    msr->access->name, msr->cpu);
        return PWR_ERR_UNSUPPORTED;
    }
    return ask(request, msr, PWR_MSR_PLATFORM_INFO, 40, PWR_MSR_TURBO_RATIO_LIMIT, khz);
}

static pwr_status_t lowest_of_registers(const pwr_lever_backend_t *backend,
                                        const pwr_lever_request_t *request, unsigned cpu,
                                        uint32_t *khz)
{
    const pwr_msr_access_t *access = backend->access->msr;
    bool hwp = backend->main == PWR_CONTROL_HWP_REQUEST;
    pwr_msr_t msr;
    pwr_status_t status =
        access->open(access, request->held.env, cpu, false, request->held.why, &msr);
    if (status == PWR_OK) {
        status = hwp ? ask_hwp(request, &msr, khz) : ask_perf_ctl(request, &msr, khz);
        access->close(&msr);
    }
    return status;
}

/* ---- the lever ---- */

/* With the governor "userspace" the speed asked for is all that counts; behind it the kernel's own
   limits, then those registers that the kernel would write. */
static const pwr_lever_backend_t backends[] = {
    {"cpufreq-setspeed", &pwr_access_cpufreq, PWR_CONTROL_SPEED, PWR_CONTROL_KINDS, 1,
     lowest_of_setspeed, domain_of},
    {"cpufreq", &pwr_access_cpufreq, PWR_CONTROL_CEILING, PWR_CONTROL_FLOOR, 1, lowest_of_files,
     domain_of},
    {"likwid", &pwr_access_likwid, PWR_CONTROL_CEILING, PWR_CONTROL_FLOOR, 1, lowest_of_files,
     domain_of},
    PWR_LEVER_REGISTER("hwp-", PWR_CONTROL_HWP_REQUEST, MHZ_100, lowest_of_registers, NULL),
    PWR_LEVER_REGISTER("perf_ctl-", PWR_CONTROL_PERF_CTL, MHZ_100, lowest_of_registers, NULL),
};

const pwr_lever_type_t pwr_lever_pstate = {
    .name = "pstate",
    .title = "P-states",
    .scope = PWR_SCOPE_CPU,
    .verb = PWR_VERB_LOW,
    .unit = "kHz",
    .step = 1,
    .shown_unit = "GHz",
    .shown_per_unit = 1e-6,
    .power_left = 0.5, /* 7.1 of 14.9 W of a core at 1.6 of 2.4 GHz (ICPP 2010, figures of power) */
    .backends = backends,
    .num_backends = sizeof backends / sizeof backends[0],
};
