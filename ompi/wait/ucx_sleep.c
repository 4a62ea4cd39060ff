/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sleeping on UCP workers (pwr_ompi/ucx.h).
 *
 * Their descriptors are in Open MPI's event loop while a thread sleeps, and heard once: one stays
 * readable until the worker is armed again, and opal_progress stays in the event loop as long as
 * one is.
 */
#define _GNU_SOURCE
#include "ucx_sleep.h"
#include "pwr_ompi/compat.h"
#include "pwr_ompi/ucx.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "pwr/clock.h"

typedef struct sleeper {
    pwr_ucp_worker_t worker;
    opal_event_t event;
    struct sleeper *next;
} sleeper_t;

static sleeper_t *sleepers;
static _Atomic uint64_t moves;

void pwr_ucx_sleep_moved(void)
{
    uint64_t before = atomic_load_explicit(&moves, memory_order_relaxed);
    atomic_store_explicit(&moves, before + 1, memory_order_relaxed); /* it need not be exact */
}

uint64_t pwr_ucx_moves(void)
{
    return atomic_load_explicit(&moves, memory_order_relaxed);
}

static void woken(int fd, short events, void *arg)
{
    (void)fd;
    (void)events;
    (void)arg;
}

bool pwr_ucx_sleep_add(const pwr_ucp_worker_t *worker)
{
    sleeper_t *sleeper = calloc(1, sizeof *sleeper);
    if (NULL == sleeper || 0 != opal_event_set(opal_sync_event_base, &sleeper->event, worker->fd,
                                               OPAL_EV_READ, woken, NULL)) {
        free(sleeper);
        return false;
    }
    sleeper->worker = *worker;
    sleeper->next = sleepers;
    sleepers = sleeper;
    return true;
}

void pwr_ucx_sleep_remove(ucp_worker_h worker)
{
    sleeper_t **link = &sleepers;
    while (NULL != *link && worker != (*link)->worker.worker) {
        link = &(*link)->next;
    }
    sleeper_t *sleeper = *link;
    if (NULL != sleeper) {
        *link = sleeper->next;
        free(sleeper);
    }
}

/* ---- in the event loop ---- */

bool pwr_ucx_may_block(void)
{
    for (sleeper_t *sleeper = sleepers; NULL != sleeper; sleeper = sleeper->next) {
        if (!pwr_ucp_arm(&sleeper->worker) || 0 != opal_event_add(&sleeper->event, NULL)) {
            pwr_ucx_awake();
            return false;
        }
    }
    return true;
}

void pwr_ucx_awake(void)
{
    for (sleeper_t *sleeper = sleepers; NULL != sleeper; sleeper = sleeper->next) {
        opal_event_del(&sleeper->event);
    }
}

/* ---- without it ---- */

/* Of more workers than there is room for, those that were made last. */
static int arm_all(struct pollfd *fds, int room)
{
    int count = 0;
    for (sleeper_t *sleeper = sleepers; NULL != sleeper && count < room; sleeper = sleeper->next) {
        if (!pwr_ucp_arm(&sleeper->worker)) {
            return -1;
        }
        fds[count++] = (struct pollfd){.fd = sleeper->worker.fd, .events = POLLIN};
    }
    return count;
}

void pwr_ucx_nap(uint64_t longest_ns)
{
    enum { ROOM = 16 };
    struct pollfd fds[ROOM];
    const struct timespec longest = pwr_timespec(longest_ns);
    int count = opal_using_threads() ? 0 : arm_all(fds, ROOM);
    if (count >= 0) {
        (void)ppoll(fds, (nfds_t)count, &longest, NULL);
    }
}
