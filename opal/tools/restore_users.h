/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore as root: other users' journals, with other users' rights.
 *
 * A journal is whatever its owner has written into it.  Root must not follow it to places where its
 * owner could not go, so for each directory a child becomes its owner, for good, before it opens
 * anything in it: a forged journal gives its author nothing that a shell would not.
 */
#ifndef PWR_RESTORE_USERS_H
#define PWR_RESTORE_USERS_H

#include "restore_directory.h"

/* The directories of all users, below /dev/shm.  True when nothing is left to restore. */
bool restore_all_users(const restore_request_t *request);

/* request->run_directory, whoever owns it. */
bool restore_as_owner(const restore_request_t *request);

#endif
