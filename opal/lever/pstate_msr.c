/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the registers of an Intel CPU say about its lowest ratio.
 *
 * Source: Intel SDM volume 4, MSR_PLATFORM_INFO, MSR_TURBO_RATIO_LIMIT; volume 3, "Hardware-
 * Controlled Performance States".
 */
#include "config.h"

#include "lever/lever_backend.h"

/* A register that is not there, or reads as 0 where that means nothing, ends the style. */
static pwr_status_t read_register(const pwr_msr_t *msr, const pwr_lever_request_t *request,
                                  uint32_t number, uint64_t *value)
{
    pwr_status_t status = msr->access->read(msr, number, value);
    if (status == PWR_OK && *value == 0) {
        status = PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(request->held.why, "%s: CPU %u, MSR 0x%x: %s", msr->access->name, msr->cpu,
                    number, pwr_status_text(status));
    }
    return status;
}

static pwr_status_t check(const pwr_lever_request_t *request, const pwr_msr_t *msr, uint64_t lowest,
                          uint64_t highest, uint32_t khz_per_unit, uint32_t *khz)
{
    if (lowest == 0 || lowest > highest) {
        pwr_why_add(request->held.why, "%s: CPU %u: lowest ratio %u, highest %u", msr->access->name,
                    msr->cpu, (unsigned)lowest, (unsigned)highest);
        return PWR_ERR_UNSUPPORTED;
    }
    *khz = (uint32_t)lowest * khz_per_unit;
    return PWR_OK;
}

typedef pwr_status_t (*ask_t)(const pwr_lever_request_t *request, const pwr_msr_t *msr,
                              uint32_t khz_per_unit, uint32_t *khz);

static pwr_status_t ask(const pwr_lever_backend_t *backend, const pwr_lever_request_t *request,
                        unsigned cpu, ask_t question, uint32_t *khz)
{
    const pwr_msr_access_t *access = backend->access->msr;
    pwr_msr_t msr;
    pwr_status_t status =
        access->open(access, request->held.env, cpu, false, request->held.why, &msr);
    if (status == PWR_OK) {
        status = question(request, &msr, backend->per_unit, khz);
        access->close(&msr);
    }
    return status;
}

/* Lowest performance level in 31:24, highest in 7:0; only while hardware P-states are enabled. */
static pwr_status_t ask_hwp(const pwr_lever_request_t *request, const pwr_msr_t *msr,
                            uint32_t khz_per_unit, uint32_t *khz)
{
    uint64_t enabled, levels;
    pwr_status_t status = read_register(msr, request, PWR_MSR_PM_ENABLE, &enabled);
    if (status == PWR_OK) {
        status = read_register(msr, request, PWR_MSR_HWP_CAPABILITIES, &levels);
    }
    if (status == PWR_OK) {
        status = check(request, msr, levels >> 24 & 0xff, levels & 0xff, khz_per_unit, khz);
    }
    return status;
}

/* Lowest ratio in 47:40 of PLATFORM_INFO, highest turbo ratio in 7:0 of TURBO_RATIO_LIMIT.  With
   hardware P-states enabled the CPU ignores PERF_CTL; where nobody may ask, it has none. */
static pwr_status_t ask_perf_ctl(const pwr_lever_request_t *request, const pwr_msr_t *msr,
                                 uint32_t khz_per_unit, uint32_t *khz)
{
    uint64_t platform, turbo, hwp;
    if (msr->access->read(msr, PWR_MSR_PM_ENABLE, &hwp) == PWR_OK && (hwp & 1)) {
        pwr_why_add(request->held.why, "%s: CPU %u: PERF_CTL is ignored under hardware P-states",
                    msr->access->name, msr->cpu);
        return PWR_ERR_UNSUPPORTED;
    }
    pwr_status_t status = read_register(msr, request, PWR_MSR_PLATFORM_INFO, &platform);
    if (status == PWR_OK) {
        status = read_register(msr, request, PWR_MSR_TURBO_RATIO_LIMIT, &turbo);
    }
    if (status == PWR_OK) {
        status = check(request, msr, platform >> 40 & 0xff, turbo & 0xff, khz_per_unit, khz);
    }
    return status;
}

pwr_status_t pwr_pstate_hwp_lowest(const pwr_lever_backend_t *backend,
                                   const pwr_lever_request_t *request, unsigned cpu, uint32_t *khz)
{
    return ask(backend, request, cpu, ask_hwp, khz);
}

pwr_status_t pwr_pstate_perf_ctl_lowest(const pwr_lever_backend_t *backend,
                                        const pwr_lever_request_t *request, unsigned cpu,
                                        uint32_t *khz)
{
    return ask(backend, request, cpu, ask_perf_ctl, khz);
}
