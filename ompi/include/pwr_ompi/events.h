/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a rank did when: a trace for tests and for looking at a schedule, off by default.
 *
 * One line per event:  t_ns,event,detail,peer,bytes
 * t_ns is CLOCK_MONOTONIC.  Events: call / return (detail: the collective), phase (detail: the
 * paper's phase number), net / net_end (between nodes; peer), local / local_end (within the node),
 * copy / copy_end (to or from the shared segment); speed (detail: 0 the lowest frequency, 1 the
 * usual one), tstate (detail: the level now in force); spin, rest and sleep, when a wait is over:
 * it was so many ns (in the place of bytes) on each rung, in this order.
 */
#ifndef PWR_OMPI_EVENTS_H
#define PWR_OMPI_EVENTS_H

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

/* Records one event; almost free while tracing is off.  Safe from several threads. */
void pwr_events_add(pwr_event_t event, int detail, int peer, size_t bytes);

/* The rungs of a wait that is over, by what its statistics were before and are after it. */
void pwr_events_add_wait(const pwr_wait_stats_t *before, const pwr_wait_stats_t *after);

/* Writes the file and stops tracing.  Returns 0 or an errno value. */
int pwr_events_write(const char *path);

#endif
