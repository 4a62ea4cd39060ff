/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packages, cores and CPUs of this machine, and which CPUs are this process's own.
 * Source: ICPP 2010 section V-C (everything relies on the real numbering of sockets and cores).
 */
#ifndef PWR_TOPO_H
#define PWR_TOPO_H

#include <stdbool.h>

#include "pwr/env.h"

typedef struct pwr_topo pwr_topo_t;

/* What CPUs can have in common.  A CPU without a NUMA node or a level 3 cache counts as in a group
   of its own kind with the others of its package. */
typedef enum pwr_topo_level {
    PWR_TOPO_PACKAGE,
    PWR_TOPO_NUMA,
    PWR_TOPO_L3,
    PWR_TOPO_NUM_LEVELS
} pwr_topo_level_t;

/* Loads the topology and this process's binding through hwloc, and honours HWLOC_* variables.

   hwloc takes another file system root only from the environment, so a non-empty env->root is put
   into HWLOC_FSROOT while the topology loads: no other thread may use the environment then.  Under
   another root hwloc does not ask the kernel for the binding (unless HWLOC_THISSYSTEM=1), and the
   process counts as not bound.  Errors: NOMEM, UNSUPPORTED (hwloc failed). */
pwr_status_t pwr_topo_open(const pwr_env_t *env, pwr_topo_t **topo);
/* NULL is allowed. */
void pwr_topo_close(pwr_topo_t *topo);

/* CPU means the operating system's number of a hardware thread (hwloc PU os_index). */
unsigned pwr_topo_num_packages(const pwr_topo_t *topo); /* >= 1 */
unsigned pwr_topo_num_cores(const pwr_topo_t *topo);    /* >= 1 */
unsigned pwr_topo_num_cpus(const pwr_topo_t *topo);     /* >= 1 */
/* Package of a CPU, 0 .. num_packages-1 in hwloc's logical order; -1 for an unknown CPU. */
int pwr_topo_package_of(const pwr_topo_t *topo, unsigned cpu);
/* The same for any level: group of a CPU, >= 0 and the same number in all processes of the machine;
   -1 for an unknown CPU.  Of several NUMA nodes that are local to a CPU (kinds of memory) the one
   local to the fewest CPUs counts, the first of those. */
int pwr_topo_group_of(const pwr_topo_t *topo, pwr_topo_level_t level, unsigned cpu);
/* The CPUs of a package, ascending: the lowest above after (-1: of all), or -1; that of all is the
   one for registers that exist once per package.  A CPU that is offline while the topology loads is
   in no package. */
int pwr_topo_next_in_package(const pwr_topo_t *topo, unsigned package, int after);

/* CPUs in the affinity mask of the thread that opened the topology, ascending: levers are moved for
   the thread that waits.  Threads that MPI or a tool started may be bound elsewhere. */
unsigned pwr_topo_num_my_cpus(const pwr_topo_t *topo);
unsigned pwr_topo_my_cpu(const pwr_topo_t *topo, unsigned index);
/* True when the mask is a proper subset of the machine, or the machine has one CPU. */
bool pwr_topo_is_bound(const pwr_topo_t *topo);
/* True when my CPUs are all hardware threads of every core they touch, or of every package: then
   nobody else is reached by levers of that scope. */
bool pwr_topo_has_whole_cores(const pwr_topo_t *topo);
bool pwr_topo_has_whole_packages(const pwr_topo_t *topo);
/* The package that holds all of my CPUs, or -1 when they span several. */
int pwr_topo_my_package(const pwr_topo_t *topo);
/* The group that holds all of my CPUs, or -1 when they span several. */
int pwr_topo_my_group(const pwr_topo_t *topo, pwr_topo_level_t level);

#endif
