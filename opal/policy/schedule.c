/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The schedule of experiments (pwr/schedule.h).
 */
#include "config.h"

#include "pwr/schedule.h"

enum {
    SHORTEST = 2,
    FIRST_BLOCKS = 6, /* of the shortest stretches */
    BLOCKS = 4,       /* of each length until the longest */
    DOUBLINGS = 4,
    LONGEST_BLOCK = PWR_SCHEDULE_LONGEST * PWR_SCHEDULE_STRETCHES,
    FIRST_LONGEST = FIRST_BLOCKS + BLOCKS * (DOUBLINGS - 1), /* the first block of the longest */
    PAUSE_DOUBLINGS = 5,
};

uint32_t pwr_schedule_length(uint32_t block)
{
    if (block < FIRST_BLOCKS) {
        return SHORTEST;
    }
    uint32_t doublings = 1 + (block - FIRST_BLOCKS) / BLOCKS;
    return SHORTEST << (doublings < DOUBLINGS ? doublings : DOUBLINGS);
}

/* Calls before a block that belong to no experiment. */
static uint32_t pause_before(uint32_t block)
{
    if (block < FIRST_LONGEST) {
        return 0;
    }
    uint32_t doublings = block - FIRST_LONGEST;
    doublings = doublings < PAUSE_DOUBLINGS ? doublings : PAUSE_DOUBLINGS;
    return ((1U << doublings) - 1) * LONGEST_BLOCK;
}

static uint32_t length_of(uint32_t block, unsigned stretch)
{
    return pwr_schedule_length(block) + (stretch == 0 ? pause_before(block) : 0);
}

void pwr_schedule_turn(pwr_schedule_t *at)
{
    at->stretch++;
    if (at->stretch == PWR_SCHEDULE_STRETCHES) {
        at->stretch = 0;
        at->block++;
    }
    at->left = length_of(at->block, at->stretch);
}

void pwr_schedule_skip(pwr_schedule_t *at, uint32_t calls)
{
    while (calls >= at->left) {
        calls -= at->left;
        pwr_schedule_end_stretch(at);
    }
    at->call += calls;
    at->left -= calls;
}

void pwr_schedule_at(pwr_schedule_t *at, uint64_t call)
{
    uint64_t begin = 0;
    *at = (pwr_schedule_t){.call = call, .left = length_of(0, 0)};
    while (begin + at->left <= call) {
        begin += at->left;
        pwr_schedule_turn(at);
    }
    at->left -= (uint32_t)(call - begin);
}

/* splitmix64 */
uint64_t pwr_schedule_scrambled(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}
