/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A control that we move and put back, and who else moves it (private to the library).
 *
 *   1. What is found at open is the original; the guardian has it before anything is written.
 *   2. A value is announced to the guardian before it is written for the first time.  So a value
 *      found after our death is known to be ours or somebody else's.
 *   3. Before a write the control is looked at.  Somebody else's value found while we hold none of
 *      our own is the new original: a ceiling that a site lowers meanwhile stays lowered.  Found
 *      while we hold one, it is theirs: the control is lost to us and never written again.  Only
 *      behind a write that failed, what is found first is ours: the write may have happened.
 *
 *   4. Where the original is found while we hold a value, the guardian is asked: it has put the
 *      original back if we were stopped.  Then we hold none, and go on from there.
 *
 * scaling_max_freq is written for us alone but shows the lowest of several requests (thermal
 * limits, firmware, ours: Linux' frequency QoS), and nothing tells them apart: a limit that the
 * kernel has set for a while is taken for somebody's, adopted or yielded to, and our own request
 * may stay at it. The other mistake would be to raise a ceiling that a site has set.
 *
 * Between looking and writing somebody else may still write; no interface of the kernel closes that
 * gap of a microsecond.  To keep a transition at one system call and at most one more, a
 * T-state is looked at once per millisecond only: those switch within one collective, and their
 * other users (thermal daemons) write again and again.
 */
#ifndef PWR_HELD_H
#define PWR_HELD_H

#include <stdbool.h>

#include "control/control.h"
#include "pwr/guard.h"

/* Distinct values that one control may be given; there are 15 duty cycles. */
enum { PWR_HELD_VALUES = 16 };

typedef struct pwr_held_request {
    const pwr_env_t *env;
    pwr_guard_t *guard; /* NULL: only look */
    const pwr_why_t *why;
} pwr_held_request_t;

typedef struct pwr_held {
    const pwr_env_t *env;
    pwr_guard_t *guard;
    pwr_control_t control;
    uint64_t original;  /* found, or set by somebody else while it was not changed */
    uint64_t last;      /* what it reads as long as nobody else writes */
    uint64_t looked_ns; /* when it was last compared with that */
    bool changed;       /* it has a value of ours */
    bool unsure;        /* a write of ours, or the look behind it, failed: it may have happened */
    bool lost;          /* somebody else wrote over a value of ours */
    unsigned adopted;   /* how often the original was set anew by somebody else */
    unsigned num_values;
    struct {
        uint64_t written; /* only the bits of the mask */
        uint64_t reads_as;
    } values[PWR_HELD_VALUES]; /* announced to the guardian */
} pwr_held_t;

/* Opens, reads, hands the original to the guardian and proves the right to write by writing back
   what was read.  On failure nothing stays open and a reason is added to request->why.
   Without a guardian nothing is written, here or later: the right to write is then not proven. */
pwr_status_t pwr_held_open(const pwr_held_request_t *request, const pwr_access_t *access,
                           pwr_control_kind_t kind, unsigned cpu, pwr_held_t *held);

/* Runs the CPU at most at want (pwr_control_lowered) and never faster than found; no system call
   when that is in force already.  Errors: FOREIGN (3. above), GONE (the CPU went offline), RANGE
   (more than PWR_HELD_VALUES values, or the write had no effect), ARG (opened without a
   guardian), PERM, IO. */
pwr_status_t pwr_held_lower(pwr_held_t *held, uint64_t want);

/* Puts the original back.  FOREIGN: somebody else's value was found and left alone.  Nothing to do
   is PWR_OK. */
pwr_status_t pwr_held_restore(pwr_held_t *held);

/* Looks, and adopts what somebody else set while it had no value of ours. Errors: as _lower's. */
pwr_status_t pwr_held_look(pwr_held_t *held);

/* What several processes that move one control in turn must know (control/shared.h); it goes to a
   file, so it has no holes. */
typedef struct pwr_held_state {
    uint64_t original;
    uint64_t last;
    uint64_t changed; /* 0 or 1, as those behind it */
    uint64_t unsure;
    uint64_t lost;
} pwr_held_state_t;

pwr_held_state_t pwr_held_state(const pwr_held_t *held);
/* Goes on from the state of another process.  An original that is new here is told to the guardian
   first; only that can fail. */
pwr_status_t pwr_held_take_over(pwr_held_t *held, const pwr_held_state_t *state);

/* Does not restore. */
void pwr_held_close(pwr_held_t *held);

#endif
