/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * RAPL: the machine's energy as readers get to see it, as registers and in powercap.
 */
#include "config.h"

#include "rapl.h"

#include <inttypes.h>
#include <math.h>

#include "states.h"
#include "tree.h"

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

static int unit(const struct emu_machine *machine, enum emu_domain domain)
{
    return domain == EMU_DRAM ? machine->config.rapl_dram_unit : machine->config.rapl_energy_unit;
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

/* --- sys/class/powercap: RAPL as Linux's intel_rapl driver presents it ---
 *
 * Limits are locked, as by a BIOS: they can be read and writing them fails.  The emulated machine
 * does not enforce power limits, so it must not pretend to accept one. */

#define CLASS "sys/class/powercap"
#define FOLDER "devices/virtual/powercap/intel-rapl"

static void show_energy(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu64 "\n",
            emu_rapl_uj(access->machine, (enum emu_domain)access->file->kind, access->index,
                        access->now_ns));
}

/* Since Linux 5.10 they are root's alone. */
#define ENERGY(domain) [domain] = {{"energy_uj", 0400, .kind = (domain), .show = show_energy}, {0}}
static const struct emu_file energy[][2] = {
    ENERGY(EMU_PACKAGE),  ENERGY(EMU_CORE),     ENERGY(EMU_DRAM),
    ENERGY(EMU_PLATFORM), ENERGY(EMU_ONE_CORE),
};

/* A zone of that path below the driver's folder, and its link in the class. */
static int add_zone(struct emu_tree *tree, const struct emu_machine *machine, const char *path,
                    const char *name, enum emu_domain domain, int index)
{
    int folder = emu_tree_folder(tree, 0, "sys/" FOLDER "/%s", path);
    emu_tree_link(tree, emu_tree_folder(tree, 0, CLASS), NULL, "../../" FOLDER "/%s", path);
    emu_tree_text(tree, folder, "name", "%s\n", name);
    emu_tree_text(tree, folder, "max_energy_range_uj", "%" PRIu64 "\n",
                  emu_rapl_max_uj(machine, domain));
    emu_tree_files(tree, folder, energy[domain], index, -1);
    emu_tree_text(tree, folder, "enabled", "1\n");
    return folder;
}

/* AMD's RAPL limits nothing and knows no memory.  Its core counter is each core's own; the kernel
   reads the one of the package's first CPU and calls it the package's "core" zone. */
static void add_package(struct emu_tree *tree, const struct emu_machine *machine, int package)
{
    bool amd = machine->config.cpu_vendor == EMU_VENDOR_AMD;
    char path[64], name[32];
    snprintf(path, sizeof path, "intel-rapl:%d", package);
    snprintf(name, sizeof name, "package-%d", package);
    int folder = add_zone(tree, machine, path, name, EMU_PACKAGE, package);
    snprintf(path, sizeof path, "intel-rapl:%d/intel-rapl:%d:0", package, package);
    if (amd) {
        add_zone(tree, machine, path, "core", EMU_ONE_CORE, package * machine->config.cores);
        return;
    }
    emu_tree_text(tree, folder, "constraint_0_name", "long_term\n");
    emu_tree_text(tree, folder, "constraint_0_time_window_us", "999424\n");
    emu_tree_text(tree, folder, "constraint_0_max_power_uw", "%.0f\n", machine->config.tdp_w * 1e6);
    emu_tree_text(tree, folder, "constraint_0_power_limit_uw", "%.0f\n",
                  machine->config.tdp_w * 1e6);
    add_zone(tree, machine, path, "core", EMU_CORE, package);
    snprintf(path, sizeof path, "intel-rapl:%d/intel-rapl:%d:1", package, package);
    add_zone(tree, machine, path, "dram", EMU_DRAM, package);
}

void emu_powercap_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    /* there even if empty: what the real machine has must be hidden */
    int class = emu_tree_folder(tree, 0, CLASS);
    emu_tree_folder(tree, 0, "sys/devices/virtual/powercap");
    if (!machine->config.rapl || !machine->config.powercap) {
        return;
    }
    emu_tree_text(tree, emu_tree_folder(tree, 0, "sys/" FOLDER), "enabled", "1\n");
    emu_tree_link(tree, class, NULL, "../../" FOLDER);
    for (int package = 0; package < machine->config.packages; package++) {
        add_package(tree, machine, package);
    }
    if (machine->config.cpu_vendor == EMU_VENDOR_INTEL) {
        char zone[32];
        snprintf(zone, sizeof zone, "intel-rapl:%d", machine->config.packages);
        add_zone(tree, machine, zone, "psys", EMU_PLATFORM, 0);
    }
}
