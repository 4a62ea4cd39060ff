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

#include "poweraware_device.h"

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
    REDUCE(min, name, T, A, to_a, to_t, PWR_MIN)                                                   \
    REDUCE(max, name, T, A, to_a, to_t, PWR_MAX)

#ifdef PWR_GPU_ELEMENT
#define OF_ELEMENT(name) PWR_ELEMENT_##name(KERNELS)
#define OF_ELEMENT_EXPANDED(name) OF_ELEMENT(name)
OF_ELEMENT_EXPANDED(PWR_GPU_ELEMENT)
#else
PWR_ELEMENTS(KERNELS)
#endif
