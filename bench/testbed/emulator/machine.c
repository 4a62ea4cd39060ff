/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The state of an emulated machine, as at boot.
 */
#include "config.h"

#include "machine.h"

#include <string.h>

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
