/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies of blocks of one length between buffers that all lie in the memory of one GPU.
 *
 * Block b goes from in[b] to out[b].  It has so many units; a unit is what a thread moves at once,
 * as wide as addresses and length allow.  Threads go through all blocks as if they were one behind
 * the other, so that many small ones keep as many of them busy as a large one.
 */
#include "target.h"

typedef struct VECTOR_ALIGNED {
    unsigned word[PWR_GPU_VECTOR / 4];
} unit_16_t;

#define COPY(width, unit_t)                                                                        \
    KERNEL pwr_copy_##width(TABLE table, int num_blocks, int same, index_t units, index_t bytes)   \
    {                                                                                              \
        const index_t num = (index_t)num_blocks, step = STEP;                                      \
        (void)same;                                                                                \
        (void)bytes;                                                                               \
        index_t b = FIRST / units, u = FIRST % units;                                              \
        while (b < num) {                                                                          \
            ((unit_t *)table.out[b])[u] = ((const unit_t *)table.in[b])[u];                        \
            u += step;                                                                             \
            if (u >= units) {                                                                      \
                b += u / units;                                                                    \
                u %= units;                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

COPY(16, unit_16_t)
COPY(8, index_t)
COPY(4, unsigned)
COPY(1, unsigned char)
