/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls of a package that several processes of one user share (private to the library).
 *
 * A ceiling of a package slows down all who compute there.  So it is lowered by the last process
 * that agrees and raised by the first that withdraws; both do it themselves, awake.
 *
 *   1. All CPUs that share the controls belong to processes that have joined, or nothing is ever
 *      lowered.
 *   2. What is in force, and who agrees, is a record in a file of the run-time directory.  It is
 *      read, changed and written under a lock.
 *   3. Membership is a lock on one byte per CPU.  The kernel drops both kinds of locks when a
 *      process dies: who is gone agrees to nothing.
 *   4. A new original, set by somebody else meanwhile, ends all agreements: the guardians of the
 *      others must know it before a value of ours is in force again.
 *
 * The process that lowered has told its guardian, so a kill of any or all of them is undone by
 * that guardian, or by the next one that withdraws.
 */
#ifndef PWR_SHARED_H
#define PWR_SHARED_H

#include "control/held.h"
#include "topo/cpulist.h"

enum { PWR_SHARED_CONTROLS = 2 };

typedef struct pwr_shared pwr_shared_t;

typedef struct pwr_shared_request {
    const pwr_held_request_t *held; /* its guard is not NULL */
    const char *name;               /* of the file: the lever's */
    const pwr_cpuset_t *sharers;    /* all CPUs that the controls act on */
    const pwr_cpuset_t *mine;       /* this process's CPUs, some of which are sharers */
} pwr_shared_request_t;

/* Whether each of sharers is in mine or claimed (pwr/claim.h) by a process of this user.  SHARED,
   with the reason in request->why: no. */
pwr_status_t pwr_shared_check(const pwr_held_request_t *request, const pwr_cpuset_t *sharers,
                              const pwr_cpuset_t *mine);

/* Joins.  controls[count] were opened before (pwr_held_open), and stay where they are until
   pwr_shared_close.  Errors, with the reason in request->held->why: SHARED (a value of others is in
   force just now), PARSE (the record is of another version), IO, NOMEM. */
pwr_status_t pwr_shared_open(const pwr_shared_request_t *request, pwr_held_t *const controls[],
                             unsigned count, pwr_shared_t **shared);
/* Leaves.  Does not restore.  NULL is allowed. */
void pwr_shared_close(pwr_shared_t *shared);

/* The controls may be moved between these two.  begin: takes the lock, and the controls' state from
   the record.  IO: whoever has the lock did not give it back for seconds (stopped by a signal), or
   the record cannot be read; nothing is begun then.  end: writes the state back and returns status,
   or, where that is PWR_OK, why the record could not be written: the controls are then restored. */
pwr_status_t pwr_shared_begin(pwr_shared_t *shared);
pwr_status_t pwr_shared_end(pwr_shared_t *shared, pwr_status_t status);

/* Between begin and end.  agree: *all tells whether everybody now does, so that the controls may be
   lowered.  withdraw: whoever calls it restores them. */
pwr_status_t pwr_shared_agree(pwr_shared_t *shared, bool *all);
void pwr_shared_withdraw(pwr_shared_t *shared);

bool pwr_shared_agrees(const pwr_shared_t *shared);
/* How long the controls were lowered, by whomever, since the record was made; of the last begin or
   end. */
uint64_t pwr_shared_lowered_ns(const pwr_shared_t *shared);

#endif
