/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What kernels reduce: types of elements, operators.
 */
#ifndef PWR_GPU_ELEMENTS_H
#define PWR_GPU_ELEMENTS_H

/* X(constant, name in kernels, bytes) */
#define PWR_GPU_TYPES(X)                                                                           \
    X(I32, i32, 4)                                                                                 \
    X(U32, u32, 4)                                                                                 \
    X(I64, i64, 8)                                                                                 \
    X(U64, u64, 8)                                                                                 \
    X(F32, f32, 4)                                                                                 \
    X(F64, f64, 8)                                                                                 \
    X(F16, f16, 2) /* computed in f32, rounded once */                                             \
    X(BF16, bf16, 2)

/* X(constant, name in kernels) */
#define PWR_GPU_OPS(X)                                                                             \
    X(SUM, sum)                                                                                    \
    X(PROD, prod)                                                                                  \
    X(MIN, min)                                                                                    \
    X(MAX, max)

/* Buffers of a reduction at most: their table has to fit the 4 KiB of a kernel's arguments. */
enum { PWR_GPU_MEMBERS = 64 };

#define PWR_GPU_CONSTANT_TYPE(constant, name, bytes) PWR_GPU_##constant,
typedef enum pwr_gpu_type { PWR_GPU_TYPES(PWR_GPU_CONSTANT_TYPE) PWR_GPU_NUM_TYPES } pwr_gpu_type_t;
#define PWR_GPU_CONSTANT_OP(constant, name) PWR_GPU_##constant,
typedef enum pwr_gpu_op { PWR_GPU_OPS(PWR_GPU_CONSTANT_OP) PWR_GPU_NUM_OPS } pwr_gpu_op_t;

#endif
