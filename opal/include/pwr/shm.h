/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Names of shared memory, which are there until all processes that want it have mapped it.
 *
 * Whoever is killed meanwhile leaves the name, and the memory, for ever.  So its creator holds a
 * lock on it, which ends with him in whatever way; what nobody holds is removed by who comes next.
 * Rejected: to look for the process that a name tells of.  Another PID namespace may share the
 * names, and there it is somebody else.
 */
#ifndef PWR_SHM_H
#define PWR_SHM_H

#include "pwr/env.h"

/* shm_open(3) of a new name, locked; what a dead process has left under it is removed.  *fd is the
   caller's, who needs it until pwr_shm_remove.  Errors: those of pwr_status_from_errno. */
pwr_status_t pwr_shm_create(const char *name, int *fd);
/* Removes the name, and closes fd. */
void pwr_shm_remove(const char *name, int fd);

/* Removes all names "poweraware.<effective uid>.*" of this user in /dev/shm that nobody holds. */
void pwr_shm_sweep(const pwr_env_t *env);

#endif
