/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The candidates for the calls of a class (choose/candidates.h).
 */
#include "choose/candidates.h"

#include <string.h>

#include "choose/choose.h"
#include "comm/state.h"

typedef const coll_poweraware_algorithm_t algorithm_t;
typedef coll_poweraware_asked_t asked_t;
typedef coll_poweraware_candidates_t candidates_t;
typedef coll_poweraware_trials_t trials_t;

static const uint64_t never = UINT64_MAX;

int coll_poweraware_candidate_named(int collective, const char *name)
{
    int index = coll_poweraware_algorithm_index(collective, name);
    return index >= 0                   ? index
           : 0 == strcmp("stock", name) ? COLL_POWERAWARE_STOCK
                                        : COLL_POWERAWARE_BY_TABLE;
}

const char *coll_poweraware_candidate_name(int candidate)
{
    return COLL_POWERAWARE_BY_TABLE == candidate ? "table"
           : COLL_POWERAWARE_STOCK == candidate  ? "stock"
                                                 : coll_poweraware_algorithms[candidate].name;
}

static bool can(const asked_t *asked, algorithm_t *a)
{
    const coll_poweraware_state_t *state = asked->module->state;
    bool shared = COLL_POWERAWARE_NOT_SHARED != state->shared[PWR_SEGMENT_BOXES] &&
                  COLL_POWERAWARE_NOT_SHARED != state->shared[a->memory];
    return (shared || !coll_poweraware_is_ours(a)) &&
           coll_poweraware_can(a, state->call, asked->args, asked->bytes);
}

static algorithm_t *by_table(const asked_t *asked)
{
    return coll_poweraware_by_table(asked->module->state, asked->collective, asked->args,
                                    asked->bytes);
}

algorithm_t *coll_poweraware_candidate_algorithm(const asked_t *asked, int candidate, bool *can_do)
{
    *can_do = true;
    if (COLL_POWERAWARE_STOCK == candidate) {
        return NULL;
    }
    if (candidate >= 0) {
        algorithm_t *a = &coll_poweraware_algorithms[candidate];
        *can_do = can(asked, a);
        if (*can_do) {
            return a;
        }
    }
    return by_table(asked);
}

/* What the table has for such calls. */
static const coll_poweraware_choice_t *choice_of_table(const asked_t *asked)
{
    static const coll_poweraware_choice_t none = {
        .algorithms = {COLL_POWERAWARE_DECISION_STOCK},
        .times_ppm = {COLL_POWERAWARE_DECISION_PPM},
    };
    const coll_poweraware_choices_t *choices = asked->module->state->choices;
    return NULL == choices ? &none
                           : coll_poweraware_choices_find(choices, asked->collective, asked->bytes);
}

/* Where the table has an algorithm among those; at the end, which is the stock function's place, if
   it has not. */
static int place_in_table(const coll_poweraware_choice_t *choice, algorithm_t *a)
{
    int i = 0;
    while (COLL_POWERAWARE_DECISION_STOCK != choice->algorithms[i] &&
           (NULL == a || a != &coll_poweraware_algorithms[choice->algorithms[i]])) {
        ++i;
    }
    return i;
}

/* And is believed in it; so are the stock function, and the table's choice itself. */
static bool is_in_table(const asked_t *asked, int candidate)
{
    if (candidate < 0) {
        return true;
    }
    algorithm_t *a = &coll_poweraware_algorithms[candidate];
    const coll_poweraware_choice_t *choice = choice_of_table(asked);
    return candidate == choice->algorithms[place_in_table(choice, a)] &&
           coll_poweraware_table_is_believed(asked->module->state, a);
}

/* ---- at the beginning ---- */

/* Each one once, if it can do the call. */
static void add_candidate(const asked_t *asked, candidates_t *candidates, int candidate)
{
    bool may = candidate < 0 || can(asked, &coll_poweraware_algorithms[candidate]);
    for (int i = 0; i < candidates->num; ++i) {
        may = may && candidate != candidates->all[i];
    }
    if (may && candidates->num < COLL_POWERAWARE_MOST_CANDIDATES) {
        candidates->all[candidates->num++] = candidate;
    }
}

