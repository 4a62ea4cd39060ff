/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which of several patterns is the fastest for transfers of one class, learnt from bounded trials.
 *
 * 1. Each pattern is tried in turn.  Its first trial does not count: it warms up caches and
 *    connections.
 * 2. A pattern whose fastest of two or more trials takes over twice the fastest of another is not
 *    tried again.
 * 3. After PWR_LEARN_KEPT trials of each that is left, the one with the smallest median is chosen,
 *    and stays.
 *
 * So a class costs (PWR_LEARN_KEPT + 1) * PWR_LEARN_PATTERNS trials at most, whatever they take.
 */
#ifndef PWR_SHMEM_LEARN_H
#define PWR_SHMEM_LEARN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PWR_LEARN_PATTERNS = 3, PWR_LEARN_KEPT = 7 };

/* All zero: nothing is known.  Callers keep threads apart, but for pwr_learn_choice. */
typedef struct pwr_learn {
    _Atomic unsigned char choice; /* pattern + 1; 0: none yet.  Written once, read without a lock */
    uint8_t trials[PWR_LEARN_PATTERNS];
    uint32_t ns[PWR_LEARN_PATTERNS][PWR_LEARN_KEPT];
} pwr_learn_t;

/* The pattern chosen; -1: none yet. */
int pwr_learn_choice(pwr_learn_t *learn);

/* The pattern to be tried next, of the set allowed (bit p: pattern p), which is never empty and the
 * same in all calls of a class. */
int pwr_learn_next(const pwr_learn_t *learn, unsigned allowed);

/* What a trial took.  Chooses when enough is known. */
void pwr_learn_record(pwr_learn_t *learn, unsigned allowed, int pattern, uint64_t ns);

#endif
