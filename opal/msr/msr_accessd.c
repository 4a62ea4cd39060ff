/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Registers through likwid's access daemon, which lets only those through that it knows.
 */
#include "config.h"

#include "likwid/accessd.h"
#include "msr/msr.h"

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
