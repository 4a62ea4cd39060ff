/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore: all journals of one run-time directory, as the user who owns it.
 */
#ifndef PWR_RESTORE_DIRECTORY_H
#define PWR_RESTORE_DIRECTORY_H

#include <stdbool.h>

#include "pwr/env.h"

typedef struct restore_request {
    pwr_env_t env;             /* where run-time directories are; logs to standard error */
    const char *run_directory; /* NULL: the default one */
    const char *job;           /* as in names of journals; NULL: all */
    bool dry_run;
    bool verbose;
} restore_request_t;

/* Restores what journals of processes that are gone say, newest first: where two know the same
   control, the later one found what the earlier one had left.  Standard output has a line per
   journal and control, standard error what failed.  True when nothing is left to restore. */
bool restore_directory(const restore_request_t *request);

#endif
