/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian: a small process that puts every lever back when its client is gone.
 *
 * Before a control is first written, its original value is sent over a socket to the guardian,
 * which lives in a session of its own and is no child of its client (an application's wait() never
 * sees it).  When the client ends without a farewell (exit, abort, any signal, SIGKILL included)
 * the guardian writes the originals back and ends.  No guardian, no levers: whoever cannot promise
 * the way back does not go.
 *
 * A client may also be stopped for hours (gang scheduling).  The guardian looks for that every
 * second, and puts back what only this client moves.  It does so once per stop, and the client is
 * told when it asks.
 *
 * The guardian confirms what is in its journal, a file in the user's run-time directory
 * (opal/guard/journal.h).  So whoever kills guardian and client at once (a batch system that ends
 * a whole cgroup) leaves a journal, with which poweraware-restore puts everything back; and a
 * guardian that was killed alone can be replaced by one that takes over its journal.
 */
#ifndef PWR_GUARD_H
#define PWR_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pwr/env.h"

typedef struct pwr_guard pwr_guard_t;
struct pwr_control; /* opal/control/control.h */
struct pwr_rundir;  /* opal/rundir.h */

typedef struct pwr_guard_config {
    const char *run_directory; /* where journals are; NULL: /dev/shm/poweraware.<uid> */
    const char *job;           /* NULL: the batch system's or launcher's name of the job */
} pwr_guard_config_t;

/* Starts poweraware-guard (from env->helper_dir) and waits until it has begun a journal and says
   that it is ready.  Holds three descriptors (socket, directory, journal), all close-on-exec.
   Errors: those of the run-time directory (opal/rundir.h), UNSUPPORTED (no such program), IO (no
   answer; the journal cannot be written), NOMEM; one line says which. */
pwr_status_t pwr_guard_start(const pwr_env_t *env, const pwr_guard_config_t *config,
                             pwr_guard_t **guard);

/* Hands the original value of a control over; returns only when the guardian has confirmed it, so
   the caller may write the control at once (write-ahead).  A later call for the same control
   replaces the original.  Errors: NOMEM (the guardian's), RANGE (the journal has grown to its
   limits), IO (the journal's disk is full or fails, said once; or the guardian is gone or does not
   answer, no SIGPIPE: see pwr_guard_lives). */
pwr_status_t pwr_guard_remember(pwr_guard_t *guard, const struct pwr_control *control,
                                uint64_t original);

/* Says, before it is written, that a value of a remembered control will be ours: what the guardian
   later finds there and was never told of is somebody else's, and stays.  Errors as above; RANGE:
   more values than a journal keeps of one control; ARG: a control that is not remembered. */
pwr_status_t pwr_guard_announce(pwr_guard_t *guard, const struct pwr_control *control,
                                uint64_t value);

/* Whether it has put a control back because this process was stopped, since this was last asked. */
bool pwr_guard_has_put_back(pwr_guard_t *guard, const struct pwr_control *control);

/* Whether it is still there, with one system call that does not wait.  False also after an answer
   that did not come. */
bool pwr_guard_lives(const pwr_guard_t *guard);

/* When it is not there any more: starts another one that takes over the same journal, so everything
   that was confirmed is known to it.  There is no gap: meanwhile the journal is on disk.  PWR_OK
   when it lives.  Errors: as pwr_guard_start; SHARED (it lives after all, but does not answer),
   PARSE (the journal was tampered with).  The client must then restore by itself and stop. */
pwr_status_t pwr_guard_revive(pwr_guard_t *guard);

/* The run-time directory of its journal; of the guard. */
const struct pwr_rundir *pwr_guard_rundir(const pwr_guard_t *guard);

/* Process id of the guardian, for messages and tests. */
pid_t pwr_guard_pid(const pwr_guard_t *guard);

/* Farewell: everything is already restored, the guardian ends without writing, and it and its
   journal are gone when this returns.  NULL is allowed. */
void pwr_guard_stop(pwr_guard_t *guard);

/* Leaves without a farewell, for a client that could not restore by itself: the guardian writes all
   originals back now, while the client goes on; one that was killed is replaced for that.  What it
   cannot write back stays in the journal.  Levers that the guardian stood by for are closed before:
   they ask it.  NULL is allowed. */
void pwr_guard_abandon(pwr_guard_t *guard);

#endif
