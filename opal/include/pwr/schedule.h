/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * When calls of a class are experiments: a function of the number of the call alone, so that all
 * ranks make the same one at the same time and tell each other nothing.
 *
 * Calls come in blocks of PWR_SCHEDULE_STRETCHES stretches of equal length:
 *
 *   blocks       calls of a stretch    calls before them that belong to no experiment
 *   0 to 5        2                    -
 *   6 to 9        4                    -
 *   10 to 13      8                    -
 *   14 to 17     16                    -
 *   from 18 on   32                    0, 512, 1536, 3584 .., at last 15872
 *
 * In each block two algorithms may be compared in stretches 1 to 4, from a block on that their user
 * knows.  Then three pairs may measure how deep to save (pwr/audit.h): stretches 5 and
 * 6; 7 and 8 against 9 and 10; 11 and 12 against 13 and 14.  The first pair always may, the others
 * when that one was suspicious.  So saving stops in 1 of 16 calls, in none of the first ten, and
 * later in 1 of 512.
 */
#ifndef PWR_SCHEDULE_H
#define PWR_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PWR_SCHEDULE_STRETCHES = 16,  /* of a block */
    PWR_SCHEDULE_CHOICE = 1,      /* the first stretch of the pair about algorithms, ... */
    PWR_SCHEDULE_CHOICE_PART = 2, /* ... whose parts have so many at most */
    PWR_SCHEDULE_CHOICE_END = PWR_SCHEDULE_CHOICE + 2 * PWR_SCHEDULE_CHOICE_PART,
    PWR_SCHEDULE_DEPTH = 5, /* the first stretch of the first pair about depth */
    PWR_SCHEDULE_DEPTH_PAIRS = 3,
    PWR_SCHEDULE_LONGEST = 32 /* calls of a stretch */
};

/* Where a call is.  Zeroed memory, then pwr_schedule_at. */
typedef struct pwr_schedule {
    uint64_t call;   /* its number, from 0 on */
    uint32_t left;   /* calls of its stretch that have not ended, itself included */
    uint32_t block;  /* its number */
    uint8_t stretch; /* of the block */
} pwr_schedule_t;

/* Calls of a stretch of this block, without those that come before the block's first one. */
uint32_t pwr_schedule_length(uint32_t block);
/* Goes to a call. */
void pwr_schedule_at(pwr_schedule_t *at, uint64_t call);
/* To the next stretch: at the end of one. */
void pwr_schedule_turn(pwr_schedule_t *at);
/* To the first call of the next stretch, or block. */
static inline void pwr_schedule_end_stretch(pwr_schedule_t *at)
{
    at->call += at->left;
    pwr_schedule_turn(at);
}
static inline void pwr_schedule_end_block(pwr_schedule_t *at)
{
    for (uint32_t block = at->block; block == at->block;) {
        pwr_schedule_end_stretch(at);
    }
}
/* To the next call.  Returns whether a stretch ended. */
static inline bool pwr_schedule_next(pwr_schedule_t *at)
{
    at->call++;
    if (--at->left == 0) {
        pwr_schedule_turn(at);
        return true;
    }
    return false;
}

/* Calls until a later stretch of this block; PWR_SCHEDULE_STRETCHES: until the next block. */
static inline uint32_t pwr_schedule_until(const pwr_schedule_t *at, unsigned stretch)
{
    return at->left + (stretch - 1 - at->stretch) * pwr_schedule_length(at->block);
}
/* Beyond so many calls. */
void pwr_schedule_skip(pwr_schedule_t *at, uint32_t calls);

/* The number that decides about the order of a pair's stretches. */
uint64_t pwr_schedule_scrambled(uint64_t x);

#endif
