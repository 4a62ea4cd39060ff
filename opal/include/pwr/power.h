/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What an algorithm says to the hardware: "low power", "full power", "throttle", "unthrottle".
 *
 * One object per process.  It owns topology, claim, guardian and levers and decides, once, whether
 * levers may be used at all; where not, the verbs below are cheap no-ops and are counted.
 * Not thread safe: the caller keeps the levers off when several threads may call MPI.
 */
#ifndef PWR_POWER_H
#define PWR_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "pwr/topo.h"

typedef struct pwr_power pwr_power_t;

typedef struct pwr_power_config {
    bool use_pstates;
    bool use_tstates;
    const char *run_directory; /* of claims and journals; NULL: the default; copied */
} pwr_power_config_t;

typedef struct pwr_power_counters {
    uint64_t pstate_writes; /* transitions that reached the hardware */
    uint64_t tstate_writes;
    uint64_t low_ns;       /* time at the lowest frequency, up to the last write of a lever */
    uint64_t throttled_ns; /* time in T1 and deeper, likewise */
    uint64_t skipped;      /* verbs that found no lever */
    uint64_t errors;       /* failed writes; the lever is then given up */
    uint64_t adopted; /* new ceilings that somebody else set between our uses, and we kept to */
    uint64_t yielded; /* levers left to somebody else who wrote over a value of ours */
    /* 1 when all levers were put back and stay off: the binding changed, somebody else claimed a
       CPU, other threads of ours compute, or there is no guardian any more. */
    uint64_t withdrawn;
} pwr_power_counters_t;

/* Claims this process's CPUs (so that later arrivals see them) and reads the topology.  Opens no
   lever yet.  Call early, from every rank.  A claim that fails is no error here: it keeps the
   levers off.  Errors: NOMEM, UNSUPPORTED (no topology). */
pwr_status_t pwr_power_open(const pwr_env_t *env, const pwr_power_config_t *config,
                            pwr_power_t **power);

/* Opens the levers, or decides against it; the first call decides, later ones return the same.
   Call when every rank of the node has called pwr_power_open.  The reason for each lever that
   stays off is logged once at PWR_LOG_INFO and kept for pwr_power_why_off. */
void pwr_power_arm(pwr_power_t *power);

const pwr_topo_t *pwr_power_topo(const pwr_power_t *power);
/* What arming decided for both levers alike: bound, alone and guarded.  A lever that is off all the
   same is not there, or not for us. */
bool pwr_power_is_allowed(const pwr_power_t *power);
bool pwr_power_has_pstates(const pwr_power_t *power);
bool pwr_power_has_tstates(const pwr_power_t *power);
/* The back end in use, "cpufreq", "msr_safe" ..; NULL when the lever is off. */
const char *pwr_power_pstate_backend(const pwr_power_t *power);
const char *pwr_power_tstate_backend(const pwr_power_t *power);
/* One line per lever that is off or was given up, joined by "; "; "" when none is. */
const char *pwr_power_why_off(const pwr_power_t *power);

/* DVFS (paper: freq-scaling): all own CPUs to the lowest frequency, and back. Idempotent. */
void pwr_power_low(pwr_power_t *power);
void pwr_power_full(pwr_power_t *power);

/* T-states: all own CPUs to T<level> (1..7; 0 is unthrottle, above 7 means 7), and back to what was
   found. Idempotent. */
void pwr_power_throttle(pwr_power_t *power, unsigned level);
void pwr_power_unthrottle(pwr_power_t *power);
/* The level now in force (0: none). */
unsigned pwr_power_level(const pwr_power_t *power);

pwr_power_counters_t pwr_power_counters(const pwr_power_t *power);

/* Everything back to what was found, guardian dismissed, claim released.  What this process could
   not restore by itself is left to the guardian.  NULL is allowed. */
void pwr_power_close(pwr_power_t *power);

#endif
