/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random numbers from hashes.
 */
#include "random.h"

uint64_t diff_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t diff_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    return diff_mix(diff_mix(diff_mix(seed) ^ a) ^ (b << 1 | 1));
}

unsigned diff_draw(diff_random_t *random, unsigned below)
{
    random->state = diff_mix(random->state);
    return 0 == below ? 0 : (unsigned)(random->state >> 33) % below;
}

bool diff_chance(diff_random_t *random, unsigned percent)
{
    return diff_draw(random, 100) < percent;
}
