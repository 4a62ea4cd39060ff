/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A topology as sets, and one whose binding is told instead of asked, for machines or processes
 * that this one is not (private to the library and its tools).
 */
#ifndef PWR_TOPO_PRIVATE_H
#define PWR_TOPO_PRIVATE_H

#include "pwr/topo.h"
#include "topo/cpulist.h"

/* What the functions of topo.h answer by. */
typedef struct pwr_topo_sets {
    pwr_cpuset_t known;   /* CPUs of the topology */
    pwr_cpuset_t allowed; /* of this process's cgroup cpuset; all where there is none */
    pwr_cpuset_t mine;
    pwr_cpuset_t reached; /* mine and their SMT siblings */
} pwr_topo_sets_t;

const pwr_topo_sets_t *pwr_topo_sets(const pwr_topo_t *topo);

/* As pwr_topo_open, bound to cpulist ("0-3,8", Linux form).  ARG when it is not such a list or
   names no CPU of the machine; NULL: ask the kernel. */
pwr_status_t pwr_topo_open_with_binding(const pwr_env_t *env, const char *cpulist,
                                        pwr_topo_t **topo);

#endif
