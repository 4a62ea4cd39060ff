/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A style of driving P-states: which controls, behind which access, in which unit (private to
 * opal/pstate).
 */
#ifndef PWR_PSTATE_STYLE_H
#define PWR_PSTATE_STYLE_H

#include "control/held.h"
#include "pwr/topo.h"

typedef struct pwr_pstate_request {
    pwr_held_request_t held;
    const pwr_topo_t *topo;
} pwr_pstate_request_t;

typedef struct pwr_pstate_limits {
    uint32_t min_khz; /* the lowest frequency of this CPU */
    uint32_t max_khz; /* the highest */
} pwr_pstate_limits_t;

typedef struct pwr_pstate_style {
    const char *name; /* the back end's name in messages and reports */
    const pwr_access_t *access;
    pwr_control_kind_t main; /* the ceiling, or the control that alone says it all */
    bool has_floor;          /* a floor must get out of its way */
    uint32_t khz_per_unit;   /* of main's speed (control.h) */
    /* Asks the CPU for its limits; a reason is added to request->held.why on failure. */
    pwr_status_t (*limits)(const struct pwr_pstate_style *style,
                           const pwr_pstate_request_t *request, unsigned cpu,
                           pwr_pstate_limits_t *limits);
} pwr_pstate_style_t;

/* pstate_cpufreq.c and pstate_msr.c */
pwr_status_t pwr_pstate_cpufreq_limits(const pwr_pstate_style_t *style,
                                       const pwr_pstate_request_t *request, unsigned cpu,
                                       pwr_pstate_limits_t *limits);
pwr_status_t pwr_pstate_setspeed_limits(const pwr_pstate_style_t *style,
                                        const pwr_pstate_request_t *request, unsigned cpu,
                                        pwr_pstate_limits_t *limits);
pwr_status_t pwr_pstate_hwp_limits(const pwr_pstate_style_t *style,
                                   const pwr_pstate_request_t *request, unsigned cpu,
                                   pwr_pstate_limits_t *limits);
pwr_status_t pwr_pstate_perf_ctl_limits(const pwr_pstate_style_t *style,
                                        const pwr_pstate_request_t *request, unsigned cpu,
                                        pwr_pstate_limits_t *limits);

#endif
