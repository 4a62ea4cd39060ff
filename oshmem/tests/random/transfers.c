/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Steps of one put or get.  origin makes the call; from and to are where data come from and go to,
 * on origin and target, or the other way round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef const shmem_ctx_t *context_t;

typedef struct type {
    const char *name;
    size_t bytes;
    void (*put)(context_t c, void *to, const void *from, size_t n, int pe);
    void (*get)(context_t c, void *to, const void *from, size_t n, int pe);
    void (*put_nbi)(context_t c, void *to, const void *from, size_t n, int pe);
    void (*get_nbi)(context_t c, void *to, const void *from, size_t n, int pe);
    void (*iput)(context_t c, void *to, const void *from, ptrdiff_t a, ptrdiff_t b, size_t n,
                 int pe);
    void (*iget)(context_t c, void *to, const void *from, ptrdiff_t a, ptrdiff_t b, size_t n,
                 int pe);
    void (*p)(context_t c, void *to, const void *from, int pe);
    void (*g)(context_t c, void *to, const void *from, int pe);
} type_t;

/* With a context, or the function that has none. */
#define BLOCK(function, call)                                                                      \
    static void function(context_t c, void *to, const void *from, size_t n, int pe)                \
    {                                                                                              \
        if (NULL != c) {                                                                           \
            shmem_ctx_##call(*c, to, from, n, pe);                                                 \
        } else {                                                                                   \
            shmem_##call(to, from, n, pe);                                                         \
        }                                                                                          \
    }
#define STRIDED(function, call)                                                                    \
    static void function(context_t c, void *to, const void *from, ptrdiff_t a, ptrdiff_t b,        \
                         size_t n, int pe)                                                         \
    {                                                                                              \
        if (NULL != c) {                                                                           \
            shmem_ctx_##call(*c, to, from, a, b, n, pe);                                           \
        } else {                                                                                   \
            shmem_##call(to, from, a, b, n, pe);                                                   \
        }                                                                                          \
    }
#define ONE(name, type)                                                                            \
    static void name##_p(context_t c, void *to, const void *from, int pe)                          \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, from, sizeof value);                                                        \
        if (NULL != c) {                                                                           \
            shmem_ctx_##name##_p(*c, to, value, pe);                                               \
        } else {                                                                                   \
            shmem_##name##_p(to, value, pe);                                                       \
        }                                                                                          \
    }                                                                                              \
    static void name##_g(context_t c, void *to, const void *from, int pe)                          \
    {                                                                                              \
        type value = NULL != c ? shmem_ctx_##name##_g(*c, from, pe) : shmem_##name##_g(from, pe);  \
        memcpy(to, &value, sizeof value);                                                          \
    }

