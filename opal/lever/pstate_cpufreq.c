/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel's cpufreq files say about a CPU's lowest frequency.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst.
 */
#include "config.h"

#include "lever/lever_backend.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 128 };

static void file_path(unsigned cpu, const char *file, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
}

static pwr_status_t read_khz(const pwr_lever_request_t *request, unsigned cpu, const char *file,
                             uint32_t *khz)
{
    char path[PATH_BYTES];
    uint64_t value;
    file_path(cpu, file, path);
    pwr_status_t status = pwr_env_read_u64(request->held.env, path, &value);
    if (status == PWR_OK && (value == 0 || value > UINT32_MAX)) {
        status = PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(request->held.why, path, status, "needs read permission");
        return status;
    }
    *khz = (uint32_t)value;
    return PWR_OK;
}

pwr_status_t pwr_pstate_cpufreq_lowest(const pwr_lever_backend_t *backend,
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
pwr_status_t pwr_pstate_setspeed_lowest(const pwr_lever_backend_t *backend,
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
    return pwr_pstate_cpufreq_lowest(backend, request, cpu, lowest);
}
