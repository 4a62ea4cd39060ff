/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One core to measure on, and another to signal from.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

bool calibrate_bind(const unsigned *cpus, unsigned count)
{
    unsigned highest = 0;
    for (unsigned i = 0; i < count; i++) {
        highest = cpus[i] > highest ? cpus[i] : highest;
    }
    cpu_set_t *set = CPU_ALLOC(highest + 1);
    size_t size = CPU_ALLOC_SIZE(highest + 1);
    if (!set) {
        errno = ENOMEM;
        return false;
    }
    CPU_ZERO_S(size, set);
    for (unsigned i = 0; i < count; i++) {
        CPU_SET_S(cpus[i], size, set);
    }
    int failed = sched_setaffinity(0, size, set);
    CPU_FREE(set);
    return failed == 0;
}

static bool reaches(const pwr_topo_t *bound, unsigned cpu)
{
    for (unsigned i = 0; i < pwr_topo_num_reached_cpus(bound); i++) {
        if (pwr_topo_reached_cpu(bound, i) == cpu) {
            return true;
        }
    }
    return false;
}

/* bound: the machine as seen from place->cpu alone. */
static void take_core(const pwr_topo_t *allowed, const pwr_topo_t *bound, calibrate_place_t *place)
{
    place->core_size = 0;
    for (unsigned i = 0; i < pwr_topo_num_reached_cpus(bound); i++) {
        unsigned cpu = pwr_topo_reached_cpu(bound, i);
        if (pwr_topo_is_mine(allowed, cpu) && place->core_size < CALIBRATE_MAX_SIBLINGS) {
            place->core[place->core_size++] = cpu;
        }
    }
    /* Who is bound to all there is counts as not bound. */
    if (place->core_size == pwr_topo_num_cpus(bound)) {
        place->core[0] = place->cpu;
        place->core_size = 1;
    }
}

static int find_other(const pwr_topo_t *allowed, const pwr_topo_t *bound, unsigned cpu)
{
    int other = -1;
    for (unsigned i = 0; i < pwr_topo_num_my_cpus(allowed); i++) {
        unsigned candidate = pwr_topo_my_cpu(allowed, i);
        if (reaches(bound, candidate)) {
            continue;
        }
        if (pwr_topo_package_of(allowed, candidate) == pwr_topo_package_of(allowed, cpu)) {
            return (int)candidate;
        }
        other = other < 0 ? (int)candidate : other;
    }
    return other;
}

static bool settle_among(const pwr_env_t *env, const pwr_topo_t *allowed, int wanted,
                         calibrate_place_t *place)
{
    pwr_topo_t *bound;
    place->cpu = wanted >= 0 ? (unsigned)wanted
                             : pwr_topo_my_cpu(allowed, pwr_topo_num_my_cpus(allowed) - 1);
    if (!pwr_topo_is_mine(allowed, place->cpu)) {
        fprintf(stderr, "poweraware-calibrate: --cpu %u: not a CPU that this process may run on\n",
                place->cpu);
        return false;
    }
    if (!calibrate_bind(&place->cpu, 1)) {
        fprintf(stderr, "poweraware-calibrate: cannot bind to CPU %u: %s\n", place->cpu,
                strerror(errno));
        return false;
    }
    if (pwr_topo_open(env, &bound) != PWR_OK) {
        return false; /* said by the library */
    }
    take_core(allowed, bound, place);
    place->other_cpu = find_other(allowed, bound, place->cpu);
    pwr_topo_close(bound);
    if (!calibrate_bind(place->core, place->core_size)) {
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
