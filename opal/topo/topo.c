/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packages, cores and CPUs through hwloc, copied into plain arrays.
 */
#include "config.h"

#include "topo/cpulist.h"
#include "topo/topo_private.h"

#include <hwloc.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct cpu_list {
    unsigned *cpus; /* ascending */
    unsigned count;
} cpu_list_t;

struct pwr_topo {
    unsigned num_packages;
    unsigned num_cores;
    unsigned num_cpus;
    int *group_of[PWR_TOPO_NUM_LEVELS]; /* by CPU number, -1 for a hole in the numbering */
    int *core_of;                       /* likewise */
    unsigned num_numbers;
    cpu_list_t mine;
    cpu_list_t reached;
    pwr_cpuset_t allowed; /* by the cgroup */
};

/* The whole machine, also what a cgroup keeps from us: "bound" and package numbers must mean the
   same in every process of the node.  And hwloc may not move this thread over the CPUs to run
   CPUID there: sysfs knows all that is needed here. */
static unsigned long topology_flags(void)
{
#if HWLOC_API_VERSION >= 0x00020500
    return HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#elif HWLOC_API_VERSION >= 0x00020100
    return HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#else
    return HWLOC_TOPOLOGY_FLAG_WHOLE_SYSTEM;
#endif
}

static int load_below_root(hwloc_topology_t machine, const char *root)
{
    if (root[0] == '\0') {
        return hwloc_topology_load(machine);
    }
    const char *inherited = getenv("HWLOC_FSROOT");
    char *saved = inherited ? strdup(inherited) : NULL;
    if ((inherited && !saved) || setenv("HWLOC_FSROOT", root, 1) != 0) {
        free(saved);
        return -1;
    }
    int rc = hwloc_topology_load(machine);
    if (saved) {
        setenv("HWLOC_FSROOT", saved, 1);
    } else {
        unsetenv("HWLOC_FSROOT");
    }
    free(saved);
    return rc;
}

static pwr_status_t load_machine(const pwr_env_t *env, hwloc_topology_t *machine)
{
    hwloc_topology_t loading;
    if (hwloc_topology_init(&loading) != 0) {
        return PWR_ERR_NOMEM;
    }
    if (hwloc_topology_set_flags(loading, topology_flags()) != 0 ||
        load_below_root(loading, env->root) != 0 ||
        hwloc_get_nbobjs_by_type(loading, HWLOC_OBJ_PU) < 1) {
        hwloc_topology_destroy(loading);
        pwr_env_log(env, PWR_LOG_WARN,
                    "hwloc cannot read this machine's topology (check with "
                    "lstopo)");
        return PWR_ERR_UNSUPPORTED;
    }
    *machine = loading;
    return PWR_OK;
}

static pwr_status_t told_binding(const char *cpulist, hwloc_bitmap_t mine)
{
    pwr_cpuset_t set;
    if (pwr_cpulist_parse(cpulist, strlen(cpulist), &set) != PWR_OK) {
        return PWR_ERR_ARG;
    }
    hwloc_bitmap_zero(mine);
    for (int cpu = pwr_cpuset_next(&set, -1); cpu >= 0; cpu = pwr_cpuset_next(&set, cpu)) {
        hwloc_bitmap_set(mine, (unsigned)cpu);
    }
    return PWR_OK;
}

static pwr_status_t read_binding(const pwr_env_t *env, hwloc_topology_t machine,
                                 const char *cpulist, hwloc_bitmap_t mine)
{
    if (cpulist) {
        pwr_status_t status = told_binding(cpulist, mine);
        if (status != PWR_OK) {
            return status;
        }
    } else if (hwloc_get_cpubind(machine, mine, HWLOC_CPUBIND_THREAD) != 0) {
        /* Systems that cannot tell do not bind either: all CPUs are everybody's. */
        hwloc_bitmap_copy(mine, hwloc_topology_get_topology_cpuset(machine));
    }
    hwloc_bitmap_and(mine, mine, hwloc_topology_get_topology_cpuset(machine));
    if (hwloc_bitmap_iszero(mine)) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "this process is bound to no CPU of the machine (check with hwloc-bind --get)");
        return PWR_ERR_ARG;
    }
    return PWR_OK;
}

static pwr_status_t copy_list(hwloc_const_bitmap_t set, cpu_list_t *list)
{
    list->cpus = calloc((size_t)hwloc_bitmap_weight(set), sizeof *list->cpus);
    if (!list->cpus) {
        return PWR_ERR_NOMEM;
    }
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
        list->cpus[list->count++] = (unsigned)cpu;
    }
    return PWR_OK;
}

