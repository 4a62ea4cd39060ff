/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: one machine, its files, its records.
 *
 * The FUSE loop answers clients (fuse_ops.c), the sampler keeps the account going, and there is a
 * thread for each call that a fault delays.  lock guards all that changes.
 */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "activity.h"
#include "fault.h"
#include "machine.h"
#include "records.h"
#include "tree.h"

struct fuse_session;

struct emu_server {
    pthread_mutex_t lock;
    struct emu_machine machine;
    struct emu_activity *activity;
    struct emu_tree tree;
    struct emu_csv trace, ledger;
    uint64_t next_ledger_ns;
    struct emu_faults faults;
    struct fuse_session *session;
    int late_calls; /* delayed by faults, not yet answered */
    pthread_t sampler;
    atomic_bool stop; /* set by emu_sampler_stop, read by all other threads */
};

static inline uint64_t emu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sets up everything that needs no FUSE, with files in state_dir.  Logs why on failure. */
bool emu_server_open(struct emu_server *server, const struct emu_config *config,
                     const char *state_dir);
void emu_server_close(struct emu_server *server);

/* A thread that leaves signals to the FUSE loop.  0 or errno. */
int emu_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* 0 or errno. */
int emu_sampler_start(struct emu_server *server);
/* Waits for its end; the last account is in the ledger then. */
void emu_sampler_stop(struct emu_server *server);

/* Mounts, and serves until the mount is gone, at the latest with the caller's mount namespace, or a
   signal ends it.  Logs why on failure. */
bool emu_fuse_run(struct emu_server *server, const char *mount_point);

#endif
