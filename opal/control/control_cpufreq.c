/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to the kernel's cpufreq files, /sys/devices/system/cpu/cpuN/cpufreq/: decimal kHz.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst.
 */
#include "config.h"

#include "control/control_file.h"
#include "number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char remedy[] = "needs root, or write permission for you by a udev rule or chmod";

enum { PATH_BYTES = 128, TEXT_BYTES = 24 };

static const char *const file_of[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = "scaling_max_freq",
    [PWR_CONTROL_FLOOR] = "scaling_min_freq",
    [PWR_CONTROL_SPEED] = "scaling_setspeed",
};

pwr_status_t pwr_control_file_open(const pwr_env_t *env, pwr_control_kind_t kind, unsigned cpu,
                                   int flags, const char *grants, const pwr_why_t *why, int *fd)
{
    char path[PATH_BYTES];
    if (!file_of[kind]) {
        return PWR_ERR_UNSUPPORTED;
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file_of[kind]);
    pwr_status_t status = pwr_env_open(env, path, flags, fd);
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status, grants);
    }
    return status;
}

static pwr_status_t cpufreq_open(const pwr_access_t *access, const pwr_env_t *env,
                                 pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                                 pwr_control_t *control)
{
    int fd;
    pwr_status_t status = pwr_control_file_open(env, kind, cpu, O_RDWR, remedy, why, &fd);
    if (status == PWR_OK) {
        *control =
            (pwr_control_t){.access = access, .kind = kind, .cpu = cpu, .fd = fd, .msr.fd = -1};
    }
    return status;
}

/* EBUSY is how the kernel says that no CPU of the policy is online any more (Linux 5.19 and later;
   before that the file is gone: ENODEV). */
static pwr_status_t status_of(int error)
{
    return error == EBUSY ? PWR_ERR_UNSUPPORTED : pwr_status_from_errno(error);
}

pwr_status_t pwr_control_file_read(const pwr_control_t *control, uint64_t *khz)
{
    char text[TEXT_BYTES];
    ssize_t got = pread(control->fd, text, sizeof text, 0);
    if (got < 0) {
        return status_of(errno);
    }
    uint64_t value;
    pwr_status_t status = pwr_number_parse(text, (size_t)got, &value);
    if (status != PWR_OK || value == 0 || value > UINT32_MAX) {
        return PWR_ERR_PARSE;
    }
    *khz = value;
    return PWR_OK;
}

static pwr_status_t cpufreq_write(const pwr_control_t *control, uint64_t khz)
{
    char text[TEXT_BYTES];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)khz);
    ssize_t put = pwrite(control->fd, text, (size_t)size, 0);
    if (put == size) {
        return PWR_OK;
    }
    return put < 0 ? status_of(errno) : PWR_ERR_IO;
}

static void cpufreq_close(pwr_control_t *control)
{
    close(control->fd);
    control->fd = -1;
}

const char *pwr_control_file_place(const pwr_control_t *control)
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
                                         .write = cpufreq_write,
                                         .close = cpufreq_close,
                                         .place = pwr_control_file_place,
                                         .remedy = cpufreq_remedy};
