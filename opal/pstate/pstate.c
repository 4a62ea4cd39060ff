/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: picks the style, and moves ceilings and floors in an order in which the floor is never
 * above the ceiling.
 */
#include "config.h"

#include "likwid/likwid.h"
#include "pstate/freq_domain.h"
#include "pstate/pstate_style.h"
#include "pwr/lever.h"

#include <stdlib.h>

enum { MHZ_100 = 100000 };

/* In the order in which they are tried.  With the governor "userspace" the speed asked for is all
   that counts; behind it the kernel's own limits, then those registers that the kernel would write.
 */
static const pwr_pstate_style_t styles[] = {
    {"cpufreq-setspeed", &pwr_access_cpufreq, PWR_CONTROL_SPEED, false, 1,
     pwr_pstate_setspeed_limits},
    {"cpufreq", &pwr_access_cpufreq, PWR_CONTROL_CEILING, true, 1, pwr_pstate_cpufreq_limits},
    {"likwid", &pwr_access_likwid, PWR_CONTROL_CEILING, true, 1, pwr_pstate_cpufreq_limits},
    {"hwp-msr_safe", &pwr_access_msr_safe, PWR_CONTROL_HWP_REQUEST, false, MHZ_100,
     pwr_pstate_hwp_limits},
    {"hwp-msr", &pwr_access_msr, PWR_CONTROL_HWP_REQUEST, false, MHZ_100, pwr_pstate_hwp_limits},
    {"hwp-likwid-accessD", &pwr_access_accessd, PWR_CONTROL_HWP_REQUEST, false, MHZ_100,
     pwr_pstate_hwp_limits},
    {"perf_ctl-msr_safe", &pwr_access_msr_safe, PWR_CONTROL_PERF_CTL, false, MHZ_100,
     pwr_pstate_perf_ctl_limits},
    {"perf_ctl-msr", &pwr_access_msr, PWR_CONTROL_PERF_CTL, false, MHZ_100,
     pwr_pstate_perf_ctl_limits},
    {"perf_ctl-likwid-accessD", &pwr_access_accessd, PWR_CONTROL_PERF_CTL, false, MHZ_100,
     pwr_pstate_perf_ctl_limits},
};

/* One CPU, or several that share a frequency and are driven through one of them. */
typedef struct driven_cpu {
    pwr_pstate_limits_t limits;
    pwr_held_t main;
    pwr_held_t floor;
    bool has_floor;
} driven_cpu_t;

struct pwr_pstate {
    const pwr_pstate_style_t *style;
    pwr_pstate_limits_t limits;
    unsigned count;
    driven_cpu_t cpus[];
};

static uint32_t khz_of(const pwr_pstate_t *pstate, uint64_t value)
{
    return (uint32_t)pwr_control_speed(pstate->style->main, value) * pstate->style->khz_per_unit;
}

static void close_cpu(driven_cpu_t *cpu)
{
    pwr_held_close(&cpu->main);
    if (cpu->has_floor) {
        pwr_held_close(&cpu->floor);
    }
}

static void close_all(pwr_pstate_t *pstate)
{
    for (unsigned i = 0; i < pstate->count; i++) {
        close_cpu(&pstate->cpus[i]);
    }
    free(pstate);
}

/* ---- open ---- */

static pwr_status_t open_cpu(const pwr_pstate_style_t *style, const pwr_pstate_request_t *request,
                             unsigned number, driven_cpu_t *cpu)
{
    cpu->has_floor = false;
    pwr_status_t status = style->limits(style, request, number, &cpu->limits);
    if (status == PWR_OK) {
        status = pwr_held_open(&request->held, style->access, style->main, number, &cpu->main);
    }
    if (status != PWR_OK || !style->has_floor) {
        return status;
    }
    status = pwr_held_open(&request->held, style->access, PWR_CONTROL_FLOOR, number, &cpu->floor);
    if (status != PWR_OK) {
        pwr_held_close(&cpu->main);
        return status;
    }
    cpu->has_floor = true;
    return PWR_OK;
}

static pwr_status_t add_cpu(const pwr_pstate_request_t *request, unsigned number,
                            pwr_pstate_t *pstate)
{
    bool driven = true;
    pwr_status_t status = PWR_OK;
    if (pstate->style->main <= PWR_CONTROL_SPEED) { /* values that the kernel keeps per policy */
        status = pwr_freq_domain_check(request, number, &driven);
    }
    if (status != PWR_OK || !driven) {
        return status;
    }
    status = open_cpu(pstate->style, request, number, &pstate->cpus[pstate->count]);
    if (status == PWR_OK) {
        pstate->count++;
    }
    return status;
}

