/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states, T-states and uncore frequency: what is asked for, and what comes of it.
 *
 * As on hardware there is one register per CPU that holds the request.  The cpufreq driver writes
 * it whenever its policy changes, a raw MSR write overwrites it, and the last writer wins.  What
 * comes of requests is in speed.c, the requests are in states.c and uncore.c.
 */
#ifndef EMU_STATES_H
#define EMU_STATES_H

#include "machine.h"

enum { EMU_RATIO_KHZ = 100000 };

/* Frequency the CPU's clock runs at: the highest request within pstate_scope. */
uint32_t emu_pstate_khz(const struct emu_machine *machine, int cpu);

/* The limits in force: requests clamped to the hardware, min never above max. */
uint32_t emu_pstate_min_khz(const struct emu_machine *machine, int cpu);
uint32_t emu_pstate_max_khz(const struct emu_machine *machine, int cpu);

/* As at boot: no limits, the configured governor. */
void emu_pstate_reset(struct emu_machine *machine, int cpu);

/* Policy writes, to the policy of any of its CPUs; each charges the time until now_ns first.  0, or
   EINVAL for a speed under another governor than userspace. */
int emu_pstate_limit_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
int emu_pstate_limit_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
int emu_pstate_set_speed(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
void emu_pstate_govern(struct emu_machine *machine, int cpu, int governor, uint64_t now_ns);

/* Writes of registers, whose bits have been checked.  Ratios are multiples of 100 MHz and pick the
   nearest P-state there is. */
unsigned emu_pstate_ratio(int khz);
void emu_pstate_write_perf_ctl(struct emu_machine *machine, int cpu, uint64_t value,
                               uint64_t now_ns);
void emu_pstate_write_hwp_request(struct emu_machine *machine, int cpu, uint64_t value,
                                  uint64_t now_ns);

/* T-states: duty cycles that IA32_CLOCK_MODULATION asks for, and what comes of them. */

/* The duty cycle the CPU's own register asks for, and the one its clock runs at: that of everybody
   who shares the T-state, by the machine's rule. */
double emu_tstate_requested(const struct emu_machine *machine, int cpu);
double emu_tstate_duty(const struct emu_machine *machine, int cpu);

/* Writes the register, whose bits have been checked, charging the time until now_ns first. */
void emu_tstate_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns);

/* Uncore frequency: one clock per package for its last-level cache, memory controllers and mesh.
 *
 * Both of its limits are in one register of the package, MSR 0x620 (max ratio in 6:0, min ratio in
 * 14:8, times 100 MHz), which the files of the intel_uncore_frequency driver read and write, too.
 * Hardware chooses between the limits by load; the emulated package runs at the upper one. */

/* As at boot: the limits of the hardware. */
void emu_uncore_reset(struct emu_machine *machine, int package, uint64_t now_ns);

/* The register of the CPU's package, and the frequency its uncore runs at. */
uint64_t emu_uncore_limits(const struct emu_machine *machine, int cpu);
uint32_t emu_uncore_khz(const struct emu_machine *machine, int cpu);

/* Writes the register, whose bits have been checked, charging the time until now_ns first. */
void emu_uncore_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns);

/* Accounts for what the package's uncore drew until now_ns. */
void emu_uncore_charge(struct emu_machine *machine, int package, uint64_t now_ns);

#endif
