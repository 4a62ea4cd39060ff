/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Signals: a chain of PEs, each of which waits for data and a flag and sends both on; and several
 * PEs that count one flag up, for which one waits.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

/* ---- types of flags ---- */

#define PLAIN_TYPES(X)                                                                             \
    X(short, short)                                                                                \
    X(ushort, unsigned short)                                                                      \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)
/* Those that have atomics, too. */
#define ATOMIC_TYPES(X)                                                                            \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)

typedef struct type {
    const char *name;
    size_t bytes;
    bool is_signed;
    void (*encode)(void *to, int64_t value);
    void (*wait_until)(void *flag, int comparison, int64_t value);
    bool (*test)(void *flag, int comparison, int64_t value);
    void (*store)(void *flag, int64_t value);
    /* way: P, PUT, or an atomic */
    void (*send)(rsh_name_t way, void *flag, int64_t value, int64_t change, int pe);
} type_t;

#define WAITS(name, type)                                                                          \
    static void name##_encode(void *to, int64_t value)                                             \
    {                                                                                              \
        type typed = (type)value;                                                                  \
        memcpy(to, &typed, sizeof typed);                                                          \
    }                                                                                              \
    static void name##_wait_until(void *flag, int comparison, int64_t value)                       \
    {                                                                                              \
        shmem_##name##_wait_until(flag, comparison, (type)value);                                  \
    }                                                                                              \
    static bool name##_test(void *flag, int comparison, int64_t value)                             \
    {                                                                                              \
        return 0 != shmem_##name##_test(flag, comparison, (type)value);                            \
    }                                                                                              \
    static void name##_store(void *flag, int64_t value)                                            \
    {                                                                                              \
        atomic_store_explicit((_Atomic(type) *)flag, (type)value, memory_order_release);           \
    }
#define SEND(name, type, way, flag, value, pe)                                                     \
    if (RSH_P == (way)) {                                                                          \
        shmem_##name##_p(flag, (type)(value), pe);                                                 \
    } else {                                                                                       \
        type typed = (type)(value);                                                                \
        shmem_##name##_put(flag, &typed, 1, pe);                                                   \
    }
#define SEND_PLAIN(name, type)                                                                     \
    static void name##_send(rsh_name_t way, void *flag, int64_t value, int64_t change, int pe)     \
    {                                                                                              \
        (void)change;                                                                              \
        SEND(name, type, way, flag, value, pe)                                                     \
    }
#define SEND_ATOMIC(name, type)                                                                    \
    static void name##_send(rsh_name_t way, void *flag, int64_t value, int64_t change, int pe)     \
    {                                                                                              \
        if (RSH_SET == way) {                                                                      \
            shmem_##name##_atomic_set(flag, (type)value, pe);                                      \
        } else if (RSH_ADD == way) {                                                               \
            shmem_##name##_atomic_add(flag, (type)change, pe);                                     \
        } else if (RSH_FETCH_ADD == way) {                                                         \
            (void)shmem_##name##_atomic_fetch_add(flag, (type)change, pe);                         \
        } else if (RSH_SWAP == way) {                                                              \
            (void)shmem_##name##_atomic_swap(flag, (type)value, pe);                               \
        } else {                                                                                   \
            SEND(name, type, way, flag, value, pe)                                                 \
        }                                                                                          \
    }

ATOMIC_TYPES(WAITS)
ATOMIC_TYPES(SEND_ATOMIC)
PLAIN_TYPES(WAITS)
PLAIN_TYPES(SEND_PLAIN)

