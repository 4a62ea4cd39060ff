/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Atomics: chains of them by one PE at one place, each complete before the next; and contests of
 * several PEs at one place, by one operation whose result does not depend on who comes first.
 * What they fetch goes to `from`, a word for each.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

typedef const shmem_ctx_t *context_t;

typedef struct atomic {
    rsh_name_t op;
    context_t context;
    void *at;
    const uint64_t *value;
    const uint64_t *compare;
    int pe;
} atomic_t;

/* A word holds a number in its lowest bytes: little-endian machines only, as Open MPI is tested on
   here; a step of fetches would fail at once elsewhere. */
typedef void function_t(const atomic_t *a, uint64_t *result);

/* With a context, or the function that has none; without a number, with one, with two. */
#define DO0(a, call)                                                                               \
    (NULL != (a)->context ? shmem_ctx_##call(*(a)->context, (a)->at, (a)->pe)                      \
                          : shmem_##call((a)->at, (a)->pe))
#define DO1(a, call, value)                                                                        \
    (NULL != (a)->context ? shmem_ctx_##call(*(a)->context, (a)->at, value, (a)->pe)               \
                          : shmem_##call((a)->at, value, (a)->pe))
#define DO2(a, call, compare, value)                                                               \
    (NULL != (a)->context ? shmem_ctx_##call(*(a)->context, (a)->at, compare, value, (a)->pe)      \
                          : shmem_##call((a)->at, compare, value, (a)->pe))

#define EXTENDED(name, type)                                                                       \
    static void name##_extended(const atomic_t *a, uint64_t *result)                               \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, a->value, sizeof value);                                                    \
        if (RSH_SET == a->op) {                                                                    \
            DO1(a, name##_atomic_set, value);                                                      \
        } else if (RSH_FETCH == a->op) {                                                           \
            value = DO0(a, name##_atomic_fetch);                                                   \
        } else {                                                                                   \
            value = DO1(a, name##_atomic_swap, value);                                             \
        }                                                                                          \
        memcpy(result, &value, sizeof value);                                                      \
    }

#define STANDARD(name, type)                                                                       \
    static void name##_standard(const atomic_t *a, uint64_t *result)                               \
    {                                                                                              \
        type value;                                                                                \
        type compare;                                                                              \
        memcpy(&value, a->value, sizeof value);                                                    \
        memcpy(&compare, a->compare, sizeof compare);                                              \
        if (RSH_COMPARE_SWAP == a->op) {                                                           \
            value = DO2(a, name##_atomic_compare_swap, compare, value);                            \
        } else if (RSH_ADD == a->op) {                                                             \
            DO1(a, name##_atomic_add, value);                                                      \
        } else if (RSH_FETCH_ADD == a->op) {                                                       \
            value = DO1(a, name##_atomic_fetch_add, value);                                        \
        } else if (RSH_INC == a->op) {                                                             \
            DO0(a, name##_atomic_inc);                                                             \
        } else {                                                                                   \
            value = DO0(a, name##_atomic_fetch_inc);                                               \
        }                                                                                          \
        memcpy(result, &value, sizeof value);                                                      \
    }

#define BITWISE(name, type)                                                                        \
    static void name##_bitwise(const atomic_t *a, uint64_t *result)                                \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, a->value, sizeof value);                                                    \
        if (RSH_AND == a->op) {                                                                    \
            DO1(a, name##_atomic_and, value);                                                      \
        } else if (RSH_FETCH_AND == a->op) {                                                       \
            value = DO1(a, name##_atomic_fetch_and, value);                                        \
        } else if (RSH_OR == a->op) {                                                              \
            DO1(a, name##_atomic_or, value);                                                       \
        } else if (RSH_FETCH_OR == a->op) {                                                        \
            value = DO1(a, name##_atomic_fetch_or, value);                                         \
        } else if (RSH_XOR == a->op) {                                                             \
            DO1(a, name##_atomic_xor, value);                                                      \
        } else {                                                                                   \
            value = DO1(a, name##_atomic_fetch_xor, value);                                        \
        }                                                                                          \
        memcpy(result, &value, sizeof value);                                                      \
    }

/* Of which types OpenSHMEM has which atomics (and Open MPI 4.1 all of these). */
#define ALL_ATOMICS(X)                                                                             \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)
#define EXTENDED_ONLY(X)                                                                           \
    X(float, float)                                                                                \
    X(double, double)
#define BITWISE_ONLY(X)                                                                            \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)

ALL_ATOMICS(EXTENDED)
ALL_ATOMICS(STANDARD)
ALL_ATOMICS(BITWISE)
EXTENDED_ONLY(EXTENDED)
BITWISE_ONLY(BITWISE)

static const struct {
    const char *name;
    size_t bytes;
    function_t *extended;
    function_t *standard;
    function_t *bitwise;
} types[] = {
#define ALL_ROW(name, type) {#name, sizeof(type), name##_extended, name##_standard, name##_bitwise},
#define EXTENDED_ROW(name, type) {#name, sizeof(type), name##_extended, NULL, NULL},
#define BITWISE_ROW(name, type) {#name, sizeof(type), NULL, NULL, name##_bitwise},
    ALL_ATOMICS(ALL_ROW) EXTENDED_ONLY(EXTENDED_ROW) BITWISE_ONLY(BITWISE_ROW)};
enum { NUM_TYPES = sizeof types / sizeof types[0], WORD = sizeof(uint64_t) };

static function_t *function_of(int type, rsh_name_t name)
{
    return name < RSH_COMPARE_SWAP ? types[type].extended
           : name < RSH_AND        ? types[type].standard
                                   : types[type].bitwise;
}

static bool is_possible(int type, rsh_name_t name, uint64_t without)
{
    bool narrow = RSH_COMPARE_SWAP == name && types[type].bytes < WORD;
    return NULL != function_of(type, name) && !(narrow && rsh_has(without, RSH_SWAP_32));
}

static bool fetches(rsh_name_t name)
{
    return RSH_FETCH == name || RSH_SWAP == name || RSH_COMPARE_SWAP == name ||
           RSH_FETCH_ADD == name || RSH_FETCH_INC == name || RSH_FETCH_AND == name ||
           RSH_FETCH_OR == name || RSH_FETCH_XOR == name;
}

static uint64_t low(uint64_t word, int type)
{
    return types[type].bytes >= WORD ? word : word & 0xffffffff;
}

/* What a word is after an atomic. */
static uint64_t result_of(rsh_name_t name, int type, uint64_t old, uint64_t value, uint64_t compare)
{
    switch (name) {
    case RSH_SET:
    case RSH_SWAP:
        return low(value, type);
    case RSH_COMPARE_SWAP:
        return low(compare, type) == old ? low(value, type) : old;
    case RSH_ADD:
    case RSH_FETCH_ADD:
        return low(old + value, type);
    case RSH_INC:
    case RSH_FETCH_INC:
        return low(old + 1, type);
    case RSH_AND:
    case RSH_FETCH_AND:
        return old & low(value, type);
    case RSH_OR:
    case RSH_FETCH_OR:
        return old | low(value, type);
    case RSH_XOR:
    case RSH_FETCH_XOR:
        return old ^ low(value, type);
    default:
        return old;
    }
}

/* Makes the call; what it fetches goes to `to`. */
static void make(rsh_run_t *r, const rsh_step_t *step, rsh_name_t name, const uint64_t *value,
                 const uint64_t *compare, unsigned char *to)
{
    uint64_t result = 0;
    const atomic_t a = {.op = name,
                        .context = rsh_context(r, step),
                        .at = rsh_at(&r->memory, &step->to),
                        .value = value,
                        .compare = compare,
                        .pe = step->target};
    if (rsh_is_lost(r, name)) {
        return;
    }
    function_of(step->type, name)(&a, &result);
    if (fetches(name)) {
        memcpy(to, &result, types[step->type].bytes);
    }
}

static uint64_t calls(const rsh_step_t *step)
{
    return (uint64_t)step->repeat * (uint64_t)step->set.size;
}

static void draw_places(rsh_draw_t *d, rsh_step_t *step)
{
    step->context = d->program->contexts && diff_chance(&d->random, 50);
    step->to = rsh_draw_place(d, types[step->type].bytes, types[step->type].bytes,
                              rsh_where(d, step->context));
    step->from = rsh_draw_place(d, (size_t)step->repeat * WORD, WORD, RSH_ANYWHERE);
}

/* ---- chains ---- */

enum { MOST_LINKS = 6 };

typedef struct link {
    rsh_name_t name;
    uint64_t value;
    uint64_t compare;
} link_t;

/* The first is the step's own; those that follow are drawn among those that the type has. */
static bool draw_chain(rsh_draw_t *d, rsh_step_t *step)
{
    do {
        step->type = (int)diff_draw(&d->random, NUM_TYPES);
    } while (!is_possible(step->type, step->name, d->program->without));
    step->origin = rsh_draw_pe(d);
    step->target = rsh_draw_target(d, step->origin);
    step->set = (rsh_set_t){step->origin, 0, 1};
    step->repeat = 1 + (int)diff_draw(&d->random, MOST_LINKS);
    step->without = d->program->without;
    draw_places(d, step);
    return true;
}

static rsh_name_t name_of_link(const rsh_step_t *step, int i)
{
    diff_random_t random = {diff_hash(step->seed, (uint64_t)i, 21)};
    rsh_name_t name = step->name;
    for (int tries = 0; i > 0 && tries < 20; ++tries) {
        name = (rsh_name_t)(RSH_SET + diff_draw(&random, RSH_WAIT_UNTIL - RSH_SET));
        if (!rsh_has(step->without, name) && is_possible(step->type, name, step->without)) {
            return name;
        }
    }
    return step->name;
}

/* old: what is there before.  Half of all swaps compare with that. */
static link_t link_of(const rsh_step_t *step, int i, uint64_t old)
{
    link_t link = {name_of_link(step, i), diff_hash(step->seed, (uint64_t)i, 22), 0};
    link.compare = 0 != (link.value & 1) ? old : ~link.value;
    return link;
}

static uint64_t first_word(const rsh_memory_t *memory, const rsh_step_t *step)
{
    uint64_t word = 0;
    rsh_initial(memory, step->target, &step->to, 0, types[step->type].bytes, &word);
    return word;
}

static void expect_chain(rsh_memory_t *memory, const rsh_step_t *step)
{
    size_t bytes = types[step->type].bytes;
    uint64_t word = first_word(memory, step);
    for (int i = 0; i < step->repeat; ++i) {
        link_t link = link_of(step, i, word);
        if (memory->pe == step->origin && fetches(link.name)) {
            memcpy(rsh_expected(memory, &step->from) + (size_t)i * WORD, &word, bytes);
        }
        word = result_of(link.name, step->type, word, link.value, link.compare);
    }
    if (memory->pe == step->target) {
        memcpy(rsh_expected(memory, &step->to), &word, bytes);
    }
}

/* What one must see of another: for those that fetch nothing, order is enough. */
static void separate(rsh_run_t *r, const rsh_step_t *step, rsh_name_t next)
{
    bool fence = !fetches(next) && !rsh_left_out(r, RSH_FENCE);
    if (fence && 0 != (step->seed & 4)) {
        rsh_fence(rsh_context(r, step));
    } else {
        rsh_quiet(rsh_context(r, step));
    }
}

static void run_chain(rsh_run_t *r, const rsh_step_t *step)
{
    if (r->pe != step->origin) {
        return;
    }
    unsigned char *to = rsh_at(&r->memory, &step->from);
    uint64_t word = first_word(&r->memory, step);
    for (int i = 0; i < step->repeat; ++i) {
        link_t link = link_of(step, i, word);
        if (i > 0) {
            separate(r, step, link.name);
        }
        make(r, step, link.name, &link.value, &link.compare, to + (size_t)i * WORD);
        word = result_of(link.name, step->type, word, link.value, link.compare);
    }
    rsh_check(r, step, &step->from);
}

static void describe_chain(const rsh_step_t *step, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "atomics of PE %d on a %s of PE %d%s:", step->origin,
                                   types[step->type].name, step->target,
                                   step->context ? ", in a context" : "");
    for (int i = 0; i < step->repeat && used < size; ++i) {
        used += (size_t)snprintf(text + used, size - used, " %s", rsh_name(name_of_link(step, i)));
    }
}

const rsh_kind_t rsh_atomics = {RSH_SET, RSH_WAIT_UNTIL, 10,        draw_chain, calls,
                                NULL,    expect_chain,   run_chain, NULL,       describe_chain};

/* ---- contests ---- */

/* Each call has a bit of its own, so that a sum tells which were done. */
enum { MOST_CALLS = 30 };

static bool draw_contest(rsh_draw_t *d, rsh_step_t *step)
{
    if (rsh_has(d->program->without, RSH_CONTENDED) || RSH_FETCH == step->name ||
        d->program->pes > MOST_CALLS) {
        return false;
    }
    do {
        step->type = (int)diff_draw(&d->random, NUM_TYPES);
    } while (!is_possible(step->type, step->name, d->program->without));
    step->set = rsh_draw_set(d);
    step->target = rsh_draw_pe(d);
    step->repeat = 1 + (int)diff_draw(&d->random, (unsigned)(MOST_CALLS / step->set.size));
    draw_places(d, step);
    return true;
}

static uint64_t bit_of(const rsh_step_t *step, int index, int i)
{
    return UINT64_C(1) << (index * step->repeat + i);
}

static bool takes_bits(rsh_name_t name)
{
    return RSH_AND == name || RSH_FETCH_AND == name;
}

static bool is_open(rsh_name_t name)
{
    return RSH_SET == name || RSH_SWAP == name || RSH_COMPARE_SWAP == name;
}

static uint64_t value_of(const rsh_step_t *step, int index, int i)
{
    uint64_t bit = bit_of(step, index, i);
    return takes_bits(step->name) ? ~bit : bit;
}

static uint64_t all_bits(const rsh_step_t *step)
{
    return (UINT64_C(1) << (step->repeat * step->set.size)) - 1;
}

/* Before it: nothing, or all bits. */
static uint64_t before(const rsh_step_t *step)
{
    return takes_bits(step->name) ? all_bits(step) : 0;
}

static void begin_contest(rsh_memory_t *memory, const rsh_step_t *step)
{
    uint64_t word = before(step);
    if (memory->pe == step->target) {
        rsh_store(memory, &step->to, 0, &word, types[step->type].bytes);
    }
}

static void expect_contest(rsh_memory_t *memory, const rsh_step_t *step)
{
    uint64_t word = before(step);
    for (int index = 0; index < step->set.size; ++index) {
        for (int i = 0; i < step->repeat; ++i) {
            word = result_of(step->name, step->type, word, value_of(step, index, i), 0);
        }
    }
    if (memory->pe == step->target && !is_open(step->name)) {
        memcpy(rsh_expected(memory, &step->to), &word, types[step->type].bytes);
    }
}

static void run_contest(rsh_run_t *r, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, r->pe);
    unsigned char *to = rsh_at(&r->memory, &step->from);
    uint64_t none = 0;
    for (int i = 0; i < step->repeat && index >= 0; ++i) {
        uint64_t value = value_of(step, index, i);
        make(r, step, step->name, &value, &none, to + (size_t)i * WORD);
    }
}

/* What may be fetched: a value before this call, which others may have changed. */
static bool may_be_fetched(const rsh_step_t *step, int index, int i, uint64_t word)
{
    uint64_t bit = bit_of(step, index, i);
    uint64_t earlier = bit - bit_of(step, index, 0); /* this PE's */
    if (RSH_SWAP == step->name || RSH_COMPARE_SWAP == step->name) {
        return 0 == (word & (word - 1)) && word <= all_bits(step);
    }
    if (RSH_FETCH_INC == step->name) {
        return word >= (uint64_t)i && word < (uint64_t)(step->repeat * step->set.size);
    }
    uint64_t done = takes_bits(step->name) ? ~word & all_bits(step) : word;
    return 0 == (done & bit) && earlier == (done & earlier) && done <= all_bits(step);
}

static void settle_fetched(rsh_run_t *r, const rsh_step_t *step, int index)
{
    for (int i = 0; i < step->repeat; ++i) {
        rsh_place_t place = step->from;
        place.offset += (size_t)i * WORD;
        place.bytes = types[step->type].bytes;
        uint64_t word = 0;
        memcpy(&word, rsh_at(&r->memory, &place), place.bytes);
        if (!may_be_fetched(step, index, i, word)) {
            char text[128];
            snprintf(text, sizeof text, "call %d fetched 0x%llx, which cannot have been there", i,
                     (unsigned long long)word);
            rsh_fail(r, step, text);
        }
        rsh_accept(&r->memory, &place);
    }
}

/* One of those who came, whoever was last (set, swap) or first. */
static void settle_open(rsh_run_t *r, const rsh_step_t *step)
{
    uint64_t word = 0;
    memcpy(&word, rsh_at(&r->memory, &step->to), types[step->type].bytes);
    if (0 == word || 0 != (word & (word - 1)) || word > all_bits(step)) {
        char text[128];
        snprintf(text, sizeof text, "0x%llx is there, which nobody wrote",
                 (unsigned long long)word);
        rsh_fail(r, step, text);
    }
    rsh_accept(&r->memory, &step->to);
}

static void settle_contest(rsh_run_t *r, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, r->pe);
    if (index >= 0 && fetches(step->name)) {
        settle_fetched(r, step, index);
    }
    if (r->pe == step->target && is_open(step->name)) {
        settle_open(r, step);
    }
}

static void describe_contest(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%d %s each on a %s of PE %d%s, by PEs from %d on, stride %d, %d of them",
             step->repeat, rsh_name(step->name), types[step->type].name, step->target,
             step->context ? ", in a context" : "", step->set.start, 1 << step->set.log_stride,
             step->set.size);
}

const rsh_kind_t rsh_contests = {
    RSH_SET,       RSH_WAIT_UNTIL, 8,           draw_contest,   calls,
    begin_contest, expect_contest, run_contest, settle_contest, describe_contest};
