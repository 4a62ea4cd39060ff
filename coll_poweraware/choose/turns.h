/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The classes of a communicator take turns with their experiments, and what a call costs.  Nothing
 * here knows MPI.
 *
 * An algorithm may move its cost into the next call, of another class as like as not: ranks that
 * leave a Scan early wait in the Barrier behind it.  So what counts for a call of an experiment is
 * all time in calls of this communicator from the end of the call of its class before (by the same
 * candidate: one at least does not count) to its own end.  Computation between them does not count.
 *
 * Two experiments at once would measure each other, so there is one at a time: a class whose block
 * begins during another one's waits, its schedule stands still, and the best so far takes its
 * calls.  Who had the last one lets those go first that wait.  Long calls are few, and most of the
 * time: classes of short ones wait for the first COLL_POWERAWARE_TURNS_LONG calls of the schedule
 * of long ones, too.  Nobody waits for a class that is not called any more: an experiment is given
 * up when COLL_POWERAWARE_TURNS_OTHERS calls of other classes have come since the last one of its
 * own.
 */
#ifndef COLL_POWERAWARE_TURNS_H
#define COLL_POWERAWARE_TURNS_H

#include <stddef.h>

#include "choose/trials.h"

enum { COLL_POWERAWARE_TURNS_OTHERS = 1024, COLL_POWERAWARE_TURNS_LONG = 192 };

/* Of a communicator; zeroed.  Which trials is the same on all ranks. */
typedef struct coll_poweraware_turns {
    coll_poweraware_trials_t *of;         /* whose experiment is on; NULL: there is none */
    const coll_poweraware_trials_t *last; /* whose was the latest one */
    bool awaited;                         /* others would have begun one since */
    uint32_t others; /* calls of other classes since the last one of its class */
    uint64_t ns;     /* in all of those */
    const coll_poweraware_trials_t *longs; /* the latest that had long calls; NULL: none had */
    uint32_t waited; /* calls that waited for those, since the last of those */
} coll_poweraware_turns_t;

/* Where coll_poweraware_trials_begin is true: whether its block has to wait.  If so, trials are not
   told of this call. */
bool coll_poweraware_turns_wait(coll_poweraware_turns_t *turns,
                                const coll_poweraware_trials_t *trials);
/* Where coll_poweraware_trials_meet is true: its experiment is over. */
static inline void coll_poweraware_turns_end(coll_poweraware_turns_t *turns,
                                             const coll_poweraware_trials_t *trials)
{
    turns->of = trials == turns->of ? NULL : turns->of;
}

/* After each call while an experiment is on, and after those of trials: it took ns.  trials: those
   that are told of it; NULL: none. */
void coll_poweraware_turns_over(coll_poweraware_turns_t *turns, coll_poweraware_trials_t *trials,
                                uint64_t ns);

#endif
