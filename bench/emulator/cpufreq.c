/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * cpufreq in sysfs, one policy per CPU, as acpi-cpufreq or intel_pstate present it.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pstate.h"
#include "tree.h"

static const char *const governor_names[] = {
    [EMU_GOV_PERFORMANCE] = "performance", [EMU_GOV_POWERSAVE] = "powersave",
    [EMU_GOV_USERSPACE] = "userspace",     [EMU_GOV_ONDEMAND] = "ondemand",
    [EMU_GOV_SCHEDUTIL] = "schedutil",
};

static int governor_count(const struct emu_machine *machine)
{
    /* intel_pstate in active mode brings two of its own */
    return machine->config.driver == EMU_DRIVER_INTEL_PSTATE ? EMU_GOV_POWERSAVE + 1
                                                             : EMU_GOV_SCHEDUTIL + 1;
}

static bool parse_khz(const char *text, uint32_t *khz)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *khz = (uint32_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

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
    if (!parse_khz(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_limit_min(access->machine, access->index, khz, access->now_ns);
    return 0;
}

static int store_max(const struct emu_access *access, const char *text)
{
    uint32_t khz;
    if (!parse_khz(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_limit_max(access->machine, access->index, khz, access->now_ns);
    return 0;
}

static int store_governor(const struct emu_access *access, const char *text)
{
    for (int i = 0; i < governor_count(access->machine); i++) {
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
        !parse_khz(text, &khz)) {
        return EINVAL;
    }
    emu_pstate_set_speed(access->machine, access->index, khz, access->now_ns);
    return 0;
}

/* Modes of the writable ones come from the machine file. */
static const struct emu_attribute levers[] = {
    {"scaling_governor", 0644, show_governor, store_governor, true},
    {"scaling_min_freq", 0644, show_min, store_min, true},
    {"scaling_max_freq", 0644, show_max, store_max, true},
    {"scaling_setspeed", 0644, show_speed, store_speed, true},
};

static const struct emu_attribute readings[] = {
    {"scaling_cur_freq", 0444, show_current, NULL, false},
    {"cpuinfo_cur_freq", 0400, show_current, NULL, false},
};

static void add_texts(struct emu_tree *tree, int folder, const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    bool intel = config->driver == EMU_DRIVER_INTEL_PSTATE;
    emu_tree_text(tree, folder, "affected_cpus", "%d\n", cpu);
    emu_tree_text(tree, folder, "related_cpus", "%d\n", cpu);
    emu_tree_text(tree, folder, "cpuinfo_min_freq", "%d\n", config->pstate_min_khz);
    emu_tree_text(tree, folder, "cpuinfo_max_freq", "%d\n", config->pstate_max_khz);
    emu_tree_text(tree, folder, "cpuinfo_transition_latency", "%d\n",
                  config->transition_latency_ns);
    emu_tree_text(tree, folder, "scaling_driver", "%s\n", intel ? "intel_pstate" : "acpi-cpufreq");
    emu_tree_text(tree, folder, "scaling_available_governors",
                  intel ? "performance powersave\n"
                        : "performance powersave userspace ondemand schedutil\n");
    if (intel) {
        emu_tree_text(tree, folder, "base_frequency", "%d\n", config->base_khz);
        return;
    }
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

void emu_cpufreq_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    const struct emu_config *config = &machine->config;
    if (config->driver == EMU_DRIVER_NONE) {
        return;
    }
    int cpus = emu_tree_path(tree, "sys/devices/system/cpu");
    int policies = emu_tree_folder(tree, cpus, "cpufreq");
    if (config->driver == EMU_DRIVER_INTEL_PSTATE) {
        int folder = emu_tree_folder(tree, cpus, "intel_pstate");
        emu_tree_text(tree, folder, "status", "active\n");
    }
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        char name[32];
        snprintf(name, sizeof name, "cpu%d", cpu);
        int cpu_folder = emu_tree_find(tree, cpus, name);
        emu_tree_link(tree, cpu_folder, "cpufreq", "../cpufreq/policy%d", cpu);
        snprintf(name, sizeof name, "policy%d", cpu);
        int folder = emu_tree_folder(tree, policies, name);
        add_texts(tree, folder, machine, cpu);
        for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
            emu_tree_attribute(tree, folder, &readings[i], cpu);
        }
        for (size_t i = 0; i < sizeof levers / sizeof levers[0]; i++) {
            struct emu_node *node = emu_tree_attribute(tree, folder, &levers[i], cpu);
            node->mode = S_IFREG | (mode_t)config->sysfs_mode;
            node->owner = (uid_t)config->sysfs_owner;
        }
    }
}
