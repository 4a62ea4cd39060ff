/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What every byte of a test message must be: a rule that sender and receiver evaluate apart.
 *
 * The byte at position p of a message is a hash of (source, dest, p) XORed with the low byte of
 * tag.  So a byte says where it comes from, where it goes and where it stands; (a, b) and (b, a)
 * differ; and two messages whose tags differ by 1 to 255 differ in EVERY byte, which is what
 * catches a buffer that still holds the last call's data, even at a length of one.
 */
#ifndef PWR_VERIFY_PATTERN_H
#define PWR_VERIFY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pwr_pattern {
    uint64_t seed;
    uint64_t change; /* the tag's low byte, eight times */
} pwr_pattern_t;

/* The first byte that is not what it must be. */
typedef struct pwr_mismatch {
    size_t position;
    unsigned char expected;
    unsigned char found;
} pwr_mismatch_t;

/* source and dest are ranks; tag counts messages between them (call, iteration). */
pwr_pattern_t pwr_pattern(int source, int dest, unsigned tag);

/* Eight bytes of hash for anything else that wants repeatable numbers. */
uint64_t pwr_pattern_hash(uint64_t value);

/* Writes bytes first .. first + size - 1 of the message to buffer[size]. */
void pwr_pattern_fill(pwr_pattern_t pattern, size_t first, void *buffer, size_t size);

/* The same, every byte inverted: a receive buffer in which nothing is right yet. */
void pwr_pattern_fill_wrong(pwr_pattern_t pattern, size_t first, void *buffer, size_t size);

/* True when buffer[size] holds bytes first .. first + size - 1 of the message; otherwise
 *mismatch is set, its position counted from the start of the message. */
bool pwr_pattern_check(pwr_pattern_t pattern, size_t first, const void *buffer, size_t size,
                       pwr_mismatch_t *mismatch);

#endif
