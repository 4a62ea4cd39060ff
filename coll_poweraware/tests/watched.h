/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ranks that wait are watched by a thread of their own: does the thread that called MPI sleep, or
 * does it poll?  Who is late comes when that is known, so that no verdict depends on how much of
 * the CPU others leave.
 *
 * The ranks share the file that PWR_WATCHED names: 8 KiB of zeros.  Its first word is what
 * shifted_clock.c adds to CLOCK_MONOTONIC.
 */
#ifndef WATCHED_H
#define WATCHED_H

#include <stdbool.h>
#include <stdint.h>

/* When a rank's state is known. */
typedef struct watched_rule {
    uint32_t blocks;  /* sleeps: has given its CPU back so often ... */
    uint32_t wall_us; /* ... in no less than this, and used at most a quarter of it */
    uint32_t cpu_us;  /* polls: has used so much, whatever the rest may look like */
} watched_rule_t;

static const watched_rule_t watched_usual = {.blocks = 6, .wall_us = 20000, .cpu_us = 600000};

typedef struct watched {
    int sleep, poll, gone; /* gone: its call is over */
} watched_t;

/* By every rank, a barrier before the first wait.  lanes: threads of a rank that wait at the same
   time.  False: there is no file for this. */
bool watched_open(bool late, int lanes);
/* The lane of this thread, 0 unless told. */
void watched_take_lane(int lane);

/* Around a call that waits. */
void watched_begin(void);
void watched_end(void);

/* By who is late, in place of those two.  Of several that are late the lowest is told that it
   leads; the others come when this returns. */
bool watched_leads(void);
/* By who leads: returns when it is known of all others what they do from now on in their call of
   the same number, or that it is over. */
watched_t watched_find(watched_rule_t rule);
/* All who are late may come. */
void watched_come(void);

/* For those with shifted_clock.c. */
void watched_shift_clock(uint64_t ns);

#endif
