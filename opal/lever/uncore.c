/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequency: the clock of the mesh, the last-level cache and the memory controllers of a
 * package, as a ceiling that is lowered.
 *
 * It slows down whoever computes on the package, so the processes that have its CPUs agree on it
 * (control/shared.h): it is low while all of them wait.
 *
 * Source: Linux, Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst; Intel SDM volume
 * 4, MSR_UNCORE_RATIO_LIMIT.
 */
#include "config.h"

#include "lever/lever_backend.h"
#include "topo/cpulist.h"

#include <stdio.h>
#include <string.h>

enum { MHZ_100 = 100000, PATH_BYTES = 128, LIST_BYTES = 4096, NO_CPU = -1 };

/* ---- whose package ---- */

/* cpu's die, or where dies are not told, its package. */
static pwr_status_t die_of(const pwr_lever_request_t *request, unsigned cpu, pwr_cpuset_t *die)
{
    char path[PATH_BYTES];
    char list[LIST_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/die_cpus_list", cpu);
    if (pwr_env_read_text(request->held.env, path, list, sizeof list) == PWR_OK &&
        pwr_cpulist_parse(list, strlen(list), die) == PWR_OK && pwr_cpuset_has(die, cpu)) {
        return PWR_OK;
    }
    *die = (pwr_cpuset_t){{0}};
    unsigned package = (unsigned)pwr_topo_package_of(request->topo, cpu);
    int other = pwr_topo_next_in_package(request->topo, package, NO_CPU);
    for (; other != NO_CPU; other = pwr_topo_next_in_package(request->topo, package, other)) {
        pwr_cpuset_add(die, (unsigned)other);
    }
    return PWR_OK;
}

/* ---- how low ---- */

/* What the driver found at boot: the lowest that the firmware allows. */
static pwr_status_t lowest_of_files(const pwr_lever_backend_t *backend,
                                    const pwr_lever_request_t *request, unsigned cpu, uint32_t *khz)
{
    char path[PATH_BYTES];
    (void)backend;
    pwr_status_t status = pwr_uncore_path(request->held.env, cpu, "initial_min_freq_khz",
                                          request->held.why, path, sizeof path);
    if (status == PWR_OK) {
        status = pwr_khz_read(request->held.env, path, request->held.why, khz);
    }
    return status;
}

/* Bits 14:8, which the firmware has set.  A register of zeros limits nothing that we know. */
static pwr_status_t lowest_of_register(const pwr_lever_backend_t *backend,
                                       const pwr_lever_request_t *request, unsigned cpu,
                                       uint32_t *khz)
{
    const pwr_msr_access_t *access = backend->access->msr;
    uint64_t value;
    pwr_msr_t msr;
    pwr_status_t status =
        access->open(access, request->held.env, cpu, false, request->held.why, &msr);
    if (status != PWR_OK) {
        return status;
    }
    status = access->read(&msr, PWR_MSR_UNCORE_RATIO_LIMIT, &value);
    access->close(&msr);
    uint32_t lowest = status == PWR_OK ? (uint32_t)(value >> 8 & 0x7f) : 0;
    if (status == PWR_OK && (lowest == 0 || lowest > (value & 0x7f))) {
        status = PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(request->held.why, "%s: CPU %u, MSR 0x%x: %s", access->name, cpu,
                    PWR_MSR_UNCORE_RATIO_LIMIT, pwr_status_text(status));
        return status;
    }
    *khz = lowest * MHZ_100;
    return PWR_OK;
}

static const pwr_lever_backend_t backends[] = {
    {"intel_uncore_frequency", &pwr_access_uncore, PWR_CONTROL_CEILING, PWR_CONTROL_FLOOR, 1,
     lowest_of_files, die_of},
    PWR_LEVER_REGISTER("", PWR_CONTROL_UNCORE_RATIO, MHZ_100, lowest_of_register, die_of),
};

const pwr_lever_type_t pwr_lever_uncore = {
    .name = "uncore",
    .title = "uncore frequencies",
    .scope = PWR_SCOPE_PACKAGE,
    .verb = PWR_VERB_LOW,
    .unit = "kHz",
    .step = 1,
    .shown_unit = "GHz",
    .shown_per_unit = 1e-6,
    .power_left = 0.8, /* a fifth of a package's power, as of a server under load: an assumption */
    .needs_length = true, /* a phase that ends too early leaves the package slow for up to 10 ms */
    .backends = backends,
    .num_backends = sizeof backends / sizeof backends[0],
};
