/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Arguments of the kernels, for those who launch them and for the kernels.
 */
#ifndef PWR_GPU_KERNELS_H
#define PWR_GPU_KERNELS_H

#include "pwr_gpu/elements.h"

enum { PWR_GPU_VECTOR = 16 /* bytes */ };

/* Addresses in the context that launches. */
typedef struct pwr_gpu_table {
    unsigned long long in[PWR_GPU_MEMBERS];
    unsigned long long out[PWR_GPU_MEMBERS];
} pwr_gpu_table_t;

/* Threads of a block; of a team's kernels, and how many of these blocks a multiprocessor has room
   for. */
enum { PWR_GPU_BLOCK = 256, PWR_GPU_TEAM_BLOCK = 384, PWR_GPU_TEAM_BLOCKS = 2 };

#endif
