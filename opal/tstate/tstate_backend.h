/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a T-state back end is (private to opal/tstate).
 */
#ifndef PWR_TSTATE_BACKEND_H
#define PWR_TSTATE_BACKEND_H

#include "pwr/lever.h"
#include "why.h"

typedef struct pwr_tstate_request {
    const pwr_env_t *env;
    const pwr_topo_t *topo;
    pwr_guard_t *guard; /* gets every original before the first write to it */
    const pwr_why_t *why;
} pwr_tstate_request_t;

typedef struct pwr_tstate_backend pwr_tstate_backend_t;

struct pwr_tstate_backend {
    const char *name; /* of the MSR back ends also the device: /dev/cpu/N/<name> */
    /* All own CPUs or none; proven by writing back what was read.  On failure nothing stays open
       and a reason is added to request->why. */
    pwr_status_t (*open)(const pwr_tstate_backend_t *backend, const pwr_tstate_request_t *request,
                         void **state);
    /* level 1..7 on all own CPUs.  Stops at the first failure. */
    pwr_status_t (*set)(void *state, unsigned level);
    /* Tries every CPU, and returns the first failure. */
    pwr_status_t (*restore)(void *state);
    void (*close)(void *state);
};

extern const pwr_tstate_backend_t pwr_tstate_msr_safe;
extern const pwr_tstate_backend_t pwr_tstate_msr;

#endif
