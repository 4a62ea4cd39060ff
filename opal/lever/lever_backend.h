/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A back end of a lever: which controls, by which access, in which unit (private to opal/lever).
 */
#ifndef PWR_LEVER_BACKEND_H
#define PWR_LEVER_BACKEND_H

#include "control/held.h"
#include "pwr/lever.h"
#include "topo/cpulist.h"

typedef struct pwr_lever_request {
    pwr_held_request_t held;
    const pwr_topo_t *topo;
} pwr_lever_request_t;

typedef struct pwr_lever_backend {
    const char *name; /* in messages and reports */
    const pwr_access_t *access;
    pwr_control_kind_t main;  /* the ceiling, or the control that alone says it all */
    pwr_control_kind_t floor; /* it must never be above main; PWR_CONTROL_KINDS: there is none */
    uint32_t per_unit;        /* the lever's units in one of main's speed (control.h) */
    /* The lowest value of a CPU; a reason is added to request->held.why on failure. */
    pwr_status_t (*lowest)(const struct pwr_lever_backend *backend,
                           const pwr_lever_request_t *request, unsigned cpu, uint32_t *lowest);
    /* The CPUs that share cpu's control, which are driven through the lowest of ours.  SHARED, with
       the reason in request->held.why, when one of them is not ours and must be; else the processes
       that have them agree (control/shared.h).  NULL: each CPU has its own. */
    pwr_status_t (*sharers)(const pwr_lever_request_t *request, unsigned cpu,
                            pwr_cpuset_t *sharers);
} pwr_lever_backend_t;

/* The three accesses to a register as rows of back ends, whose names begin with prefix: the one
   that an administrator can open to users first. */
#define PWR_LEVER_REGISTER(prefix, ...)                                                            \
    PWR_LEVER_REGISTER_BY(prefix "msr_safe", &pwr_access_msr_safe, __VA_ARGS__),                   \
        PWR_LEVER_REGISTER_BY(prefix "msr", &pwr_access_msr, __VA_ARGS__),                         \
        PWR_LEVER_REGISTER_BY(prefix "likwid-accessD", &pwr_access_accessd, __VA_ARGS__)
#define PWR_LEVER_REGISTER_BY(name, access, control, per_unit, lowest, sharers)                    \
    {                                                                                              \
        name, access, control, PWR_CONTROL_KINDS, per_unit, lowest, sharers                        \
    }

extern const pwr_lever_type_t pwr_lever_pstate;
extern const pwr_lever_type_t pwr_lever_tstate;
extern const pwr_lever_type_t pwr_lever_uncore;

#endif
