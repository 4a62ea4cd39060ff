/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: what cpufreq and the MSRs ask for, and the frequency that comes of it.
 *
 * As on hardware there is one register per CPU that holds the request.  The cpufreq driver writes
 * it whenever its policy changes, a raw MSR write overwrites it, and the last writer wins.
 */
#ifndef EMU_PSTATE_H
#define EMU_PSTATE_H

#include "machine.h"

enum { EMU_RATIO_KHZ = 100000 };

/* Frequency the CPU's clock runs at: the highest request within pstate_scope. */
uint32_t emu_pstate_khz(const struct emu_machine *machine, int cpu);

/* The limits in force: requests clamped to the hardware, min never above max. */
uint32_t emu_pstate_min_khz(const struct emu_machine *machine, int cpu);
uint32_t emu_pstate_max_khz(const struct emu_machine *machine, int cpu);

/* The cpufreq driver puts the policy in force into the hardware. */
void emu_pstate_drive(struct emu_machine *machine, int cpu);

/* Policy writes; each charges the time until now_ns first. */
void emu_pstate_limit_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
void emu_pstate_limit_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
void emu_pstate_govern(struct emu_machine *machine, int cpu, int governor, uint64_t now_ns);
void emu_pstate_set_speed(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);

/* Raw registers. Ratios are multiples of 100 MHz and pick the nearest P-state there is. */
unsigned emu_pstate_ratio(uint32_t khz);
int emu_pstate_write_perf_ctl(struct emu_machine *machine, int cpu, uint64_t value,
                              uint64_t now_ns);
int emu_pstate_write_hwp_request(struct emu_machine *machine, int cpu, uint64_t value,
                                 uint64_t now_ns);

#endif
