/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * sys/devices/system/{cpu,node}: packages, cores, threads, caches, NUMA nodes.
 */
#include "config.h"

#include <inttypes.h>

#include "cpulist.h"
#include "tree.h"

/* Caches of a Skylake server; sets follow from size, ways and line. */
struct cache {
    int level;
    const char *type;
    int size_kb;
    int ways;
    bool per_package;
};

static const struct cache caches[] = {
    {1, "Data", 32, 8, false},
    {1, "Instruction", 32, 8, false},
    {2, "Unified", 1024, 16, false},
    {3, "Unified", 16896, 11, true},
};
enum { CACHE_LINE = 64 };

static bool is_there(const struct emu_machine *machine, int cpu, int key)
{
    (void)machine;
    (void)cpu;
    (void)key;
    return true;
}

static bool in_package(const struct emu_machine *machine, int cpu, int package)
{
    return machine->cpus[cpu].online && machine->cpus[cpu].package == package;
}

static bool in_core(const struct emu_machine *machine, int cpu, int core)
{
    return machine->cpus[cpu].online && machine->cpus[cpu].core == core;
}

static void show_list(const struct emu_machine *machine, emu_cpu_test *has, int key, FILE *out)
{
    char text[EMU_CPULIST_SIZE];
    emu_cpulist_format(machine, has, key, text);
    fprintf(out, "%s\n", text);
}

static void show_mask(const struct emu_machine *machine, emu_cpu_test *has, int key, FILE *out)
{
    char text[EMU_CPULIST_SIZE];
    emu_cpumask_format(machine, has, key, text);
    fprintf(out, "%s\n", text);
}

static const struct emu_cpu *cpu_of(const struct emu_access *access)
{
    return &access->machine->cpus[access->index];
}

static void show_core_list(const struct emu_access *access, FILE *out)
{
    show_list(access->machine, in_core, cpu_of(access)->core, out);
}

static void show_core_mask(const struct emu_access *access, FILE *out)
{
    show_mask(access->machine, in_core, cpu_of(access)->core, out);
}

static void show_package_list(const struct emu_access *access, FILE *out)
{
    show_list(access->machine, in_package, cpu_of(access)->package, out);
}

static void show_package_mask(const struct emu_access *access, FILE *out)
{
    show_mask(access->machine, in_package, cpu_of(access)->package, out);
}

static void show_node_list(const struct emu_access *access, FILE *out)
{
    show_list(access->machine, in_package, access->index, out);
}

static void show_node_mask(const struct emu_access *access, FILE *out)
{
    show_mask(access->machine, in_package, access->index, out);
}

static const struct emu_attribute topology_sets[] = {
    {"core_cpus", 0444, show_core_mask, NULL, NULL},
    {"core_cpus_list", 0444, show_core_list, NULL, NULL},
    {"thread_siblings", 0444, show_core_mask, NULL, NULL},
    {"thread_siblings_list", 0444, show_core_list, NULL, NULL},
    {"die_cpus", 0444, show_package_mask, NULL, NULL},
    {"die_cpus_list", 0444, show_package_list, NULL, NULL},
    {"package_cpus", 0444, show_package_mask, NULL, NULL},
    {"package_cpus_list", 0444, show_package_list, NULL, NULL},
    {"core_siblings", 0444, show_package_mask, NULL, NULL},
    {"core_siblings_list", 0444, show_package_list, NULL, NULL},
};

/* [0]: of a core, [1]: of a package */
static const struct emu_attribute cache_sets[2][2] = {
    {{"shared_cpu_map", 0444, show_core_mask, NULL, NULL},
     {"shared_cpu_list", 0444, show_core_list, NULL, NULL}},
    {{"shared_cpu_map", 0444, show_package_mask, NULL, NULL},
     {"shared_cpu_list", 0444, show_package_list, NULL, NULL}},
};

static const struct emu_attribute node_sets[] = {
    {"cpumap", 0444, show_node_mask, NULL, NULL},
    {"cpulist", 0444, show_node_list, NULL, NULL},
};

static void add_all(struct emu_tree *tree, int folder, const struct emu_attribute *list,
                    size_t count, int index)
{
    for (size_t i = 0; i < count; i++) {
        emu_tree_attribute(tree, folder, &list[i], index);
    }
}

static void add_topology(struct emu_tree *tree, int cpu_folder, const struct emu_machine *machine,
                         int number)
{
    const struct emu_cpu *cpu = &machine->cpus[number];
    int folder = emu_tree_gated(tree, cpu_folder, "topology", EMU_GATE_VANISH, number);
    emu_tree_text(tree, folder, "physical_package_id", "%d\n", cpu->package);
    emu_tree_text(tree, folder, "die_id", "0\n");
    emu_tree_text(tree, folder, "core_id", "%d\n", cpu->core_id);
    add_all(tree, folder, topology_sets, sizeof topology_sets / sizeof topology_sets[0], number);
}

