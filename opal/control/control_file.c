/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls that are files with a decimal number of kHz.
 */
#include "config.h"

#include "control/control_file.h"
#include "number.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { TEXT_BYTES = 24 };

pwr_status_t pwr_control_file_open(const pwr_env_t *env, const char *path, int flags,
                                   const char *grants, const pwr_why_t *why, pwr_control_t *control)
{
    int fd;
    pwr_status_t status = pwr_env_open(env, path, flags, &fd);
    if (status != PWR_OK) {
        pwr_why_add_file(why, path, status, grants);
        return status;
    }
    control->fd = fd;
    control->msr.fd = -1;
    return PWR_OK;
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

pwr_status_t pwr_control_file_write(const pwr_control_t *control, uint64_t khz)
{
    char text[TEXT_BYTES];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)khz);
    ssize_t put = pwrite(control->fd, text, (size_t)size, 0);
    if (put == size) {
        return PWR_OK;
    }
    return put < 0 ? status_of(errno) : PWR_ERR_IO;
}

void pwr_control_file_close(pwr_control_t *control)
{
    close(control->fd);
    control->fd = -1;
}
