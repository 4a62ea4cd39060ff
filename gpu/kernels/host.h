/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Kernels as functions of the host: what a C compiler needs to read them.  For tests.
 */
#ifndef PWR_GPU_KERNELS_HOST_H
#define PWR_GPU_KERNELS_HOST_H

#include "kernels.h"

/* Which thread of the device the calling one is, of how many. */
extern _Thread_local unsigned long long pwr_gpu_host_thread, pwr_gpu_host_threads;

#define DEVICE static inline
#define KERNEL void
#define TABLE const pwr_gpu_table_t
#define FIRST pwr_gpu_host_thread
#define STEP pwr_gpu_host_threads

#include "pwr_gpu/elements.h"

#define PWR_GPU_HOST_KERNEL(op, name)                                                              \
    void pwr_##op##_##name(const pwr_gpu_table_t table, int num_in, int num_out,                   \
                           unsigned long long vectors, unsigned long long count);
#define PWR_GPU_HOST_KERNELS(constant, name, bytes)                                                \
    PWR_GPU_HOST_KERNEL(sum, name)                                                                 \
    PWR_GPU_HOST_KERNEL(prod, name)                                                                \
    PWR_GPU_HOST_KERNEL(min, name)                                                                 \
    PWR_GPU_HOST_KERNEL(max, name)
PWR_GPU_TYPES(PWR_GPU_HOST_KERNELS)
PWR_GPU_HOST_KERNEL(copy, 16)
PWR_GPU_HOST_KERNEL(copy, 8)
PWR_GPU_HOST_KERNEL(copy, 4)
PWR_GPU_HOST_KERNEL(copy, 1)

#endif
