/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls: their names, their bits, and what "lower" means for each.
 */
#include "config.h"

#include "control/control.h"

#include <stdbool.h>
#include <string.h>

const pwr_access_t *const pwr_accesses[] = {
    &pwr_access_cpufreq, &pwr_access_msr_safe, &pwr_access_msr,
    &pwr_access_accessd, &pwr_access_likwid,   &pwr_access_uncore,
};
const size_t pwr_num_accesses = sizeof pwr_accesses / sizeof pwr_accesses[0];

/* Of a value: (value >> shift & field) is how fast it lets the CPU run.  Where the same field at
   minimum_shift is the least that the CPU may run at, it must not stay above.  Where there is an
   enable bit, a CPU without it runs at full speed, and so does one at speed 0, which is
   reserved. */
typedef struct control_kind {
    const char *name;
    uint64_t mask;
    uint64_t field;
    unsigned shift;
    bool has_minimum;
    unsigned minimum_shift;
    uint64_t enable;
    uint64_t full;
} control_kind_t;

static const control_kind_t kinds[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = {"ceiling", .mask = UINT64_MAX, .field = UINT64_MAX},
    [PWR_CONTROL_FLOOR] = {"floor", .mask = UINT64_MAX, .field = UINT64_MAX},
    [PWR_CONTROL_SPEED] = {"speed", .mask = UINT64_MAX, .field = UINT64_MAX},
    [PWR_CONTROL_PERF_CTL] = {"perf_ctl", .mask = 0xff00, .field = 0xff, .shift = 8},
    [PWR_CONTROL_HWP_REQUEST] = {"hwp_request", .mask = 0xffff, .field = 0xff, .shift = 8,
                                 .has_minimum = true, .minimum_shift = 0},
    [PWR_CONTROL_CLOCK_MODULATION] = {"clock_modulation", .mask = 0x1f, .field = 0xf,
                                      .enable = 0x10, .full = 16},
    [PWR_CONTROL_UNCORE_RATIO] = {"uncore_ratio", .mask = 0x7f7f, .field = 0x7f,
                                  .has_minimum = true, .minimum_shift = 8},
};

pwr_status_t pwr_control_open(const pwr_access_t *access, const pwr_env_t *env,
                              pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                              pwr_control_t *control)
{
    pwr_control_t made = {.access = access, .kind = kind, .cpu = cpu, .fd = -1, .msr.fd = -1};
    if (!access->places[kind].name) {
        return PWR_ERR_UNSUPPORTED;
    }
    pwr_status_t status = access->open(env, why, &made);
    if (status == PWR_OK) {
        *control = made;
    }
    return status;
}

const pwr_access_t *pwr_access_find(const char *name)
{
    for (size_t i = 0; i < pwr_num_accesses; i++) {
        if (strcmp(pwr_accesses[i]->name, name) == 0) {
            return pwr_accesses[i];
        }
    }
    return NULL;
}

const char *pwr_control_kind_name(pwr_control_kind_t kind)
{
    return kind < PWR_CONTROL_KINDS ? kinds[kind].name : NULL;
}

pwr_control_kind_t pwr_control_kind_find(const char *name)
{
    int kind = 0;
    while (kind < PWR_CONTROL_KINDS && strcmp(kinds[kind].name, name) != 0) {
        kind++;
    }
    return (pwr_control_kind_t)kind;
}

uint64_t pwr_control_mask(pwr_control_kind_t kind)
{
    return kinds[kind].mask;
}

uint64_t pwr_control_speed(pwr_control_kind_t kind, uint64_t value)
{
    const control_kind_t *it = &kinds[kind];
    uint64_t speed = value >> it->shift & it->field;
    bool off = it->enable != 0 && ((value & it->enable) == 0 || speed == 0);
    return off ? it->full : speed;
}

uint64_t pwr_control_lowered(pwr_control_kind_t kind, uint64_t found, uint64_t want)
{
    const control_kind_t *it = &kinds[kind];
    if (want >= pwr_control_speed(kind, found)) {
        return found;
    }
    uint64_t lowered = (found & ~it->mask) | it->enable | want << it->shift;
    if (it->has_minimum) {
        uint64_t minimum = found >> it->minimum_shift & it->field;
        lowered |= (minimum < want ? minimum : want) << it->minimum_shift;
    }
    return lowered;
}
