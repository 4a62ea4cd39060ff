/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to controls that are model-specific registers (opal/msr).
 */
#include "config.h"

#include "control/control.h"

static const struct {
    uint32_t number;
    const char *place;
    const char *allow; /* register and write mask, as msr-safe's allow-list wants them */
} registers[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_PERF_CTL] = {PWR_MSR_PERF_CTL, "MSR 0x199",
                              "msr-safe: allow-list line 0x00000199 0x000000000000FF00"},
    [PWR_CONTROL_HWP_REQUEST] = {PWR_MSR_HWP_REQUEST, "MSR 0x774",
                                 "msr-safe: allow-list line 0x00000774 0x000000000000FFFF"},
    [PWR_CONTROL_CLOCK_MODULATION] = {PWR_MSR_CLOCK_MODULATION, "MSR 0x19a",
                                      "msr-safe: allow-list line 0x0000019A 0x000000000000001F"},
    [PWR_CONTROL_UNCORE_RATIO] = {PWR_MSR_UNCORE_RATIO_LIMIT, "MSR 0x620",
                                  "msr-safe: allow-list line 0x00000620 0x0000000000007F7F"},
};

static pwr_status_t msr_open(const pwr_access_t *access, const pwr_env_t *env,
                             pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                             pwr_control_t *control)
{
    pwr_msr_t msr;
    if (registers[kind].number == 0) {
        return PWR_ERR_UNSUPPORTED;
    }
    pwr_status_t status = access->msr->open(access->msr, env, cpu, true, why, &msr);
    if (status == PWR_OK) {
        *control =
            (pwr_control_t){.access = access, .kind = kind, .cpu = cpu, .fd = -1, .msr = msr};
    }
    return status;
}

static pwr_status_t msr_read(const pwr_control_t *control, uint64_t *value)
{
    return control->access->msr->read(&control->msr, registers[control->kind].number, value);
}

static pwr_status_t msr_write(const pwr_control_t *control, uint64_t value)
{
    return control->access->msr->write(&control->msr, registers[control->kind].number, value);
}

static void msr_close(pwr_control_t *control)
{
    control->access->msr->close(&control->msr);
}

static const char *msr_place(const pwr_control_t *control)
{
    return registers[control->kind].place;
}

static const char *msr_remedy(const pwr_control_t *control)
{
    return registers[control->kind].allow;
}

static const char *accessd_remedy(const pwr_control_t *control)
{
    (void)control;
    return "likwid's daemon lets this register through on some Intel CPUs only: msr-safe can";
}

const pwr_access_t pwr_access_msr_safe = {.name = "msr_safe",
                                          .msr = &pwr_msr_access_safe,
                                          .open = msr_open,
                                          .read = msr_read,
                                          .write = msr_write,
                                          .close = msr_close,
                                          .place = msr_place,
                                          .remedy = msr_remedy};

const pwr_access_t pwr_access_msr = {.name = "msr",
                                     .msr = &pwr_msr_access_device,
                                     .open = msr_open,
                                     .read = msr_read,
                                     .write = msr_write,
                                     .close = msr_close,
                                     .place = msr_place,
                                     .remedy = msr_remedy};

const pwr_access_t pwr_access_accessd = {.name = "likwid-accessD",
                                         .msr = &pwr_msr_access_accessd,
                                         .open = msr_open,
                                         .read = msr_read,
                                         .write = msr_write,
                                         .close = msr_close,
                                         .place = msr_place,
                                         .remedy = accessd_remedy};
