/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Levers: P-states and T-states of the CPUs that are ours.
 *
 * What can be moved, and through which access, is a table row per back end (opal/pstate/pstate.c,
 * opal/tstate/tstate.c); accesses are in opal/control.
 */
#ifndef PWR_LEVER_H
#define PWR_LEVER_H

#include <stdint.h>

#include "pwr/env.h"
#include "pwr/guard.h"
#include "pwr/topo.h"

/* ---- P-states (ICPP 2010: DVFS between f_min and f_max) ---- */
typedef struct pwr_pstate pwr_pstate_t;

/* Opens the first back end that works on all of topo's own CPUs: proven by writing back what was
   read.  Descriptors stay open.  Originals are handed to guard first.
   Errors: UNSUPPORTED (no such hardware), PERM (there, but not for us), SHARED (one frequency for
   CPUs of ours and of others), PARSE, RANGE, IO (what a file says or answers), NOMEM; why[why_size]
   then holds one line that says what is missing and what grants it.  How other writers are
   respected: opal/control/held.h. */
pwr_status_t pwr_pstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_pstate_t **pstate);
/* For those who want to know about all back ends, in the order in which pwr_pstate_open tries them:
   the name of one, NULL behind the last, and an attempt at that one alone (RANGE: there is none).
   guard may be NULL: that only looks, opening for writing and reading but writing nothing; _set
   then returns PWR_ERR_ARG.  The same holds for T-states below. */
const char *pwr_pstate_backend_name(unsigned nth);
pwr_status_t pwr_pstate_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                                 unsigned nth, char *why, unsigned why_size, pwr_pstate_t **pstate);
const char *pwr_pstate_backend(const pwr_pstate_t *pstate);
uint32_t pwr_pstate_min_khz(const pwr_pstate_t *pstate); /* lowest the hardware offers */
uint32_t pwr_pstate_max_khz(const pwr_pstate_t *pstate); /* the ceiling found at open */
/* Lowers the ceiling of every own CPU to khz, or (RANGE) refuses what is outside min..max.  A CPU
   whose own range is narrower goes as far as that; none goes above the ceiling it was found at.
   After an error some CPUs may have changed: restore.  FOREIGN: somebody else moved one while it
   was lowered; GONE: a CPU went offline. */
pwr_status_t pwr_pstate_set(pwr_pstate_t *pstate, uint32_t khz);
/* Puts back what was found, as far as possible: all CPUs are tried, the first failure is returned.
   FOREIGN: somebody else's value was found on one, and left there.  Writes nothing when nothing was
   set. */
pwr_status_t pwr_pstate_restore(pwr_pstate_t *pstate);
/* How often somebody else's new ceiling was found while nothing was lowered, and taken over. */
unsigned pwr_pstate_num_adopted(const pwr_pstate_t *pstate);
/* Restores if needed. NULL is allowed. */
void pwr_pstate_close(pwr_pstate_t *pstate);

/* ---- T-states (ICPP 2010: T0 = full speed .. T7 = 12% duty; IA32_CLOCK_MODULATION) ---- */
typedef struct pwr_tstate pwr_tstate_t;

enum { PWR_TSTATE_FULL = 0, PWR_TSTATE_DEEPEST = 7 };
enum { PWR_DUTY_FULL = 16, PWR_DUTY_PER_TSTATE = 2 }; /* sixteenths of full duty */

pwr_status_t pwr_tstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_tstate_t **tstate);
const char *pwr_tstate_backend_name(unsigned nth);
pwr_status_t pwr_tstate_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                                 unsigned nth, char *why, unsigned why_size, pwr_tstate_t **tstate);
const char *pwr_tstate_backend(const pwr_tstate_t *tstate);
/* The step of duties in sixteenths: 2 (12.5 %) or, with "extended" modulation, 1 (6.25 %).  Found
   out by the first call, which for a moment runs the first own CPU at 15/16; call while nothing is
   throttled, and not without a guardian. */
unsigned pwr_tstate_step(pwr_tstate_t *tstate);
/* duty in sixteenths, 1..16; 16 is pwr_tstate_restore.  Between steps the next higher duty is
   taken, but the one below full duty rather than none.  One write per own CPU.  A CPU that was
   found throttled deeper stays as it was found. */
pwr_status_t pwr_tstate_set(pwr_tstate_t *tstate, unsigned duty);
pwr_status_t pwr_tstate_restore(pwr_tstate_t *tstate);
unsigned pwr_tstate_num_adopted(const pwr_tstate_t *tstate);
void pwr_tstate_close(pwr_tstate_t *tstate);

#endif
