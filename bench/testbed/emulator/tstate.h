/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: IA32_CLOCK_MODULATION (0x19A) and who shares it.
 */
#ifndef EMU_TSTATE_H
#define EMU_TSTATE_H

#include "machine.h"

/* The duty cycle (0..1] the CPU's own register asks for. */
double emu_tstate_requested(const struct emu_machine *machine, int cpu);
/* The duty cycle the CPU runs at, after the sharing rule. */
double emu_tstate_duty(const struct emu_machine *machine, int cpu);

/* Writes the register at now_ns.  0, or EIO when reserved bits are set (hardware: #GP). */
int emu_tstate_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns);

#endif
