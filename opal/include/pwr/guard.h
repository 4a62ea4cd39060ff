/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian: a small process that puts every lever back when its client is gone.
 *
 * Before a lever is first written, its original value is sent over a pipe to the guardian, which
 * lives in a session of its own.  When the pipe closes without a farewell (exit, MPI_Abort, any
 * signal, SIGKILL included) the guardian writes the originals back and ends.  No guardian, no
 * levers: whoever cannot promise the way back does not go.
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
   may write the lever at once (write-ahead). */
pwr_status_t pwr_guard_remember(pwr_guard_t *guard, const pwr_guard_record_t *record);

/* Process id of the guardian, for messages and tests. */
pid_t pwr_guard_pid(const pwr_guard_t *guard);

/* Farewell: everything is already restored, the guardian ends without writing. NULL is allowed. */
void pwr_guard_stop(pwr_guard_t *guard);

#endif
