/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Doing something later without holding up anybody else.
 */
#include "config.h"

#include "late.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct job {
    struct emu_late *late;
    struct timespec due;
    void (*run)(void *arg);
    void *arg;
};

void emu_late_init(struct emu_late *late, pthread_mutex_t *lock)
{
    pthread_condattr_t attributes;
    *late = (struct emu_late){.lock = lock};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&late->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void emu_late_destroy(struct emu_late *late)
{
    pthread_cond_destroy(&late->changed);
}

static void *wait_and_run(void *arg)
{
    struct job *job = arg;
    struct emu_late *late = job->late;
    pthread_mutex_lock(late->lock);
    while (!late->stop &&
           pthread_cond_timedwait(&late->changed, late->lock, &job->due) != ETIMEDOUT) {
    }
    job->run(job->arg);
    late->waiting--;
    pthread_cond_broadcast(&late->changed);
    pthread_mutex_unlock(late->lock);
    free(job);
    return NULL;
}

bool emu_late_call(struct emu_late *late, uint64_t delay_us, void (*run)(void *arg), void *arg)
{
    pthread_t thread;
    sigset_t all, before;
    struct job *job = malloc(sizeof *job);
    if (job == NULL) {
        return false;
    }
    *job = (struct job){.late = late, .run = run, .arg = arg};
    clock_gettime(CLOCK_MONOTONIC, &job->due);
    job->due.tv_sec += (time_t)(delay_us / 1000000);
    job->due.tv_nsec += (long)(delay_us % 1000000) * 1000;
    if (job->due.tv_nsec >= 1000000000) {
        job->due.tv_sec++;
        job->due.tv_nsec -= 1000000000;
    }
    sigfillset(&all); /* signals are the FUSE loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, wait_and_run, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(job);
        return false;
    }
    pthread_detach(thread);
    late->waiting++;
    return true;
}

void emu_late_stop(struct emu_late *late)
{
    pthread_mutex_lock(late->lock);
    late->stop = true;
    pthread_cond_broadcast(&late->changed);
    while (late->waiting > 0) {
        pthread_cond_wait(&late->changed, late->lock);
    }
    pthread_mutex_unlock(late->lock);
}
