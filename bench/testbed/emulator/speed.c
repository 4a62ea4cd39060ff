/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which CPUs share what, and how fast each one runs.
 */
#include "config.h"

#include "states.h"

bool emu_machine_same_scope(const struct emu_machine *machine, int cpu, int other, int scope)
{
    switch (scope) {
    case EMU_SCOPE_MACHINE:
        return true;
    case EMU_SCOPE_PACKAGE:
        return machine->cpus[cpu].package == machine->cpus[other].package;
    case EMU_SCOPE_CORE:
        return machine->cpus[cpu].core == machine->cpus[other].core;
    default:
        return cpu == other;
    }
}

int emu_machine_package_first_cpu(const struct emu_machine *machine, int package)
{
    return machine->cores[package * machine->config.cores].cpus[0];
}

uint32_t emu_pstate_khz(const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    uint32_t khz = 0;
    if (config->pstate_scope == EMU_SCOPE_CORE && config->smt == 1) {
        return machine->cpus[cpu].target_khz;
    }
    /* a core has one clock, whatever the scope of requests */
    int scope = config->pstate_scope == EMU_SCOPE_THREAD ? EMU_SCOPE_CORE : config->pstate_scope;
    for (int other = 0; other < machine->cpu_count; other++) {
        if (machine->cpus[other].online && emu_machine_same_scope(machine, cpu, other, scope) &&
            machine->cpus[other].target_khz > khz) {
            khz = machine->cpus[other].target_khz;
        }
    }
    return khz > 0 ? khz : machine->cpus[cpu].target_khz; /* all offline */
}

/* --- T-states: on-demand clock modulation (Intel SDM vol. 3, 15.8.3) --- */

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
