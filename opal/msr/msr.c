/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Registers through /dev/cpu/N/msr_safe and /dev/cpu/N/msr, which differ only in who may do what:
 * 8 bytes at the offset that is the register's number.  And through likwid's access daemon, which
 * lets only those through that it knows.
 *
 * Source: Linux, msr(4); msr-safe, README.
 */
#include "config.h"

#include "msr/msr.h"

#include "likwid/accessd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 64 };

/* ---- devices ---- */

static pwr_status_t device_open(const pwr_msr_access_t *access, const pwr_env_t *env, unsigned cpu,
                                bool writable, const pwr_why_t *why, pwr_msr_t *msr)
{
    char path[PATH_BYTES];
    int fd;
    snprintf(path, sizeof path, "/dev/cpu/%u/%s", cpu, access->name);
    pwr_status_t status = pwr_env_open(env, path, writable ? O_RDWR : O_RDONLY, &fd);
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status,
                         access == &pwr_msr_access_safe
                             ? "needs membership of the group that msr-safe's devices belong to"
                             : "needs root with CAP_SYS_RAWIO; msr-safe opens it to users");
        return status;
    }
    *msr = (pwr_msr_t){.access = access, .cpu = cpu, .fd = fd};
    return PWR_OK;
}

/* The driver answers EIO where the CPU has no such register (AMD, many virtual machines), and where
   a value has reserved bits. */
static pwr_status_t status_of(ssize_t done)
{
    if (done == (ssize_t)sizeof(uint64_t)) {
        return PWR_OK;
    }
    if (done >= 0) {
        return PWR_ERR_IO;
    }
    return errno == EIO ? PWR_ERR_UNSUPPORTED : pwr_status_from_errno(errno);
}

static pwr_status_t device_read(const pwr_msr_t *msr, uint32_t number, uint64_t *value)
{
    uint64_t found;
    pwr_status_t status = status_of(pread(msr->fd, &found, sizeof found, (off_t)number));
    if (status == PWR_OK) {
        *value = found;
    }
    return status;
}

static pwr_status_t device_write(const pwr_msr_t *msr, uint32_t number, uint64_t value)
{
    return status_of(pwrite(msr->fd, &value, sizeof value, (off_t)number));
}

static void device_close(pwr_msr_t *msr)
{
    close(msr->fd);
    msr->fd = -1;
}

#define DEVICE                                                                                     \
    .open = device_open, .read = device_read, .write = device_write, .close = device_close
const pwr_msr_access_t pwr_msr_access_safe = {.name = "msr_safe", DEVICE};
const pwr_msr_access_t pwr_msr_access_device = {.name = "msr", DEVICE};

/* ---- the daemon ---- */

static pwr_status_t accessd_open(const pwr_msr_access_t *access, const pwr_env_t *env, unsigned cpu,
                                 bool writable, const pwr_why_t *why, pwr_msr_t *msr)
{
    (void)writable; /* the daemon knows no difference */
    pwr_status_t status = pwr_accessd_open(env, cpu, why);
    if (status == PWR_OK) {
        *msr = (pwr_msr_t){.access = access, .cpu = cpu, .fd = -1};
    }
    return status;
}

static pwr_status_t accessd_read(const pwr_msr_t *msr, uint32_t number, uint64_t *value)
{
    return pwr_accessd_read(msr->cpu, number, value);
}

static pwr_status_t accessd_write(const pwr_msr_t *msr, uint32_t number, uint64_t value)
{
    return pwr_accessd_write(msr->cpu, number, value);
}

static void accessd_close(pwr_msr_t *msr)
{
    (void)msr;
    pwr_accessd_close();
}

const pwr_msr_access_t pwr_msr_access_accessd = {.name = "likwid-accessD",
                                                 .open = accessd_open,
                                                 .read = accessd_read,
                                                 .write = accessd_write,
                                                 .close = accessd_close};
