/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access by likwid's frequency functions: the kernel's limits, written by likwid, for users who
 * may not write them themselves where an administrator made likwid-setFreq set-uid root.
 *
 * Writing is one round trip to poweraware-likwid.  Reading needs no rights and is a read of the
 * kernel's file, as it is in likwid.
 */
#include "config.h"

#include "control/control.h"

#include <fcntl.h>

#include "control/control_file.h"
#include "likwid/likwid.h"

static pwr_status_t likwid_open(const pwr_access_t *access, const pwr_env_t *env,
                                pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                                pwr_control_t *control)
{
    if (kind != PWR_CONTROL_CEILING && kind != PWR_CONTROL_FLOOR) {
        return PWR_ERR_UNSUPPORTED;
    }
    *control = (pwr_control_t){.access = access, .kind = kind, .cpu = cpu};
    pwr_status_t status =
        pwr_control_cpufreq_open(env, O_RDONLY, "needs read permission", why, control);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_likwid_freq_open(env, why);
    if (status != PWR_OK) {
        pwr_control_file_close(control);
    }
    return status;
}

static pwr_status_t likwid_write(const pwr_control_t *control, uint64_t khz)
{
    return pwr_likwid_freq_set(control->kind == PWR_CONTROL_CEILING, control->cpu, khz);
}

static void likwid_close(pwr_control_t *control)
{
    pwr_likwid_freq_close();
    pwr_control_file_close(control);
}

static const char *likwid_remedy(const pwr_control_t *control)
{
    (void)control;
    return "needs 'chown root: /usr/sbin/likwid-setFreq && chmod u+s /usr/sbin/likwid-setFreq'; it "
           "accepts only values of scaling_available_frequencies";
}

const pwr_access_t pwr_access_likwid = {.name = "likwid",
                                        .open = likwid_open,
                                        .read = pwr_control_file_read,
                                        .write = likwid_write,
                                        .close = likwid_close,
                                        .place = pwr_control_cpufreq_place,
                                        .remedy = likwid_remedy};
