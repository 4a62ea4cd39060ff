/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * cpufreq in sysfs: policies, as the kernel's drivers present them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "states.h"
#include "tree.h"

static const char *const governor_names[] = {
    [EMU_GOV_PERFORMANCE] = "performance", [EMU_GOV_POWERSAVE] = "powersave",
    [EMU_GOV_USERSPACE] = "userspace",     [EMU_GOV_ONDEMAND] = "ondemand",
    [EMU_GOV_SCHEDUTIL] = "schedutil",
};

static void show_governor(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%s\n", governor_names[access->machine->cpus[access->index].governor]);
}

static int store_governor(const struct emu_access *access, const char *text)
{
    for (int i = 0; i < emu_driver_governors(&access->machine->config); i++) {
        if (strcmp(text, governor_names[i]) == 0) {
            emu_pstate_govern(access->machine, access->index, i, access->now_ns);
            return 0;
        }
    }
    return EINVAL;
}

static void show_governors(const struct emu_access *access, FILE *out)
{
    for (int i = 0; i < emu_driver_governors(&access->machine->config); i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", governor_names[i]);
    }
    fputc('\n', out);
}

static void show_speed(const struct emu_access *access, FILE *out)
{
    const struct emu_cpu *cpu = &access->machine->cpus[access->index];
    if (cpu->governor == EMU_GOV_USERSPACE) {
        fprintf(out, "%" PRIu32 "\n", cpu->setspeed_khz);
    } else {
        fputs("<unsupported>\n", out); /* the kernel's own words */
    }
}

/* The CPUs of the policy, all or those that are online. */
enum { RELATED, AFFECTED };

static void show_cpus(const struct emu_access *access, FILE *out)
{
    const struct emu_machine *machine = access->machine;
    const char *blank = "";
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        if (machine->cpus[cpu].policy == access->index &&
            (access->file->kind == RELATED || machine->cpus[cpu].online)) {
            fprintf(out, "%s%d", blank, cpu);
            blank = " ";
        }
    }
    fputc('\n', out);
}

static void show_frequencies(const struct emu_access *access, FILE *out)
{
    const struct emu_config *config = &access->machine->config;
    for (int i = config->pstate_count - 1; i >= 0; i--) {
        fprintf(out, "%" PRIu32 " ", config->pstates_khz[i]);
    }
    fputc('\n', out);
}

/* Modes of the writable ones come from the machine file. */
static const struct emu_file files[] = {
    {"scaling_governor", 0644, "scaling_governor", .policy = true, .show = show_governor,
     .store = store_governor},
    {"scaling_min_freq", 0644, "scaling_min_freq", .policy = true, .khz = emu_pstate_min_khz,
     .set_khz = emu_pstate_limit_min},
    {"scaling_max_freq", 0644, "scaling_max_freq", .policy = true, .khz = emu_pstate_max_khz,
     .set_khz = emu_pstate_limit_max},
    {"scaling_setspeed", 0644, "scaling_setspeed", .policy = true, .show = show_speed,
     .set_khz = emu_pstate_set_speed},
    {"scaling_cur_freq", 0444, .policy = true, .khz = emu_pstate_khz},
    {"scaling_available_governors", 0444, .policy = true, .show = show_governors},
    {"affected_cpus", 0444, .kind = AFFECTED, .policy = true, .show = show_cpus},
    {"related_cpus", 0444, .kind = RELATED, .policy = true, .show = show_cpus},
    {0},
};

/* of acpi-cpufreq, which asks the hardware */
static const struct emu_file acpi_files[] = {
    {"cpuinfo_cur_freq", 0400, .policy = true, .khz = emu_pstate_khz},
    {"scaling_available_frequencies", 0444, .policy = true, .show = show_frequencies},
    {0},
};

static void add_texts(struct emu_tree *tree, int folder, const struct emu_config *config)
{
    const struct emu_driver_traits *driver = emu_driver_of(config);
    emu_tree_text(tree, folder, "cpuinfo_min_freq", "%d\n", config->pstate_min_khz);
    emu_tree_text(tree, folder, "cpuinfo_max_freq", "%d\n", config->pstate_max_khz);
    /* a figure for readers: changes take effect at once */
    emu_tree_text(tree, folder, "cpuinfo_transition_latency", "10000\n");
    emu_tree_text(tree, folder, "scaling_driver", "%s\n", driver->name);
    if (driver->intel && driver->hwp) {
        emu_tree_text(tree, folder, "base_frequency", "%d\n", config->base_khz);
    }
}

void emu_cpufreq_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    const struct emu_config *config = &machine->config;
    const struct emu_driver_traits *driver = emu_driver_of(config);
    if (driver->name == NULL) {
        return;
    }
    int cpus = emu_tree_folder(tree, 0, "sys/devices/system/cpu");
    if (config->cpufreq_driver != EMU_DRIVER_ACPI) {
        int folder = emu_tree_folder(tree, cpus, "%s", driver->amd ? "amd_pstate" : "intel_pstate");
        emu_tree_text(tree, folder, "status", "%s\n", driver->active ? "active" : "passive");
    }
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        int policy = machine->cpus[cpu].policy;
        emu_tree_link(tree, emu_tree_folder(tree, cpus, "cpu%d", cpu), "cpufreq",
                      "../cpufreq/policy%d", policy);
        if (policy != cpu) {
            continue;
        }
        int folder = emu_tree_folder(tree, cpus, "cpufreq/policy%d", cpu);
        add_texts(tree, folder, config);
        emu_tree_files(tree, folder, files, cpu, config->sysfs_mode);
        if (config->cpufreq_driver == EMU_DRIVER_ACPI) {
            emu_tree_files(tree, folder, acpi_files, cpu, -1);
        }
    }
}
