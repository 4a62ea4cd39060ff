/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Doing something later without holding up anybody else: a thread for each.
 */
#ifndef EMU_LATE_H
#define EMU_LATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct emu_late {
    pthread_mutex_t *lock;
    pthread_cond_t changed;
    int waiting; /* both guarded by lock */
    bool stop;
};

void emu_late_init(struct emu_late *late, pthread_mutex_t *lock);
void emu_late_destroy(struct emu_late *late);

/* Calls run(arg) with the lock held, delay_us from now or at emu_late_stop.  To be called with the
   lock held.  False: no thread could be had, nothing will be called. */
bool emu_late_call(struct emu_late *late, uint64_t delay_us, void (*run)(void *arg), void *arg);

/* Whatever is waiting is called now; returns once it is done.  What comes later waits no more. */
void emu_late_stop(struct emu_late *late);

#endif
