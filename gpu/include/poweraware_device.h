/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions that kernels call, in CUDA C++ or HIP: no launch, no CPU, no stream on the way.
 *
 *     #include <poweraware_device.h>
 *
 *     __global__ void step(poweraware_team_t *team, const double *x, double *y, size_t n)
 *     {
 *         ...
 *         poweraware_allreduce_sum_f64(team, POWERAWARE_GRID, x, y, n);
 *     }
 *
 * A team is that of a stream communicator (poweraware_stream_comm_team in poweraware_mpix.h), and
 * its kernels go to the stream of that communicator.  All ranks of the team make the same calls in
 * the same order, with grids and blocks of one shape.
 *
 * Ranks wait for each other on the GPU.  So the grids of all ranks have to be there at the same
 * time, as for a cooperative launch: at most as many blocks as poweraware_stream_comm_team says, of
 * a kernel of which a multiprocessor has room for two.
 * A grid of more than POWERAWARE_TEAM_BLOCKS traps.
 *
 * scope says who makes the call: POWERAWARE_GRID, all threads of all blocks; POWERAWARE_BLOCK, all
 * threads of one block.  The result is there after a barrier of the grid or, in turn, the block
 * (__syncthreads).  In one kernel all calls have the same scope, or barriers of the grid between
 * them.
 *
 * in, out: [count] elements, in memory that this GPU can read and write; they may be the same.
 * Elements are combined in the order of ranks, so that results have the same bits on all of them.
 *
 * How: each rank writes into windows in the memory of the others, never reads from there, and
 * reduces what has come to its own (GGAS, Oden, Klenk, Froening, IV).
 *
 *   up to 8 KiB     everything to everyone; each word of data has the number of the exchange beside
 *                   it, so that there is nothing else to wait for
 *   longer          "allgather": everything to everyone, then a flag
 *   3 MiB in all    "all-to-all + allgather": each reduces a part, which goes to all
 *
 * A window has two halves.  Exchange k by flags uses half k % 2.  A block has seen its peer's flag
 * of k - 1 when it begins k, and that peer had read all of k - 2 before.  Each block of a grid
 * takes part in each exchange, even where it has no elements, for that reason.  Words have halves
 * and numbers of their own, and belong to the first block alone.
 */
#ifndef POWERAWARE_DEVICE_H
#define POWERAWARE_DEVICE_H

#include <stddef.h>

enum { POWERAWARE_TEAM_RANKS = 64, POWERAWARE_TEAM_BLOCKS = 64 };

/* In the memory of the rank's GPU; made by the host. */
typedef struct poweraware_team {
    unsigned rank, size;
    unsigned epoch[POWERAWARE_TEAM_BLOCKS]; /* exchanges by flags that a block has ended */
    unsigned number;                        /* exchanges by words */
    unsigned stopped;                       /* a kernel has given up waiting: see stop, lives */
    unsigned life_bytes;                    /* from one word of lives to the next */
    unsigned long long slot;                /* bytes for a rank in half a window */
    /* addresses of words of the CPU */
    unsigned long long stop;  /* not 0 there: nobody waits any more */
    unsigned long long lives; /* of all ranks: POWERAWARE_DIED, when its process has died */
    unsigned long long window[POWERAWARE_TEAM_RANKS]; /* addresses of all ranks' */
} poweraware_team_t;

#define POWERAWARE_DIED 0x40000000u /* FUTEX_OWNER_DIED */

typedef enum poweraware_scope { POWERAWARE_BLOCK, POWERAWARE_GRID } poweraware_scope_t;

/* ---- 1. windows ---- */

/*   flags  unsigned [POWERAWARE_TEAM_BLOCKS][POWERAWARE_TEAM_RANKS]: exchanges from a rank's block
 *   words  [2 halves][size] of PWR_TEAM_WORDS bytes: data of up to PWR_TEAM_SHORT bytes with
 * numbers slots  [2 halves][size] of slot bytes Flags and words are 0 at first. */
enum {
    PWR_TEAM_SHORT = 8192,
    PWR_TEAM_WORDS = 2 * PWR_TEAM_SHORT,
    PWR_TEAM_FLAGS = 4 * POWERAWARE_TEAM_BLOCKS * POWERAWARE_TEAM_RANKS
};
#ifndef PWR_TEAM_TWO_STEPS
#define PWR_TEAM_TWO_STEPS (3 << 20) /* from so many bytes of all ranks on (measured, H200) */
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PWR_EVERYWHERE static inline __host__ __device__
#else
#define PWR_EVERYWHERE static inline
#endif

