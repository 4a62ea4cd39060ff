/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The thread that samples activity and keeps the ledger.
 */
#include "config.h"

#include <signal.h>

#include "server.h"

/* Looks for processes, charges all cores and, if it is time, takes an entry of the ledger. */
static void sample(struct emu_server *server, bool take)
{
    struct emu_ledger_entry entry;
    pthread_mutex_lock(&server->lock);
    uint64_t now_ns = emu_now_ns(); /* after waiting for the lock: the clock must not run back */
    if (server->activity != NULL) {
        emu_activity_refresh(server->activity, now_ns);
    }
    emu_machine_charge_all(&server->machine, now_ns);
    take = take || emu_ledger_due(&server->ledger, now_ns);
    if (take) {
        emu_ledger_take(&server->machine, now_ns, &entry);
    }
    pthread_mutex_unlock(&server->lock);
    if (take) {
        emu_ledger_write(&server->ledger, &entry);
    }
}

static void *run(void *arg)
{
    struct emu_server *server = arg;
    uint64_t interval_ns = (uint64_t)server->machine.config.activity_interval_ms * 1000000;
    uint64_t next_ns = emu_now_ns();
    while (!atomic_load_explicit(&server->stop, memory_order_acquire)) { /* emu_sampler_stop */
        sample(server, false);
        next_ns += interval_ns;
        if (next_ns < emu_now_ns()) { /* starved: do not catch up in a burst */
            next_ns = emu_now_ns() + interval_ns;
        }
        struct timespec wake = {.tv_sec = (time_t)(next_ns / 1000000000),
                                .tv_nsec = (long)(next_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
    }
    sample(server, true);
    return NULL;
}

int emu_sampler_start(struct emu_server *server)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are the FUSE loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&server->sampler, NULL, run, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    server->sampling = error == 0;
    return error;
}

void emu_sampler_stop(struct emu_server *server)
{
    if (!server->sampling) {
        return;
    }
    atomic_store_explicit(&server->stop, true, memory_order_release); /* run */
    pthread_join(server->sampler, NULL);
}
