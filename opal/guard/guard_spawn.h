/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Starting a guardian so that nothing of its client's is left in it.
 */
#ifndef PWR_GUARD_SPAWN_H
#define PWR_GUARD_SPAWN_H

#include "pwr/env.h"

/* Starts program with one end of a socket pair as PWR_GUARD_FD and /dev/null for the standard
   files, in a session of its own, as nobody's child.  *fd is our end, the caller's.  Says why it
   failed. */
pwr_status_t pwr_guard_spawn(const pwr_env_t *env, const char *program, int *fd);

#endif
