/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Watts from states: the emulated machine's power model; and joules from watts.
 *
 * A core with threads t draws
 *   dyn(f) * (1 - prod(1 - a_t d_t))  +  idle * prod(1 - a_t)
 * where a_t is the fraction of time something was runnable on the thread and d_t its duty cycle.
 * With one thread that is a * d * dyn(f) + (1 - a) * idle: a throttled core draws its duty cycle's
 * share (ICPP 2010, section VI: c_j * p(core)), an idle core its C1 power.  Threads are taken as
 * independent: two half-active siblings keep the core awake 75% of the time.
 *   dyn(f) = core_dyn_w * (f / core_dyn_khz) ^ core_dyn_exponent
 * A package's uncore draws, busy or not,
 *   uncore_w * (f / uncore_max_khz) ^ core_dyn_exponent
 * with the cores' exponent: voltage is taken to follow frequency alike.
 */
#ifndef EMU_POWER_MODEL_H
#define EMU_POWER_MODEL_H

#include "machine_file.h"

struct emu_load {
    double active; /* 0..1 */
    double duty;   /* 0..1 */
};

double emu_power_core_w(const struct emu_config *config, uint32_t khz,
                        const struct emu_load *threads, int thread_count);
double emu_power_uncore_w(const struct emu_config *config, uint32_t khz);
/* One core's part of its package's dram_dyn_w. */
double emu_power_core_dram_w(const struct emu_config *config, const struct emu_load *threads,
                             int thread_count);

/* One integrator of power over time.  joules is exact at t_ns.  visible_j is what joules was at the
   last multiple of the update interval not after t_ns: all a reader of RAPL gets to see. */
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
