/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to controls that are files of the kernel with a decimal number of kHz: cpufreq's,
 * /sys/devices/system/cpu/cpuN/cpufreq/, and the uncore's, /sys/devices/system/cpu/
 * intel_uncore_frequency/, where a control is named by a CPU of its package and die.
 *
 * likwid's frequency functions write cpufreq's limits for users who may not write them themselves
 * where an administrator made likwid-setFreq set-uid root.  Writing is one round trip to
 * poweraware-likwid.  Reading needs no rights and is a read of the kernel's file, as it is in
 * likwid.
 *
 * Kernels that know parts of a die have folders uncoreNN as well.  What is written to the folder of
 * the die goes to all of them.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst, intel_uncore_frequency_scaling.rst.
 */
#include "config.h"

#include "control/control.h"
#include "likwid/likwid.h"
#include "number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 128, TEXT_BYTES = 24, HIGHEST_ID = 9999 };

/* ---- any file ---- */

/* Errors: UNSUPPORTED (there is none), PERM; a reason, with what grants it, is added to why. */
static pwr_status_t open_file(const pwr_env_t *env, const char *path, int flags, const char *grants,
                              const pwr_why_t *why, pwr_control_t *control)
{
    pwr_status_t status = pwr_env_open(env, path, flags, &control->fd);
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status, grants);
    }
    return status;
}

/* EBUSY is how the kernel says that no CPU of the policy is online any more (Linux 5.19 and later;
   before that the file is gone: ENODEV). */
static pwr_status_t status_of(int error)
{
    return error == EBUSY ? PWR_ERR_UNSUPPORTED : pwr_status_from_errno(error);
}

static pwr_status_t file_read(const pwr_control_t *control, uint64_t *khz)
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

static pwr_status_t file_write(const pwr_control_t *control, uint64_t khz)
{
    char text[TEXT_BYTES];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)khz);
    ssize_t put = pwrite(control->fd, text, (size_t)size, 0);
    if (put == size) {
        return PWR_OK;
    }
    return put < 0 ? status_of(errno) : PWR_ERR_IO;
}

static void file_close(pwr_control_t *control)
{
    close(control->fd);
    control->fd = -1;
}

pwr_status_t pwr_khz_read(const pwr_env_t *env, const char *path, const pwr_why_t *why,
                          uint32_t *khz)
{
    uint64_t value;
    pwr_status_t status = pwr_env_read_u64(env, path, &value);
    if (status == PWR_OK && (value == 0 || value > UINT32_MAX)) {
        status = PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status, "needs read permission");
        return status;
    }
    *khz = (uint32_t)value;
    return PWR_OK;
}

/* ---- cpufreq ---- */

static const pwr_place_t cpufreq_files[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = {"scaling_max_freq"},
    [PWR_CONTROL_FLOOR] = {"scaling_min_freq"},
    [PWR_CONTROL_SPEED] = {"scaling_setspeed"},
};

static pwr_status_t open_cpufreq(const pwr_env_t *env, int flags, const char *grants,
                                 const pwr_why_t *why, pwr_control_t *control)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", control->cpu,
             pwr_control_place(control));
    return open_file(env, path, flags, grants, why, control);
}

static pwr_status_t cpufreq_open(const pwr_env_t *env, const pwr_why_t *why, pwr_control_t *control)
{
    return open_cpufreq(env, O_RDWR, control->access->remedy, why, control);
}

const pwr_access_t pwr_access_cpufreq = {
    .name = "cpufreq",
    .open = cpufreq_open,
    .read = file_read,
    .write = file_write,
    .close = file_close,
    .places = cpufreq_files,
    .remedy = "needs root, or write permission for you by a udev rule or chmod"};

/* ---- the same by likwid ---- */

static const pwr_place_t likwid_files[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = {"scaling_max_freq"},
    [PWR_CONTROL_FLOOR] = {"scaling_min_freq"},
};

static pwr_status_t likwid_open(const pwr_env_t *env, const pwr_why_t *why, pwr_control_t *control)
{
    pwr_status_t status = open_cpufreq(env, O_RDONLY, "needs read permission", why, control);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_link_acquire(&pwr_likwid_frequency, env, why);
    if (status != PWR_OK) {
        file_close(control);
    }
    return status;
}

static pwr_status_t likwid_write(const pwr_control_t *control, uint64_t khz)
{
    return pwr_likwid_freq_set(control->kind == PWR_CONTROL_CEILING, control->cpu, khz);
}

static void likwid_close(pwr_control_t *control)
{
    pwr_link_release(&pwr_likwid_frequency);
    file_close(control);
}

const pwr_access_t pwr_access_likwid = {
    .name = "likwid",
    .open = likwid_open,
    .read = file_read,
    .write = likwid_write,
    .close = likwid_close,
    .places = likwid_files,
    .remedy = "needs 'chown root: /usr/sbin/likwid-setFreq && chmod u+s /usr/sbin/likwid-setFreq'; "
              "it accepts only values of scaling_available_frequencies"};

/* ---- the uncore ---- */

static const pwr_place_t uncore_files[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = {"max_freq_khz"},
    [PWR_CONTROL_FLOOR] = {"min_freq_khz"},
};

static pwr_status_t read_id(const pwr_env_t *env, unsigned cpu, const char *name,
                            const pwr_why_t *why, unsigned *id)
{
    char path[PATH_BYTES];
    uint64_t value;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
    pwr_status_t status = pwr_env_read_u64(env, path, &value);
    if (status == PWR_OK && value > HIGHEST_ID) {
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

static pwr_status_t uncore_open(const pwr_env_t *env, const pwr_why_t *why, pwr_control_t *control)
{
    char path[PATH_BYTES];
    pwr_status_t status =
        pwr_uncore_path(env, control->cpu, pwr_control_place(control), why, path, sizeof path);
    if (status != PWR_OK) {
        return status;
    }
    return open_file(env, path, O_RDWR, control->access->remedy, why, control);
}

const pwr_access_t pwr_access_uncore = {
    .name = "intel_uncore_frequency",
    .open = uncore_open,
    .read = file_read,
    .write = file_write,
    .close = file_close,
    .places = uncore_files,
    .remedy = "needs root, or write permission for you by systemd-tmpfiles or chmod"};
