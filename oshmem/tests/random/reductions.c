/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Steps of a reduction.  Numbers are such that results are exact, in whichever order they are
 * combined.
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef struct type {
    const char *name;
    size_t bytes;
    size_t padding;   /* at the end of a number */
    rsh_name_t first; /* that it has; the others of the row follow */
    void (*give)(rsh_name_t name, uint64_t bits, void *to);
    void (*combine)(rsh_name_t name, void *with, const void *from, size_t n);
    void (*call)(rsh_name_t name, void *to, const void *from, int n, const rsh_set_t *set,
                 void *work, long *sync);
} type_t;

/* Sums stay below 2^15 in jobs of up to 300 PEs, products in those of up to 14. */
static int small(rsh_name_t name, uint64_t bits)
{
    static const int factors[] = {1, 1, 1, -1, -1, -1, 2, -2};
    return RSH_PROD_TO_ALL == name ? factors[bits % 8] : (int)(bits % 201) - 100;
}

/* ---- whole numbers ---- */

#define INTEGERS(X)                                                                                \
    X(short, short)                                                                                \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)
#define REALS(X)                                                                                   \
    X(float, float, 0)                                                                             \
    X(double, double, 0)                                                                           \
    X(longdouble, long double, LONG_DOUBLE_PADDING)
#define COMPLEXES(X)                                                                               \
    X(complexf, float complex)                                                                     \
    X(complexd, double complex)

enum { LONG_DOUBLE_PADDING = 64 == __LDBL_MANT_DIG__ ? sizeof(long double) - 10 : 0 };

#define CALL(type, op)                                                                             \
    shmem_##type##_##op##_to_all(to, from, n, set->start, set->log_stride, set->size, work, sync)

#define INTEGER(name, type)                                                                        \
    static void name##_give(rsh_name_t op, uint64_t bits, void *to)                                \
    {                                                                                              \
        type number = op < RSH_SUM_TO_ALL ? (type)bits : (type)small(op, bits);                    \
        memcpy(to, &number, sizeof number);                                                        \
    }                                                                                              \
    static type name##_of(rsh_name_t op, type a, type b)                                           \
    {                                                                                              \
        switch (op) {                                                                              \
        case RSH_AND_TO_ALL:                                                                       \
            return (type)(a & b);                                                                  \
        case RSH_OR_TO_ALL:                                                                        \
            return (type)(a | b);                                                                  \
        case RSH_XOR_TO_ALL:                                                                       \
            return (type)(a ^ b);                                                                  \
        case RSH_MAX_TO_ALL:                                                                       \
            return a > b ? a : b;                                                                  \
        case RSH_MIN_TO_ALL:                                                                       \
            return a < b ? a : b;                                                                  \
        case RSH_SUM_TO_ALL:                                                                       \
            return (type)(a + b);                                                                  \
        default:                                                                                   \
            return (type)(a * b);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name##_call(rsh_name_t op, void *to, const void *from, int n,                      \
                            const rsh_set_t *set, void *work, long *sync)                          \
    {                                                                                              \
        switch (op) {                                                                              \
        case RSH_AND_TO_ALL:                                                                       \
            CALL(name, and);                                                                       \
            break;                                                                                 \
        case RSH_OR_TO_ALL:                                                                        \
            CALL(name, or);                                                                        \
            break;                                                                                 \
        case RSH_XOR_TO_ALL:                                                                       \
            CALL(name, xor);                                                                       \
            break;                                                                                 \
        case RSH_MAX_TO_ALL:                                                                       \
            CALL(name, max);                                                                       \
            break;                                                                                 \
        case RSH_MIN_TO_ALL:                                                                       \
            CALL(name, min);                                                                       \
            break;                                                                                 \
        case RSH_SUM_TO_ALL:                                                                       \
            CALL(name, sum);                                                                       \
            break;                                                                                 \
        default:                                                                                   \
            CALL(name, prod);                                                                      \
            break;                                                                                 \
        }                                                                                          \
    }

/* ---- real numbers: quarters ---- */

#define REAL(name, type, padding)                                                                  \
    static void name##_give(rsh_name_t op, uint64_t bits, void *to)                                \
    {                                                                                              \
        type number = RSH_PROD_TO_ALL == op ? (type)small(op, bits) : (type)small(op, bits) / 4;   \
        memset(to, 0, sizeof number);                                                              \
        memcpy(to, &number, sizeof number - padding);                                              \
    }                                                                                              \
    static type name##_of(rsh_name_t op, type a, type b)                                           \
    {                                                                                              \
        return RSH_MAX_TO_ALL == op   ? (a > b ? a : b)                                            \
               : RSH_MIN_TO_ALL == op ? (a < b ? a : b)                                            \
               : RSH_SUM_TO_ALL == op ? a + b                                                      \
                                      : a * b;                                                     \
    }                                                                                              \
    static void name##_call(rsh_name_t op, void *to, const void *from, int n,                      \
                            const rsh_set_t *set, void *work, long *sync)                          \
    {                                                                                              \
        switch (op) {                                                                              \
        case RSH_MAX_TO_ALL:                                                                       \
            CALL(name, max);                                                                       \
            break;                                                                                 \
        case RSH_MIN_TO_ALL:                                                                       \
            CALL(name, min);                                                                       \
            break;                                                                                 \
        case RSH_SUM_TO_ALL:                                                                       \
            CALL(name, sum);                                                                       \
            break;                                                                                 \
        default:                                                                                   \
            CALL(name, prod);                                                                      \
            break;                                                                                 \
        }                                                                                          \
    }

