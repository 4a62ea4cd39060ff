/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to the kernel's cpufreq files, /sys/devices/system/cpu/cpuN/cpufreq/: decimal kHz.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst.
 */
#include "config.h"

#include "control/control_file.h"

#include <fcntl.h>
#include <stdio.h>

static const char remedy[] = "needs root, or write permission for you by a udev rule or chmod";

enum { PATH_BYTES = 128 };

static const char *const file_of[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = "scaling_max_freq",
    [PWR_CONTROL_FLOOR] = "scaling_min_freq",
    [PWR_CONTROL_SPEED] = "scaling_setspeed",
};

pwr_status_t pwr_control_cpufreq_open(const pwr_env_t *env, int flags, const char *grants,
                                      const pwr_why_t *why, pwr_control_t *control)
{
    char path[PATH_BYTES];
    if (!file_of[control->kind]) {
        return PWR_ERR_UNSUPPORTED;
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", control->cpu,
             file_of[control->kind]);
    return pwr_control_file_open(env, path, flags, grants, why, control);
}

static pwr_status_t cpufreq_open(const pwr_access_t *access, const pwr_env_t *env,
                                 pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                                 pwr_control_t *control)
{
    *control = (pwr_control_t){.access = access, .kind = kind, .cpu = cpu};
    return pwr_control_cpufreq_open(env, O_RDWR, remedy, why, control);
}

const char *pwr_control_cpufreq_place(const pwr_control_t *control)
{
    return file_of[control->kind];
}

static const char *cpufreq_remedy(const pwr_control_t *control)
{
    (void)control;
    return remedy;
}

const pwr_access_t pwr_access_cpufreq = {.name = "cpufreq",
                                         .open = cpufreq_open,
                                         .read = pwr_control_file_read,
                                         .write = pwr_control_file_write,
                                         .close = pwr_control_file_close,
                                         .place = pwr_control_cpufreq_place,
                                         .remedy = cpufreq_remedy};
