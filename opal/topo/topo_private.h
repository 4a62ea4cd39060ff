/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A topology as sets, and one whose binding is told instead of asked, for machines or processes
 * that this one is not (private to the library and its tools).
 */
#ifndef PWR_TOPO_PRIVATE_H
#define PWR_TOPO_PRIVATE_H

#include "pwr/topo.h"
#include "rundir.h"
#include "topo/cpulist.h"

/* What the functions of topo.h answer by. */
typedef struct pwr_topo_sets {
    pwr_cpuset_t known;   /* CPUs of the topology */
    pwr_cpuset_t allowed; /* of this process's cgroup cpuset; all where there is none */
    pwr_cpuset_t mine;
    /* Mine and their SMT siblings: what a lever on my CPUs can slow down, because the hardware
       threads of a core share its clock. */
    pwr_cpuset_t reached;
} pwr_topo_sets_t;

const pwr_topo_sets_t *pwr_topo_sets(const pwr_topo_t *topo);

/* ---- locks on one byte of a file per CPU, read locks of an open file description (claim.c) ----
 */

/* They exclude nobody, so this cannot block. */
pwr_status_t pwr_cpu_locks_take(int fd, const pwr_cpuset_t *cpus);
/* The lowest of cpus that somebody else has locked, or with locked = false that nobody else has;
   -1: there is none.  A kernel that cannot answer counts as having found one. */
int pwr_cpu_locks_first(int fd, const pwr_cpuset_t *cpus, bool locked);

/* The lowest of cpus that no process of this user claims (pwr/claim.h), -1: there is none; all are
   unclaimed where the registry cannot be read. */
int pwr_claim_first_unclaimed(const pwr_rundir_t *rundir, const pwr_cpuset_t *cpus);

/* As pwr_topo_open, bound to cpulist ("0-3,8", Linux form).  ARG when it is not such a list or
   names no CPU of the machine; NULL: ask the kernel. */
pwr_status_t pwr_topo_open_with_binding(const pwr_env_t *env, const char *cpulist,
                                        pwr_topo_t **topo);

#endif
