/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: duty cycles that IA32_CLOCK_MODULATION asks for, and what comes of them.
 */
#ifndef EMU_TSTATE_H
#define EMU_TSTATE_H

#include "machine.h"

/* The duty cycle the CPU's own register asks for, and the one its clock runs at: that of everybody
   who shares the T-state, by the machine's rule. */
double emu_tstate_requested(const struct emu_machine *machine, int cpu);
double emu_tstate_duty(const struct emu_machine *machine, int cpu);

/* Writes the register, whose bits have been checked, charging the time until now_ns first. */
void emu_tstate_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns);

#endif
