/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packages, cores and CPUs through hwloc, copied into sets.
 */
#include "config.h"

#include "topo/topo_private.h"

#include <hwloc.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct pwr_topo {
    unsigned num_packages;
    unsigned num_cores;
    unsigned num_cpus;
    pwr_topo_sets_t sets;
    uint16_t group_of[PWR_TOPO_NUM_LEVELS][PWR_CPUSET_CPUS]; /* of CPUs that are known */
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

/* ---- copying ---- */

static void add_all(hwloc_const_bitmap_t from, pwr_cpuset_t *to)
{
    for (int cpu = hwloc_bitmap_first(from); cpu >= 0; cpu = hwloc_bitmap_next(from, cpu)) {
        pwr_cpuset_add(to, (unsigned)cpu);
    }
}

/* Systems that cannot tell do not bind either: all CPUs are everybody's.  Where the kernel refuses to
   tell, hwloc (2.9) would ask for ever. */
static pwr_status_t ask_binding(hwloc_topology_t machine, pwr_topo_sets_t *sets)
{
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (!mine) {
        return PWR_ERR_NOMEM;
    }
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(machine);
    pwr_cpuset_t bound;
    bool told = pwr_cpuset_bound(&bound) &&
                hwloc_get_cpubind(machine, mine, HWLOC_CPUBIND_THREAD) == 0;
    hwloc_bitmap_and(mine, told ? mine : all, all); /* it may be infinite */
    add_all(mine, &sets->mine);
    hwloc_bitmap_free(mine);
    return PWR_OK;
}

static pwr_status_t read_binding(const pwr_env_t *env, hwloc_topology_t machine,
                                 const char *cpulist, pwr_topo_sets_t *sets)
{
    if (!cpulist) {
        pwr_status_t status = ask_binding(machine, sets);
        if (status != PWR_OK) {
            return status;
        }
    } else if (pwr_cpulist_parse(cpulist, strlen(cpulist), &sets->mine) != PWR_OK) {
        return PWR_ERR_ARG;
    }
    pwr_cpuset_intersect(&sets->mine, &sets->known);
    if (pwr_cpuset_next(&sets->mine, -1) < 0) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "this process is bound to no CPU of the machine (check with hwloc-bind --get)");
        return PWR_ERR_ARG;
    }
    return PWR_OK;
}

/* The smallest object of a type that has the CPU; what is in none counts by packages. */
static uint16_t group_in(hwloc_topology_t machine, hwloc_obj_type_t type, unsigned cpu,
                         unsigned package)
{
    int num = hwloc_get_nbobjs_by_type(machine, type);
    int smallest = INT_MAX;
    unsigned group = (unsigned)num + package;
    for (int i = 0; i < num; i++) {
        hwloc_const_cpuset_t set = hwloc_get_obj_by_type(machine, type, (unsigned)i)->cpuset;
        if (hwloc_bitmap_isset(set, cpu) && hwloc_bitmap_weight(set) < smallest) {
            smallest = hwloc_bitmap_weight(set);
            group = (unsigned)i;
        }
    }
    return (uint16_t)group;
}

static void copy_machine(hwloc_topology_t machine, pwr_topo_t *topo)
{
    int packages = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE);
    int cores = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE);
    topo->num_cpus = (unsigned)hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
    topo->num_packages = packages > 0 ? (unsigned)packages : 1;
    topo->num_cores = cores > 0 ? (unsigned)cores : topo->num_cpus;
    add_all(hwloc_topology_get_topology_cpuset(machine), &topo->sets.known);
    add_all(hwloc_topology_get_allowed_cpuset(machine), &topo->sets.allowed);
    pwr_cpuset_intersect(&topo->sets.allowed, &topo->sets.known);
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != NULL) {
        unsigned cpu = pu->os_index;
        hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_PACKAGE, pu);
        unsigned package = object ? object->logical_index : 0;
        if (pwr_cpuset_has(&topo->sets.known, cpu)) {
            topo->group_of[PWR_TOPO_PACKAGE][cpu] = (uint16_t)package;
            topo->group_of[PWR_TOPO_NUMA][cpu] =
                group_in(machine, HWLOC_OBJ_NUMANODE, cpu, package);
            topo->group_of[PWR_TOPO_L3][cpu] = group_in(machine, HWLOC_OBJ_L3CACHE, cpu, package);
        }
    }
}

