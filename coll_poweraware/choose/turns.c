/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Turns with experiments, and what a call costs (choose/turns.h).
 */
#include "choose/turns.h"

static bool are_long_ones_first(coll_poweraware_turns_t *turns,
                                const coll_poweraware_trials_t *trials)
{
    return NULL != turns->longs && !trials->long_calls &&
           turns->longs->at.call < COLL_POWERAWARE_TURNS_LONG &&
           ++turns->waited <= COLL_POWERAWARE_TURNS_OTHERS;
}

bool coll_poweraware_turns_wait(coll_poweraware_turns_t *turns,
                                const coll_poweraware_trials_t *trials)
{
    if (NULL != turns->of) {
        turns->awaited = true;
        return true;
    }
    if (are_long_ones_first(turns, trials)) {
        return true;
    }
    bool lets_others_go = turns->awaited && trials == turns->last;
    turns->awaited = false;
    return lets_others_go;
}

/* What comes before its end says nothing about what a call of the class costs. */
static void begin(coll_poweraware_turns_t *turns, coll_poweraware_trials_t *trials)
{
    turns->of = trials;
    turns->last = trials;
    turns->awaited = false;
    turns->others = 0;
    turns->ns = 0;
}

static void give_up(coll_poweraware_turns_t *turns)
{
    coll_poweraware_trials_give_up(turns->of);
    turns->of = NULL;
}

void coll_poweraware_turns_over(coll_poweraware_turns_t *turns, coll_poweraware_trials_t *trials,
                                uint64_t ns)
{
    turns->ns += ns;
    if (NULL != trials && trials->long_calls) {
        turns->longs = trials;
        turns->waited = 0;
    }
    if (NULL == turns->of) {
        if (NULL != trials && coll_poweraware_trials_experiment(trials)) {
            begin(turns, trials);
        }
    } else if (trials != turns->of) {
        if (++turns->others > COLL_POWERAWARE_TURNS_OTHERS) {
            give_up(turns);
        }
    } else {
        if (coll_poweraware_trials_measure(trials)) {
            coll_poweraware_trials_add(trials, turns->ns);
        }
        turns->ns = turns->others = 0;
    }
}
