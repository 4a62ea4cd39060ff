/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls: their names, their bits, and what "lower" means for each.
 */
#include "config.h"

#include "control/control.h"

#include <stdbool.h>
#include <string.h>

enum {
    RATIO_SHIFT = 8,
    RATIO_MASK = 0xff00,
    HWP_MINIMUM = 0xff,
    HWP_MAXIMUM_SHIFT = 8,
    HWP_MASK = 0xffff,
    UNCORE_MINIMUM_SHIFT = 8,
    UNCORE_RATIO = 0x7f,
    UNCORE_MASK = 0x7f7f,
    MODULATION_ENABLE = 0x10,
    DUTY_MASK = 0x0f,
    MODULATION_MASK = MODULATION_ENABLE | DUTY_MASK,
    FULL_DUTY = 16
};

const pwr_access_t *const pwr_accesses[] = {
    &pwr_access_cpufreq, &pwr_access_msr_safe, &pwr_access_msr,
    &pwr_access_accessd, &pwr_access_likwid,   &pwr_access_uncore,
};
const size_t pwr_num_accesses = sizeof pwr_accesses / sizeof pwr_accesses[0];

static uint64_t lower_of(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t khz_speed(uint64_t khz)
{
    return khz;
}

static uint64_t khz_with(uint64_t found, uint64_t speed)
{
    (void)found;
    return speed;
}

static uint64_t ratio_speed(uint64_t value)
{
    return (value & RATIO_MASK) >> RATIO_SHIFT;
}

static uint64_t ratio_with(uint64_t found, uint64_t speed)
{
    return (found & ~(uint64_t)RATIO_MASK) | speed << RATIO_SHIFT;
}

static uint64_t hwp_speed(uint64_t value)
{
    return (value & HWP_MASK) >> HWP_MAXIMUM_SHIFT;
}

/* The minimum must not stay above the maximum. */
static uint64_t hwp_with(uint64_t found, uint64_t speed)
{
    uint64_t minimum = lower_of(found & HWP_MINIMUM, speed);
    return (found & ~(uint64_t)HWP_MASK) | speed << HWP_MAXIMUM_SHIFT | minimum;
}

static uint64_t uncore_speed(uint64_t value)
{
    return value & UNCORE_RATIO;
}

static uint64_t uncore_with(uint64_t found, uint64_t speed)
{
    uint64_t minimum = lower_of(found >> UNCORE_MINIMUM_SHIFT & UNCORE_RATIO, speed);
    return (found & ~(uint64_t)UNCORE_MASK) | minimum << UNCORE_MINIMUM_SHIFT | speed;
}

/* Duty 0 is reserved: a CPU that shows it is taken to run at full speed. */
static uint64_t duty_speed(uint64_t value)
{
    bool on = (value & MODULATION_ENABLE) && (value & DUTY_MASK) != 0;
    return on ? value & DUTY_MASK : FULL_DUTY;
}

static uint64_t duty_with(uint64_t found, uint64_t speed)
{
    return (found & ~(uint64_t)MODULATION_MASK) | MODULATION_ENABLE | speed;
}

static const struct {
    const char *name;
    uint64_t mask;
    uint64_t (*speed)(uint64_t value);
    uint64_t (*with)(uint64_t found, uint64_t speed); /* found, at that speed */
} kinds[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CEILING] = {"ceiling", UINT64_MAX, khz_speed, khz_with},
    [PWR_CONTROL_FLOOR] = {"floor", UINT64_MAX, khz_speed, khz_with},
    [PWR_CONTROL_SPEED] = {"speed", UINT64_MAX, khz_speed, khz_with},
    [PWR_CONTROL_PERF_CTL] = {"perf_ctl", RATIO_MASK, ratio_speed, ratio_with},
    [PWR_CONTROL_HWP_REQUEST] = {"hwp_request", HWP_MASK, hwp_speed, hwp_with},
    [PWR_CONTROL_CLOCK_MODULATION] = {"clock_modulation", MODULATION_MASK, duty_speed, duty_with},
    [PWR_CONTROL_UNCORE_RATIO] = {"uncore_ratio", UNCORE_MASK, uncore_speed, uncore_with},
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
    return kinds[kind].speed(value);
}

uint64_t pwr_control_lowered(pwr_control_kind_t kind, uint64_t found, uint64_t want)
{
    return want < kinds[kind].speed(found) ? kinds[kind].with(found, want) : found;
}
