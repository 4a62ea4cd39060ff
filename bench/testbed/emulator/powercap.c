/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * sys/class/powercap: RAPL as Linux's intel_rapl driver presents it.
 *
 * Limits are locked, as by a BIOS: they can be read and writing them fails.  The emulated machine
 * does not enforce power limits, so it must not pretend to accept one.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "rapl.h"
#include "tree.h"

static void show_package(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu64 "\n",
            emu_rapl_uj(access->machine, EMU_PACKAGE, access->index, access->now_ns));
}

static void show_core(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu64 "\n",
            emu_rapl_uj(access->machine, EMU_CORE, access->index, access->now_ns));
}

static void show_dram(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu64 "\n",
            emu_rapl_uj(access->machine, EMU_DRAM, access->index, access->now_ns));
}

static void show_platform(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu64 "\n", emu_rapl_uj(access->machine, EMU_PLATFORM, 0, access->now_ns));
}

/* AMD's counter is each core's own; the kernel reads the one of the package's first CPU and calls
   it the package's "core" zone. */
static void show_first_core(const struct emu_access *access, FILE *out)
{
    int core = access->index * access->machine->config.cores;
    fprintf(out, "%" PRIu64 "\n", emu_rapl_uj(access->machine, EMU_ONE_CORE, core, access->now_ns));
}

static const struct emu_attribute energy[] = {
    [EMU_PACKAGE] = {"energy_uj", 0400, show_package, NULL, NULL},
    [EMU_CORE] = {"energy_uj", 0400, show_core, NULL, NULL},
    [EMU_DRAM] = {"energy_uj", 0400, show_dram, NULL, NULL},
    [EMU_PLATFORM] = {"energy_uj", 0400, show_platform, NULL, NULL},
    [EMU_ONE_CORE] = {"energy_uj", 0400, show_first_core, NULL, NULL},
};

static void show_limit(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%.0f\n", access->machine->config.tdp_w * 1e6);
}

static void show_enabled(const struct emu_access *access, FILE *out)
{
    (void)access;
    fputs("1\n", out);
}

static int store_locked(const struct emu_access *access, const char *text)
{
    (void)access;
    (void)text;
    return EACCES;
}

static const struct emu_attribute locked[] = {
    {"constraint_0_power_limit_uw", 0644, show_limit, store_locked, NULL},
    {"enabled", 0644, show_enabled, store_locked, NULL},
};

static int add_zone(struct emu_tree *tree, const struct emu_machine *machine, int parent,
                    const char *zone, const char *target, const char *name, enum emu_domain domain,
                    int package)
{
    int class = emu_tree_path(tree, "sys/class/powercap");
    int folder = emu_tree_folder(tree, parent, zone);
    emu_tree_link(tree, class, zone, "../../devices/virtual/powercap/intel-rapl/%s", target);
    emu_tree_text(tree, folder, "name", "%s\n", name);
    emu_tree_text(tree, folder, "max_energy_range_uj", "%" PRIu64 "\n",
                  emu_rapl_max_uj(machine, domain));
    emu_tree_attribute(tree, folder, &energy[domain], package)->mode =
        S_IFREG | (mode_t)machine->config.powercap_mode;
    emu_tree_attribute(tree, folder, &locked[1], package);
    return folder;
}

static void add_limits(struct emu_tree *tree, const struct emu_machine *machine, int folder,
                       int package)
{
    emu_tree_text(tree, folder, "constraint_0_name", "long_term\n");
    emu_tree_text(tree, folder, "constraint_0_time_window_us", "999424\n");
    emu_tree_text(tree, folder, "constraint_0_max_power_uw", "%.0f\n", machine->config.tdp_w * 1e6);
    emu_tree_attribute(tree, folder, &locked[0], package);
}

static void add_package(struct emu_tree *tree, const struct emu_machine *machine, int parent,
                        int package)
{
    static const struct {
        const char *name;
        enum emu_domain domain;
    } intel[] = {{"core", EMU_CORE}, {"dram", EMU_DRAM}}, amd[] = {{"core", EMU_ONE_CORE}};
    bool is_amd = machine->config.cpu_vendor == EMU_VENDOR_AMD;
    char zone[32], name[32], target[80];
    snprintf(zone, sizeof zone, "intel-rapl:%d", package);
    snprintf(name, sizeof name, "package-%d", package);
    int folder = add_zone(tree, machine, parent, zone, zone, name, EMU_PACKAGE, package);
    if (!is_amd) { /* AMD's RAPL counts and limits nothing */
        add_limits(tree, machine, folder, package);
    }
    for (int i = 0; i < (is_amd ? 1 : 2); i++) {
        char part[40];
        snprintf(part, sizeof part, "intel-rapl:%d:%d", package, i);
        snprintf(target, sizeof target, "%s/%s", zone, part);
        add_zone(tree, machine, folder, part, target, is_amd ? amd[i].name : intel[i].name,
                 is_amd ? amd[i].domain : intel[i].domain, package);
    }
}

void emu_powercap_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    /* there even if empty: what the real machine has must be hidden */
    emu_tree_path(tree, "sys/class/powercap");
    emu_tree_path(tree, "sys/devices/virtual/powercap");
    if (!machine->config.rapl || !machine->config.powercap) {
        return;
    }
    int root = emu_tree_path(tree, "sys/devices/virtual/powercap/intel-rapl");
    emu_tree_text(tree, root, "enabled", "1\n");
    emu_tree_link(tree, emu_tree_path(tree, "sys/class/powercap"), "intel-rapl",
                  "../../devices/virtual/powercap/intel-rapl");
    char zone[32];
    snprintf(zone, sizeof zone, "intel-rapl:%d", machine->config.packages);
    for (int package = 0; package < machine->config.packages; package++) {
        add_package(tree, machine, root, package);
    }
    if (machine->config.cpu_vendor == EMU_VENDOR_INTEL) {
        add_zone(tree, machine, root, zone, zone, "psys", EMU_PLATFORM, 0);
    }
}
