/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * sys/class/powercap: RAPL as Linux's intel_rapl driver presents it.
 *
 * Limits are locked, as by a BIOS: they can be read and writing them fails.  The emulated machine
 * does not enforce power limits, so it must not pretend to accept one.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "rapl.h"
#include "tree.h"

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
    const char *slash = strrchr(path, '/');
    int folder = emu_tree_folder(tree, 0, "sys/" FOLDER "/%s", path);
    emu_tree_link(tree, emu_tree_folder(tree, 0, CLASS), slash != NULL ? slash + 1 : path,
                  "../../" FOLDER "/%s", path);
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
    emu_tree_link(tree, class, "intel-rapl", "../../" FOLDER);
    for (int package = 0; package < machine->config.packages; package++) {
        add_package(tree, machine, package);
    }
    if (machine->config.cpu_vendor == EMU_VENDOR_INTEL) {
        char zone[32];
        snprintf(zone, sizeof zone, "intel-rapl:%d", machine->config.packages);
        add_zone(tree, machine, zone, "psys", EMU_PLATFORM, 0);
    }
}
