/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives that move blocks, by one kernel, between buffers that several processes have in the
 * memory of one GPU, or by one kernel for each of several GPUs.
 */
#ifndef PWR_GPU_COPY_H
#define PWR_GPU_COPY_H

#include "pwr_gpu/offer.h"

/* Which block goes where; inputs and outputs are counted in the order of the offers that have some.
 */
typedef enum pwr_gpu_pattern {
    PWR_GPU_BCAST,   /* the input to each output */
    PWR_GPU_GATHER,  /* input i to block i of each output; Allgather, too */
    PWR_GPU_SCATTER, /* block o of the input to output o */
    PWR_GPU_ALLTOALL /* block o of input i to block i of output o */
} pwr_gpu_pattern_t;

/* As leader: out of all offers, [num], among them this process's own.  bytes: of a block.  A block
   that is already where it has to go may be. */
pwr_gpu_result_t pwr_gpu_copy(const pwr_gpu_offer_t *const *offers, int num,
                              pwr_gpu_pattern_t pattern, size_t bytes);
/* The same of what comes out of the input of offers[own], which is this process's: where ranks have
   several GPUs, each of them writes to all others (GGAS IV: what is remote is written, never read).
   */
pwr_gpu_result_t pwr_gpu_copy_own(const pwr_gpu_offer_t *const *offers, int num, int own,
                                  pwr_gpu_pattern_t pattern, size_t bytes);

#endif