/* ---- complex numbers: sums of whole ones; powers of 2 + i, no part of which is ever zero (whose
   sign would depend on the order) ---- */

#define COMPLEX(name, type)                                                                        \
    static void name##_give(rsh_name_t op, uint64_t bits, void *to)                                \
    {                                                                                              \
        type number = small(op, bits) + I * small(op, bits >> 32);                                 \
        if (RSH_PROD_TO_ALL == op) {                                                               \
            number = 0 != (bits & 1) ? 2 + I : -2 - I;                                             \
        }                                                                                          \
        memcpy(to, &number, sizeof number);                                                        \
    }                                                                                              \
    static type name##_of(rsh_name_t op, type a, type b)                                           \
    {                                                                                              \
        return RSH_SUM_TO_ALL == op ? a + b : a * b;                                               \
    }                                                                                              \
    static void name##_call(rsh_name_t op, void *to, const void *from, int n,                      \
                            const rsh_set_t *set, void *work, long *sync)                          \
    {                                                                                              \
        if (RSH_SUM_TO_ALL == op) {                                                                \
            CALL(name, sum);                                                                       \
        } else {                                                                                   \
            CALL(name, prod);                                                                      \
        }                                                                                          \
    }

#define COMBINE(name, type, ...)                                                                   \
    static void name##_combine(rsh_name_t op, void *with, const void *from, size_t n)              \
    {                                                                                              \
        type *a = with;                                                                            \
        const type *b = from;                                                                      \
        for (size_t i = 0; i < n; ++i) {                                                           \
            a[i] = name##_of(op, a[i], b[i]);                                                      \
        }                                                                                          \
    }

INTEGERS(INTEGER)
INTEGERS(COMBINE)
REALS(REAL)
REALS(COMBINE)
COMPLEXES(COMPLEX)
COMPLEXES(COMBINE)

