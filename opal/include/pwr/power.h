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
#include "pwr/lever.h"
#include "pwr/policy.h"
#include "pwr/topo.h"

typedef struct pwr_power pwr_power_t;

typedef struct pwr_power_config {
    bool use[PWR_NUM_LEVERS];  /* which levers may be moved */
    const char *run_directory; /* of claims and journals; NULL: the default; copied */
    /* What levers cost here; read while it is opened.  NULL: nothing. */
    const pwr_policy_t *policy;
    /* Where no lever could be opened anyway, arming does not ask whether they would be allowed:
       that takes milliseconds. */
    bool hardware_first;
} pwr_power_config_t;

/* All levers. */
pwr_power_config_t pwr_power_config_all(const char *run_directory);

typedef struct pwr_power_counters {
    pwr_lever_counts_t lever[PWR_NUM_LEVERS];
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
/* What arming decided for all levers alike: bound, alone and guarded.  A lever that is off all the
   same is not there, or not for us. */
bool pwr_power_is_allowed(const pwr_power_t *power);
bool pwr_power_has_any(const pwr_power_t *power);
bool pwr_power_has(const pwr_power_t *power, pwr_lever_id_t lever);
/* Why levers that were asked for are off or were given up, in one line; "" when none is. */
const char *pwr_power_why_off(const pwr_power_t *power);

/* A lever that is not lowered yet stays as it is where the phase is not expected to last as long as
   its break-even (pwr/policy.h): that counts as skipped.  expected_ns: how long the caller expects
   the phase to last, which begins now; PWR_POWER_LENGTH_UNKNOWN: no idea; then
   levers move, but for those that need to know it (pwr/lever.h). */
enum { PWR_POWER_LENGTH_UNKNOWN = 0 };

/* DVFS (paper: freq-scaling): all own CPUs to the lowest frequency, and the uncore of their
   packages while all who share them ask for it, and back.  Idempotent. */
void pwr_power_low(pwr_power_t *power, uint64_t expected_ns);
void pwr_power_full(pwr_power_t *power);

/* T-states: all own CPUs to T<level> (1..7; 0 is unthrottle, above 7 means 7), and back to what was
   found. Idempotent. */
enum { PWR_TSTATE_FULL = 0, PWR_TSTATE_DEEPEST = 7 };
void pwr_power_throttle(pwr_power_t *power, unsigned level, uint64_t expected_ns);
void pwr_power_unthrottle(pwr_power_t *power);
/* The level now in force (0: none). */
unsigned pwr_power_level(const pwr_power_t *power);

/* One lever alone, as far down as it goes, and back: for measuring it. */
void pwr_power_move(pwr_power_t *power, pwr_lever_id_t lever, bool down);

pwr_power_counters_t pwr_power_counters(const pwr_power_t *power);
/* What each lever came to so far, and through which back end, for reports. */
void pwr_power_levers(const pwr_power_t *power, pwr_lever_use_t uses[PWR_NUM_LEVERS]);

/* Everything back to what was found, guardian dismissed, claim released.  What this process could
   not restore by itself is left to the guardian.  NULL is allowed. */
void pwr_power_close(pwr_power_t *power);

#endif
