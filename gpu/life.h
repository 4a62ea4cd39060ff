/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A word in shared memory that says whether a process has died, for kernels that wait for it.
 *
 * A thread of the process holds a robust mutex there and sleeps.  When it dies, however the process
 * comes to that, Linux sets a bit in the word of the mutex.  Nobody has to look after it.
 */
#ifndef PWR_GPU_LIFE_H
#define PWR_GPU_LIFE_H

#include <pthread.h>

typedef struct pwr_gpu_life pwr_gpu_life_t;

/* mutex: zeroed, shared, of this process; it stays there until the end.  NULL: no memory, or no
   thread. */
pwr_gpu_life_t *pwr_gpu_life_begin(pthread_mutex_t *mutex);
/* NULL is allowed. */
void pwr_gpu_life_end(pwr_gpu_life_t *life);

/* The word; POWERAWARE_DIED of poweraware_device.h is its bit. */
static inline const int *pwr_gpu_life_word(const pthread_mutex_t *mutex)
{
    return &mutex->__data.__lock; /* of glibc */
}

#endif
