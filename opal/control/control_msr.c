/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Access to controls that are model-specific registers (opal/msr).
 */
#include "config.h"

#include "control/control.h"

/* Remedies have register and write mask, as msr-safe's allow-list wants them. */
static const pwr_place_t registers[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_PERF_CTL] = {"MSR 0x199", PWR_MSR_PERF_CTL,
                              "msr-safe: allow-list line 0x00000199 0x000000000000FF00"},
    [PWR_CONTROL_HWP_REQUEST] = {"MSR 0x774", PWR_MSR_HWP_REQUEST,
                                 "msr-safe: allow-list line 0x00000774 0x000000000000FFFF"},
    [PWR_CONTROL_CLOCK_MODULATION] = {"MSR 0x19a", PWR_MSR_CLOCK_MODULATION,
                                      "msr-safe: allow-list line 0x0000019A 0x000000000000001F"},
    [PWR_CONTROL_UNCORE_RATIO] = {"MSR 0x620", PWR_MSR_UNCORE_RATIO_LIMIT,
                                  "msr-safe: allow-list line 0x00000620 0x0000000000007F7F"},
};

static pwr_status_t msr_open(const pwr_env_t *env, const pwr_why_t *why, pwr_control_t *control)
{
    const pwr_msr_access_t *access = control->access->msr;
    return access->open(access, env, control->cpu, true, why, &control->msr);
}

static pwr_status_t msr_read(const pwr_control_t *control, uint64_t *value)
{
    return control->msr.access->read(&control->msr, registers[control->kind].msr, value);
}

static pwr_status_t msr_write(const pwr_control_t *control, uint64_t value)
{
    return control->msr.access->write(&control->msr, registers[control->kind].msr, value);
}

static void msr_close(pwr_control_t *control)
{
    control->msr.access->close(&control->msr);
}

#define REGISTERS                                                                                  \
    .open = msr_open, .read = msr_read, .write = msr_write, .close = msr_close, .places = registers

const pwr_access_t pwr_access_msr_safe = {
    .name = "msr_safe", .msr = &pwr_msr_access_safe, REGISTERS};

const pwr_access_t pwr_access_msr = {.name = "msr", .msr = &pwr_msr_access_device, REGISTERS};

const pwr_access_t pwr_access_accessd = {
    .name = "likwid-accessD",
    .msr = &pwr_msr_access_accessd,
    REGISTERS,
    .remedy = "likwid's daemon lets this register through on some Intel CPUs only: msr-safe can"};
