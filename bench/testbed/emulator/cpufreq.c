/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * cpufreq in sysfs: policies, as the kernel's drivers present them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cpulist.h"
#include "driver.h"
#include "epp.h"
#include "pstate.h"
#include "tree.h"

static const char *const governor_names[] = {
    [EMU_GOV_PERFORMANCE] = "performance", [EMU_GOV_POWERSAVE] = "powersave",
    [EMU_GOV_USERSPACE] = "userspace",     [EMU_GOV_ONDEMAND] = "ondemand",
    [EMU_GOV_SCHEDUTIL] = "schedutil",
};

static void show_current(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", emu_pstate_khz(access->machine, access->index));
}

static void show_min(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", emu_pstate_min_khz(access->machine, access->index));
}

static void show_max(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%" PRIu32 "\n", emu_pstate_max_khz(access->machine, access->index));
}

static void show_governor(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%s\n", governor_names[access->machine->cpus[access->index].governor]);
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

static int store_min(const struct emu_access *access, const char *text)
{
    uint32_t khz;
    if (!emu_parse_u32(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_limit_min(access->machine, access->index, khz, access->now_ns);
    return 0;
}

static int store_max(const struct emu_access *access, const char *text)
{
    uint32_t khz;
    if (!emu_parse_u32(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_limit_max(access->machine, access->index, khz, access->now_ns);
    return 0;
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

static int store_speed(const struct emu_access *access, const char *text)
{
    uint32_t khz;
    if (access->machine->cpus[access->index].governor != EMU_GOV_USERSPACE ||
        !emu_parse_u32(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_set_speed(access->machine, access->index, khz, access->now_ns);
    return 0;
}

static void show_cpus(const struct emu_machine *machine, emu_cpu_test *has, int key, FILE *out)
{
    const char *blank = "";
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        if (has(machine, cpu, key)) {
            fprintf(out, "%s%d", blank, cpu);
            blank = " ";
        }
    }
    fputc('\n', out);
}

static bool related(const struct emu_machine *machine, int cpu, int policy)
{
    return machine->cpus[cpu].policy == policy;
}

static bool affected(const struct emu_machine *machine, int cpu, int policy)
{
    return machine->cpus[cpu].online && related(machine, cpu, policy);
}

static bool in_domain(const struct emu_machine *machine, int cpu, int other)
{
    return machine->cpus[cpu].online &&
           emu_machine_same_scope(machine, cpu, other, machine->config.pstate_scope);
}

static void show_affected(const struct emu_access *access, FILE *out)
{
    show_cpus(access->machine, affected, access->index, out);
}

static void show_related(const struct emu_access *access, FILE *out)
{
    show_cpus(access->machine, related, access->index, out);
}

static void show_domain(const struct emu_access *access, FILE *out)
{
    show_cpus(access->machine, in_domain, access->index, out);
}

/* Modes of the writable ones come from the machine file. */
static const struct emu_attribute levers[] = {
    {"scaling_governor", 0644, show_governor, store_governor, "scaling_governor"},
    {"scaling_min_freq", 0644, show_min, store_min, "scaling_min_freq"},
    {"scaling_max_freq", 0644, show_max, store_max, "scaling_max_freq"},
    {"scaling_setspeed", 0644, show_speed, store_speed, "scaling_setspeed"},
};

static const struct emu_attribute readings[] = {
    {"scaling_cur_freq", 0444, show_current, NULL, NULL},
    {"affected_cpus", 0444, show_affected, NULL, NULL},
    {"related_cpus", 0444, show_related, NULL, NULL},
};

/* of acpi-cpufreq, which asks the hardware, and knows who shares a clock whatever the policies */
static const struct emu_attribute acpi_readings[] = {
    {"cpuinfo_cur_freq", 0400, show_current, NULL, NULL},
    {"freqdomain_cpus", 0444, show_domain, NULL, NULL},
};

static void add_list(struct emu_tree *tree, int folder, const struct emu_config *config)
{
    char list[16 * 128] = "";
    size_t used = 0;
    if (config->pstate_count > 0) {
        for (int i = config->pstate_count - 1; i >= 0; i--) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%" PRIu32 " ",
                                     config->pstates_khz[i]);
        }
    } else {
        for (int khz = config->pstate_max_khz; khz >= config->pstate_min_khz;
             khz -= EMU_RATIO_KHZ) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%d ", khz);
        }
    }
    emu_tree_text(tree, folder, "scaling_available_frequencies", "%s\n", list);
}

/* CPPC's abstract scale: the highest frequency is the highest performance, 255. */
static void add_amd_texts(struct emu_tree *tree, int folder, const struct emu_config *config)
{
    emu_tree_text(tree, folder, "amd_pstate_max_freq", "%d\n", config->pstate_max_khz);
    emu_tree_text(tree, folder, "amd_pstate_lowest_nonlinear_freq", "%d\n", config->pstate_min_khz);
    emu_tree_text(tree, folder, "amd_pstate_highest_perf", "255\n");
}

static void add_texts(struct emu_tree *tree, int folder, const struct emu_config *config)
{
    const struct emu_driver_traits *driver = emu_driver_of(config);
    emu_tree_text(tree, folder, "cpuinfo_min_freq", "%d\n", config->pstate_min_khz);
    emu_tree_text(tree, folder, "cpuinfo_max_freq", "%d\n", config->pstate_max_khz);
    emu_tree_text(tree, folder, "cpuinfo_transition_latency", "%d\n",
                  config->transition_latency_ns);
    emu_tree_text(tree, folder, "scaling_driver", "%s\n", driver->name);
    emu_tree_text(tree, folder, "scaling_available_governors", "%s\n",
                  driver->own_governors ? "performance powersave"
                                        : "performance powersave userspace ondemand schedutil");
    if (driver->lists_frequencies) {
        add_list(tree, folder, config);
    }
    if (driver->intel && driver->hwp) {
        emu_tree_text(tree, folder, "base_frequency", "%d\n", config->base_khz);
    }
    if (driver->amd && !driver->intel) {
        add_amd_texts(tree, folder, config);
    }
}

static void add_levers(struct emu_tree *tree, int folder, const struct emu_config *config,
                       const struct emu_attribute *list, size_t count, int cpu)
{
    for (size_t i = 0; i < count; i++) {
        struct emu_node *node = emu_tree_attribute(tree, folder, &list[i], cpu);
        if (list[i].store != NULL) {
            node->mode = S_IFREG | (mode_t)config->sysfs_mode;
            node->owner = (uid_t)config->sysfs_owner;
        }
    }
}

static void add_policy(struct emu_tree *tree, int policies, const struct emu_machine *machine,
                       int cpu)
{
    const struct emu_config *config = &machine->config;
    char name[32];
    snprintf(name, sizeof name, "policy%d", cpu);
    int folder = emu_tree_gated(tree, policies, name, EMU_GATE_POLICY, cpu);
    add_texts(tree, folder, config);
    add_levers(tree, folder, config, readings, sizeof readings / sizeof readings[0], cpu);
    add_levers(tree, folder, config, levers, sizeof levers / sizeof levers[0], cpu);
    if (config->driver == EMU_DRIVER_ACPI) {
        add_levers(tree, folder, config, acpi_readings,
                   sizeof acpi_readings / sizeof acpi_readings[0], cpu);
    }
    if (emu_driver_has_epp(config)) {
        add_levers(tree, folder, config, emu_epp_attributes, EMU_EPP_ATTRIBUTES, cpu);
    }
}

void emu_cpufreq_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    const struct emu_driver_traits *driver = emu_driver_of(&machine->config);
    if (driver->name == NULL) {
        return;
    }
    int cpus = emu_tree_path(tree, "sys/devices/system/cpu");
    int policies = emu_tree_folder(tree, cpus, "cpufreq");
    if (driver->folder != NULL) {
        int folder = emu_tree_folder(tree, cpus, driver->folder);
        emu_tree_text(tree, folder, "status", "%s\n", driver->status);
    }
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        char name[32];
        int policy = machine->cpus[cpu].policy;
        snprintf(name, sizeof name, "cpu%d", cpu);
        emu_tree_link(tree, emu_tree_find(tree, cpus, name), "cpufreq", "../cpufreq/policy%d",
                      policy);
        if (policy == cpu) {
            add_policy(tree, policies, machine, cpu);
        }
    }
}