PWR_EVERYWHERE unsigned long long pwr_team_zeroed_bytes(unsigned size)
{
    return PWR_TEAM_FLAGS + 2ull * size * PWR_TEAM_WORDS;
}

PWR_EVERYWHERE unsigned long long pwr_team_window_bytes(unsigned size, unsigned long long slot)
{
    return pwr_team_zeroed_bytes(size) + 2 * size * slot;
}

#if defined(POWERAWARE_ON_HOST) || defined(__CUDACC__) || defined(__HIPCC__)

/* ---- 2. what the three targets call differently ---- */

#if defined(POWERAWARE_ON_HOST) /* for tests */
#include "host.h"
#else
#define POWERAWARE_DEVICE static __device__ __forceinline__
#define PWR_ALIGNED_16 __attribute__((aligned(16)))
#define PWR_UNROLLED _Pragma("unroll")
#define PWR_ROLLED _Pragma("unroll 1") /* to keep the code small */

POWERAWARE_DEVICE unsigned pwr_thread(void)
{
    return threadIdx.x;
}

POWERAWARE_DEVICE unsigned pwr_threads(void)
{
    return blockDim.x;
}

POWERAWARE_DEVICE unsigned pwr_block(void)
{
    return blockIdx.x;
}

POWERAWARE_DEVICE unsigned pwr_blocks(void)
{
    return gridDim.x;
}

POWERAWARE_DEVICE void pwr_sync(void)
{
    __syncthreads();
}

#ifdef __HIPCC__
POWERAWARE_DEVICE void pwr_trap(void)
{
    __builtin_trap();
}

POWERAWARE_DEVICE void pwr_pause(void)
{
    __builtin_amdgcn_s_sleep(32);
}

