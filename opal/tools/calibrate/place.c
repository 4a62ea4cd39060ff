/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One core to measure on, and another to signal from.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"
#include "topo/topo_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The CPUs of a core that this process may run on. */
static bool find_core(const pwr_env_t *env, const pwr_topo_t *allowed, unsigned cpu,
                      pwr_cpuset_t *core)
{
    char list[16];
    pwr_topo_t *bound;
    snprintf(list, sizeof list, "%u", cpu);
    if (pwr_topo_open_with_binding(env, list, &bound) != PWR_OK) {
        return false; /* said by the library */
    }
    *core = pwr_topo_sets(bound)->reached;
    pwr_cpuset_intersect(core, &pwr_topo_sets(allowed)->mine);
    pwr_topo_close(bound);
    return true;
}

static int find_other(const pwr_topo_t *allowed, const pwr_cpuset_t *core, unsigned cpu)
{
    int other = -1;
    for (unsigned i = 0; i < pwr_topo_num_my_cpus(allowed); i++) {
        unsigned candidate = pwr_topo_my_cpu(allowed, i);
        if (pwr_cpuset_has(core, candidate)) {
            continue;
        }
        if (pwr_topo_package_of(allowed, candidate) == pwr_topo_package_of(allowed, cpu)) {
            return (int)candidate;
        }
        other = other < 0 ? (int)candidate : other;
    }
    return other;
}

/* Who is bound to all there is counts as not bound: where the core is the whole machine, to the one
   CPU. */
static bool bind_to_core(const pwr_topo_t *allowed, const pwr_cpuset_t *core, unsigned cpu)
{
    pwr_cpuset_t alone = {{0}};
    pwr_cpuset_add(&alone, cpu);
    return pwr_cpuset_bind(pwr_cpuset_count(core) == pwr_topo_num_cpus(allowed) ? &alone : core);
}

static void find_package(const pwr_topo_t *allowed, calibrate_place_t *place)
{
    int package = pwr_topo_package_of(allowed, place->cpu);
    place->package = (pwr_cpuset_t){{0}};
    for (unsigned i = 0; i < pwr_topo_num_my_cpus(allowed); i++) {
        if (pwr_topo_package_of(allowed, pwr_topo_my_cpu(allowed, i)) == package) {
            pwr_cpuset_add(&place->package, pwr_topo_my_cpu(allowed, i));
        }
    }
}

static bool settle_among(const pwr_env_t *env, const pwr_topo_t *allowed, int wanted,
                         calibrate_place_t *place)
{
    pwr_cpuset_t core;
    place->cpu = wanted >= 0 ? (unsigned)wanted
                             : pwr_topo_my_cpu(allowed, pwr_topo_num_my_cpus(allowed) - 1);
    if (!pwr_cpuset_has(&pwr_topo_sets(allowed)->mine, place->cpu)) {
        fprintf(stderr, "poweraware-calibrate: --cpu %u: not a CPU that this process may run on\n",
                place->cpu);
        return false;
    }
    if (!find_core(env, allowed, place->cpu, &core)) {
        return false;
    }
    place->other_cpu = find_other(allowed, &core, place->cpu);
    find_package(allowed, place);
    if (!bind_to_core(allowed, &core, place->cpu)) {
        fprintf(stderr, "poweraware-calibrate: cannot bind to the core of CPU %u: %s\n", place->cpu,
                strerror(errno));
        return false;
    }
    return true;
}

bool calibrate_settle_down(const pwr_env_t *env, int wanted, calibrate_place_t *place)
{
    pwr_topo_t *allowed;
    if (pwr_topo_open(env, &allowed) != PWR_OK) {
        return false; /* said by the library */
    }
    bool settled = settle_among(env, allowed, wanted, place);
    pwr_topo_close(allowed);
    return settled;
}
