/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The levers of the process around operations, and in the trace.
 */
#include "operation_private.h"

#include "pwr_ompi/events.h"
#include "pwr_ompi/process.h"

uint64_t pwr_levers_expected_ns(const pwr_scheme_t *scheme, const pwr_history_t *expected)
{
    return NULL == expected || !scheme->weighs_levers ? PWR_POWER_LENGTH_UNKNOWN
                                                      : pwr_history_expected_ns(expected);
}

static uint64_t pstate_writes(void)
{
    return pwr_power_counters(pwr_process.power).lever[PWR_LEVER_PSTATE].writes;
}

void pwr_levers_low(uint64_t expected_ns)
{
    pwr_process_arm_levers();
    if (NULL == pwr_process.power) {
        return;
    }
    uint64_t before = pwr_events_are_kept ? pstate_writes() : 0;
    pwr_power_low(pwr_process.power, expected_ns);
    if (pwr_events_are_kept && before != pstate_writes()) {
        pwr_events_add(PWR_EVENT_SPEED, 0, -1, 0);
    }
}

void pwr_levers_full(void)
{
    if (NULL == pwr_process.power) {
        return;
    }
    uint64_t before = pwr_events_are_kept ? pstate_writes() : 0;
    pwr_power_full(pwr_process.power);
    if (pwr_events_are_kept && before != pstate_writes()) {
        pwr_events_add(PWR_EVENT_SPEED, 1, -1, 0);
    }
}

bool pwr_levers_throttle(const pwr_scheme_t *scheme, unsigned level, const pwr_history_t *expected)
{
    pwr_power_throttle(pwr_process.power, level, pwr_levers_expected_ns(scheme, expected));
    unsigned now = pwr_power_level(pwr_process.power);
    if (PWR_TSTATE_FULL != now) {
        pwr_events_add(PWR_EVENT_TSTATE, (int)now, -1, 0);
    }
    return PWR_TSTATE_FULL != now;
}

void pwr_levers_unthrottle(void)
{
    pwr_power_unthrottle(pwr_process.power);
    pwr_events_add(PWR_EVENT_TSTATE, 0, -1, 0);
}