#define BLOCKS(name, put, get)                                                                     \
    BLOCK(name##_put, put)                                                                         \
    BLOCK(name##_get, get)                                                                         \
    BLOCK(name##_put_nbi, put##_nbi)                                                               \
    BLOCK(name##_get_nbi, get##_nbi)
#define TYPED(name, type)                                                                          \
    BLOCKS(name, name##_put, name##_get)                                                           \
    STRIDED(name##_iput, name##_iput)                                                              \
    STRIDED(name##_iget, name##_iget)                                                              \
    ONE(name, type)
#define SIZED(name, bits)                                                                          \
    BLOCKS(name, put##bits, get##bits)                                                             \
    STRIDED(name##_iput, iput##bits)                                                               \
    STRIDED(name##_iget, iget##bits)

#define TYPES(X)                                                                                   \
    X(char, char)                                                                                  \
    X(short, short)                                                                                \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    X(longlong, long long)                                                                         \
    X(schar, signed char)                                                                          \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(longdouble, long double)                                                                     \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)                                                                            \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)

#define SIZES(X)                                                                                   \
    X(bits8, 8)                                                                                    \
    X(bits16, 16)                                                                                  \
    X(bits32, 32)                                                                                  \
    X(bits64, 64)                                                                                  \
    X(bits128, 128)

TYPES(TYPED)
SIZES(SIZED)
BLOCKS(mem, putmem, getmem)

enum { LONG_DOUBLE_BYTES = __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double) };

#define BLOCK_FUNCTIONS(name) name##_put, name##_get, name##_put_nbi, name##_get_nbi
#define TYPED_ROW(name, type)                                                                      \
    {#name, sizeof(type), BLOCK_FUNCTIONS(name), name##_iput, name##_iget, name##_p, name##_g},
#define SIZED_ROW(name, bits)                                                                      \
    {#name, bits / 8, BLOCK_FUNCTIONS(name), name##_iput, name##_iget, NULL, NULL},

static const type_t types[] = {
    TYPES(TYPED_ROW) SIZES(SIZED_ROW){"mem", 1, BLOCK_FUNCTIONS(mem), NULL, NULL, NULL, NULL},
};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

static bool is_long_double(const type_t *type)
{
    return longdouble_put == type->put;
}

/* ---- names ---- */

/* Of elements: Open MPI gets each by a message of its own, and waits for it.  Where PEs share their
 * CPUs with other programs, that takes milliseconds. */
enum { MOST_STRIDED = 2048 };

static bool is_strided(rsh_name_t name)
{
    return RSH_IPUT == name || RSH_IGET == name;
}

static bool is_single(rsh_name_t name)
{
    return RSH_P == name || RSH_G == name;
}

static bool is_put(rsh_name_t name)
{
    return RSH_PUT == name || RSH_PUT_NBI == name || RSH_IPUT == name || RSH_P == name;
}

static bool is_blocking(rsh_name_t name)
{
    return RSH_PUT_NBI != name && RSH_GET_NBI != name;
}

/* ---- drawing ---- */

static bool has(const type_t *type, rsh_name_t name)
{
    return is_single(name) ? NULL != type->p : !is_strided(name) || NULL != type->iput;
}

static bool left_out(const rsh_draw_t *d, const type_t *type)
{
    uint64_t without = d->program->without;
    return (is_long_double(type) && rsh_has(without, RSH_LONG_DOUBLE)) ||
           (type->bytes < 4 && rsh_has(without, RSH_BYTES));
}

static size_t bytes_on(const rsh_step_t *step, int side)
{
    size_t gaps = step->count > 0 ? (step->count - 1) * (size_t)step->stride[side] + 1 : 0;
    return gaps * types[step->type].bytes;
}

static rsh_where_t where_to(const rsh_draw_t *d, const rsh_step_t *step)
{
    bool heap = RSH_PUT_NBI == step->name && rsh_has(d->program->without, RSH_STATIC_NBI);
    return !is_put(step->name) ? RSH_ANYWHERE : heap ? RSH_IN_HEAP : rsh_where(d, step->context);
}

static rsh_where_t where_from(const rsh_draw_t *d, const rsh_step_t *step)
{
    return is_put(step->name) ? RSH_ANYWHERE : rsh_where(d, step->context);
}

static bool draw(rsh_draw_t *d, rsh_step_t *step)
{
    const type_t *type;
    do {
        step->type = (int)diff_draw(&d->random, NUM_TYPES);
        type = &types[step->type];
    } while (!has(type, step->name) || left_out(d, type));
    step->origin = rsh_draw_pe(d);
    step->target = rsh_draw_target(d, step->origin);
    for (int side = 0; side < 2; ++side) {
        step->stride[side] = is_strided(step->name) ? 1 + (int)diff_draw(&d->random, 4) : 1;
    }
    step->count = is_single(step->name)
                      ? 1
                      : rsh_draw_count(d, 2 * type->bytes * (size_t)step->stride[0] *
                                              (size_t)step->stride[1]);
    if (is_strided(step->name) && step->count > MOST_STRIDED) {
        step->count = MOST_STRIDED;
    }
    step->context = d->program->contexts && diff_chance(&d->random, 50);
    step->store = !is_strided(step->name) && rsh_may(d, RSH_STORES, 10);
    step->to = rsh_draw_place(d, bytes_on(step, 0), type->bytes, where_to(d, step));
    step->from = rsh_draw_place(d, bytes_on(step, 1), type->bytes, where_from(d, step));
    return true;
}

static uint64_t calls(const rsh_step_t *step)
{
    (void)step;
    return 1;
}

/* ---- what comes out ---- */

static int source_of(const rsh_step_t *step)
{
    return is_put(step->name) ? step->origin : step->target;
}

static int destination_of(const rsh_step_t *step)
{
    return is_put(step->name) ? step->target : step->origin;
}

/* A program may write into the source of a put once it returns. */
static bool is_overwritten(const rsh_step_t *step)
{
    return is_put(step->name) && is_blocking(step->name);
}

static void expect(rsh_memory_t *memory, const rsh_step_t *step)
{
    const type_t *type = &types[step->type];
    unsigned char *to = rsh_expected(memory, &step->to);
    for (size_t i = 0; i < step->count && memory->pe == destination_of(step); ++i) {
        size_t from = i * (size_t)step->stride[1] * type->bytes;
        rsh_initial(memory, source_of(step), &step->from, from, type->bytes,
                    to + i * (size_t)step->stride[0] * type->bytes);
    }
    if (memory->pe == step->origin && is_overwritten(step)) {
        rsh_expect_scribble(memory, &step->from);
    }
}

/* ---- calls ---- */

static void call(const type_t *type, const rsh_step_t *step, context_t c, void *to,
                 const void *from)
{
    switch (step->name) {
    case RSH_PUT:
        type->put(c, to, from, step->count, step->target);
        break;
    case RSH_GET:
        type->get(c, to, from, step->count, step->target);
        break;
    case RSH_PUT_NBI:
        type->put_nbi(c, to, from, step->count, step->target);
        break;
    case RSH_GET_NBI:
        type->get_nbi(c, to, from, step->count, step->target);
        break;
    case RSH_IPUT:
        type->iput(c, to, from, step->stride[0], step->stride[1], step->count, step->target);
        break;
    case RSH_IGET:
        type->iget(c, to, from, step->stride[0], step->stride[1], step->count, step->target);
        break;
    case RSH_P:
        type->p(c, to, from, step->target);
        break;
    default:
        type->g(c, to, from, step->target);
        break;
    }
}

/* Returns whether the other PE's memory can be reached so. */
static bool copy_directly(const rsh_step_t *step, void *to, void *from)
{
    void *there = shmem_ptr(is_put(step->name) ? to : from, step->target);
    if (NULL == there) {
        return false;
    }
    memcpy(is_put(step->name) ? there : to, is_put(step->name) ? from : there, step->to.bytes);
    return true;
}

/* Bytes between the parts of a number. */
static void accept_padding(const rsh_memory_t *memory, const rsh_step_t *step)
{
    const type_t *type = &types[step->type];
    if (is_long_double(type) && is_single(step->name)) {
        rsh_place_t padding = step->to;
        padding.offset += LONG_DOUBLE_BYTES;
        padding.bytes -= LONG_DOUBLE_BYTES;
        rsh_accept(memory, &padding);
    }
}

static void run(rsh_run_t *r, const rsh_step_t *step)
{
    void *to = rsh_at(&r->memory, &step->to);
    void *from = rsh_at(&r->memory, &step->from);
    if (r->pe != step->origin || rsh_is_lost(r, step->name)) {
        return;
    }
    if (!step->store || !copy_directly(step, to, from)) {
        call(&types[step->type], step, rsh_context(r, step), to, from);
    }
    if (is_overwritten(step)) {
        rsh_scribble(&r->memory, &step->from);
    } else if (is_blocking(step->name)) {
        accept_padding(&r->memory, step);
        rsh_check(r, step, &step->to);
    }
}

static void settle(rsh_run_t *r, const rsh_step_t *step)
{
    if (r->pe == destination_of(step)) {
        accept_padding(&r->memory, step);
    }
}

static void describe(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%s of %zu %s, PE %d to PE %d%s", rsh_name(step->name), step->count,
             types[step->type].name, step->origin, step->target,
             step->store     ? ", through shmem_ptr"
             : step->context ? ", in a context"
                             : "");
}

const rsh_kind_t rsh_transfers = {RSH_PUT, RSH_SET, 40,  draw,   calls,
                                  NULL,    expect,  run, settle, describe};