static void add_caches(struct emu_tree *tree, int cpu_folder, const struct emu_machine *machine,
                       int number)
{
    const struct emu_cpu *cpu = &machine->cpus[number];
    int parent = emu_tree_gated(tree, cpu_folder, "cache", EMU_GATE_VANISH, number);
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        const struct cache *cache = &caches[i];
        char name[16];
        snprintf(name, sizeof name, "index%zu", i);
        int folder = emu_tree_folder(tree, parent, name);
        emu_tree_text(tree, folder, "level", "%d\n", cache->level);
        emu_tree_text(tree, folder, "type", "%s\n", cache->type);
        emu_tree_text(tree, folder, "size", "%dK\n", cache->size_kb);
        emu_tree_text(tree, folder, "coherency_line_size", "%d\n", CACHE_LINE);
        emu_tree_text(tree, folder, "ways_of_associativity", "%d\n", cache->ways);
        emu_tree_text(tree, folder, "number_of_sets", "%d\n",
                      cache->size_kb * 1024 / CACHE_LINE / cache->ways);
        emu_tree_text(tree, folder, "physical_line_partition", "1\n");
        emu_tree_text(tree, folder, "id", "%d\n", cache->per_package ? cpu->package : cpu->core);
        add_all(tree, folder, cache_sets[cache->per_package], 2, number);
    }
}

static void add_cpus(struct emu_tree *tree, const struct emu_machine *machine)
{
    char name[16], text[EMU_CPULIST_SIZE];
    int parent = emu_tree_path(tree, "sys/devices/system/cpu");
    emu_cpulist_format(machine, is_there, 0, text);
    emu_tree_text(tree, parent, "present", "%s\n", text);
    emu_tree_text(tree, parent, "possible", "%s\n", text);
    emu_tree_text(tree, parent, "isolated", "\n");
    /* No real machine has it: whoever reads counters here can say where its figures come from. */
    emu_tree_text(tree, parent, "emulated", "bench/testbed/emulator\n");
    emu_tree_text(tree, parent, "kernel_max", "%d\n", EMU_MAX_CPUS - 1);
    int smt = emu_tree_folder(tree, parent, "smt");
    emu_tree_text(tree, smt, "control", "%s\n", machine->config.smt > 1 ? "on" : "notsupported");
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        snprintf(name, sizeof name, "cpu%d", cpu);
        int folder = emu_tree_folder(tree, parent, name);
        int node = machine->cpus[cpu].package;
        snprintf(name, sizeof name, "node%d", node);
        emu_tree_link(tree, folder, name, "../../node/node%d", node);
        add_topology(tree, folder, machine, cpu);
        add_caches(tree, folder, machine, cpu);
    }
}

static bool below(const struct emu_machine *machine, int cpu, int limit)
{
    (void)machine;
    return cpu < limit;
}

static void add_node(struct emu_tree *tree, int parent, const struct emu_machine *machine, int node)
{
    char name[16], distance[8 * EMU_MAX_PACKAGES];
    size_t used = 0;
    snprintf(name, sizeof name, "node%d", node);
    int folder = emu_tree_folder(tree, parent, name);
    add_all(tree, folder, node_sets, sizeof node_sets / sizeof node_sets[0], node);
    for (int i = 0; i < machine->config.packages; i++) {
        used += (size_t)snprintf(distance + used, sizeof distance - used, "%s%d", i > 0 ? " " : "",
                                 i == node ? 10 : 21);
    }
    emu_tree_text(tree, folder, "distance", "%s\n", distance);
    int64_t total_kb = (int64_t)machine->config.memory_mb * 1024;
    emu_tree_text(tree, folder, "meminfo",
                  "Node %d MemTotal:       %" PRId64 " kB\n"
                  "Node %d MemFree:        %" PRId64 " kB\n"
                  "Node %d MemUsed:        %" PRId64 " kB\n",
                  node, total_kb, node, total_kb * 3 / 4, node, total_kb / 4);
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        if (in_package(machine, cpu, node)) {
            snprintf(name, sizeof name, "cpu%d", cpu);
            emu_tree_link(tree, folder, name, "../../cpu/cpu%d", cpu);
        }
    }
}

void emu_topology_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    add_cpus(tree, machine);
    static const char *const lists[] = {"online", "possible", "has_cpu", "has_memory",
                                        "has_normal_memory"};
    char text[EMU_CPULIST_SIZE];
    int parent = emu_tree_path(tree, "sys/devices/system/node");
    emu_cpulist_format(machine, below, machine->config.packages, text);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        emu_tree_text(tree, parent, lists[i], "%s\n", text);
    }
    for (int node = 0; node < machine->config.packages; node++) {
        add_node(tree, parent, machine, node);
    }
}
