/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * RAPL: the machine's energy as readers get to see it.
 */
#include "config.h"

#include "rapl.h"

#include <math.h>

#include "uncore.h"

/* The joules of a domain, all of them or those that readers see, after so many seconds. */
static double domain_j(const struct emu_machine *machine, enum emu_domain domain, int index,
                       double seconds, bool seen)
{
    const struct emu_config *config = &machine->config;
    double core_j = 0, dram_j = config->dram_static_w * seconds;
    if (domain == EMU_PLATFORM) {
        double all = config->platform_static_w * seconds;
        for (int i = 0; i < config->packages; i++) {
            all += domain_j(machine, EMU_PACKAGE, i, seconds, seen) +
                   domain_j(machine, EMU_DRAM, i, seconds, seen);
        }
        return all;
    }
    int first = domain == EMU_ONE_CORE ? index : index * config->cores;
    int count = domain == EMU_ONE_CORE ? 1 : config->cores;
    for (int i = first; i < first + count; i++) {
        const struct emu_core *core = &machine->cores[i];
        core_j += seen ? core->core.visible_j : core->core.joules;
        dram_j += seen ? core->dram.visible_j : core->dram.joules;
    }
    if (domain == EMU_PACKAGE) {
        const struct emu_meter *uncore = &machine->packages[index].uncore;
        core_j += config->package_static_w * seconds + (seen ? uncore->visible_j : uncore->joules);
    }
    return domain == EMU_DRAM ? dram_j : core_j;
}

double emu_rapl_exact_j(const struct emu_machine *machine, enum emu_domain domain, int package,
                        uint64_t now_ns)
{
    return domain_j(machine, domain, package, (double)(now_ns - machine->start_ns) * 1e-9, false);
}

/* Server models fix it at 2^-16 J, whatever the unit of the other domains. */
static const int dram_unit = 16;

static int unit(const struct emu_machine *machine, enum emu_domain domain)
{
    return domain == EMU_DRAM ? dram_unit : machine->config.rapl_energy_unit;
}

uint32_t emu_rapl_counter(struct emu_machine *machine, enum emu_domain domain, int index,
                          uint64_t now_ns)
{
    uint64_t boundary = emu_meter_boundary(now_ns, machine->update_ns);
    if (boundary < machine->start_ns) {
        boundary = machine->start_ns; /* no update yet */
    }
    for (int i = 0; i < machine->core_count; i++) {
        bool wanted = domain == EMU_PLATFORM ||
                      index == (domain == EMU_ONE_CORE ? i : machine->cores[i].package);
        if (wanted && machine->cores[i].core.t_ns < boundary) {
            emu_machine_charge_core(machine, i, now_ns);
        }
    }
    for (int i = 0; i < machine->config.packages; i++) {
        if (machine->packages[i].uncore.t_ns < boundary) {
            emu_uncore_charge(machine, i, now_ns);
        }
    }
    double seconds = (double)(boundary - machine->start_ns) * 1e-9;
    double joules = domain_j(machine, domain, index, seconds, true);
    double counts = machine->config.rapl_start + ldexp(joules, unit(machine, domain));
    return (uint32_t)(uint64_t)fmod(counts, 4294967296.0);
}

uint64_t emu_rapl_max_uj(const struct emu_machine *machine, enum emu_domain domain)
{
    return (uint64_t)ldexp(1e6, 32 - unit(machine, domain));
}

uint64_t emu_rapl_uj(struct emu_machine *machine, enum emu_domain domain, int index,
                     uint64_t now_ns)
{
    uint32_t counter = emu_rapl_counter(machine, domain, index, now_ns);
    return (uint64_t)ldexp((double)counter * 1e6, -unit(machine, domain));
}
