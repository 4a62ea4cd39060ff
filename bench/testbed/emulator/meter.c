/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One integrator of power over time.
 */
#include "config.h"

#include "meter.h"

uint64_t emu_meter_boundary(uint64_t now_ns, uint64_t update_ns)
{
    return now_ns - now_ns % update_ns;
}

void emu_meter_advance(struct emu_meter *meter, double watts, uint64_t now_ns, uint64_t update_ns)
{
    if (now_ns <= meter->t_ns) {
        return;
    }
    uint64_t boundary = emu_meter_boundary(now_ns, update_ns);
    if (boundary >= meter->t_ns) {
        meter->visible_j = meter->joules + watts * (double)(boundary - meter->t_ns) * 1e-9;
    }
    meter->joules += watts * (double)(now_ns - meter->t_ns) * 1e-9;
    meter->t_ns = now_ns;
}
