/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions of buffers that all lie in the memory of one GPU.
 *
 * Element i of every output is in[0][i] op in[1][i] op ... in this order, so that results have the
 * same bits on all ranks and in all runs.  One kernel reads each input once and writes each output
 * once, which is the least there is to move (GGAS IV-B, "gather": of one GPU nothing is remote).
 * An output may be one of the inputs: a thread reads all it needs of them before it writes.
 *
 * PWR_GPU_ELEMENT is the type of the elements, one of elements.h; each is a module of its own,
 * because a driver compiles a module when it is first used.
 */
#include "target.h"

/* ---- elements: as they lie in memory (T), and as they are computed with (A) ---- */

DEVICE float bits_to_f32(unsigned bits)
{
    union {
        unsigned bits;
        float value;
    } u;
    u.bits = bits;
    return u.value;
}

DEVICE unsigned f32_to_bits(float value)
{
    union {
        unsigned bits;
        float value;
    } u;
    u.value = value;
    return u.bits;
}

DEVICE float bf16_to_f32(unsigned short bits)
{
    return bits_to_f32((unsigned)bits << 16);
}

/* To the nearest, ties to even; NaN stays NaN. */
DEVICE unsigned short f32_to_bf16(float value)
{
    unsigned bits = f32_to_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return (unsigned short)(bits >> 16 | 0x40u);
    }
    return (unsigned short)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

#ifdef __CUDA_ARCH__
DEVICE float f16_to_f32(unsigned short bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

DEVICE unsigned short f32_to_f16(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#else
DEVICE float f16_to_f32(unsigned short bits)
{
    unsigned sign = (unsigned)(bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1Fu;
    unsigned fraction = bits & 0x3FFu;
    if (31 == exponent) {
        return bits_to_f32(sign | 0x7F800000u | fraction << 13);
    }
    if (0 == exponent) { /* a multiple of 2^-24 */
        float value = (float)fraction * bits_to_f32(0x33800000u);
        return bits_to_f32(sign | f32_to_bits(value));
    }
    return bits_to_f32(sign | (exponent + 112u) << 23 | fraction << 13);
}

/* To the nearest, ties to even. */
DEVICE unsigned short f32_to_f16(float value)
{
    unsigned bits = f32_to_bits(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) {
        return 0x7FFFu; /* as cvt does */
    }
    if (size >= 0x477FF000u) { /* rounds to more than the largest */
        return (unsigned short)(sign | 0x7C00u);
    }
    if (size < 0x38800000u) { /* adds 0.5, whose last bit is 2^-24 */
        unsigned rounded = f32_to_bits(bits_to_f32(size) + 0.5f) - 0x3F000000u;
        return (unsigned short)(sign | rounded);
    }
    unsigned rounded = size + 0xFFFu + (size >> 13 & 1u) - (112u << 23);
    return (unsigned short)(sign | rounded >> 13);
}
#endif

#define SAME(x) (x)
/* Integers wrap. */
#define ADD_I32(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define MUL_I32(a, b) ((int)((unsigned)(a) * (unsigned)(b)))
#define ADD_I64(a, b) ((long long)((index_t)(a) + (index_t)(b)))
#define MUL_I64(a, b) ((long long)((index_t)(a) * (index_t)(b)))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))

/* ---- kernels ---- */

#define REDUCE(op, name, T, A, to_a, to_t, combine)                                                \
    KERNEL pwr_##op##_##name(TABLE table, int num_in, int num_out, index_t vectors, index_t count) \
    {                                                                                              \
        enum { LANES = PWR_GPU_VECTOR / sizeof(T) };                                               \
        typedef struct VECTOR_ALIGNED {                                                            \
            T lane[LANES];                                                                         \
        } vector_t;                                                                                \
        const index_t first = FIRST, step = STEP;                                                  \
        for (index_t i = first; i < vectors; i += step) {                                          \
            A sum[LANES];                                                                          \
            vector_t v = ((const vector_t *)table.in[0])[i];                                       \
            for (int k = 0; k < LANES; ++k) {                                                      \
                sum[k] = to_a(v.lane[k]);                                                          \
            }                                                                                      \
            UNROLLED_4 for (int r = 1; r < num_in; ++r)                                            \
            {                                                                                      \
                v = ((const vector_t *)table.in[r])[i];                                            \
                for (int k = 0; k < LANES; ++k) {                                                  \
                    A next = to_a(v.lane[k]);                                                      \
                    sum[k] = combine(sum[k], next);                                                \
                }                                                                                  \
            }                                                                                      \
            for (int k = 0; k < LANES; ++k) {                                                      \
                v.lane[k] = to_t(sum[k]);                                                          \
            }                                                                                      \
            ROLLED for (int r = 0; r < num_out; ++r)                                               \
            {                                                                                      \
                ((vector_t *)table.out[r])[i] = v;                                                 \
            }                                                                                      \
        }                                                                                          \
        ROLLED for (index_t i = vectors * LANES + first; i < count; i += step)                     \
        {                                                                                          \
            A sum = to_a(((const T *)table.in[0])[i]);                                             \
            ROLLED for (int r = 1; r < num_in; ++r)                                                \
            {                                                                                      \
                A next = to_a(((const T *)table.in[r])[i]);                                        \
                sum = combine(sum, next);                                                          \
            }                                                                                      \
            ROLLED for (int r = 0; r < num_out; ++r)                                               \
            {                                                                                      \
                ((T *)table.out[r])[i] = to_t(sum);                                                \
            }                                                                                      \
        }                                                                                          \
    }

#define KERNELS(name, T, A, to_a, to_t, add, mul)                                                  \
    REDUCE(sum, name, T, A, to_a, to_t, add)                                                       \
    REDUCE(prod, name, T, A, to_a, to_t, mul)                                                      \
    REDUCE(min, name, T, A, to_a, to_t, MIN)                                                       \
    REDUCE(max, name, T, A, to_a, to_t, MAX)

#define KERNELS_i32 KERNELS(i32, int, int, SAME, SAME, ADD_I32, MUL_I32)
#define KERNELS_u32 KERNELS(u32, unsigned, unsigned, SAME, SAME, ADD, MUL)
#define KERNELS_i64 KERNELS(i64, long long, long long, SAME, SAME, ADD_I64, MUL_I64)
#define KERNELS_u64 KERNELS(u64, index_t, index_t, SAME, SAME, ADD, MUL)
#define KERNELS_f32 KERNELS(f32, float, float, SAME, SAME, ADD, MUL)
#define KERNELS_f64 KERNELS(f64, double, double, SAME, SAME, ADD, MUL)
#define KERNELS_f16 KERNELS(f16, unsigned short, float, f16_to_f32, f32_to_f16, ADD, MUL)
#define KERNELS_bf16 KERNELS(bf16, unsigned short, float, bf16_to_f32, f32_to_bf16, ADD, MUL)

#define KERNELS_OF(element) KERNELS_##element
#define KERNELS_OF_EXPANDED(element) KERNELS_OF(element)
#ifdef PWR_GPU_ELEMENT
KERNELS_OF_EXPANDED(PWR_GPU_ELEMENT)
#else /* all of them */
KERNELS_i32 KERNELS_u32 KERNELS_i64 KERNELS_u64 KERNELS_f32 KERNELS_f64 KERNELS_f16 KERNELS_bf16
#endif