static const type_t types[] = {
#define ROW(name, type)                                                                            \
    {#name,       sizeof(type), (type)-1 < 1, name##_encode, name##_wait_until,                    \
     name##_test, name##_store, name##_send},
    ATOMIC_TYPES(ROW) PLAIN_TYPES(ROW)};
#define COUNT(name, type) +1
enum { NUM_TYPES = sizeof types / sizeof types[0], NUM_ATOMIC = 0 ATOMIC_TYPES(COUNT) };

/* ---- values of flags ---- */

static const char *const comparisons[] = {
    [SHMEM_CMP_EQ] = "==", [SHMEM_CMP_NE] = "!=", [SHMEM_CMP_GT] = ">",
    [SHMEM_CMP_LE] = "<=", [SHMEM_CMP_LT] = "<",  [SHMEM_CMP_GE] = ">=",
};

static int direction(const rsh_step_t *step)
{
    return SHMEM_CMP_LT == step->detail || SHMEM_CMP_LE == step->detail ? -1 : 1;
}

/* After so many of its changes. */
static int64_t value_after(const rsh_step_t *step, int changes)
{
    int64_t first = (int64_t)(step->seed % 100) - (types[step->type].is_signed ? 50 : -100);
    return first + changes * direction(step);
}

/* What the waiter compares with; true from the last change on, or from the first (!=). */
static int64_t awaited(const rsh_step_t *step, int changes)
{
    int64_t last = value_after(step, changes);
    return SHMEM_CMP_NE == step->detail                                   ? value_after(step, 0)
           : SHMEM_CMP_GT == step->detail || SHMEM_CMP_LT == step->detail ? last - direction(step)
                                                                          : last;
}

static void await(rsh_run_t *r, const rsh_step_t *step, int changes)
{
    const type_t *type = &types[step->type];
    void *flag = rsh_at(&r->memory, &step->extra);
    int64_t value = awaited(step, changes);
    int turns = 0;
    if (rsh_is_lost(r, step->name)) {
        return;
    }
    while (RSH_TEST == step->name && rsh_loops_on(r, &turns)) {
        if (type->test(flag, step->detail, value)) {
            return;
        }
    }
    type->wait_until(flag, step->detail, value);
}

/* ---- what chains and fans share ---- */

static void draw_flag(rsh_draw_t *d, rsh_step_t *step, int num_types)
{
    step->type = (int)diff_draw(&d->random, (unsigned)num_types);
    while (types[step->type].bytes < 4 && rsh_has(d->program->without, RSH_BYTES)) {
        step->type = (int)diff_draw(&d->random, (unsigned)num_types);
    }
    step->extra =
        rsh_draw_place(d, types[step->type].bytes, types[step->type].bytes, RSH_SYMMETRIC);
    step->without = d->program->without;
}

static void begin(rsh_memory_t *memory, const rsh_step_t *step)
{
    unsigned char flag[8];
    types[step->type].encode(flag, value_after(step, 0));
    rsh_store(memory, &step->extra, 0, flag, step->extra.bytes);
}

/* Data before flags. */
static void order(rsh_run_t *r, const rsh_step_t *step, bool for_store)
{
    bool no_fence = rsh_left_out(r, RSH_FENCE) ||
                    (step->to.arena != step->extra.arena && rsh_left_out(r, RSH_APART));
    if (for_store || no_fence || 0 != (step->seed & 4)) {
        shmem_quiet();
    } else {
        shmem_fence();
    }
}

static void send_data(rsh_run_t *r, const rsh_step_t *step, const void *from, const rsh_place_t *to,
                      int pe)
{
    bool not_nbi = rsh_left_out(r, RSH_PUT_NBI) ||
                   (RSH_STATIC == to->arena && rsh_left_out(r, RSH_STATIC_NBI));
    if (0 != (step->seed & 2) && !not_nbi) {
        shmem_putmem_nbi(rsh_at(&r->memory, to), from, to->bytes, pe);
    } else {
        shmem_putmem(rsh_at(&r->memory, to), from, to->bytes, pe);
    }
}

static void describe(const rsh_step_t *step, const char *what, char *text, size_t size)
{
    snprintf(text, size, "%s of a %s %s %lld, %s, %zu bytes, from PE %d on, step %td, %d PEs",
             rsh_name(step->name), types[step->type].name, comparisons[step->detail],
             (long long)awaited(step, step->repeat), what, step->to.bytes, step->origin,
             step->stride[0], step->set.size);
}

/* ---- chains: set.size PEs, the next of which is stride[0] further ---- */

static bool is_coprime(int a, int b)
{
    while (0 != b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return 1 == a;
}

static bool draw_chain(rsh_draw_t *d, rsh_step_t *step)
{
    static const rsh_name_t ways[] = {RSH_P, RSH_PUT, RSH_SET, RSH_ADD, RSH_FETCH_ADD, RSH_SWAP};
    int pes = d->program->pes;
    draw_flag(d, step, NUM_TYPES);
    step->detail = (int)diff_draw(&d->random, 6);
    step->origin = rsh_draw_pe(d);
    do {
        step->stride[0] = 1 + (ptrdiff_t)diff_draw(&d->random, (unsigned)pes);
    } while (!is_coprime((int)step->stride[0], pes));
    step->set.size = pes > 1 ? 2 + (int)diff_draw(&d->random, (unsigned)pes - 1) : 2;
    step->repeat = diff_chance(&d->random, 60) ? 1 : 2 + (int)diff_draw(&d->random, 4);
    do { /* how: kept where nothing else is */
        step->count = ways[diff_draw(&d->random, step->type < NUM_ATOMIC ? 6 : 2)];
    } while (rsh_has(d->program->without, (rsh_name_t)step->count) &&
             !rsh_has(d->program->without, RSH_P));
    step->store = rsh_may(d, RSH_STORES, 20);
    step->to = rsh_draw_place(d, rsh_draw_count(d, 1), 1, RSH_SYMMETRIC);
    return true;
}

static int pe_of(const rsh_step_t *step, int pes, int index)
{
    return (int)((step->origin + index * step->stride[0]) % pes);
}

static uint64_t calls_of_chain(const rsh_step_t *step)
{
    return (uint64_t)(step->set.size - 1) * (uint64_t)(3 + step->repeat);
}

static void expect_chain(rsh_memory_t *memory, const rsh_step_t *step)
{
    int pes = memory->pes;
    for (int i = 1; i < step->set.size; ++i) {
        if (memory->pe == pe_of(step, pes, i)) {
            rsh_initial(memory, step->origin, &step->to, 0, step->to.bytes,
                        rsh_expected(memory, &step->to));
            types[step->type].encode(rsh_expected(memory, &step->extra),
                                     value_after(step, step->repeat));
        }
    }
}

static void send_flag(rsh_run_t *r, const rsh_step_t *step, int pe)
{
    const type_t *type = &types[step->type];
    void *flag = rsh_at(&r->memory, &step->extra);
    void *there = step->store ? shmem_ptr(flag, pe) : NULL;
    for (int i = 1; i <= step->repeat; ++i) {
        order(r, step, NULL != there);
        rsh_be_late(r, step, i > 1 ? 10 : 0, 100 + i);
        if (NULL != there) {
            type->store(there, value_after(step, i));
        } else {
            type->send((rsh_name_t)step->count, flag, value_after(step, i), direction(step), pe);
        }
    }
}

static void run_chain(rsh_run_t *r, const rsh_step_t *step)
{
    for (int i = 1; i < step->set.size; ++i) {
        int receiver = pe_of(step, r->pes, i);
        if (r->pe == pe_of(step, r->pes, i - 1)) {
            rsh_be_late(r, step, 15, i);
            send_data(r, step, rsh_at(&r->memory, &step->to), &step->to, receiver);
            send_flag(r, step, receiver);
        }
        if (r->pe == receiver) {
            await(r, step, step->repeat);
            rsh_check(r, step, &step->to);
        }
    }
}

static void describe_chain(const rsh_step_t *step, char *text, size_t size)
{
    char what[64];
    snprintf(what, sizeof what, "%d changes by %s", step->repeat,
             step->store ? "stores" : rsh_name((rsh_name_t)step->count));
    describe(step, what, text, size);
}

const rsh_kind_t rsh_chains = {RSH_WAIT_UNTIL, RSH_SET_LOCK, 10,        draw_chain, calls_of_chain,
                               begin,          expect_chain, run_chain, NULL,       describe_chain};

/* ---- fans: each of a set sends a block to `target`, and counts ---- */

static bool draw_fan(rsh_draw_t *d, rsh_step_t *step)
{
    static const int possible[] = {SHMEM_CMP_EQ, SHMEM_CMP_GT, SHMEM_CMP_GE};
    if (rsh_has(d->program->without, RSH_FAN_IN) || rsh_has(d->program->without, RSH_ADD)) {
        return false;
    }
    draw_flag(d, step, NUM_ATOMIC);
    step->detail = possible[diff_draw(&d->random, 3)];
    step->set = rsh_draw_set(d);
    step->origin = step->set.start;
    step->stride[0] = 1 << step->set.log_stride;
    step->target = rsh_draw_pe(d);
    step->repeat = step->set.size;
    step->count = rsh_draw_count(d, (size_t)step->set.size);
    step->to = rsh_draw_place(d, step->count * (size_t)step->set.size, 1, RSH_SYMMETRIC);
    step->from = rsh_draw_place(d, step->count, 1, RSH_ANYWHERE);
    return true;
}

static uint64_t calls_of_fan(const rsh_step_t *step)
{
    return 1 + 3 * (uint64_t)step->set.size;
}

static void expect_fan(rsh_memory_t *memory, const rsh_step_t *step)
{
    unsigned char *to = rsh_expected(memory, &step->to);
    if (memory->pe != step->target) {
        return;
    }
    for (int i = 0; i < step->set.size; ++i) {
        rsh_initial(memory, rsh_set_pe(&step->set, i), &step->from, 0, step->count,
                    to + (size_t)i * step->count);
    }
    types[step->type].encode(rsh_expected(memory, &step->extra), value_after(step, step->repeat));
}

static void run_fan(rsh_run_t *r, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, r->pe);
    if (index >= 0) {
        rsh_place_t block = step->to;
        block.offset += (size_t)index * step->count;
        block.bytes = step->count;
        rsh_be_late(r, step, 15, 1);
        send_data(r, step, rsh_at(&r->memory, &step->from), &block, step->target);
        order(r, step, false);
        types[step->type].send(RSH_ADD, rsh_at(&r->memory, &step->extra), 0, 1, step->target);
    }
    if (r->pe == step->target) {
        await(r, step, step->repeat);
        rsh_check(r, step, &step->to);
    }
}

static void describe_fan(const rsh_step_t *step, char *text, size_t size)
{
    char what[64];
    snprintf(what, sizeof what, "counted up on PE %d", step->target);
    describe(step, what, text, size);
}

const rsh_kind_t rsh_fans = {RSH_WAIT_UNTIL, RSH_SET_LOCK, 5,       draw_fan, calls_of_fan,
                             begin,          expect_fan,   run_fan, NULL,     describe_fan};