/* An array by CPU number that says -1 everywhere. */
static int *no_group(unsigned num_numbers)
{
    int *group_of = malloc(num_numbers * sizeof *group_of);
    for (unsigned cpu = 0; group_of && cpu < num_numbers; cpu++) {
        group_of[cpu] = -1;
    }
    return group_of;
}

/* Puts CPUs into groups by objects of one type, the smallest that has the CPU, and what is in none
   by packages. */
static void copy_groups(hwloc_topology_t machine, hwloc_obj_type_t type, const int *package_of,
                        unsigned num_numbers, int *group_of)
{
    int num = hwloc_get_nbobjs_by_type(machine, type);
    for (unsigned cpu = 0; cpu < num_numbers; cpu++) {
        int smallest = INT_MAX;
        bool known = package_of[cpu] >= 0;
        group_of[cpu] = known ? num + package_of[cpu] : -1;
        for (int i = 0; i < num && known; i++) {
            hwloc_const_cpuset_t set = hwloc_get_obj_by_type(machine, type, (unsigned)i)->cpuset;
            if (hwloc_bitmap_isset(set, cpu) && hwloc_bitmap_weight(set) < smallest) {
                smallest = hwloc_bitmap_weight(set);
                group_of[cpu] = i;
            }
        }
    }
}

static pwr_status_t copy_machine(hwloc_topology_t machine, pwr_topo_t *topo)
{
    int packages = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE);
    int cores = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE);
    topo->num_cpus = (unsigned)hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
    topo->num_packages = packages > 0 ? (unsigned)packages : 1;
    topo->num_cores = cores > 0 ? (unsigned)cores : topo->num_cpus;
    topo->num_numbers =
        (unsigned)hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine)) + 1;
    topo->core_of = no_group(topo->num_numbers);
    bool complete = topo->core_of;
    for (int level = 0; level < PWR_TOPO_NUM_LEVELS; level++) {
        topo->group_of[level] = no_group(topo->num_numbers);
        complete = complete && topo->group_of[level];
    }
    if (!complete) {
        return PWR_ERR_NOMEM;
    }
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != NULL) {
        hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_PACKAGE, pu);
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu);
        topo->group_of[PWR_TOPO_PACKAGE][pu->os_index] = package ? (int)package->logical_index : 0;
        topo->core_of[pu->os_index] = (int)(core ? core : pu)->logical_index;
        if (hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(machine), pu->os_index)) {
            pwr_cpuset_add(&topo->allowed, pu->os_index);
        }
    }
    const int *package_of = topo->group_of[PWR_TOPO_PACKAGE];
    copy_groups(machine, HWLOC_OBJ_NUMANODE, package_of, topo->num_numbers,
                topo->group_of[PWR_TOPO_NUMA]);
    copy_groups(machine, HWLOC_OBJ_L3CACHE, package_of, topo->num_numbers,
                topo->group_of[PWR_TOPO_L3]);
    return PWR_OK;
}

static void add_siblings(hwloc_topology_t machine, hwloc_const_bitmap_t mine,
                         hwloc_bitmap_t reached)
{
    hwloc_bitmap_copy(reached, mine);
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, core)) != NULL) {
        if (hwloc_bitmap_intersects(core->cpuset, mine)) {
            hwloc_bitmap_or(reached, reached, core->cpuset);
        }
    }
}

static pwr_status_t fill(const pwr_env_t *env, hwloc_topology_t machine, const char *cpulist,
                         pwr_topo_t *topo)
{
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    hwloc_bitmap_t reached = hwloc_bitmap_alloc();
    pwr_status_t status = mine && reached ? PWR_OK : PWR_ERR_NOMEM;
    if (status == PWR_OK) {
        status = read_binding(env, machine, cpulist, mine);
    }
    if (status == PWR_OK) {
        add_siblings(machine, mine, reached);
        status = copy_machine(machine, topo);
    }
    if (status == PWR_OK) {
        status = copy_list(mine, &topo->mine);
    }
    if (status == PWR_OK) {
        status = copy_list(reached, &topo->reached);
    }
    hwloc_bitmap_free(reached);
    hwloc_bitmap_free(mine);
    return status;
}

pwr_status_t pwr_topo_open_with_binding(const pwr_env_t *env, const char *cpulist,
                                        pwr_topo_t **topo)
{
    hwloc_topology_t machine;
    pwr_status_t status = load_machine(env, &machine);
    if (status != PWR_OK) {
        return status;
    }
    pwr_topo_t *made = calloc(1, sizeof *made);
    status = made ? fill(env, machine, cpulist, made) : PWR_ERR_NOMEM;
    hwloc_topology_destroy(machine);
    if (status != PWR_OK) {
        pwr_topo_close(made);
        return status;
    }
    *topo = made;
    return PWR_OK;
}

