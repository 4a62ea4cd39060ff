/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * RAPL: the machine's energy as readers get to see it.
 */
#include "config.h"

#include "rapl.h"

#include <math.h>

#include "uncore.h"

typedef double joules_fn(const struct emu_meter *meter);

static double exact(const struct emu_meter *meter)
{
    return meter->joules;
}

static double visible(const struct emu_meter *meter)
{
    return meter->visible_j;
}

static double package_j(const struct emu_machine *machine, enum emu_domain domain, int package,
                        double seconds, joules_fn *joules)
{
    const struct emu_config *config = &machine->config;
    double core_j = 0, dram_j = config->dram_static_w * seconds;
    for (int i = package * config->cores; i < (package + 1) * config->cores; i++) {
        core_j += joules(&machine->cores[i].core);
        dram_j += joules(&machine->cores[i].dram);
    }
    switch (domain) {
    case EMU_CORE:
        return core_j;
    case EMU_DRAM:
        return dram_j;
    default:
        return core_j + joules(&machine->packages[package].uncore) +
               config->package_static_w * seconds;
    }
}

static double domain_j(const struct emu_machine *machine, enum emu_domain domain, int package,
                       double seconds, joules_fn *joules)
{
    if (domain == EMU_ONE_CORE) {
        return joules(&machine->cores[package].core);
    }
    if (domain != EMU_PLATFORM) {
        return package_j(machine, domain, package, seconds, joules);
    }
    double all = machine->config.platform_static_w * seconds;
    for (int i = 0; i < machine->config.packages; i++) {
        all += package_j(machine, EMU_PACKAGE, i, seconds, joules);
        all += package_j(machine, EMU_DRAM, i, seconds, joules);
    }
    return all;
}

double emu_rapl_exact_j(const struct emu_machine *machine, enum emu_domain domain, int package,
                        uint64_t now_ns)
{
    return domain_j(machine, domain, package, (double)(now_ns - machine->start_ns) * 1e-9, exact);
}

static int unit(const struct emu_machine *machine, enum emu_domain domain)
{
    return domain == EMU_DRAM ? machine->config.rapl_dram_unit : machine->config.rapl_energy_unit;
}

uint32_t emu_rapl_counter(struct emu_machine *machine, enum emu_domain domain, int package,
                          uint64_t now_ns)
{
    uint64_t boundary = emu_meter_boundary(now_ns, machine->update_ns);
    if (boundary < machine->start_ns) {
        boundary = machine->start_ns; /* no update yet */
    }
    for (int i = 0; i < machine->core_count; i++) {
        bool wanted = domain == EMU_PLATFORM ||
                      package == (domain == EMU_ONE_CORE ? i : machine->cores[i].package);
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
    double joules = domain_j(machine, domain, package, seconds, visible);
    double counts = machine->config.rapl_start + ldexp(joules, unit(machine, domain));
    return (uint32_t)(uint64_t)fmod(counts, 4294967296.0);
}

uint64_t emu_rapl_max_uj(const struct emu_machine *machine, enum emu_domain domain)
{
    return (uint64_t)ldexp(1e6, 32 - unit(machine, domain));
}

uint64_t emu_rapl_uj(struct emu_machine *machine, enum emu_domain domain, int package,
                     uint64_t now_ns)
{
    uint32_t counter = emu_rapl_counter(machine, domain, package, now_ns);
    return (uint64_t)ldexp((double)counter * 1e6, -unit(machine, domain));
}
