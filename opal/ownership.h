/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whose are the CPUs: may this process move levers of those it is bound to (private to the
 * library)?
 *
 * Asked in full once, when levers are armed; while they are in use the parts that may change are
 * asked again (pwr_ownership_recheck, PWR_RECHECK_NS).
 */
#ifndef PWR_OWNERSHIP_H
#define PWR_OWNERSHIP_H

#include <stdbool.h>

#include "pwr/env.h"
#include "pwr/topo.h"
#include "topo/watch.h"

/* How often answers that may change are asked for again: rarely enough to cost nothing, often
   enough that nobody else's work is slowed for longer than a blink. */
enum { PWR_RECHECK_NS = 100000000 };

enum { PWR_OWNERSHIP_REASON_BYTES = 480 };

typedef struct pwr_ownership pwr_ownership_t;

/* Claims topo's own CPUs in run_directory (NULL: the default).  A claim that fails keeps the answer
   "no".  kernel is whom to ask for binding and CPU times, NULL for the real one.  What is passed
   must outlive it.  Errors: NOMEM. */
pwr_status_t pwr_ownership_open(const pwr_env_t *env, const pwr_topo_t *topo,
                                const char *run_directory, const pwr_watch_kernel_t *kernel,
                                pwr_ownership_t **ownership);
/* NULL is allowed. */
void pwr_ownership_close(pwr_ownership_t *ownership);

/* Whether the program is set-uid, set-gid or has file capabilities: parameters and environment are
   the caller's, the rights are the program's owner's. */
bool pwr_ownership_is_privileged(void);

/* The whole question, in this order: is this process bound, are its CPUs and their SMT siblings
   claimed by nobody else, is no other process bound to them?  Scans /proc.  reason is written when
   the answer is no. */
bool pwr_ownership_ask(const pwr_ownership_t *ownership, char reason[PWR_OWNERSHIP_REASON_BYTES]);

/* Has the binding stayed as it was, and has nobody else claimed our CPUs?  A few system calls. */
bool pwr_ownership_recheck(const pwr_ownership_t *ownership,
                           char reason[PWR_OWNERSHIP_REASON_BYTES]);

/* Bracket a phase in which levers are held, as seldom as rechecks.  end: false when other threads
   of this process computed meanwhile, whom levers slow down. */
void pwr_ownership_begin_hold(pwr_ownership_t *ownership);
bool pwr_ownership_end_hold(pwr_ownership_t *ownership, char reason[PWR_OWNERSHIP_REASON_BYTES]);

#endif
