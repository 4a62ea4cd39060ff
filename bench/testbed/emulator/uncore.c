/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequency: its register, its energy, and the files of Linux's intel_uncore_frequency
 * driver (Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst).
 */
#include "config.h"

#include "uncore.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "power_model.h"
#include "pstate.h"
#include "tree.h"

/* Where a limit is in the register. */
enum { MAX_SHIFT = 0, MIN_SHIFT = 8 };
static const uint64_t ratio_mask = 0x7f;

static uint64_t limits(uint32_t min_khz, uint32_t max_khz)
{
    return (uint64_t)(min_khz / EMU_RATIO_KHZ) << MIN_SHIFT | (uint64_t)(max_khz / EMU_RATIO_KHZ)
                                                                  << MAX_SHIFT;
}

static uint32_t limit_khz(uint64_t value, int shift)
{
    return (uint32_t)(value >> shift & ratio_mask) * EMU_RATIO_KHZ;
}

void emu_uncore_reset(struct emu_machine *machine, int package, uint64_t now_ns)
{
    const struct emu_config *config = &machine->config;
    machine->packages[package] = (struct emu_package){
        .uncore_limits = limits((uint32_t)config->uncore_min_khz, (uint32_t)config->uncore_max_khz),
        .uncore.t_ns = now_ns,
    };
}

uint32_t emu_uncore_khz(const struct emu_machine *machine, int package)
{
    uint32_t khz = limit_khz(machine->packages[package].uncore_limits, MAX_SHIFT);
    uint32_t low = (uint32_t)machine->config.uncore_min_khz;
    uint32_t high = (uint32_t)machine->config.uncore_max_khz;
    return khz < low ? low : khz > high ? high : khz;
}

void emu_uncore_charge(struct emu_machine *machine, int package, uint64_t now_ns)
{
    double watts = emu_power_uncore_w(&machine->config, emu_uncore_khz(machine, package));
    emu_meter_advance(&machine->packages[package].uncore, watts, now_ns, machine->update_ns);
}

int emu_uncore_write(struct emu_machine *machine, int package, uint64_t value, uint64_t now_ns)
{
    if ((value & ~(ratio_mask << MAX_SHIFT | ratio_mask << MIN_SHIFT)) != 0) {
        return EIO;
    }
    emu_uncore_charge(machine, package, now_ns);
    machine->packages[package].uncore_limits = value;
    return 0;
}

/* --- the driver's files; access->index is the first CPU of the package --- */

static int package_of(const struct emu_access *access)
{
    return access->machine->cpus[access->index].package;
}

static uint64_t limits_of(const struct emu_access *access)
{
    return access->machine->packages[package_of(access)].uncore_limits;
}

static void show_max(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", limit_khz(limits_of(access), MAX_SHIFT));
}

static void show_min(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", limit_khz(limits_of(access), MIN_SHIFT));
}

static void show_current(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", emu_uncore_khz(access->machine, package_of(access)));
}

/* Like the driver: down to a multiple of 100 MHz that the register can hold, and no look at the
   other limit or at what the hardware can do. */
static int store(const struct emu_access *access, const char *text, int shift)
{
    uint32_t khz;
    if (!emu_parse_u32(text, &khz) || khz < EMU_RATIO_KHZ || khz / EMU_RATIO_KHZ > ratio_mask) {
        return EINVAL;
    }
    uint64_t others = limits_of(access) & ~(ratio_mask << shift);
    return emu_uncore_write(access->machine, package_of(access),
                            others | (uint64_t)(khz / EMU_RATIO_KHZ) << shift, access->now_ns);
}

static int store_max(const struct emu_access *access, const char *text)
{
    return store(access, text, MAX_SHIFT);
}

static int store_min(const struct emu_access *access, const char *text)
{
    return store(access, text, MIN_SHIFT);
}

static const struct emu_attribute levers[] = {
    {"max_freq_khz", 0644, show_max, store_max, "uncore_max_khz"},
    {"min_freq_khz", 0644, show_min, store_min, "uncore_min_khz"},
};
static const struct emu_attribute current = {"current_freq_khz", 0400, show_current, NULL, NULL};

void emu_uncore_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    const struct emu_config *config = &machine->config;
    if (config->uncore != EMU_UNCORE_SYSFS) {
        return;
    }
    int parent = emu_tree_path(tree, "sys/devices/system/cpu/intel_uncore_frequency");
    for (int package = 0; package < config->packages; package++) {
        int cpu = emu_machine_package_first_cpu(machine, package);
        uint64_t initial = machine->packages[package].uncore_limits;
        char name[32];
        snprintf(name, sizeof name, "package_%02d_die_00", package);
        int folder = emu_tree_folder(tree, parent, name);
        emu_tree_text(tree, folder, "initial_max_freq_khz", "%" PRIu32 "\n",
                      limit_khz(initial, MAX_SHIFT));
        emu_tree_text(tree, folder, "initial_min_freq_khz", "%" PRIu32 "\n",
                      limit_khz(initial, MIN_SHIFT));
        emu_tree_attribute(tree, folder, &current, cpu);
        for (int i = 0; i < 2; i++) {
            struct emu_node *node = emu_tree_attribute(tree, folder, &levers[i], cpu);
            node->mode = S_IFREG | (mode_t)config->uncore_mode;
            node->owner = (uid_t)config->sysfs_owner;
        }
    }
}
