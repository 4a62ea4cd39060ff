/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random numbers that are the same on every rank, so that ranks agree without talking.
 */
#ifndef DIFF_RANDOM_H
#define DIFF_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct diff_random {
    uint64_t state;
} diff_random_t;

/* A good hash of 64 bits (splitmix64's last step). */
uint64_t diff_mix(uint64_t x);
/* Of a seed and two numbers: what depends on (call, rank), (from, to), ... */
uint64_t diff_hash(uint64_t seed, uint64_t a, uint64_t b);

/* 0 .. below - 1; 0 where below is 0 */
unsigned diff_draw(diff_random_t *random, unsigned below);
bool diff_chance(diff_random_t *random, unsigned percent);

#endif
