/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Size classes of operations: what is known of earlier ones is known by class.
 */
#ifndef PWR_OMPI_SIZE_CLASS_H
#define PWR_OMPI_SIZE_CLASS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes where the ranks know different ones. */
#define PWR_BYTES_UNKNOWN SIZE_MAX

/* Of four-fold sizes, up to 4 bytes, 16, 64 and so on; the first class is of operations whose ranks
   know different sizes, the last of all that are longer. */
enum { PWR_SIZE_CLASSES = 16 };

static inline int pwr_size_class(size_t bytes)
{
    if (PWR_BYTES_UNKNOWN == bytes) {
        return 0;
    }
    if (bytes <= 4) {
        return 1;
    }
    int bits = 64 - __builtin_clzll((unsigned long long)bytes - 1);
    int index = 1 + (bits - 1) / 2;
    return index < PWR_SIZE_CLASSES ? index : PWR_SIZE_CLASSES - 1;
}

/* The largest operation of a class. */
static inline size_t pwr_size_class_bytes(int index)
{
    return 0 == index ? PWR_BYTES_UNKNOWN : (size_t)4 << 2 * (index - 1);
}

#endif
