/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: the frequency of cores, as a ceiling that is lowered.
 */
#include "config.h"

#include "lever/lever_backend.h"

enum { MHZ_100 = 100000 };

#define FILES(name, access, main, floor, lowest)                                                   \
    {                                                                                              \
        name, access, main, floor, 1, lowest, pwr_freq_domain_drives                               \
    }
#define REGISTER(name, access, main, lowest)                                                       \
    {                                                                                              \
        name, access, main, PWR_CONTROL_KINDS, MHZ_100, lowest, NULL                               \
    }

/* With the governor "userspace" the speed asked for is all that counts; behind it the kernel's own
   limits, then those registers that the kernel would write. */
static const pwr_lever_backend_t backends[] = {
    FILES("cpufreq-setspeed", &pwr_access_cpufreq, PWR_CONTROL_SPEED, PWR_CONTROL_KINDS,
          pwr_pstate_setspeed_lowest),
    FILES("cpufreq", &pwr_access_cpufreq, PWR_CONTROL_CEILING, PWR_CONTROL_FLOOR,
          pwr_pstate_cpufreq_lowest),
    FILES("likwid", &pwr_access_likwid, PWR_CONTROL_CEILING, PWR_CONTROL_FLOOR,
          pwr_pstate_cpufreq_lowest),
    REGISTER("hwp-msr_safe", &pwr_access_msr_safe, PWR_CONTROL_HWP_REQUEST, pwr_pstate_hwp_lowest),
    REGISTER("hwp-msr", &pwr_access_msr, PWR_CONTROL_HWP_REQUEST, pwr_pstate_hwp_lowest),
    REGISTER("hwp-likwid-accessD", &pwr_access_accessd, PWR_CONTROL_HWP_REQUEST,
             pwr_pstate_hwp_lowest),
    REGISTER("perf_ctl-msr_safe", &pwr_access_msr_safe, PWR_CONTROL_PERF_CTL,
             pwr_pstate_perf_ctl_lowest),
    REGISTER("perf_ctl-msr", &pwr_access_msr, PWR_CONTROL_PERF_CTL, pwr_pstate_perf_ctl_lowest),
    REGISTER("perf_ctl-likwid-accessD", &pwr_access_accessd, PWR_CONTROL_PERF_CTL,
             pwr_pstate_perf_ctl_lowest),
};

const pwr_lever_type_t pwr_lever_pstate = {
    .name = "pstate",
    .title = "P-states",
    .scope = PWR_SCOPE_CPU,
    .verb = PWR_VERB_LOW,
    .unit = "kHz",
    .step = 1,
    .shown_unit = "GHz",
    .shown_per_unit = 1e-6,
    .power_left = 0.5, /* 7.1 of 14.9 W of a core at 1.6 of 2.4 GHz (ICPP 2010, figures of power) */
    .backends = backends,
    .num_backends = sizeof backends / sizeof backends[0],
};
