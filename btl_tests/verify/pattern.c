/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The byte rule of test messages, eight bytes at a time.
 */
#include "config.h"

#include "pwr_verify/pattern.h"

#include <endian.h>
#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* splitmix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
   OOPSLA 2014): every input bit reaches every output bit. */
uint64_t pwr_pattern_hash(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

pwr_pattern_t pwr_pattern(int source, int dest, unsigned tag)
{
    uint64_t pair = ((uint64_t)(uint32_t)source << 32) | (uint32_t)dest;
    return (pwr_pattern_t){
        .seed = pwr_pattern_hash(pwr_pattern_hash(pair) + (tag >> 8)),
        .change = (tag & 0xff) * UINT64_C(0x0101010101010101),
    };
}

/* Little-endian on every machine, so that a job over mixed machines agrees too. */
static uint64_t word_at(pwr_pattern_t pattern, size_t index)
{
    return htole64(pwr_pattern_hash(pattern.seed ^ index) ^ pattern.change);
}

/* How many bytes from position on lie in the same word, at most left. */
static size_t same_word(size_t position, size_t left)
{
    size_t room = WORD - position % WORD;
    return left < room ? left : room;
}

void pwr_pattern_fill(pwr_pattern_t pattern, size_t first, void *buffer, size_t size)
{
    unsigned char *to = buffer;
    for (size_t done = 0; done < size;) {
        uint64_t word = word_at(pattern, (first + done) / WORD);
        size_t length = same_word(first + done, size - done);
        memcpy(to + done, (const char *)&word + (first + done) % WORD, length);
        done += length;
    }
}

void pwr_pattern_fill_wrong(pwr_pattern_t pattern, size_t first, void *buffer, size_t size)
{
    pattern.change = ~pattern.change;
    pwr_pattern_fill(pattern, first, buffer, size);
}

bool pwr_pattern_check(pwr_pattern_t pattern, size_t first, const void *buffer, size_t size,
                       pwr_mismatch_t *mismatch)
{
    const unsigned char *found = buffer;
    for (size_t done = 0; done < size;) {
        uint64_t word = word_at(pattern, (first + done) / WORD);
        size_t length = same_word(first + done, size - done);
        const unsigned char *expected = (const unsigned char *)&word + (first + done) % WORD;
        if (memcmp(found + done, expected, length) != 0) {
            size_t i = 0;
            while (found[done + i] == expected[i]) {
                i++;
            }
            *mismatch = (pwr_mismatch_t){
                .position = first + done + i, .expected = expected[i], .found = found[done + i]};
            return false;
        }
        done += length;
    }
    return true;
}
