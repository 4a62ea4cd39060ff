/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A connection to a program of likwid's that all of a process shares (private to opal/likwid).
 *
 * One request is one record that goes and comes back, so its users take turns: levers and a
 * sampling thread may use one link.  A link that failed once is never trusted again, because a late
 * answer would be taken for the next one.  After fork() the child may not use it.
 */
#ifndef PWR_LINK_H
#define PWR_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pwr/env.h"
#include "why.h"

typedef struct pwr_link {
    /* Starts the program and connects; *fd is close-on-exec.  A reason is added to why. */
    pwr_status_t (*start)(const pwr_env_t *env, const pwr_why_t *why, int *fd);
    /* Before a link that still works is closed; NULL: the end of the socket is enough. */
    void (*farewell)(int fd);
    /* The process that opened it, 0 when it is not open.  Written under the mutex; read without it
       (acquire), because in a child of fork() the mutex may be held by a thread that is not there.
     */
    _Atomic pid_t owner;
    pthread_mutex_t mutex; /* of all below */
    unsigned users;
    bool broken;
    int fd;
    const char *root;     /* env->root of what is open, or failed during this probe; else NULL */
    pwr_status_t failure; /* of the last start during this probe */
} pwr_link_t;

/* Starts the program unless somebody has, and counts one user more.  Errors: those of start; PERM
   in a child of the process that started it, or with another env->root than that of those who use
   it; a reason is added to why, once per probe. */
pwr_status_t pwr_link_acquire(pwr_link_t *link, const pwr_env_t *env, const pwr_why_t *why);

/* The last one who leaves ends the program, unless a probe lasts.  Nothing in a child. */
void pwr_link_release(pwr_link_t *link);

/* Sends record[size] and receives its answer into the same place, which on failure has anything.
   Errors: IO (the program is gone or does not answer in time, now or earlier; we are a child). */
pwr_status_t pwr_link_exchange(pwr_link_t *link, void *record, size_t size);

/* Says that an answer made no sense. */
void pwr_link_distrust(pwr_link_t *link);

/* While a probe lasts, programs that nobody uses any more stay, and those that could not be started
   are not tried again: looking for a back end takes many short steps.  Probes nest. */
void pwr_link_probe_begin(void);
void pwr_link_probe_end(pwr_link_t *const links[], size_t count);

#endif
