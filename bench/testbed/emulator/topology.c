/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * sys/devices/system/{cpu,node}: packages, cores, threads, caches, NUMA nodes; which are online.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tree.h"

/* Caches of a Skylake server; sets follow from size, ways and line. */
static const struct cache {
    int level;
    const char *type;
    int size_kb;
    int ways;
    int scope;
} caches[] = {
    {1, "Data", 32, 8, EMU_SCOPE_CORE},
    {1, "Instruction", 32, 8, EMU_SCOPE_CORE},
    {2, "Unified", 1024, 16, EMU_SCOPE_CORE},
    {3, "Unified", 16896, 11, EMU_SCOPE_PACKAGE},
};
enum { CACHE_LINE = 64 };

/* --- sets of CPUs: those that are online and share a scope with the one of the file --- */

static bool is_in(const struct emu_access *access, int cpu)
{
    const struct emu_machine *machine = access->machine;
    return cpu >= 0 && cpu < machine->cpu_count && machine->cpus[cpu].online &&
           emu_machine_same_scope(machine, cpu, access->index, access->file->kind);
}

/* "0-3,8" */
static void show_list(const struct emu_access *access, FILE *out)
{
    const char *comma = "";
    for (int cpu = 0; cpu < access->machine->cpu_count; cpu++) {
        if (!is_in(access, cpu)) {
            continue;
        }
        fprintf(out, "%s%d", comma, cpu);
        int first = cpu;
        while (is_in(access, cpu + 1)) {
            cpu++;
        }
        if (cpu > first) {
            fprintf(out, "-%d", cpu);
        }
        comma = ",";
    }
    fputc('\n', out);
}

/* "0000000f" or "1,00000000": words of 32 bits, the highest first. */
static void show_mask(const struct emu_access *access, FILE *out)
{
    int last = (access->machine->cpu_count - 1) / 32;
    for (int word = last; word >= 0; word--) {
        uint32_t bits = 0;
        for (int bit = 0; bit < 32; bit++) {
            bits |= (uint32_t)is_in(access, 32 * word + bit) << bit;
        }
        fprintf(out, word < last ? ",%08" PRIx32 : "%" PRIx32, bits);
    }
    fputc('\n', out);
}

#define SET(file, scope, by)                                                                       \
    {                                                                                              \
        file, 0444, .kind = (scope), .show = by                                                    \
    }
#define SETS(map, list, scope) SET(map, scope, show_mask), SET(list, scope, show_list)

static const struct emu_file topology_sets[] = {
    SETS("core_cpus", "core_cpus_list", EMU_SCOPE_CORE),
    SETS("thread_siblings", "thread_siblings_list", EMU_SCOPE_CORE),
    SETS("die_cpus", "die_cpus_list", EMU_SCOPE_PACKAGE),
    SETS("package_cpus", "package_cpus_list", EMU_SCOPE_PACKAGE),
    SETS("core_siblings", "core_siblings_list", EMU_SCOPE_PACKAGE),
    {0},
};
/* by scope */
static const struct emu_file cache_sets[][3] = {
    [EMU_SCOPE_CORE] = {SETS("shared_cpu_map", "shared_cpu_list", EMU_SCOPE_CORE), {0}},
    [EMU_SCOPE_PACKAGE] = {SETS("shared_cpu_map", "shared_cpu_list", EMU_SCOPE_PACKAGE), {0}},
};
static const struct emu_file node_sets[] = {SETS("cpumap", "cpulist", EMU_SCOPE_PACKAGE), {0}};

/* --- hotplug --- */

static void show_online(const struct emu_access *access, FILE *out)
{
    fprintf(out, "%d\n", access->machine->cpus[access->index].online);
}

static int store_online(const struct emu_access *access, const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
        return EINVAL;
    }
    emu_machine_charge_scope(access->machine, access->index, EMU_SCOPE_PACKAGE, access->now_ns);
    access->machine->cpus[access->index].online = text[0] == '1';
    return 0;
}

static const struct emu_file online[] = {
    {"online", 0644, "online", .show = show_online, .store = store_online}, {0}};
static const struct emu_file online_list[] = {SET("online", EMU_SCOPE_MACHINE, show_list), {0}};

/* --- folders --- */

