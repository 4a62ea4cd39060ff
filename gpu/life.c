/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The thread that holds the mutex (life.h).
 */
#include "life.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pwr/thread.h"

struct pwr_gpu_life {
    pthread_mutex_t *mutex;
    pthread_t thread;
    sem_t begun, ends;
    bool holds;
};

static void await(sem_t *semaphore)
{
    while (0 != sem_wait(semaphore)) {
    }
}

static void *hold(void *of)
{
    pwr_gpu_life_t *life = of;
    life->holds = 0 == pthread_mutex_lock(life->mutex);
    sem_post(&life->begun);
    await(&life->ends);
    if (life->holds) {
        pthread_mutex_unlock(life->mutex);
    }
    return NULL;
}

static bool make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t how;
    if (0 != pthread_mutexattr_init(&how)) {
        return false;
    }
    bool ok = 0 == pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) &&
              0 == pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) &&
              0 == pthread_mutex_init(mutex, &how);
    pthread_mutexattr_destroy(&how);
    return ok;
}

pwr_gpu_life_t *pwr_gpu_life_begin(pthread_mutex_t *mutex)
{
    pwr_gpu_life_t *life = calloc(1, sizeof *life);
    if (NULL == life) {
        return NULL;
    }
    life->mutex = mutex;
    sem_init(&life->begun, 0, 0);
    sem_init(&life->ends, 0, 0);
    if (!make_mutex(mutex) || 0 != pwr_thread_begin(&life->thread, hold, life)) {
        free(life);
        return NULL;
    }
    await(&life->begun);
    if (!life->holds) {
        pwr_gpu_life_end(life);
        life = NULL;
    }
    return life;
}

void pwr_gpu_life_end(pwr_gpu_life_t *life)
{
    if (NULL != life) {
        sem_post(&life->ends);
        pthread_join(life->thread, NULL);
        free(life);
    }
}
