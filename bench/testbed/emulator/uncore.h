/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequency: one clock per package for its last-level cache, memory controllers and mesh.
 *
 * Both of its limits are in one register of the package, MSR 0x620 (max ratio in 6:0, min ratio in
 * 14:8, times 100 MHz), which the files of the intel_uncore_frequency driver read and write, too.
 * Hardware chooses between the limits by load; the emulated package runs at the upper one.
 */
#ifndef EMU_UNCORE_H
#define EMU_UNCORE_H

#include "machine.h"

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
