/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * CPUs that are taken offline and come back: cpuN/online and the lists that follow from it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "affinity_table.h"
#include "cpulist.h"
#include "pstate.h"
#include "trace.h"
#include "tree.h"

static bool is_online(const struct emu_machine *machine, int cpu, int online)
{
    return machine->cpus[cpu].online == (online != 0);
}

static void show_list(const struct emu_access *access, int online, FILE *out)
{
    char text[EMU_CPULIST_SIZE];
    emu_cpulist_format(access->machine, is_online, online, text);
    fprintf(out, "%s\n", text);
}

static void show_online_list(const struct emu_access *access, FILE *out)
{
    show_list(access, 1, out);
}

static void show_offline_list(const struct emu_access *access, FILE *out)
{
    show_list(access, 0, out);
}

static void show_smt_active(const struct emu_access *access, FILE *out)
{
    bool active = false;
    const struct emu_machine *machine = access->machine;
    for (int core = 0; core < machine->core_count; core++) {
        int threads = 0;
        for (int i = 0; i < machine->config.smt; i++) {
            threads += machine->cpus[machine->cores[core].cpus[i]].online;
        }
        active = active || threads > 1;
    }
    fprintf(out, "%d\n", active);
}

static void show_online(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%d\n", access->machine->cpus[access->index].online);
}

static void trace_limit(const struct emu_access *access, const char *control, uint32_t khz)
{
    char value[16];
    snprintf(value, sizeof value, "%" PRIu32, khz);
    if (access->trace != NULL) {
        emu_trace_text(access->trace, access->now_ns, access->machine->cpus[access->index].policy,
                       control, value, access->pid);
    }
}

/* Hotplug.  Who was bound to the CPU alone runs anywhere until it is back. */
static int store_online(const struct emu_access *access, const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
        return EINVAL;
    }
    bool online = text[0] == '1';
    bool revived = emu_machine_set_online(access->machine, access->index, online, access->now_ns);
    if (access->affinity != NULL) {
        emu_affinity_set_online(access->affinity, access->index, online);
    }
    if (access->activity != NULL) {
        emu_activity_refresh(access->activity, access->now_ns);
    }
    if (revived) { /* values that nobody wrote into a file, but that are in force from now on */
        trace_limit(access, "scaling_min_freq", emu_pstate_min_khz(access->machine, access->index));
        trace_limit(access, "scaling_max_freq", emu_pstate_max_khz(access->machine, access->index));
    }
    return 0;
}

static const struct emu_attribute hotplug = {"online", 0644, show_online, store_online, "online"};

static const struct emu_attribute lists[] = {
    {"online", 0444, show_online_list, NULL, NULL},
    {"offline", 0444, show_offline_list, NULL, NULL},
};

static const struct emu_attribute smt_active = {"active", 0444, show_smt_active, NULL, NULL};

void emu_hotplug_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    int cpus = emu_tree_path(tree, "sys/devices/system/cpu");
    emu_tree_attribute(tree, cpus, &lists[0], 0);
    emu_tree_attribute(tree, cpus, &lists[1], 0);
    emu_tree_attribute(tree, emu_tree_path(tree, "sys/devices/system/cpu/smt"), &smt_active, 0);
    for (int cpu = 1; cpu < machine->cpu_count; cpu++) { /* CPU 0 has no such file: it stays */
        char name[16];
        snprintf(name, sizeof name, "cpu%d", cpu);
        emu_tree_attribute(tree, emu_tree_find(tree, cpus, name), &hotplug, cpu);
    }
}
