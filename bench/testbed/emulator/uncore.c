/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequency: its register, its energy, and the files of Linux's intel_uncore_frequency
 * driver (Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "states.h"
#include "tree.h"

/* Where a limit is in the register. */
enum { MAX_SHIFT = 0, MIN_SHIFT = 8 };
static const uint64_t ratio_mask = 0x7f;

void emu_uncore_reset(struct emu_machine *machine, int package, uint64_t now_ns)
{
    uint64_t min = (uint64_t)machine->config.uncore_min_khz / EMU_RATIO_KHZ;
    uint64_t max = (uint64_t)machine->config.uncore_max_khz / EMU_RATIO_KHZ;
    machine->packages[package] = (struct emu_package){
        .uncore_limits = min << MIN_SHIFT | max << MAX_SHIFT, .uncore.t_ns = now_ns};
}

uint64_t emu_uncore_limits(const struct emu_machine *machine, int cpu)
{
    return machine->packages[machine->cpus[cpu].package].uncore_limits;
}

static uint32_t max_khz(const struct emu_machine *machine, int cpu)
{
    return (uint32_t)(emu_uncore_limits(machine, cpu) >> MAX_SHIFT & ratio_mask) * EMU_RATIO_KHZ;
}

static uint32_t min_khz(const struct emu_machine *machine, int cpu)
{
    return (uint32_t)(emu_uncore_limits(machine, cpu) >> MIN_SHIFT & ratio_mask) * EMU_RATIO_KHZ;
}

uint32_t emu_uncore_khz(const struct emu_machine *machine, int cpu)
{
    uint32_t khz = max_khz(machine, cpu);
    uint32_t low = (uint32_t)machine->config.uncore_min_khz;
    uint32_t high = (uint32_t)machine->config.uncore_max_khz;
    return khz < low ? low : khz > high ? high : khz;
}

void emu_uncore_charge(struct emu_machine *machine, int package, uint64_t now_ns)
{
    uint32_t khz = emu_uncore_khz(machine, emu_machine_package_first_cpu(machine, package));
    emu_meter_advance(&machine->packages[package].uncore, emu_power_uncore_w(&machine->config, khz),
                      now_ns, machine->update_ns);
}

void emu_uncore_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns)
{
    int package = machine->cpus[cpu].package;
    emu_uncore_charge(machine, package, now_ns);
    machine->packages[package].uncore_limits = value;
}

/* Like the driver: down to a multiple of 100 MHz that the register can hold, and no look at the
   other limit or at what the hardware can do. */
static int set_limit(struct emu_machine *machine, int cpu, uint32_t khz, int shift, uint64_t now_ns)
{
    uint64_t ratio = khz / EMU_RATIO_KHZ;
    if (ratio == 0 || ratio > ratio_mask) {
        return EINVAL;
    }
    uint64_t others = emu_uncore_limits(machine, cpu) & ~(ratio_mask << shift);
    emu_uncore_write(machine, cpu, others | ratio << shift, now_ns);
    return 0;
}

static int set_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    return set_limit(machine, cpu, khz, MAX_SHIFT, now_ns);
}

static int set_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    return set_limit(machine, cpu, khz, MIN_SHIFT, now_ns);
}

static const struct emu_file files[] = {
    {"max_freq_khz", 0644, "uncore_max_khz", .khz = max_khz, .set_khz = set_max},
    {"min_freq_khz", 0644, "uncore_min_khz", .khz = min_khz, .set_khz = set_min},
    {"current_freq_khz", 0400, .khz = emu_uncore_khz},
    {0},
};

/* The files' CPU is the first of the package. */
void emu_uncore_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    if (machine->config.uncore != EMU_UNCORE_SYSFS) {
        return;
    }
    for (int package = 0; package < machine->config.packages; package++) {
        int cpu = emu_machine_package_first_cpu(machine, package);
        int folder = emu_tree_folder(
            tree, 0, "sys/devices/system/cpu/intel_uncore_frequency/package_%02d_die_00", package);
        emu_tree_text(tree, folder, "initial_max_freq_khz", "%" PRIu32 "\n", max_khz(machine, cpu));
        emu_tree_text(tree, folder, "initial_min_freq_khz", "%" PRIu32 "\n", min_khz(machine, cpu));
        emu_tree_files(tree, folder, files, cpu, -1);
    }
}
