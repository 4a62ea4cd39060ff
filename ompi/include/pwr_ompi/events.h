/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a rank did when: a trace for tests and for looking at a schedule, off by default.
 *
 * One line per event:  t_ns,event,detail,peer,bytes
 * t_ns is CLOCK_MONOTONIC.  Events: call / return (detail: the
 * operation's number, see process.h), phase (detail: the
 * paper's phase number), net / net_end (between nodes; peer), local / local_end (within the node),
 * copy / copy_end (to or from the shared segment); speed (detail: 0 the lowest frequency, 1 the
 * usual one), tstate (detail: the level now in force); spin, rest and sleep, when a wait is over:
 * it was so many ns (in the place of bytes) on each rung, in this order.
 */
#ifndef PWR_OMPI_EVENTS_H
#define PWR_OMPI_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pwr/wait.h"

typedef enum pwr_event {
    PWR_EVENT_CALL,
    PWR_EVENT_RETURN,
    PWR_EVENT_PHASE,
    PWR_EVENT_NET,
    PWR_EVENT_NET_END,
    PWR_EVENT_LOCAL,
    PWR_EVENT_LOCAL_END,
    PWR_EVENT_COPY,
    PWR_EVENT_COPY_END,
    PWR_EVENT_SPEED,
    PWR_EVENT_TSTATE,
    PWR_EVENT_SPIN,
    PWR_EVENT_REST,
    PWR_EVENT_SLEEP
} pwr_event_t;

/* Keeps up to capacity events in memory from now on; further ones are counted as lost. */
void pwr_events_start(size_t capacity);

extern bool pwr_events_are_kept;
void pwr_events_keep(pwr_event_t event, int detail, int peer, size_t bytes);

/* Records one event; free while tracing is off.  Safe from several threads. */
static inline void pwr_events_add(pwr_event_t event, int detail, int peer, size_t bytes)
{
    if (pwr_events_are_kept) {
        pwr_events_keep(event, detail, peer, bytes);
    }
}

/* The rungs of a wait that is over, by what its statistics were before and are after it. */
void pwr_events_add_wait(const pwr_wait_stats_t *before, const pwr_wait_stats_t *after);

/* Writes the file and stops tracing.  Returns 0 or an errno value. */
int pwr_events_write(const char *path);

#endif
