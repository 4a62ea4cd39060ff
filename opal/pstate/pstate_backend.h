/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a P-state back end is (private to opal/pstate).
 */
#ifndef PWR_PSTATE_BACKEND_H
#define PWR_PSTATE_BACKEND_H

#include "pwr/lever.h"
#include "why.h"

typedef struct pwr_pstate_request {
    const pwr_env_t *env;
    const pwr_topo_t *topo;
    pwr_guard_t *guard; /* gets every original before the first write to it */
    const pwr_why_t *why;
} pwr_pstate_request_t;

typedef struct pwr_pstate_limits {
    uint32_t min_khz;
    uint32_t max_khz;
} pwr_pstate_limits_t;

typedef struct pwr_pstate_backend {
    const char *name;
    /* All own CPUs or none; proven by writing back what was read.  On failure nothing stays open
       and a reason is added to request->why. */
    pwr_status_t (*open)(const pwr_pstate_request_t *request, void **state,
                         pwr_pstate_limits_t *limits);
    /* Lowers the ceiling of all own CPUs; khz is within limits.  Stops at the first failure. */
    pwr_status_t (*set)(void *state, uint32_t khz);
    /* Tries every CPU, and returns the first failure. */
    pwr_status_t (*restore)(void *state);
    void (*close)(void *state);
} pwr_pstate_backend_t;

extern const pwr_pstate_backend_t pwr_pstate_cpufreq;

#endif
