/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The arithmetic of reductions.  Each function is compiled for several generations of vector units;
 * the loader takes the one for this CPU.  Integers wrap around (-fwrapv).
 */
#include "kernels.h"

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

/* -O2, which comes last on automake's command line, vectorises no loop of unknown length */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define VALUE_and(a, b) ((a) & (b))
#define VALUE_or(a, b) ((a) | (b))
#define VALUE_xor(a, b) ((a) ^ (b))
#define VALUE_max(a, b) ((a) > (b) ? (a) : (b))
#define VALUE_min(a, b) ((a) < (b) ? (a) : (b))
#define VALUE_sum(a, b) ((a) + (b))
#define VALUE_prod(a, b) ((a) * (b))

/* ivdep: where to is a or b, elements still are independent of each other */
#define KERNEL(op, name, type)                                                                     \
    CLONES void shnode_reduce_##name##_##op(void *to, const void *a, const void *b, size_t n)      \
    {                                                                                              \
        type *t = to;                                                                              \
        const type *x = a, *y = b;                                                                 \
        _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)                                        \
        {                                                                                          \
            t[i] = (type)VALUE_##op(x[i], y[i]);                                                   \
        }                                                                                          \
    }
SHNODE_REDUCTIONS_(KERNEL)
