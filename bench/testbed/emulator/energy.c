/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What cores and packages drew, charged before anything changes it.
 */
#include "config.h"

#include "machine.h"

#include "power_model.h"
#include "states.h"

static uint64_t active_ns(struct emu_machine *machine, int cpu, uint64_t from_ns, uint64_t now_ns)
{
    uint64_t all = now_ns - from_ns;
    uint64_t active = 0;
    if (!machine->cpus[cpu].online) {
        return 0;
    }
    if (machine->config.fixed_activity >= 0) {
        active = (uint64_t)(machine->config.fixed_activity * (double)all);
    } else if (machine->active != NULL) {
        active = machine->active(machine->active_arg, cpu, now_ns);
    }
    return active < all ? active : all;
}

void emu_machine_charge_core(struct emu_machine *machine, int core, uint64_t now_ns)
{
    struct emu_core *the_core = &machine->cores[core];
    uint64_t from_ns = the_core->core.t_ns;
    if (now_ns <= from_ns) {
        return;
    }
    const struct emu_config *config = &machine->config;
    uint32_t khz = emu_pstate_khz(machine, the_core->cpus[0]);
    struct emu_load loads[EMU_MAX_SMT];
    for (int i = 0; i < config->smt; i++) {
        int number = the_core->cpus[i];
        uint64_t ns = active_ns(machine, number, from_ns, now_ns);
        loads[i].active = (double)ns / (double)(now_ns - from_ns);
        loads[i].duty = emu_tstate_duty(machine, number);
        machine->cpus[number].active_ns += ns;
    }
    double core_w = emu_power_core_w(config, khz, loads, config->smt);
    double dram_w = emu_power_core_dram_w(config, loads, config->smt);
    emu_meter_advance(&the_core->core, core_w, now_ns, machine->update_ns);
    emu_meter_advance(&the_core->dram, dram_w, now_ns, machine->update_ns);
}

void emu_machine_charge_scope(struct emu_machine *machine, int cpu, int scope, uint64_t now_ns)
{
    if (scope != EMU_SCOPE_PACKAGE) {
        emu_machine_charge_core(machine, machine->cpus[cpu].core, now_ns);
        return;
    }
    for (int i = 0; i < machine->core_count; i++) {
        if (machine->cores[i].package == machine->cpus[cpu].package) {
            emu_machine_charge_core(machine, i, now_ns);
        }
    }
}

void emu_machine_charge_all(struct emu_machine *machine, uint64_t now_ns)
{
    for (int i = 0; i < machine->core_count; i++) {
        emu_machine_charge_core(machine, i, now_ns);
    }
    for (int i = 0; i < machine->config.packages; i++) {
        emu_uncore_charge(machine, i, now_ns);
    }
}
