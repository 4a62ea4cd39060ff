/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Events in one array, written once at the end: tracing must not disturb what it watches.
 */
#include "pwr_ompi/events.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pwr/clock.h"
#include "pwr/file.h"

typedef struct record {
    uint64_t t_ns;
    uint64_t bytes;
    int32_t peer;
    int16_t detail;
    int16_t event;
} record_t;

bool pwr_events_are_kept;

static record_t *records;
static size_t room;
static _Atomic size_t used;

void pwr_events_start(size_t capacity)
{
    records = calloc(capacity, sizeof *records);
    room = NULL == records ? 0 : capacity;
    atomic_store(&used, 0);
    pwr_events_are_kept = 0 != room;
}

void pwr_events_keep(pwr_event_t event, int detail, int peer, size_t bytes)
{
    size_t at = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
    if (at >= room) {
        return;
    }
    records[at] = (record_t){
        .t_ns = pwr_clock_ns(CLOCK_MONOTONIC),
        .bytes = bytes,
        .peer = peer,
        .detail = (int16_t)detail,
        .event = (int16_t)event,
    };
}

static void add_rung(pwr_event_t event, uint64_t ns)
{
    if (0 != ns) {
        pwr_events_add(event, 0, -1, ns);
    }
}

void pwr_events_add_wait(const pwr_wait_stats_t *before, const pwr_wait_stats_t *after)
{
    add_rung(PWR_EVENT_SPIN, after->spin_ns - before->spin_ns);
    add_rung(PWR_EVENT_REST, after->monitor_ns - before->monitor_ns);
    add_rung(PWR_EVENT_SLEEP, after->sleep_ns - before->sleep_ns);
}

static bool write_records(FILE *file, const void *arg)
{
    (void)arg;
    static const char *const name[] = {
        [PWR_EVENT_CALL] = "call",           [PWR_EVENT_RETURN] = "return",
        [PWR_EVENT_PHASE] = "phase",         [PWR_EVENT_NET] = "net",
        [PWR_EVENT_NET_END] = "net_end",     [PWR_EVENT_LOCAL] = "local",
        [PWR_EVENT_LOCAL_END] = "local_end", [PWR_EVENT_COPY] = "copy",
        [PWR_EVENT_COPY_END] = "copy_end",   [PWR_EVENT_SPEED] = "speed",
        [PWR_EVENT_TSTATE] = "tstate",       [PWR_EVENT_SPIN] = "spin",
        [PWR_EVENT_REST] = "rest",           [PWR_EVENT_SLEEP] = "sleep",
    };
    size_t all = atomic_load(&used);
    size_t kept = all < room ? all : room;
    fprintf(file, "t_ns,event,detail,peer,bytes\n");
    for (size_t i = 0; i < kept; ++i) {
        const record_t *r = &records[i];
        fprintf(file, "%llu,%s,%d,%d,%llu\n", (unsigned long long)r->t_ns, name[r->event],
                r->detail, r->peer, (unsigned long long)r->bytes);
    }
    if (all > kept) {
        fprintf(file, "# %zu events lost: the buffer holds %zu\n", all - kept, room);
    }
    return 0 == ferror(file);
}

int pwr_events_write(const char *path)
{
    if (NULL == records) {
        return 0;
    }
    int err = pwr_file_write(path, write_records, NULL);
    pwr_events_are_kept = false;
    room = 0;
    free(records);
    records = NULL;
    return err;
}
