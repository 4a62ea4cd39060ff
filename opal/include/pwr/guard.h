/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian: a small process that puts every lever back when its client is gone.
 *
 * Before a lever is first written, its original value is sent over a socket to the guardian, which
 * lives in a session of its own and is no child of its client (an application's wait() never sees
 * it).  When the client ends without a farewell (exit, abort, any signal, SIGKILL included) the
 * guardian writes the originals back and ends.  No guardian, no levers: whoever cannot promise the
 * way back does not go.
 *
 * Limit: whoever kills every process of a container or cgroup at once kills the guardian too.
 */
#ifndef PWR_GUARD_H
#define PWR_GUARD_H

#include <stdint.h>
#include <sys/types.h>

#include "pwr/env.h"

typedef struct pwr_guard pwr_guard_t;

enum { PWR_GUARD_PATH_MAX = 256, PWR_GUARD_DATA_MAX = 32 };

/* One thing to write back: data[size] at offset of path (already including the root).
   priority orders the restore, lower first (a ceiling must be raised before a floor). */
typedef struct pwr_guard_record {
    char path[PWR_GUARD_PATH_MAX];
    uint64_t offset;
    uint32_t priority;
    uint32_t size;
    unsigned char data[PWR_GUARD_DATA_MAX];
} pwr_guard_record_t;

/* Starts program (NULL: the installed poweraware-guard) and waits until it says it is ready. */
pwr_status_t pwr_guard_start(const pwr_env_t *env, const char *program, pwr_guard_t **guard);

/* Hands one original value over; returns only when the guardian has confirmed it, so the caller
   may write the lever at once (write-ahead).  What is already known of the same path and offset
   stays: the first value is the original.  Errors: ARG (the record), NOMEM (the guardian's), IO
   (the guardian is gone or does not answer; no SIGPIPE). */
pwr_status_t pwr_guard_remember(pwr_guard_t *guard, const pwr_guard_record_t *record);

/* Process id of the guardian, for messages and tests. */
pid_t pwr_guard_pid(const pwr_guard_t *guard);

/* Farewell: everything is already restored, the guardian ends without writing, and has ended when
   this returns.  NULL is allowed. */
void pwr_guard_stop(pwr_guard_t *guard);

/* Leaves without a farewell, for a client that could not restore by itself: the guardian writes all
   originals back now, while the client goes on.  NULL is allowed. */
void pwr_guard_abandon(pwr_guard_t *guard);

#endif