POWERAWARE_DEVICE void pwr_store_release(unsigned *at, unsigned value)
{
    __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

POWERAWARE_DEVICE unsigned pwr_load_acquire(unsigned *at)
{
    return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

POWERAWARE_DEVICE void pwr_store_words(unsigned long long *at, unsigned long long a,
                                       unsigned long long b)
{
    __hip_atomic_store(at, a, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    __hip_atomic_store(at + 1, b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

POWERAWARE_DEVICE void pwr_load_words(unsigned long long *at, unsigned long long *a,
                                      unsigned long long *b)
{
    *a = __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    *b = __hip_atomic_load(at + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
#else
POWERAWARE_DEVICE void pwr_trap(void)
{
    __trap();
}

POWERAWARE_DEVICE void pwr_pause(void)
{
    __nanosleep(1000);
}

POWERAWARE_DEVICE void pwr_store_release(unsigned *at, unsigned value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

POWERAWARE_DEVICE unsigned pwr_load_acquire(unsigned *at)
{
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/* Two words, each of them whole. */
POWERAWARE_DEVICE void pwr_store_words(unsigned long long *at, unsigned long long a,
                                       unsigned long long b)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(a), "l"(b)
                 : "memory");
}

POWERAWARE_DEVICE void pwr_load_words(unsigned long long *at, unsigned long long *a,
                                      unsigned long long *b)
{
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(*a), "=l"(*b)
                 : "l"(at)
                 : "memory");
}
#endif
#endif

/* ---- 3. elements: as they lie in memory (T), and as they are computed with (A) ---- */

POWERAWARE_DEVICE float pwr_bits_to_f32(unsigned bits)
{
    union {
        unsigned bits;
        float value;
    } u;
    u.bits = bits;
    return u.value;
}

POWERAWARE_DEVICE unsigned pwr_f32_to_bits(float value)
{
    union {
        unsigned bits;
        float value;
    } u;
    u.value = value;
    return u.bits;
}

POWERAWARE_DEVICE float pwr_bf16_to_f32(unsigned short bits)
{
    return pwr_bits_to_f32((unsigned)bits << 16);
}

/* To the nearest, ties to even; NaN stays NaN. */
POWERAWARE_DEVICE unsigned short pwr_f32_to_bf16(float value)
{
    unsigned bits = pwr_f32_to_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return (unsigned short)(bits >> 16 | 0x40u);
    }
    return (unsigned short)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

#ifdef __CUDA_ARCH__
POWERAWARE_DEVICE float pwr_f16_to_f32(unsigned short bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

POWERAWARE_DEVICE unsigned short pwr_f32_to_f16(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#else
POWERAWARE_DEVICE float pwr_f16_to_f32(unsigned short bits)
{
    unsigned sign = (unsigned)(bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1Fu;
    unsigned fraction = bits & 0x3FFu;
    if (31 == exponent) {
        return pwr_bits_to_f32(sign | 0x7F800000u | fraction << 13);
    }
    if (0 == exponent) { /* a multiple of 2^-24 */
        float value = (float)fraction * pwr_bits_to_f32(0x33800000u);
        return pwr_bits_to_f32(sign | pwr_f32_to_bits(value));
    }
    return pwr_bits_to_f32(sign | (exponent + 112u) << 23 | fraction << 13);
}

/* To the nearest, ties to even. */
POWERAWARE_DEVICE unsigned short pwr_f32_to_f16(float value)
{
    unsigned bits = pwr_f32_to_bits(value), sign = bits >> 16 & 0x8000u;
    unsigned size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) {
        return 0x7FFFu; /* as cvt does */
    }
    if (size >= 0x477FF000u) { /* rounds to more than the largest */
        return (unsigned short)(sign | 0x7C00u);
    }
    if (size < 0x38800000u) { /* adds 0.5, whose last bit is 2^-24 */
        unsigned rounded = pwr_f32_to_bits(pwr_bits_to_f32(size) + 0.5f) - 0x3F000000u;
        return (unsigned short)(sign | rounded);
    }
    unsigned rounded = size + 0xFFFu + (size >> 13 & 1u) - (112u << 23);
    return (unsigned short)(sign | rounded >> 13);
}
#endif

#define PWR_SAME(x) (x)
/* Integers wrap. */
#define PWR_ADD_I32(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define PWR_MUL_I32(a, b) ((int)((unsigned)(a) * (unsigned)(b)))
#define PWR_ADD_I64(a, b) ((long long)((unsigned long long)(a) + (unsigned long long)(b)))
#define PWR_MUL_I64(a, b) ((long long)((unsigned long long)(a) * (unsigned long long)(b)))
#define PWR_ADD(a, b) ((a) + (b))
#define PWR_MUL(a, b) ((a) * (b))
#define PWR_MIN(a, b) ((b) < (a) ? (b) : (a))
#define PWR_MAX(a, b) ((b) > (a) ? (b) : (a))

/* X(name, T, A, from T to A, from A to T, sum, product); f16 and bf16 are bits in memory, and are
   rounded once, at the end. */
#define PWR_ELEMENT_i32(X) X(i32, int, int, PWR_SAME, PWR_SAME, PWR_ADD_I32, PWR_MUL_I32)
#define PWR_ELEMENT_u32(X) X(u32, unsigned, unsigned, PWR_SAME, PWR_SAME, PWR_ADD, PWR_MUL)
#define PWR_ELEMENT_i64(X)                                                                         \
    X(i64, long long, long long, PWR_SAME, PWR_SAME, PWR_ADD_I64, PWR_MUL_I64)
#define PWR_ELEMENT_u64(X)                                                                         \
    X(u64, unsigned long long, unsigned long long, PWR_SAME, PWR_SAME, PWR_ADD, PWR_MUL)
#define PWR_ELEMENT_f32(X) X(f32, float, float, PWR_SAME, PWR_SAME, PWR_ADD, PWR_MUL)
#define PWR_ELEMENT_f64(X) X(f64, double, double, PWR_SAME, PWR_SAME, PWR_ADD, PWR_MUL)
#define PWR_ELEMENT_f16(X)                                                                         \
    X(f16, unsigned short, float, pwr_f16_to_f32, pwr_f32_to_f16, PWR_ADD, PWR_MUL)
#define PWR_ELEMENT_bf16(X)                                                                        \
    X(bf16, unsigned short, float, pwr_bf16_to_f32, pwr_f32_to_bf16, PWR_ADD, PWR_MUL)
#define PWR_ELEMENTS(X)                                                                            \
    PWR_ELEMENT_i32(X) PWR_ELEMENT_u32(X) PWR_ELEMENT_i64(X) PWR_ELEMENT_u64(X) PWR_ELEMENT_f32(X) \
        PWR_ELEMENT_f64(X) PWR_ELEMENT_f16(X) PWR_ELEMENT_bf16(X)

#define PWR_CONSTANT(name, T, A, to_a, to_t, add, mul) PWR_IS_##name,
enum { PWR_ELEMENTS(PWR_CONSTANT) PWR_NUM_ELEMENTS };
enum { PWR_IS_sum, PWR_IS_prod, PWR_IS_min, PWR_IS_max };

/* ---- 4. units: 16 bytes, which a thread moves and reduces at once ---- */

enum { PWR_UNIT = 16 };

typedef union PWR_ALIGNED_16 pwr_unit {
    unsigned word[4];
    unsigned short by_2[8];
    unsigned by_4[4];
    unsigned long long by_8[2];
#define PWR_LANES(name, T, A, to_a, to_t, add, mul) T name[PWR_UNIT / sizeof(T)];
    PWR_ELEMENTS(PWR_LANES)
} pwr_unit_t;

typedef union pwr_sums {
#define PWR_SUMS(name, T, A, to_a, to_t, add, mul) A name[PWR_UNIT / sizeof(T)];
    PWR_ELEMENTS(PWR_SUMS)
} pwr_sums_t;

/* type and op are constants where these are called, so that one case is left. */
POWERAWARE_DEVICE void pwr_begin_sums(pwr_sums_t *sums, const pwr_unit_t *unit, int type)
{
    switch (type) {
#define PWR_CASE(name, T, A, to_a, to_t, add, mul)                                                 \
    case PWR_IS_##name:                                                                            \
        PWR_UNROLLED for (unsigned k = 0; k < PWR_UNIT / sizeof(T); ++k)                           \
        {                                                                                          \
            sums->name[k] = to_a(unit->name[k]);                                                   \
        }                                                                                          \
        break;
        PWR_ELEMENTS(PWR_CASE)
#undef PWR_CASE
    }
}

POWERAWARE_DEVICE void pwr_add_to_sums(pwr_sums_t *sums, const pwr_unit_t *unit, int type, int op)
{
    switch (type) {
#define PWR_CASE(name, T, A, to_a, to_t, add, mul)                                                 \
    case PWR_IS_##name:                                                                            \
        PWR_UNROLLED for (unsigned k = 0; k < PWR_UNIT / sizeof(T); ++k)                           \
        {                                                                                          \
            A a = sums->name[k], b = to_a(unit->name[k]);                                          \
            sums->name[k] = PWR_IS_sum == op    ? add(a, b)                                        \
                            : PWR_IS_prod == op ? mul(a, b)                                        \
                            : PWR_IS_min == op  ? PWR_MIN(a, b)                                    \
                                                : PWR_MAX(a, b);                                    \
        }                                                                                          \
        break;
        PWR_ELEMENTS(PWR_CASE)
#undef PWR_CASE
    }
}

POWERAWARE_DEVICE pwr_unit_t pwr_end_sums(const pwr_sums_t *sums, int type)
{
    pwr_unit_t unit;
    switch (type) {
#define PWR_CASE(name, T, A, to_a, to_t, add, mul)                                                 \
    case PWR_IS_##name:                                                                            \
        PWR_UNROLLED for (unsigned k = 0; k < PWR_UNIT / sizeof(T); ++k)                           \
        {                                                                                          \
            unit.name[k] = to_t(sums->name[k]);                                                    \
        }                                                                                          \
        break;
        PWR_ELEMENTS(PWR_CASE)
#undef PWR_CASE
    }
    return unit;
}

/* A vector of the program's, which begins at an element and may end within a unit. */
typedef struct pwr_vector {
    char *at;
    size_t bytes;
    unsigned width; /* of an element, 2, 4 or 8; a constant */
} pwr_vector_t;

POWERAWARE_DEVICE int pwr_is_whole(const pwr_vector_t *v, size_t u)
{
    return 0 == (size_t)v->at % PWR_UNIT && (u + 1) * PWR_UNIT <= v->bytes;
}

POWERAWARE_DEVICE pwr_unit_t pwr_load_unit(const pwr_vector_t *v, size_t u)
{
    pwr_unit_t unit;
    if (pwr_is_whole(v, u)) {
        return *(const pwr_unit_t *)(v->at + u * PWR_UNIT);
    }
    PWR_UNROLLED for (unsigned k = 0; k < PWR_UNIT / v->width; ++k)
    {
        size_t at = u * PWR_UNIT + k * v->width;
        int is_there = at < v->bytes;
        const void *from = v->at + (is_there ? at : 0);
        switch (v->width) {
        case 2:
            unit.by_2[k] = is_there ? *(const unsigned short *)from : (unsigned short)0;
            break;
        case 4:
            unit.by_4[k] = is_there ? *(const unsigned *)from : 0;
            break;
        default:
            unit.by_8[k] = is_there ? *(const unsigned long long *)from : 0;
        }
    }
    return unit;
}

POWERAWARE_DEVICE void pwr_store_unit(const pwr_vector_t *v, size_t u, const pwr_unit_t *unit)
{
    if (pwr_is_whole(v, u)) {
        *(pwr_unit_t *)(v->at + u * PWR_UNIT) = *unit;
        return;
    }
    PWR_UNROLLED for (unsigned k = 0; k < PWR_UNIT / v->width; ++k)
    {
        size_t at = u * PWR_UNIT + k * v->width;
        if (at < v->bytes) {
            void *to = v->at + at;
            switch (v->width) {
            case 2:
                *(unsigned short *)to = unit->by_2[k];
                break;
            case 4:
                *(unsigned *)to = unit->by_4[k];
                break;
            default:
                *(unsigned long long *)to = unit->by_8[k];
            }
        }
    }
}

/* ---- 5. exchanges ---- */

/* Who makes a call: this block among so many, and the exchange it is at. */
typedef struct pwr_caller {
    poweraware_team_t *team;
    unsigned block, blocks;
    unsigned epoch;
} pwr_caller_t;

POWERAWARE_DEVICE pwr_caller_t pwr_caller(poweraware_team_t *team, poweraware_scope_t scope)
{
    pwr_caller_t c;
    c.team = team;
    c.block = POWERAWARE_GRID == scope ? pwr_block() : 0;
    c.blocks = POWERAWARE_GRID == scope ? pwr_blocks() : 1;
    if (c.blocks > POWERAWARE_TEAM_BLOCKS) {
        pwr_trap();
    }
    c.epoch = team->epoch[c.block] + 1;
    return c;
}

POWERAWARE_DEVICE unsigned *pwr_flag_of(const pwr_caller_t *c, unsigned window, unsigned from)
{
    return (unsigned *)c->team->window[window] + c->block * POWERAWARE_TEAM_RANKS + from;
}

/* A rank's share of the half that exchange k uses. */
POWERAWARE_DEVICE char *pwr_share_of(const pwr_caller_t *c, unsigned window, unsigned k,
                                     unsigned from, unsigned long long bytes)
{
    return (char *)c->team->window[window] +
           (unsigned long long)((k & 1) * c->team->size + from) * bytes;
}

/* The unit of a rank's slot in a window. */
POWERAWARE_DEVICE pwr_unit_t *pwr_slot_of(const pwr_caller_t *c, unsigned window, unsigned from,
                                          size_t u)
{
    return (pwr_unit_t *)(pwr_share_of(c, window, c->epoch, from, c->team->slot) +
                          pwr_team_zeroed_bytes(c->team->size)) +
           u;
}

POWERAWARE_DEVICE int pwr_has_died(const poweraware_team_t *team, unsigned rank)
{
    unsigned long long word = team->lives + (unsigned long long)rank * team->life_bytes;
    return 0 != (pwr_load_acquire((unsigned *)word) & POWERAWARE_DIED);
}

/* After a poll for rank in vain.  Returns whether to go on: no kernel waits for a process that has
   died, nor does one of such a process, which may be there as long as others' (MPS). */
POWERAWARE_DEVICE int pwr_wait_on(poweraware_team_t *team, unsigned rank, unsigned *polls)
{
    enum { SPINS = 64, LOOK_EVERY = 512 };
    if (++*polls < SPINS) {
        return 1;
    }
    pwr_pause();
    if (0 != *polls % LOOK_EVERY) { /* many threads wait, and to look costs a way to the CPU */
        return 1;
    }
    if (0 != pwr_load_acquire((unsigned *)team->stop) || pwr_has_died(team, rank) ||
        pwr_has_died(team, team->rank)) {
        pwr_store_release(&team->stopped, 1);
        return 0;
    }
    return 1;
}

/* Each entry has one writer.  Callers sync before and after. */
POWERAWARE_DEVICE void pwr_note_epoch(const pwr_caller_t *c)
{
    PWR_ROLLED for (unsigned b = c->block + pwr_thread() * c->blocks; b < POWERAWARE_TEAM_BLOCKS;
                    b += pwr_threads() * c->blocks)
    {
        c->team->epoch[b] = c->epoch;
    }
}

/* What this block has written into windows is there for the same block of others, and what they
   have written is here. */
POWERAWARE_DEVICE void pwr_exchange(const pwr_caller_t *c)
{
    const unsigned me = c->team->rank, size = c->team->size;
    pwr_sync();
    PWR_ROLLED for (unsigned r = pwr_thread(); r < size; r += pwr_threads())
    {
        pwr_store_release(pwr_flag_of(c, r, me), c->epoch);
    }
    PWR_ROLLED for (unsigned r = pwr_thread(); r < size; r += pwr_threads())
    {
        unsigned *flag = pwr_flag_of(c, me, r), polls = 0;
        while ((int)(pwr_load_acquire(flag) - c->epoch) < 0 && pwr_wait_on(c->team, r, &polls)) {
        }
    }
    pwr_note_epoch(c);
    pwr_sync();
}

/* ---- 6. reductions ---- */

/* root: PWR_ALL, or the only rank that has a result. */
enum { PWR_ALL = -1 };

typedef struct pwr_reduction {
    pwr_vector_t in, out; /* of one exchange */
    int root, type, op;
} pwr_reduction_t;

POWERAWARE_DEVICE int pwr_has_result(const pwr_reduction_t *v, unsigned rank)
{
    return PWR_ALL == v->root || (unsigned)v->root == rank;
}

POWERAWARE_DEVICE size_t pwr_units(const pwr_reduction_t *v)
{
    return (v->in.bytes + PWR_UNIT - 1) / PWR_UNIT;
}

/* A thread's first unit and the distance to the next one: the same in all calls of a grid. */
POWERAWARE_DEVICE size_t pwr_first(const pwr_caller_t *c)
{
    return (size_t)c->block * pwr_threads() + pwr_thread();
}

POWERAWARE_DEVICE size_t pwr_step(const pwr_caller_t *c)
{
    return (size_t)c->blocks * pwr_threads();
}

/* Four words with the data of a unit in their lower halves, and the number in the upper ones. */
POWERAWARE_DEVICE unsigned long long *pwr_words_of(const pwr_caller_t *c, unsigned window,
                                                   unsigned number, unsigned from, size_t u)
{
    return (unsigned long long *)(pwr_share_of(c, window, number, from, PWR_TEAM_WORDS) +
                                  PWR_TEAM_FLAGS) +
           4 * u;
}

POWERAWARE_DEVICE void pwr_send_words(const pwr_caller_t *c, const pwr_reduction_t *v,
                                      unsigned number, size_t u)
{
    const unsigned me = c->team->rank, size = c->team->size;
    const unsigned long long high = (unsigned long long)number << 32;
    pwr_unit_t unit = pwr_load_unit(&v->in, u);
    PWR_ROLLED for (unsigned i = 0; i < size; ++i)
    {
        unsigned to = me + i < size ? me + i : me + i - size;
        unsigned long long *words = pwr_words_of(c, to, number, me, u);
        pwr_store_words(words, high | unit.word[0], high | unit.word[1]);
        pwr_store_words(words + 2, high | unit.word[2], high | unit.word[3]);
    }
}

/* Units of PWR_BATCH ranks from first on, or of the last rank where there is none. */
enum { PWR_BATCH = 4 };

POWERAWARE_DEVICE void pwr_receive_words(const pwr_caller_t *c, unsigned number, size_t u,
                                         unsigned first, pwr_unit_t *units)
{
    const unsigned me = c->team->rank, last = c->team->size - 1;
    unsigned polls = 0, late, whose;
    do {
        late = 0;
        whose = me;
        PWR_UNROLLED for (unsigned k = 0; k < PWR_BATCH; ++k)
        {
            unsigned long long word[4];
            unsigned from = first + k < last ? first + k : last;
            unsigned long long *words = pwr_words_of(c, me, number, from, u);
            pwr_load_words(words, &word[0], &word[1]);
            pwr_load_words(words + 2, &word[2], &word[3]);
            PWR_UNROLLED for (unsigned i = 0; i < 4; ++i)
            {
                unsigned is_late = (unsigned)(word[i] >> 32) ^ number;
                late |= is_late;
                whose = 0 != is_late ? from : whose;
                units[k].word[i] = (unsigned)word[i];
            }
        }
    } while (0 != late && pwr_wait_on(c->team, whose, &polls));
}

POWERAWARE_DEVICE void pwr_add_rank(pwr_sums_t *sums, const pwr_unit_t *unit, unsigned rank,
                                    unsigned size, const pwr_reduction_t *v)
{
    if (0 == rank) {
        pwr_begin_sums(sums, unit, v->type);
    } else if (rank < size) {
        pwr_add_to_sums(sums, unit, v->type, v->op);
    }
}

/* The ranks from r on of a unit; r is a multiple of PWR_BATCH.  As a loop it would have units in
   memory, and not in registers (nvcc 13). */
POWERAWARE_DEVICE void pwr_add_batch(pwr_sums_t *sums, const pwr_unit_t *units, unsigned r,
                                     unsigned size, const pwr_reduction_t *v)
{
    pwr_add_rank(sums, &units[0], r, size, v);
    pwr_add_rank(sums, &units[1], r + 1, size, v);
    pwr_add_rank(sums, &units[2], r + 2, size, v);
    pwr_add_rank(sums, &units[3], r + 3, size, v);
}

/* An exchange and a reduction at once, by the first block. */
POWERAWARE_DEVICE void pwr_reduce_short(const pwr_caller_t *c, const pwr_reduction_t *v)
{
    const unsigned size = c->team->size, number = c->team->number + 1;
    const size_t units = pwr_units(v);
    if (0 != c->block) {
        return;
    }
    PWR_ROLLED for (size_t u = pwr_thread(); u < units; u += pwr_threads())
    {
        pwr_send_words(c, v, number, u);
    }
    PWR_ROLLED for (size_t u = pwr_thread(); u < units; u += pwr_threads())
    {
        pwr_sums_t sums;
        pwr_unit_t batch[PWR_BATCH];
        PWR_ROLLED for (unsigned r = 0; r < size; r += PWR_BATCH)
        {
            pwr_receive_words(c, number, u, r, batch);
            pwr_add_batch(&sums, batch, r, size, v);
        }
        pwr_unit_t result = pwr_end_sums(&sums, v->type);
        if (pwr_has_result(v, c->team->rank)) {
            pwr_store_unit(&v->out, u, &result);
        }
    }
    pwr_sync();
    if (0 == pwr_thread()) {
        c->team->number = number;
    }
    pwr_sync();
}

POWERAWARE_DEVICE pwr_unit_t pwr_reduce_slots(const pwr_caller_t *c, const pwr_reduction_t *v,
                                              size_t u)
{
    const unsigned me = c->team->rank, size = c->team->size, last = size - 1;
    pwr_sums_t sums;
    PWR_ROLLED for (unsigned r = 0; r < size; r += PWR_BATCH)
    {
        pwr_unit_t batch[PWR_BATCH];
        PWR_UNROLLED for (unsigned k = 0; k < PWR_BATCH; ++k)
        {
            batch[k] = *pwr_slot_of(c, me, r + k < last ? r + k : last, u);
        }
        pwr_add_batch(&sums, batch, r, size, v);
    }
    return pwr_end_sums(&sums, v->type);
}

/* GGAS, "allgather"; to one root alone, "gather". */
POWERAWARE_DEVICE void pwr_reduce_in_one_step(const pwr_caller_t *c, const pwr_reduction_t *v)
{
    const unsigned me = c->team->rank, size = c->team->size;
    const size_t units = pwr_units(v);
    PWR_ROLLED for (size_t u = pwr_first(c); u < units; u += pwr_step(c))
    {
        pwr_unit_t unit = pwr_load_unit(&v->in, u);
        PWR_ROLLED for (unsigned i = 0; i < size; ++i)
        {
            unsigned to = me + i < size ? me + i : me + i - size;
            if (pwr_has_result(v, to)) {
                *pwr_slot_of(c, to, me, u) = unit;
            }
        }
    }
    pwr_exchange(c);
    if (pwr_has_result(v, me)) {
        PWR_ROLLED for (size_t u = pwr_first(c); u < units; u += pwr_step(c))
        {
            pwr_unit_t result = pwr_reduce_slots(c, v, u);
            pwr_store_unit(&v->out, u, &result);
        }
    }
}

/* GGAS, "all-to-all + allgather".  A block's j-th row of units belongs to rank j % size.  Two
   exchanges. */
POWERAWARE_DEVICE void pwr_reduce_in_two_steps(pwr_caller_t *c, const pwr_reduction_t *v)
{
    const unsigned me = c->team->rank, size = c->team->size;
    const size_t units = pwr_units(v), first = pwr_first(c), step = pwr_step(c);
    unsigned owner = 0;
    PWR_ROLLED for (size_t u = first; u < units; u += step)
    {
        *pwr_slot_of(c, owner, me, u) = pwr_load_unit(&v->in, u);
        owner = owner + 1 < size ? owner + 1 : 0;
    }
    pwr_exchange(c);
    pwr_caller_t next = *c;
    ++next.epoch;
    PWR_ROLLED for (size_t u = first + me * step; u < units; u += size * step)
    {
        pwr_unit_t result = pwr_reduce_slots(c, v, u);
        PWR_ROLLED for (unsigned i = 0; i < size; ++i)
        {
            unsigned to = me + i < size ? me + i : me + i - size;
            if (to == me && pwr_has_result(v, me)) {
                pwr_store_unit(&v->out, u, &result);
            } else if (pwr_has_result(v, to)) {
                *pwr_slot_of(&next, to, me, u) = result;
            }
        }
    }
    pwr_exchange(&next);
    owner = 0;
    PWR_ROLLED for (size_t u = first; u < units && pwr_has_result(v, me); u += step)
    {
        if (owner != me) {
            pwr_unit_t result = *pwr_slot_of(&next, me, owner, u);
            pwr_store_unit(&v->out, u, &result);
        }
        owner = owner + 1 < size ? owner + 1 : 0;
    }
    *c = next;
}

POWERAWARE_DEVICE void pwr_team_reduce(poweraware_team_t *team, poweraware_scope_t scope,
                                       const void *in, void *out, size_t count, unsigned width,
                                       int root, int type, int op)
{
    pwr_caller_t c = pwr_caller(team, scope);
    const size_t bytes = count * width;
    const int is_long = bytes * team->size >= PWR_TEAM_TWO_STEPS && team->size > 2;
    PWR_ROLLED for (size_t at = 0; at < bytes; at += team->slot)
    {
        size_t some = bytes - at < team->slot ? bytes - at : team->slot;
        pwr_reduction_t v;
        v.in.at = (char *)in + at;
        v.out.at = (char *)out + at;
        v.in.bytes = v.out.bytes = some;
        v.in.width = v.out.width = width;
        v.root = root;
        v.type = type;
        v.op = op;
        if (bytes <= PWR_TEAM_SHORT) {
            pwr_reduce_short(&c, &v);
        } else if (is_long) {
            pwr_reduce_in_two_steps(&c, &v);
            ++c.epoch;
        } else {
            pwr_reduce_in_one_step(&c, &v);
            ++c.epoch;
        }
    }
}

/* poweraware_allreduce_sum_f64(team, scope, in, out, count) and so on: sum, prod, min, max of i32,
   u32, i64, u64, f32, f64, f16, bf16.  poweraware_reduce_...(..., root): out is of the root alone,
   and may be NULL elsewhere. */
#define PWR_FUNCTION(op, name, T)                                                                  \
    POWERAWARE_DEVICE void poweraware_allreduce_##op##_##name(                                     \
        poweraware_team_t *team, poweraware_scope_t scope, const T *in, T *out, size_t count)      \
    {                                                                                              \
        pwr_team_reduce(team, scope, in, out, count, sizeof(T), PWR_ALL, PWR_IS_##name,            \
                        PWR_IS_##op);                                                              \
    }                                                                                              \
    POWERAWARE_DEVICE void poweraware_reduce_##op##_##name(poweraware_team_t *team,                \
                                                           poweraware_scope_t scope, const T *in,  \
                                                           T *out, size_t count, int root)         \
    {                                                                                              \
        pwr_team_reduce(team, scope, in, out, count, sizeof(T), root, PWR_IS_##name, PWR_IS_##op); \
    }
#define PWR_FUNCTIONS(name, T, A, to_a, to_t, add, mul)                                            \
    PWR_FUNCTION(sum, name, T)                                                                     \
    PWR_FUNCTION(prod, name, T) PWR_FUNCTION(min, name, T) PWR_FUNCTION(max, name, T)
PWR_ELEMENTS(PWR_FUNCTIONS)

/* All ranks have come here, and what they have written before is there. */
POWERAWARE_DEVICE void poweraware_barrier(poweraware_team_t *team, poweraware_scope_t scope)
{
    pwr_caller_t c = pwr_caller(team, scope);
    pwr_exchange(&c);
}

#endif
#endif
