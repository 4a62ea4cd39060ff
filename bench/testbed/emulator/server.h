/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: one machine, its files, its records.
 *
 * Two threads: the FUSE loop (fuse_ops.c) answers clients, the sampler (sampler.c) keeps the
 * account going; and one for each call that a fault delays (late.c).  lock guards all but the
 * ledger, which belongs to the sampler.
 */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "activity.h"
#include "csv_file.h"
#include "fault.h"
#include "late.h"
#include "ledger.h"
#include "machine.h"
#include "tree.h"

struct emu_server {
    pthread_mutex_t lock;
    struct emu_machine machine;
    struct emu_affinity_table *affinity;
    struct emu_activity *activity; /* NULL: activity is fixed */
    struct emu_tree tree;
    struct emu_csv trace;
    struct emu_ledger ledger;
    struct emu_faults faults;
    struct emu_late late;
    pthread_t sampler;
    bool sampling;    /* the thread is there */
    atomic_bool stop; /* set by main, read by the sampler */
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

/* 0 or errno. */
int emu_sampler_start(struct emu_server *server);
/* Waits for its end, if it was started; the last account is in the ledger then. */
void emu_sampler_stop(struct emu_server *server);

/* Mounts, calls ready(arg), then serves until the mount is gone or a signal ends it.
   ready returns false to give up.  0 or errno. */
int emu_fuse_run(struct emu_server *server, const char *mount_point, bool leave_namespace,
                 bool (*ready)(void *arg), void *arg);

#endif
