/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to the kernel's uncore limits, /sys/devices/system/cpu/intel_uncore_frequency/: decimal
 * kHz.  A control is named by a CPU of its package and die.
 *
 * Kernels that know parts of a die have folders uncoreNN as well.  What is written to the folder of
 * the die goes to all of them.
 *
 * Source: Linux, Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst.
 */
#include "config.h"

#include "control/control_file.h"

#include <fcntl.h>
#include <stdio.h>

static const char remedy[] = "needs root, or write permission for you by systemd-tmpfiles or chmod";

enum { PATH_BYTES = 128 };

static const char *const file_of[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = "max_freq_khz",
    [PWR_CONTROL_FLOOR] = "min_freq_khz",
};

static pwr_status_t read_id(const pwr_env_t *env, unsigned cpu, const char *name,
                            const pwr_why_t *why, unsigned *id)
{
    char path[PATH_BYTES];
    uint64_t value;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
    pwr_status_t status = pwr_env_read_u64(env, path, &value);
    if (status == PWR_OK && value > 9999) {
        status = PWR_ERR_RANGE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status, "needs read permission");
        return status;
    }
    *id = (unsigned)value;
    return PWR_OK;
}

pwr_status_t pwr_uncore_path(const pwr_env_t *env, unsigned cpu, const char *file,
                             const pwr_why_t *why, char *path, unsigned size)
{
    unsigned package, die;
    pwr_status_t status = read_id(env, cpu, "physical_package_id", why, &package);
    if (status == PWR_OK) {
        status = read_id(env, cpu, "die_id", why, &die);
    }
    if (status == PWR_OK) {
        snprintf(path, size,
                 "/sys/devices/system/cpu/intel_uncore_frequency/package_%02u_die_%02u/%s", package,
                 die, file);
    }
    return status;
}

static pwr_status_t uncore_open(const pwr_access_t *access, const pwr_env_t *env,
                                pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                                pwr_control_t *control)
{
    char path[PATH_BYTES];
    if (!file_of[kind]) {
        return PWR_ERR_UNSUPPORTED;
    }
    pwr_status_t status = pwr_uncore_path(env, cpu, file_of[kind], why, path, sizeof path);
    if (status != PWR_OK) {
        return status;
    }
    *control = (pwr_control_t){.access = access, .kind = kind, .cpu = cpu};
    return pwr_control_file_open(env, path, O_RDWR, remedy, why, control);
}

static const char *uncore_place(const pwr_control_t *control)
{
    return file_of[control->kind];
}

static const char *uncore_remedy(const pwr_control_t *control)
{
    (void)control;
    return remedy;
}

const pwr_access_t pwr_access_uncore = {.name = "intel_uncore_frequency",
                                        .open = uncore_open,
                                        .read = pwr_control_file_read,
                                        .write = pwr_control_file_write,
                                        .close = pwr_control_file_close,
                                        .place = uncore_place,
                                        .remedy = uncore_remedy};