pwr_status_t pwr_topo_open(const pwr_env_t *env, pwr_topo_t **topo)
{
    return pwr_topo_open_with_binding(env, NULL, topo);
}

void pwr_topo_close(pwr_topo_t *topo)
{
    if (topo) {
        free(topo->reached.cpus);
        free(topo->mine.cpus);
        free(topo->core_of);
        for (int level = 0; level < PWR_TOPO_NUM_LEVELS; level++) {
            free(topo->group_of[level]);
        }
        free(topo);
    }
}

unsigned pwr_topo_num_packages(const pwr_topo_t *topo)
{
    return topo->num_packages;
}

unsigned pwr_topo_num_cores(const pwr_topo_t *topo)
{
    return topo->num_cores;
}

unsigned pwr_topo_num_cpus(const pwr_topo_t *topo)
{
    return topo->num_cpus;
}

static int next_in_group(const pwr_topo_t *topo, const int *group_of, unsigned group, int after)
{
    for (unsigned cpu = (unsigned)(after + 1); cpu < topo->num_numbers; cpu++) {
        if (group_of[cpu] == (int)group) {
            return (int)cpu;
        }
    }
    return -1;
}

int pwr_topo_next_in_package(const pwr_topo_t *topo, unsigned package, int after)
{
    return next_in_group(topo, topo->group_of[PWR_TOPO_PACKAGE], package, after);
}

int pwr_topo_next_in_core(const pwr_topo_t *topo, unsigned core, int after)
{
    return next_in_group(topo, topo->core_of, core, after);
}

int pwr_topo_first_cpu(const pwr_topo_t *topo, unsigned package)
{
    return pwr_topo_next_in_package(topo, package, -1);
}

int pwr_topo_package_of(const pwr_topo_t *topo, unsigned cpu)
{
    return pwr_topo_group_of(topo, PWR_TOPO_PACKAGE, cpu);
}

int pwr_topo_group_of(const pwr_topo_t *topo, pwr_topo_level_t level, unsigned cpu)
{
    return cpu < topo->num_numbers ? topo->group_of[level][cpu] : -1;
}

int pwr_topo_core_of(const pwr_topo_t *topo, unsigned cpu)
{
    return cpu < topo->num_numbers ? topo->core_of[cpu] : -1;
}

unsigned pwr_topo_num_my_cpus(const pwr_topo_t *topo)
{
    return topo->mine.count;
}

unsigned pwr_topo_my_cpu(const pwr_topo_t *topo, unsigned index)
{
    return topo->mine.cpus[index];
}

bool pwr_topo_is_mine(const pwr_topo_t *topo, unsigned cpu)
{
    for (unsigned i = 0; i < topo->mine.count; i++) {
        if (topo->mine.cpus[i] == cpu) {
            return true;
        }
    }
    return false;
}

bool pwr_topo_is_allowed(const pwr_topo_t *topo, unsigned cpu)
{
    return pwr_cpuset_has(&topo->allowed, cpu);
}

unsigned pwr_topo_num_reached_cpus(const pwr_topo_t *topo)
{
    return topo->reached.count;
}

unsigned pwr_topo_reached_cpu(const pwr_topo_t *topo, unsigned index)
{
    return topo->reached.cpus[index];
}

bool pwr_topo_is_bound(const pwr_topo_t *topo)
{
    return topo->mine.count < topo->num_cpus || topo->num_cpus == 1;
}

bool pwr_topo_has_whole_cores(const pwr_topo_t *topo)
{
    return topo->reached.count == topo->mine.count;
}

bool pwr_topo_has_whole_packages(const pwr_topo_t *topo)
{
    for (unsigned i = 0; i < topo->mine.count; i++) {
        int package = pwr_topo_package_of(topo, topo->mine.cpus[i]);
        int cpu = -1;
        while ((cpu = pwr_topo_next_in_package(topo, (unsigned)package, cpu)) >= 0) {
            if (!pwr_topo_is_mine(topo, (unsigned)cpu)) {
                return false;
            }
        }
    }
    return true;
}

int pwr_topo_my_package(const pwr_topo_t *topo)
{
    return pwr_topo_my_group(topo, PWR_TOPO_PACKAGE);
}

int pwr_topo_my_group(const pwr_topo_t *topo, pwr_topo_level_t level)
{
    int group = pwr_topo_group_of(topo, level, topo->mine.cpus[0]);
    for (unsigned i = 1; i < topo->mine.count; i++) {
        if (pwr_topo_group_of(topo, level, topo->mine.cpus[i]) != group) {
            return -1;
        }
    }
    return group;
}