/* The one that is known comes first, then those of the table, which are probably better than the
   stock function, then this, and all others. */
candidates_t coll_poweraware_candidates_find(const asked_t *asked, int known)
{
    candidates_t found = {.all = {known}, .num = 1};
    add_candidate(asked, &found, COLL_POWERAWARE_BY_TABLE);
    const int *next = choice_of_table(asked)->algorithms;
    for (; COLL_POWERAWARE_DECISION_STOCK != *next; ++next) {
        add_candidate(asked, &found, *next);
    }
    add_candidate(asked, &found, COLL_POWERAWARE_STOCK);
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        if (asked->collective == coll_poweraware_algorithms[i].collective) {
            add_candidate(asked, &found, i);
        }
    }
    return found;
}

/* Where the table says stock, that is one candidate, not two. */
bool coll_poweraware_candidates_settled(const asked_t *asked, const candidates_t *candidates)
{
    return 2 == candidates->num && NULL == by_table(asked);
}

/* In the table, of the stock function's, which is that of what the table does not have, too: such
   algorithms were slower, or faster by little.  0: not told. */
static int64_t time_in_table(const coll_poweraware_choice_t *choice, algorithm_t *a)
{
    return choice->times_ppm[place_in_table(choice, a)];
}

/* Where all nodes have more ranks than CPUs: experiments take longest there, and the built-in table
   was measured so.  Nothing, where its choice is not the best so far. */
void coll_poweraware_candidates_expect(const asked_t *asked, trials_t *t)
{
    if (!asked->module->state->call->crowded ||
        COLL_POWERAWARE_BY_TABLE != t->candidates[t->best].algorithm) {
        return;
    }
    const coll_poweraware_choice_t *choice = choice_of_table(asked);
    int64_t best = time_in_table(choice, by_table(asked));
    for (int i = 0; i < t->num_candidates && 0 != best; ++i) {
        bool can_do;
        algorithm_t *a =
            coll_poweraware_candidate_algorithm(asked, t->candidates[i].algorithm, &can_do);
        int64_t time = time_in_table(choice, a);
        if (i != t->best && 0 != time) {
            int64_t d_ppm = (time - best) * COLL_POWERAWARE_PPM / (time + best);
            coll_poweraware_trials_expect(t, i, d_ppm);
        }
    }
}

/* ---- in a call ---- */

/* The call from which on it may be a rival.  What the table does not have comes later: what was
   slower than the stock function where it was measured, and those of other components. */
static uint64_t comes_from(const asked_t *asked, int candidate, algorithm_t *a)
{
    return NULL == a || is_in_table(asked, candidate) ? 0
           : coll_poweraware_is_ours(a)               ? COLL_POWERAWARE_UNLIKELY_FROM
                                                      : COLL_POWERAWARE_OTHERS_FROM;
}

/* The same for trials->candidates[i]; never: it cannot do the call, or would do the same as the
   best, like the table's choice and its algorithm. */
static uint64_t rival_from(const asked_t *asked, const trials_t *t, int i)
{
    int candidate = t->candidates[i].algorithm;
    bool can_do;
    bool can_best;
    algorithm_t *a = coll_poweraware_candidate_algorithm(asked, candidate, &can_do);
    algorithm_t *best =
        coll_poweraware_candidate_algorithm(asked, t->candidates[t->best].algorithm, &can_best);
    return can_do && a != best ? comes_from(asked, candidate, a) : never;
}

unsigned coll_poweraware_candidates_rivals(const asked_t *asked, const trials_t *t)
{
    unsigned num = 0;
    for (int i = 0; i < t->num_candidates; ++i) {
        num += rival_from(asked, t, i) < COLL_POWERAWARE_OTHERS_FROM;
    }
    return num;
}

/* Ours do not wait where calls are long, or once something says that the table is wrong here. */
bool coll_poweraware_candidates_may(const asked_t *asked, const trials_t *t, int i)
{
    uint64_t from = rival_from(asked, t, i);
    bool hurries = COLL_POWERAWARE_UNLIKELY_FROM == from && (t->long_calls || t->surprised);
    return never != from && (0 != t->candidates[i].pairs || t->at.call >= from || hurries);
}