/* Unequal CPUs: the widest range; each one clips to its own. */
static void find_limits(pwr_pstate_t *pstate)
{
    pstate->limits = (pwr_pstate_limits_t){.min_khz = UINT32_MAX};
    for (unsigned i = 0; i < pstate->count; i++) {
        uint32_t low = pstate->cpus[i].limits.min_khz;
        uint32_t high = khz_of(pstate, pstate->cpus[i].main.original);
        pstate->limits.min_khz = low < pstate->limits.min_khz ? low : pstate->limits.min_khz;
        pstate->limits.max_khz = high > pstate->limits.max_khz ? high : pstate->limits.max_khz;
    }
}

static pwr_status_t open_style(const pwr_pstate_style_t *style, const pwr_pstate_request_t *request,
                               pwr_pstate_t **pstate)
{
    unsigned cpus = pwr_topo_num_my_cpus(request->topo);
    pwr_pstate_t *made = calloc(1, sizeof *made + cpus * sizeof made->cpus[0]);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->style = style;
    for (unsigned i = 0; i < cpus; i++) {
        pwr_status_t status = add_cpu(request, pwr_topo_my_cpu(request->topo, i), made);
        if (status != PWR_OK) {
            close_all(made);
            return status;
        }
    }
    find_limits(made);
    *pstate = made;
    return PWR_OK;
}

const char *pwr_pstate_backend_name(unsigned nth)
{
    return nth < sizeof styles / sizeof styles[0] ? styles[nth].name : NULL;
}

pwr_status_t pwr_pstate_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                                 unsigned nth, char *why, unsigned why_size, pwr_pstate_t **pstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_pstate_request_t request = {.held = {env, guard, &reasons}, .topo = topo};
    return pwr_pstate_backend_name(nth) ? open_style(&styles[nth], &request, pstate)
                                        : PWR_ERR_RANGE;
}

pwr_status_t pwr_pstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_pstate_t **pstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    pwr_pstate_request_t request = {.held = {env, guard, &reasons}, .topo = topo};
    pwr_status_t result = PWR_ERR_UNSUPPORTED;
    pwr_likwid_probe_begin();
    /* SHARED: whichever access, the clock is not ours alone */
    for (size_t i = 0;
         i < sizeof styles / sizeof styles[0] && result != PWR_OK && result != PWR_ERR_SHARED;
         i++) {
        pwr_status_t status = open_style(&styles[i], &request, pstate);
        result = status == PWR_OK ? PWR_OK : pwr_why_worse(result, status);
    }
    pwr_likwid_probe_end();
    return result;
}

const char *pwr_pstate_backend(const pwr_pstate_t *pstate)
{
    return pstate->style->name;
}

uint32_t pwr_pstate_min_khz(const pwr_pstate_t *pstate)
{
    return pstate->limits.min_khz;
}

uint32_t pwr_pstate_max_khz(const pwr_pstate_t *pstate)
{
    return pstate->limits.max_khz;
}

unsigned pwr_pstate_num_adopted(const pwr_pstate_t *pstate)
{
    unsigned adopted = 0;
    for (unsigned i = 0; i < pstate->count; i++) {
        adopted += pstate->cpus[i].main.adopted;
    }
    return adopted;
}

/* ---- move ---- */

static pwr_status_t set_cpu(const pwr_pstate_t *pstate, driven_cpu_t *cpu, uint32_t khz)
{
    uint32_t target_khz = khz > cpu->limits.min_khz ? khz : cpu->limits.min_khz;
    uint64_t want = target_khz / pstate->style->khz_per_unit;
    bool lower = target_khz < khz_of(pstate, cpu->main.last);
    pwr_status_t status = PWR_OK;
    if (cpu->has_floor && lower) {
        status = pwr_held_lower(&cpu->floor, want);
    }
    if (status == PWR_OK) {
        status = pwr_held_lower(&cpu->main, want);
    }
    if (status == PWR_OK && cpu->has_floor && !lower) {
        status = pwr_held_lower(&cpu->floor, want);
    }
    return status;
}

pwr_status_t pwr_pstate_set(pwr_pstate_t *pstate, uint32_t khz)
{
    pwr_status_t status = PWR_OK;
    if (khz < pstate->limits.min_khz || khz > pstate->limits.max_khz) {
        return PWR_ERR_RANGE;
    }
    for (unsigned i = 0; i < pstate->count && status == PWR_OK; i++) {
        status = set_cpu(pstate, &pstate->cpus[i], khz);
    }
    return status;
}

pwr_status_t pwr_pstate_restore(pwr_pstate_t *pstate)
{
    pwr_status_t first = PWR_OK;
    for (unsigned i = 0; i < pstate->count; i++) {
        driven_cpu_t *cpu = &pstate->cpus[i];
        pwr_status_t status = pwr_held_restore(&cpu->main);
        first = first == PWR_OK ? status : first;
        if (cpu->has_floor) {
            status = pwr_held_restore(&cpu->floor);
            first = first == PWR_OK ? status : first;
        }
    }
    return first;
}

void pwr_pstate_close(pwr_pstate_t *pstate)
{
    if (pstate) {
        (void)pwr_pstate_restore(pstate);
        close_all(pstate);
    }
}
