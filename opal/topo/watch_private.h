/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A watch whose kernel is told what to answer (tests).
 */
#ifndef PWR_WATCH_PRIVATE_H
#define PWR_WATCH_PRIVATE_H

#include <stdint.h>

#include "pwr/watch.h"
#include "topo/cpulist.h"

/* What is asked of the kernel; arg is env->arg. */
typedef struct pwr_watch_kernel {
    uint64_t (*process_cpu_ns)(void *arg); /* CPU time of all threads of this process */
    uint64_t (*thread_cpu_ns)(void *arg);  /* of the calling one */
    bool (*affinity)(void *arg, pwr_cpuset_t *set);
} pwr_watch_kernel_t;

/* As pwr_watch_open; kernel must outlive the watch. */
pwr_status_t pwr_watch_open_with(const pwr_env_t *env, const pwr_topo_t *topo,
                                 const pwr_watch_kernel_t *kernel, pwr_watch_t **watch);

#endif
