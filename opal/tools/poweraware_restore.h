/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What poweraware-restore is made of.
 *
 * A journal is whatever its owner has written into it.  Root must not follow it to places where its
 * owner could not go, so for each directory a child becomes its owner, for good, before it opens
 * anything in it: a forged journal gives its author nothing that a shell would not.
 */
#ifndef PWR_POWERAWARE_RESTORE_H
#define PWR_POWERAWARE_RESTORE_H

#include <stdbool.h>

#include "pwr/env.h"

typedef struct restore_request {
    pwr_env_t env;             /* where run-time directories are; logs to standard error */
    const char *run_directory; /* NULL: the default one */
    const char *job;           /* as in names of journals; NULL: all */
    bool dry_run;
    bool verbose;
    bool guardian_has_it; /* of one journal: a guardian that is stopped */
} restore_request_t;

/* restore_directory.c: all journals of one run-time directory, as the user who owns it.

   Restores what journals of processes that are gone say, newest first: where two know the same
   control, the later one found what the earlier one had left.  Standard output has a line per
   journal and control, standard error what failed.  True when nothing is left to restore.
   Pages (record/page.h) and segments of processes that are gone are removed, too, if no job is
   named. */
bool restore_directory(const restore_request_t *request);

/* restore_users.c, as root.  The directories of all users, below /dev/shm; request->run_directory,
   whoever owns it.  True when nothing is left to restore. */
bool restore_all_users(const restore_request_t *request);
bool restore_as_owner(const restore_request_t *request);

#endif
