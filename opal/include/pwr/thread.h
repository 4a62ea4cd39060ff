/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Threads of ours in a program: signals are for the program's own.
 */
#ifndef PWR_THREAD_H
#define PWR_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Returns what pthread_create does. */
static inline int pwr_thread_begin(pthread_t *thread, void *(*run)(void *), void *with)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, run, with);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

#endif