static void add_siblings(hwloc_topology_t machine, pwr_topo_sets_t *sets)
{
    sets->reached = sets->mine;
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, core)) != NULL) {
        pwr_cpuset_t siblings = {{0}};
        add_all(core->cpuset, &siblings);
        if (pwr_cpuset_first_common(&siblings, &sets->mine) >= 0) {
            add_all(core->cpuset, &sets->reached);
        }
    }
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
    status = made ? PWR_OK : PWR_ERR_NOMEM;
    if (made) {
        copy_machine(machine, made);
        status = read_binding(env, machine, cpulist, &made->sets);
        add_siblings(machine, &made->sets);
    }
    hwloc_topology_destroy(machine);
    if (status != PWR_OK) {
        free(made);
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
    free(topo);
}

/* ---- answers ---- */

const pwr_topo_sets_t *pwr_topo_sets(const pwr_topo_t *topo)
{
    return &topo->sets;
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

int pwr_topo_group_of(const pwr_topo_t *topo, pwr_topo_level_t level, unsigned cpu)
{
    return pwr_cpuset_has(&topo->sets.known, cpu) ? topo->group_of[level][cpu] : -1;
}

int pwr_topo_package_of(const pwr_topo_t *topo, unsigned cpu)
{
    return pwr_topo_group_of(topo, PWR_TOPO_PACKAGE, cpu);
}

int pwr_topo_next_in_package(const pwr_topo_t *topo, unsigned package, int after)
{
    int cpu = after;
    do {
        cpu = pwr_cpuset_next(&topo->sets.known, cpu);
    } while (cpu >= 0 && pwr_topo_package_of(topo, (unsigned)cpu) != (int)package);
    return cpu;
}

unsigned pwr_topo_num_my_cpus(const pwr_topo_t *topo)
{
    return pwr_cpuset_count(&topo->sets.mine);
}

unsigned pwr_topo_my_cpu(const pwr_topo_t *topo, unsigned index)
{
    return pwr_cpuset_at(&topo->sets.mine, index);
}

bool pwr_topo_is_bound(const pwr_topo_t *topo)
{
    return pwr_topo_num_my_cpus(topo) < topo->num_cpus || topo->num_cpus == 1;
}

bool pwr_topo_has_whole_cores(const pwr_topo_t *topo)
{
    return pwr_cpuset_includes(&topo->sets.mine, &topo->sets.reached);
}

bool pwr_topo_has_whole_packages(const pwr_topo_t *topo)
{
    const pwr_cpuset_t *mine = &topo->sets.mine;
    for (int my = -1; (my = pwr_cpuset_next(mine, my)) >= 0;) {
        int package = pwr_topo_package_of(topo, (unsigned)my);
        int cpu = -1;
        while ((cpu = pwr_topo_next_in_package(topo, (unsigned)package, cpu)) >= 0) {
            if (!pwr_cpuset_has(mine, (unsigned)cpu)) {
                return false;
            }
        }
    }
    return true;
}

int pwr_topo_my_group(const pwr_topo_t *topo, pwr_topo_level_t level)
{
    int cpu = pwr_cpuset_next(&topo->sets.mine, -1);
    int group = pwr_topo_group_of(topo, level, (unsigned)cpu);
    while ((cpu = pwr_cpuset_next(&topo->sets.mine, cpu)) >= 0) {
        if (pwr_topo_group_of(topo, level, (unsigned)cpu) != group) {
            return -1;
        }
    }
    return group;
}

int pwr_topo_my_package(const pwr_topo_t *topo)
{
    return pwr_topo_my_group(topo, PWR_TOPO_PACKAGE);
}
