/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the parts of the facade share; and the facade on a topology that is told instead of read,
 * for machines that this one is not (tests).
 */
#ifndef PWR_POWER_PRIVATE_H
#define PWR_POWER_PRIVATE_H

#include "ownership.h"
#include "pwr/guard.h"
#include "pwr/lever.h"
#include "pwr/power.h"
#include "topo/watch_private.h"

enum { PWR_POWER_WHY_BYTES = 1024 };

struct pwr_power {
    const pwr_env_t *env;
    bool use_pstates;
    bool use_tstates;
    char *run_directory; /* NULL: the default */
    pwr_topo_t *topo;
    pwr_ownership_t *ownership;
    pwr_guard_t *guard; /* NULL before arming and when no lever is on */
    pwr_pstate_t *pstate;
    pwr_tstate_t *tstate;
    bool armed;
    bool allowed; /* questions 1 to 3 were answered with yes */
    bool low;
    unsigned level;
    uint64_t changed_ns; /* when low or level was last set */
    uint64_t checked_ns; /* when rechecks last passed */
    bool watched;        /* the phase in which levers are held now ends with a look at threads */
    pwr_power_counters_t counters;
    char why_off[PWR_POWER_WHY_BYTES];
};

/* Adds a reason to what pwr_power_why_off returns. */
void pwr_power_note_off(pwr_power_t *power, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As pwr_power_open; on PWR_OK the object owns topo.  kernel answers for it what the binding is
   now; NULL: the real one. */
pwr_status_t pwr_power_open_on(const pwr_env_t *env, const pwr_power_config_t *config,
                               pwr_topo_t *topo, const pwr_watch_kernel_t *kernel,
                               pwr_power_t **power);

#endif
