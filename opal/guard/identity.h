/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who a journal belongs to: host, boot, user, process and job (private to the library).
 */
#ifndef PWR_GUARD_IDENTITY_H
#define PWR_GUARD_IDENTITY_H

#include "guard/journal.h"

enum { PWR_JOB_BYTES = 65 };

/* The job of this process: name if it is not NULL, else what the batch system (Slurm, PBS, LSF,
   Flux) or the launcher calls it in the environment, else "none".  Letters, digits, '.', '_' and
   '-' stay, all else becomes '_', and what does not fit is cut. */
void pwr_identity_job(const char *name, char job[PWR_JOB_BYTES]);

/* This host, this boot and this user, and process pid; job and root are left empty.  What the
   system does not tell is "" or 0.  The kernel is asked directly, whatever env->root is: neither
   processes nor boots are emulated. */
void pwr_identity_describe(pid_t pid, pwr_journal_header_t *header);

#endif