static const type_t types[] = {
#define INTEGER_ROW(name, type)                                                                    \
    {#name, sizeof(type), 0, RSH_AND_TO_ALL, name##_give, name##_combine, name##_call},
#define REAL_ROW(name, type, padding)                                                              \
    {#name, sizeof(type), padding, RSH_MAX_TO_ALL, name##_give, name##_combine, name##_call},
#define COMPLEX_ROW(name, type)                                                                    \
    {#name, sizeof(type), 0, RSH_SUM_TO_ALL, name##_give, name##_combine, name##_call},
    INTEGERS(INTEGER_ROW) REALS(REAL_ROW) COMPLEXES(COMPLEX_ROW)};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

/* ---- drawing ---- */

static bool left_out(const rsh_draw_t *d, const type_t *type)
{
    uint64_t without = d->program->without;
    return (RSH_SUM_TO_ALL == type->first && rsh_has(without, RSH_COMPLEX)) ||
           (sizeof(long double) == type->bytes && RSH_MAX_TO_ALL == type->first &&
            rsh_has(without, RSH_LONG_DOUBLE)) ||
           (type->bytes < 4 && rsh_has(without, RSH_BYTES));
}

static size_t work_elements(const rsh_step_t *step)
{
    size_t half = step->count / 2 + 1;
    return half > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? half : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
}

static bool draw(rsh_draw_t *d, rsh_step_t *step)
{
    const type_t *type;
    do {
        step->type = (int)diff_draw(&d->random, NUM_TYPES);
        type = &types[step->type];
    } while (step->name < type->first || left_out(d, type));
    step->set = rsh_draw_set(d);
    step->count = rsh_draw_count(d, 3 * type->bytes);
    step->flag = rsh_may(d, RSH_IN_PLACE, 25);
    step->to = rsh_draw_place(d, step->count * type->bytes, 16, RSH_SYMMETRIC);
    step->from = step->flag
                     ? step->to
                     : rsh_draw_place(d, step->count * type->bytes, type->bytes, RSH_SYMMETRIC);
    step->extra = rsh_draw_place(d, work_elements(step) * type->bytes, 16, RSH_SYMMETRIC);
    return true;
}

static uint64_t calls(const rsh_step_t *step)
{
    return (uint64_t)step->set.size;
}

/* ---- what comes out ---- */

static void give(const rsh_step_t *step, int pe, unsigned char *to)
{
    const type_t *type = &types[step->type];
    uint64_t key = diff_hash(step->seed, (uint64_t)pe, 61);
    for (size_t i = 0; i < step->count; ++i) {
        type->give(step->name, diff_mix(key + i), to + i * type->bytes);
    }
}

static void begin(rsh_memory_t *memory, const rsh_step_t *step)
{
    if (rsh_set_index(&step->set, memory->pe) >= 0) {
        give(step, memory->pe, rsh_at(memory, &step->from));
        memcpy(rsh_expected(memory, &step->from), rsh_at(memory, &step->from), step->from.bytes);
    }
}

static void expect(rsh_memory_t *memory, const rsh_step_t *step)
{
    const type_t *type = &types[step->type];
    unsigned char *to = rsh_expected(memory, &step->to);
    unsigned char *from = calloc(step->count + 1, type->bytes);
    if (rsh_set_index(&step->set, memory->pe) >= 0 && NULL != from) {
        give(step, rsh_set_pe(&step->set, 0), to);
        for (int i = 1; i < step->set.size; ++i) {
            give(step, rsh_set_pe(&step->set, i), from);
            type->combine(step->name, to, from, step->count);
        }
        if (!step->flag) {
            rsh_expect_scribble(memory, &step->from);
        }
    }
    free(from);
}

/* ---- calls ---- */

static void accept_padding(const rsh_memory_t *memory, const rsh_step_t *step)
{
    const type_t *type = &types[step->type];
    for (size_t i = 0; i < step->count && type->padding > 0; ++i) {
        rsh_place_t place = step->to;
        place.offset += i * type->bytes + type->bytes - type->padding;
        place.bytes = type->padding;
        rsh_accept(memory, &place);
    }
}

static void run(rsh_run_t *r, const rsh_step_t *step)
{
    void *to = rsh_at(&r->memory, &step->to);
    const void *from = rsh_at(&r->memory, &step->from);
    if (rsh_set_index(&step->set, r->pe) < 0) {
        return;
    }
    rsh_be_late(r, step, 10, 1);
    if (!rsh_is_lost(r, step->name)) {
        types[step->type].call(step->name, to, from, (int)step->count, &step->set,
                               rsh_at(&r->memory, &step->extra), rsh_sync_array(r, step));
    }
    if (!step->flag) {
        rsh_scribble(&r->memory, &step->from);
    }
    accept_padding(&r->memory, step);
    rsh_check(r, step, &step->to);
}

static void settle(rsh_run_t *r, const rsh_step_t *step)
{
    if (rsh_set_index(&step->set, r->pe) >= 0) {
        accept_padding(&r->memory, step);
        rsh_accept(&r->memory, &step->extra);
    }
}

static void describe(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%s of %zu %s%s, by PEs from %d on, stride %d, %d PEs",
             rsh_name(step->name), step->count, types[step->type].name,
             step->flag ? " in place" : "", step->set.start, 1 << step->set.log_stride,
             step->set.size);
}

const rsh_kind_t rsh_reductions = {RSH_AND_TO_ALL, RSH_NUM_CALLS, 12,  draw,   calls,
                                   begin,          expect,        run, settle, describe};
