/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The state of an emulated machine and its energy account.
 */
#include "config.h"

#include "machine.h"

#include <string.h>

#include "power_model.h"
#include "states.h"

static void cpus_number(struct emu_machine *machine)
{
    const struct emu_config *config = &machine->config;
    for (int thread = 0; thread < config->smt; thread++) {
        for (int core = 0; core < machine->core_count; core++) {
            int at = core; /* position of the core among the first threads */
            if (config->cpu_numbering == EMU_NUMBER_SCATTERED) {
                at = core % config->cores * config->packages + core / config->cores;
            }
            int cpu = thread * machine->core_count + at;
            machine->cpus[cpu].core = core;
            machine->cpus[cpu].package = core / config->cores;
            machine->cpus[cpu].core_id = core % config->cores;
            machine->cores[core].cpus[thread] = cpu;
            machine->cores[core].package = core / config->cores;
        }
    }
}

void emu_machine_init(struct emu_machine *machine, const struct emu_config *config, uint64_t now_ns)
{
    memset(machine, 0, sizeof *machine);
    machine->config = *config;
    machine->core_count = config->packages * config->cores;
    machine->cpu_count = machine->core_count * config->smt;
    machine->start_ns = now_ns;
    machine->update_ns = (uint64_t)config->rapl_update_us * 1000;
    cpus_number(machine);
    for (int i = 0; i < machine->core_count; i++) {
        machine->cores[i].core.t_ns = now_ns;
        machine->cores[i].dram.t_ns = now_ns;
    }
    for (int i = 0; i < config->packages; i++) {
        emu_uncore_reset(machine, i, now_ns);
    }
    for (int i = 0; i < machine->cpu_count; i++) {
        struct emu_cpu *cpu = &machine->cpus[i];
        cpu->online = true;
        while (!emu_machine_same_scope(machine, i, cpu->policy, config->policy_scope)) {
            cpu->policy++;
        }
        emu_pstate_reset(machine, i);
    }
}

bool emu_machine_policy_active(const struct emu_machine *machine, int cpu)
{
    for (int i = 0; i < machine->cpu_count; i++) {
        if (machine->cpus[i].policy == machine->cpus[cpu].policy && machine->cpus[i].online) {
            return true;
        }
    }
    return false;
}

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
        active = machine->active(machine->active_arg, cpu, from_ns, now_ns);
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

int emu_machine_package_first_cpu(const struct emu_machine *machine, int package)
{
    return machine->cores[package * machine->config.cores].cpus[0];
}
