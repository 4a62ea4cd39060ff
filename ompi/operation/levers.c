/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The levers of the process around operations, and in the trace.
 */
#include "levers.h"

#include "pwr_ompi/events.h"
#include "pwr_ompi/process.h"

static void note_speed(int usual)
{
    if (pwr_power_has(pwr_process.power, PWR_LEVER_PSTATE)) {
        pwr_events_add(PWR_EVENT_SPEED, usual, -1, 0);
    }
}

bool pwr_levers_low(size_t own_bytes)
{
    if (!pwr_process.config.saves || own_bytes < pwr_process.config.lever_bytes) {
        return false;
    }
    pwr_process_arm_levers();
    if (NULL != pwr_process.power) {
        pwr_power_low(pwr_process.power, PWR_POWER_LENGTH_UNKNOWN);
        note_speed(0);
    }
    return true;
}

void pwr_levers_full(void)
{
    if (NULL != pwr_process.power) {
        pwr_power_full(pwr_process.power);
        note_speed(1);
    }
}

void pwr_levers_throttle(unsigned level)
{
    pwr_power_throttle(pwr_process.power, level, PWR_POWER_LENGTH_UNKNOWN);
    pwr_events_add(PWR_EVENT_TSTATE, (int)level, -1, 0);
}

void pwr_levers_unthrottle(void)
{
    pwr_power_unthrottle(pwr_process.power);
    pwr_events_add(PWR_EVENT_TSTATE, 0, -1, 0);
}
