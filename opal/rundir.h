/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The run-time directory of one user on one node: claims and journals (private to the library).
 *
 * Its default place is in a folder where everybody may make files, so nothing that is found there
 * is believed before it has been looked at:
 *
 *   1. the directory is opened without following a link in its last component, and must be ours and
 *      closed to all others (mode 0700);
 *   2. every file is opened relative to that descriptor, without following links and without
 *      waiting (a FIFO), and must be a regular file of ours, closed to all others, with one name.
 *
 * What is true of an open descriptor stays true whatever becomes of the path.
 */
#ifndef PWR_RUNDIR_H
#define PWR_RUNDIR_H

#include <stdbool.h>

#include "pwr/env.h"

typedef struct pwr_rundir pwr_rundir_t;

/* Whether a directory that is not there is made, with mode 0700 (its parent must exist). */
typedef enum pwr_rundir_mode { PWR_RUNDIR_CREATE, PWR_RUNDIR_EXISTING } pwr_rundir_mode_t;

/* directory: absolute, below env->root; NULL: /dev/shm/poweraware.<effective uid>.
   Errors: UNSUPPORTED (not there, or no parent to make it in), PERM (not a directory of ours or
   open to others), ARG, NOMEM, IO; one line says which, except for EXISTING that is not there. */
pwr_status_t pwr_rundir_open(const pwr_env_t *env, const char *directory, pwr_rundir_mode_t mode,
                             pwr_rundir_t **rundir);
/* Does not remove anything.  NULL is allowed. */
void pwr_rundir_close(pwr_rundir_t *rundir);

/* Full name, for messages and for a guardian that opens it itself. */
const char *pwr_rundir_name(const pwr_rundir_t *rundir);
/* Owned by rundir. */
int pwr_rundir_fd(const pwr_rundir_t *rundir);

/* openat(2) with O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC added and mode 0600; name has no slash.  On
   success *fd is the caller's.  Errors: UNSUPPORTED (not there), PERM (2.), SHARED (O_EXCL, and
   there is one), IO; why[why_size] then says in one line which. */
pwr_status_t pwr_rundir_open_file(const pwr_rundir_t *rundir, const char *name, int flags,
                                  char *why, unsigned why_size, int *fd);

/* Whether the file of this name is the one that is open as fd. */
bool pwr_rundir_has(const pwr_rundir_t *rundir, const char *name, int fd);

/* Removes the file of this name if it is the one that is open as fd; PWR_OK also when it is not
   there any more.  Whoever calls must hold the locks that keep others from replacing it. */
pwr_status_t pwr_rundir_remove(const pwr_rundir_t *rundir, const char *name, int fd);

#endif
