/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: one machine, its files, its records.
 *
 * The FUSE loop (fuse.c) answers clients (calls.c); a second thread keeps the account going and
 * answers calls that a fault delays.  lock guards all that changes.
 */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include <pthread.h>

#include "activity.h"
#include "fault.h"
#include "machine.h"
#include "pwr/clock.h"
#include "records.h"
#include "tree.h"

struct emu_server {
    pthread_mutex_t lock;
    struct emu_machine machine;
    struct emu_activity *activity;
    struct emu_tree tree;
    struct emu_csv trace, ledger;
    uint64_t next_sample_ns, next_ledger_ns;
    struct emu_faults faults;
    struct emu_call *late; /* delayed by faults, not yet answered */
    bool stop;             /* for the second thread */
    pthread_cond_t wake;   /* it, for a late call or to stop; by CLOCK_MONOTONIC */
};

/* Sets up everything that needs no FUSE, with files in state_dir.  Logs why on failure. */
bool emu_server_open(struct emu_server *server, const struct emu_config *config,
                     const char *state_dir);
/* If it is time, or at last: looks for processes, charges all cores and keeps the ledger.  Returns
   when it is time again.  The lock is held. */
uint64_t emu_server_sample(struct emu_server *server, bool last);
void emu_server_close(struct emu_server *server);

/* Mounts, and serves until the mount is gone, at the latest with the caller's mount namespace, or a
   signal ends it.  Logs why on failure. */
bool emu_fuse_run(struct emu_server *server, const char *mount_point);

#endif
