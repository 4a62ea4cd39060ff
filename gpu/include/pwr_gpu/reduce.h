/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions by one kernel, of buffers that several processes have in the memory of one GPU.
 */
#ifndef PWR_GPU_REDUCE_H
#define PWR_GPU_REDUCE_H

#include "pwr_gpu/offer.h"
#include "pwr_gpu/pinned.h"

/* As leader: out of all offers that have one = in of offers[0] op in of offers[1] op ...
   offers: [num], among them this process's own; count elements of type in each buffer. */
pwr_gpu_result_t pwr_gpu_reduce(const pwr_gpu_offer_t *const *offers, int num, pwr_gpu_op_t op,
                                pwr_gpu_type_t type, size_t count);

/* The two halves of a reduction over several nodes: elements first .. first + count - 1 of all
   inputs, reduced, into pinned memory from `at` on; and from there to all outputs. */
pwr_gpu_result_t pwr_gpu_reduce_to_host(pwr_gpu_pinned_t *pinned, char *at,
                                        const pwr_gpu_offer_t *const *offers, int num,
                                        pwr_gpu_op_t op, pwr_gpu_type_t type, size_t first,
                                        size_t count);
pwr_gpu_result_t pwr_gpu_result_from_host(pwr_gpu_pinned_t *pinned, const char *at,
                                          const pwr_gpu_offer_t *const *offers, int num,
                                          pwr_gpu_type_t type, size_t first, size_t count);

/* pwr_gpu_reduce at the end of a stream of this process's context: returns when it is there. offers
   may change then.  Never waits for the GPU, as long as kernels are loaded: a stream may wait for
   what the caller does next.  So it closes nothing (pwr_gpu_must_close). */
pwr_gpu_result_t pwr_gpu_reduce_on(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                                   pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count);
/* Loads all kernels, which may wait for the GPU.  Returns whether there are all. */
bool pwr_gpu_load_all(void);

#endif
