/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bounded trials of patterns: see learn.h, whose numbers are repeated here.
 */
#include "learn.h"

#include <stdlib.h>
#include <string.h>

enum { HOPELESS = 2 };

static int kept(const pwr_learn_t *learn, int pattern)
{
    int trials = learn->trials[pattern];
    return trials > 0 ? trials - 1 : 0; /* 1. */
}

static bool is_allowed(unsigned allowed, int pattern)
{
    return allowed >> pattern & 1U;
}

static uint32_t fastest(const pwr_learn_t *learn, int pattern)
{
    uint32_t best = UINT32_MAX;
    for (int i = 0; i < kept(learn, pattern); i++) {
        best = learn->ns[pattern][i] < best ? learn->ns[pattern][i] : best;
    }
    return best;
}

/* 2. */
static bool is_dropped(const pwr_learn_t *learn, int pattern)
{
    if (kept(learn, pattern) < 2) {
        return false;
    }
    for (int other = 0; other < PWR_LEARN_PATTERNS; other++) {
        if (kept(learn, other) >= 2 &&
            fastest(learn, pattern) / HOPELESS > fastest(learn, other)) {
            return true;
        }
    }
    return false;
}

static bool wants_trials(const pwr_learn_t *learn, unsigned allowed, int pattern)
{
    return is_allowed(allowed, pattern) && kept(learn, pattern) < PWR_LEARN_KEPT &&
           !is_dropped(learn, pattern);
}

static int compare(const void *first, const void *second)
{
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

static uint32_t median(const pwr_learn_t *learn, int pattern)
{
    uint32_t sorted[PWR_LEARN_KEPT];
    memcpy(sorted, learn->ns[pattern], sizeof sorted);
    qsort(sorted, PWR_LEARN_KEPT, sizeof sorted[0], compare);
    return sorted[PWR_LEARN_KEPT / 2];
}

int pwr_learn_choice(pwr_learn_t *learn)
{
    /* relaxed: nothing else is read by it */
    return (int)atomic_load_explicit(&learn->choice, memory_order_relaxed) - 1;
}

int pwr_learn_next(const pwr_learn_t *learn, unsigned allowed)
{
    int next = -1;
    for (int pattern = 0; pattern < PWR_LEARN_PATTERNS; pattern++) {
        if (wants_trials(learn, allowed, pattern) &&
            (next < 0 || learn->trials[pattern] < learn->trials[next])) {
            next = pattern;
        }
    }
    return next >= 0 ? next : __builtin_ctz(allowed); /* another thread has just made the last one */
}

/* 3. */
static void choose(pwr_learn_t *learn, unsigned allowed)
{
    int best = -1;
    for (int pattern = 0; pattern < PWR_LEARN_PATTERNS; pattern++) {
        if (wants_trials(learn, allowed, pattern)) {
            return;
        }
        if (is_allowed(allowed, pattern) && kept(learn, pattern) == PWR_LEARN_KEPT &&
            (best < 0 || median(learn, pattern) < median(learn, best))) {
            best = pattern;
        }
    }
    if (best >= 0) {
        atomic_store_explicit(&learn->choice, (unsigned char)(best + 1), memory_order_relaxed);
    }
}

void pwr_learn_record(pwr_learn_t *learn, unsigned allowed, int pattern, uint64_t ns)
{
    int place = learn->trials[pattern] - 1;
    if (place >= PWR_LEARN_KEPT) {
        return;
    }
    if (place >= 0) {
        learn->ns[pattern][place] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX - 1;
    }
    learn->trials[pattern]++;
    choose(learn, allowed);
}
