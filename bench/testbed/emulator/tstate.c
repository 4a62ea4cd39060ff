/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: on-demand clock modulation (Intel SDM vol. 3, 15.8.3).
 */
#include "config.h"

#include "tstate.h"

enum { MODULATION_ENABLE = 1 << 4 };

double emu_tstate_requested(const struct emu_machine *machine, int cpu)
{
    uint64_t value = machine->cpus[cpu].clock_modulation;
    if ((value & MODULATION_ENABLE) == 0) {
        return 1;
    }
    double duty = machine->config.tstate_step == EMU_STEP_6_25 ? (double)(value & 0xf) / 16
                                                               : (double)(value >> 1 & 0x7) / 8;
    return duty > 0 ? duty : 1; /* 0 is reserved: no modulation */
}

double emu_tstate_duty(const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    double duty = emu_tstate_requested(machine, cpu);
    if (config->tstate_scope == EMU_SCOPE_THREAD ||
        (config->tstate_scope == EMU_SCOPE_CORE && config->smt == 1)) {
        return duty;
    }
    for (int other = 0; other < machine->cpu_count; other++) {
        if (!emu_machine_same_scope(machine, cpu, other, config->tstate_scope)) {
            continue;
        }
        double wish = emu_tstate_requested(machine, other);
        if (config->tstate_rule == EMU_RULE_HIGHEST ? wish > duty : wish < duty) {
            duty = wish;
        }
    }
    return duty;
}

void emu_tstate_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns)
{
    emu_machine_charge_scope(machine, cpu, machine->config.tstate_scope, now_ns);
    machine->cpus[cpu].clock_modulation = value;
}
