/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What kernels are compiled for: CUDA, HIP, or the host.
 *
 * Their texts are C and CUDA C++: compiled by nvcc they become kernels, by a C compiler functions
 * that one thread of the host calls for one thread of the device.
 */
#ifndef PWR_GPU_TARGET_H
#define PWR_GPU_TARGET_H

#include "kernels.h"

typedef unsigned long long index_t;

#if defined(__CUDACC__) || defined(__HIPCC__)
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#define TABLE const pwr_gpu_table_t
#define NOW_NS ((index_t)wall_clock64() * 10) /* 100 MHz */
#else
#define NOW_NS now_ns()
#define TABLE const __grid_constant__ pwr_gpu_table_t
#endif
#define DEVICE static __device__ __forceinline__
#define KERNEL_OF(threads, per_multiprocessor)                                                     \
    extern "C" __global__ void __launch_bounds__(threads, per_multiprocessor)
#define FIRST (blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x)
#define STEP (gridDim.x * (unsigned long long)blockDim.x)
#ifndef __HIPCC__
DEVICE index_t now_ns(void)
{
    index_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
#endif
#define VECTOR_ALIGNED __attribute__((aligned(16)))
#define UNROLLED_4 _Pragma("unroll 4")
#define ROLLED _Pragma("unroll 1")
#else
#define POWERAWARE_ON_HOST
#include "host.h"
#define NOW_NS pwr_now_ns()
#define VECTOR_ALIGNED
#define UNROLLED_4
#define ROLLED
#endif

#define KERNEL KERNEL_OF(256, 1)

#endif
