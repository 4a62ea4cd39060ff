/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How long the waits of one call site lasted lately, and what that says about the next one.
 *
 * Two exponentially weighted estimates: one follows shorter waits at once and longer ones slowly,
 * the other the reverse.  A site that now and then waits briefly is not taken for one that always
 * waits long: to sleep at once would make its brief waits many times as long.
 */
#ifndef PWR_HISTORY_H
#define PWR_HISTORY_H

#include <stdint.h>

#include "pwr/wait.h"

/* Zeroed memory is a site of which nothing is known. */
typedef struct pwr_history {
    uint32_t low_ns;
    uint32_t high_ns;
} pwr_history_t;

enum {
    PWR_HISTORY_WEIGHT = 8,      /* a new wait counts for an eighth in the slow direction */
    PWR_HISTORY_STEP_NS = 20000, /* and at most doubles what was expected, and this: one wait of a
                                    second among short ones says nothing */
    /* In units of the policy's spin_ns, which is a few times what waking up takes: who would sleep
       that long does not notice it. */
    PWR_HISTORY_LONG = 4,
};

static inline void pwr_history_add(pwr_history_t *history, uint64_t waited_ns)
{
    uint32_t ns = waited_ns < UINT32_MAX ? (uint32_t)waited_ns : UINT32_MAX;
    if (ns < history->low_ns) {
        history->low_ns = ns;
    } else {
        uint32_t more = (ns - history->low_ns) / PWR_HISTORY_WEIGHT;
        uint64_t most = (uint64_t)history->low_ns + PWR_HISTORY_STEP_NS;
        history->low_ns += more < most ? more : (uint32_t)most;
    }
    history->high_ns = ns > history->high_ns
                           ? ns
                           : history->high_ns - (history->high_ns - ns) / PWR_HISTORY_WEIGHT;
}

/* Sites that always wait long sleep at once, those that never do spin on for a little longer than
   they usually wait. */
static inline void pwr_history_apply(const pwr_history_t *history, pwr_wait_policy_t *policy)
{
    uint64_t long_ns = (uint64_t)PWR_HISTORY_LONG * policy->spin_ns;
    uint64_t usual_ns = history->high_ns + (uint64_t)history->high_ns / 4;
    if (history->low_ns > long_ns) {
        policy->spin_ns = 0;
        policy->monitor_ns = 0;
    } else if (history->high_ns <= long_ns && usual_ns > policy->spin_ns) {
        policy->spin_ns = (uint32_t)usual_ns;
        policy->monitor_ns = policy->monitor_ns != 0 ? (uint32_t)usual_ns : 0;
    }
}

/* How long the next one will probably last; 0: not known. */
static inline uint64_t pwr_history_expected_ns(const pwr_history_t *history)
{
    return ((uint64_t)history->low_ns + history->high_ns + 1) / 2;
}

#endif
