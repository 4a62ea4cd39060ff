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
#include "topo/watch.h"

enum { PWR_POWER_REASON_BYTES = 1024, PWR_POWER_WHY_BYTES = PWR_NUM_LEVERS * 1088 };

/* One lever, as far as this process may move it. */
typedef struct pwr_power_lever {
    bool use;                    /* it was asked for */
    pwr_lever_t *lever;          /* NULL: off */
    uint32_t value;              /* in force; PWR_POWER_AS_FOUND: none of ours */
    pwr_break_even_t break_even; /* all zero without a policy */
    char why_off[PWR_POWER_REASON_BYTES];
} pwr_power_lever_t;
enum { PWR_POWER_AS_FOUND = 0 };

struct pwr_power {
    const pwr_env_t *env;
    char *run_directory; /* NULL: the default */
    pwr_topo_t *topo;
    pwr_ownership_t *ownership;
    pwr_guard_t *guard; /* NULL before arming and when no lever is on */
    pwr_power_lever_t levers[PWR_NUM_LEVERS];
    bool hardware_first;
    bool armed;
    bool allowed;        /* questions 1 and 2 of arming were answered with yes */
    uint64_t checked_ns; /* when rechecks last passed */
    bool watched;        /* the phase in which levers are held now ends with a look at threads */
    pwr_power_counters_t counters;
    char why_off[PWR_POWER_WHY_BYTES];
};

/* Adds a reason why a lever, or each of those asked for, is off. */
void pwr_power_note_off(pwr_power_t *power, pwr_lever_id_t id, const char *reason);
void pwr_power_note_all_off(pwr_power_t *power, const char *reason);

/* As pwr_power_open; on PWR_OK the object owns topo.  kernel answers for it what the binding is
   now; NULL: the real one. */
pwr_status_t pwr_power_open_on(const pwr_env_t *env, const pwr_power_config_t *config,
                               pwr_topo_t *topo, const pwr_watch_kernel_t *kernel,
                               pwr_power_t **power);

#endif
