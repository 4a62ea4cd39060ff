/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * FNV-1a of 64 bits: whether two have the same, without sending it.
 */
#ifndef PWR_CHECKSUM_H
#define PWR_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define PWR_CHECKSUM_OF_NOTHING UINT64_C(0xcbf29ce484222325)

static inline uint64_t pwr_checksum_add(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

#endif
