/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One integrator of power over time, with RAPL's coarse view of it.
 */
#ifndef EMU_METER_H
#define EMU_METER_H

#include <stdint.h>

/* joules is exact at t_ns.  visible_j is what joules was at the last multiple of the update
   interval not after t_ns: all a reader of RAPL gets to see. */
struct emu_meter {
    uint64_t t_ns;
    double joules;
    double visible_j;
};

/* The last multiple of update_ns not after now_ns. */
uint64_t emu_meter_boundary(uint64_t now_ns, uint64_t update_ns);

/* watts was drawn from meter->t_ns until now_ns.  Does nothing if now_ns is not later. */
void emu_meter_advance(struct emu_meter *meter, double watts, uint64_t now_ns, uint64_t update_ns);

#endif