static void add_topology(struct emu_tree *tree, int cpu_folder, const struct emu_cpu *cpu,
                         int number)
{
    int folder = emu_tree_folder(tree, cpu_folder, "topology");
    emu_tree_text(tree, folder, "physical_package_id", "%d\n", cpu->package);
    emu_tree_text(tree, folder, "die_id", "0\n");
    emu_tree_text(tree, folder, "core_id", "%d\n", cpu->core_id);
    emu_tree_files(tree, folder, topology_sets, number, -1);
}

static void add_caches(struct emu_tree *tree, int cpu_folder, const struct emu_cpu *cpu, int number)
{
    int parent = emu_tree_folder(tree, cpu_folder, "cache");
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        const struct cache *cache = &caches[i];
        bool shared = cache->scope == EMU_SCOPE_PACKAGE;
        int folder = emu_tree_folder(tree, parent, "index%zu", i);
        emu_tree_text(tree, folder, "level", "%d\n", cache->level);
        emu_tree_text(tree, folder, "type", "%s\n", cache->type);
        emu_tree_text(tree, folder, "size", "%dK\n", cache->size_kb);
        emu_tree_text(tree, folder, "coherency_line_size", "%d\n", CACHE_LINE);
        emu_tree_text(tree, folder, "ways_of_associativity", "%d\n", cache->ways);
        emu_tree_text(tree, folder, "number_of_sets", "%d\n",
                      cache->size_kb * 1024 / CACHE_LINE / cache->ways);
        emu_tree_text(tree, folder, "physical_line_partition", "1\n");
        emu_tree_text(tree, folder, "id", "%d\n", shared ? cpu->package : cpu->core);
        emu_tree_files(tree, folder, cache_sets[cache->scope], number, -1);
    }
}

/* All numbers below count. */
static void add_range(struct emu_tree *tree, int folder, const char *name, int count)
{
    if (count > 1) {
        emu_tree_text(tree, folder, name, "0-%d\n", count - 1);
    } else {
        emu_tree_text(tree, folder, name, "0\n");
    }
}

static void add_cpus(struct emu_tree *tree, const struct emu_machine *machine)
{
    int parent = emu_tree_folder(tree, 0, "sys/devices/system/cpu");
    add_range(tree, parent, "present", machine->cpu_count);
    add_range(tree, parent, "possible", machine->cpu_count);
    /* No real machine has it: whoever reads counters here can say where its figures come from. */
    emu_tree_text(tree, parent, "emulated", "bench/testbed/emulator\n");
    emu_tree_text(tree, parent, "kernel_max", "%d\n", EMU_MAX_CPUS - 1);
    emu_tree_files(tree, parent, online_list, 0, -1);
    for (int i = 0; i < machine->cpu_count; i++) {
        const struct emu_cpu *cpu = &machine->cpus[i];
        int folder = emu_tree_folder(tree, parent, "cpu%d", i);
        emu_tree_link(tree, folder, NULL, "../../node/node%d", cpu->package);
        add_topology(tree, folder, cpu, i);
        add_caches(tree, folder, cpu, i);
        if (i > 0) { /* CPU 0 has no such file: it stays */
            emu_tree_files(tree, folder, online, i, -1);
        }
    }
}

static void add_node(struct emu_tree *tree, int parent, const struct emu_machine *machine, int node)
{
    int folder = emu_tree_folder(tree, parent, "node%d", node);
    emu_tree_files(tree, folder, node_sets, emu_machine_package_first_cpu(machine, node), -1);
    int64_t total_kb = (int64_t)machine->config.memory_mb * 1024;
    emu_tree_text(tree, folder, "meminfo",
                  "Node %d MemTotal:       %" PRId64 " kB\n"
                  "Node %d MemFree:        %" PRId64 " kB\n"
                  "Node %d MemUsed:        %" PRId64 " kB\n",
                  node, total_kb, node, total_kb * 3 / 4, node, total_kb / 4);
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        if (machine->cpus[cpu].package == node) {
            emu_tree_link(tree, folder, NULL, "../../cpu/cpu%d", cpu);
        }
    }
}

void emu_topology_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    static const char *const lists[] = {"online", "possible", "has_cpu", "has_memory",
                                        "has_normal_memory"};
    int parent = emu_tree_folder(tree, 0, "sys/devices/system/node");
    add_cpus(tree, machine);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        add_range(tree, parent, lists[i], machine->config.packages);
    }
    for (int node = 0; node < machine->config.packages; node++) {
        add_node(tree, parent, machine, node);
    }
}
