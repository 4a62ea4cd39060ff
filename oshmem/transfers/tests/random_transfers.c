/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random one-sided programs of OpenSHMEM against a model.
 *
 *     random_transfers [--calls N] [--seed N] [--contexts 1|2] [--only putv]
 *
 * Each PE has an area for each other one, which alone writes there, and keeps a model of what it has
 * written where.  At the end of a round models are compared with areas, byte by byte, by the owner of
 * the area.  Within a round PEs get and fetch what they have put, and a ring of PEs passes data and
 * flags on without shmem_quiet.  What OpenSHMEM leaves open does not occur: puts that overlap have a
 * shmem_fence (one context) or shmem_quiet (two) between them, and sources stay as they are until
 * shmem_quiet, after which they are overwritten.
 */
#include "config.h"

#include "../pwr_shmem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AREA = 16 * 1024,
    RING = 256,             /* bytes that a PE passes on */
    SOURCES = 512 * 1024,   /* bytes of sources between two shmem_quiet */
    FRAGMENTS = 300,        /* of a pwr_shmem_putv */
    ROUND = 200,            /* calls */
    CONTEXTS = 2
};

static int me, npes;
static int num_contexts = CONTEXTS;
static shmem_ctx_t contexts[CONTEXTS];
static unsigned char *areas, *expected; /* symmetric: an area of each PE */
static long *counters;                  /* symmetric: one of each PE */
static unsigned char *ring;
static long *ring_flag;
static long ring_turn;
static unsigned char *model;    /* [pe][AREA] */
static unsigned char *under_way; /* [pe][AREA]: bit c: put by context c, not ordered since */
static long *counted;
static unsigned char *sources; /* not symmetric */
static size_t sources_used;
static unsigned char static_source[64 * 1024];
static int wrong;

/* ---- random numbers: xorshift64* ---- */

static uint64_t state;
static uint64_t draw(uint64_t end)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return end > 0 ? (state * 2685821657736338717ULL >> 16) % end : 0;
}

/* Mostly small. */
static size_t draw_bytes(size_t most)
{
    return draw(draw(16) == 0 ? most : 40) % (most + 1);
}

static void complain(const char *what, int pe, size_t place, int found, int wanted)
{
    if (wrong++ < 5) {
        fprintf(stderr, "PE %d: %s, PE %d, byte %zu: %d instead of %d\n", me, what, pe, place, found,
                wanted);
    }
}

static void compare(const char *what, int pe, const unsigned char *found, const unsigned char *right,
                    size_t bytes, size_t first)
{
    for (size_t i = 0; i < bytes; i++) {
        if (found[i] != right[i]) {
            complain(what, pe, first + i, found[i], right[i]);
            return;
        }
    }
}

/* ---- order ---- */

static void forget_order(int context)
{
    for (size_t i = 0; i < (size_t)npes * AREA; i++) {
        under_way[i] &= (unsigned char)~(1U << context);
    }
}

static void quiet(int context)
{
    if (context == 0 && draw(2) == 0) {
        shmem_quiet();
    } else {
        shmem_ctx_quiet(contexts[context]);
    }
    forget_order(context);
}

static void fence(int context)
{
    if (context == 0 && draw(2) == 0) {
        shmem_fence();
    } else {
        shmem_ctx_fence(contexts[context]);
    }
    forget_order(context);
}

static void quiet_all(void)
{
    for (int c = 0; c < num_contexts; c++) {
        quiet(c);
    }
    memset(sources, 0xee, sources_used); /* it is ours again */
    memset(static_source, 0xee, sizeof static_source);
    sources_used = 0;
}

/* Orders what a put by a context is about to write over. */
static void order(int context, int pe, size_t place, size_t bytes)
{
    unsigned found = 0;
    for (size_t i = 0; i < bytes; i++) {
        found |= under_way[(size_t)pe * AREA + place + i];
    }
    for (int c = 0; c < num_contexts; c++) {
        if ((found >> c & 1) == 0) {
            continue;
        }
        if (c == context && draw(3) > 0) {
            fence(c);
        } else {
            quiet(c);
        }
    }
}

/* ---- puts ---- */

static unsigned char *source_of(size_t bytes)
{
    if (sources_used + bytes > SOURCES) {
        quiet_all();
    }
    unsigned char *source = sources + sources_used;
    sources_used += bytes;
    for (size_t i = 0; i < bytes; i++) {
        source[i] = (unsigned char)draw(256);
    }
    return source;
}

static void note(int context, int pe, size_t place, const void *source, size_t bytes)
{
    memcpy(model + (size_t)pe * AREA + place, source, bytes);
    for (size_t i = 0; i < bytes; i++) {
        under_way[(size_t)pe * AREA + place + i] |= (unsigned char)(1U << context);
    }
}

static unsigned char *mine_at(size_t place)
{
    return areas + (size_t)me * AREA + place;
}

/* A put of some bytes by one of the calls that put them without waiting. */
static void put_nbi(int context, int pe, size_t place, const unsigned char *source, size_t bytes)
{
    shmem_ctx_t ctx = contexts[context];
    bool by_default = context == 0 && draw(2) == 0;
    void *dest = mine_at(place);
    bool longs = place % sizeof(long) == 0 && bytes % sizeof(long) == 0 &&
                 (uintptr_t)source % sizeof(long) == 0;
    switch (longs ? draw(5) : draw(3)) {
    case 0:
        by_default ? shmem_char_put_nbi(dest, (const char *)source, bytes, pe)
                   : shmem_ctx_char_put_nbi(ctx, dest, (const char *)source, bytes, pe);
        break;
    case 1:
        by_default ? shmem_put8_nbi(dest, source, bytes, pe)
                   : shmem_ctx_put8_nbi(ctx, dest, source, bytes, pe);
        break;
    case 3:
        by_default ? shmem_long_put_nbi(dest, (const long *)(const void *)source, bytes / sizeof(long), pe)
                   : shmem_ctx_long_put_nbi(ctx, dest, (const long *)(const void *)source,
                                            bytes / sizeof(long), pe);
        break;
    case 4:
        by_default ? shmem_put64_nbi(dest, source, bytes / 8, pe)
                   : shmem_ctx_put64_nbi(ctx, dest, source, bytes / 8, pe);
        break;
    default:
        by_default ? shmem_putmem_nbi(dest, source, bytes, pe)
                   : shmem_ctx_putmem_nbi(ctx, dest, source, bytes, pe);
    }
}

/* A sequence of neighbours, now and then with a gap, now and then with another PE's in between. */
static void call_run(void)
{
    int context = (int)draw((uint64_t)num_contexts), pe = (int)draw((uint64_t)npes);
    size_t place = draw(AREA), number = 1 + draw(30);
    size_t unit = draw(2) ? sizeof(long) : 1;
    for (size_t i = 0; i < number && place < AREA; i++) {
        int where = draw(16) == 0 ? (int)draw((uint64_t)npes) : pe;
        place = place / unit * unit;
        size_t bytes = draw_bytes(AREA - place) / unit * unit;
        sources_used = (sources_used + unit - 1) / unit * unit;
        const unsigned char *source = source_of(bytes);
        order(context, where, place, bytes);
        put_nbi(context, where, place, source, bytes);
        note(context, where, place, source, bytes);
        place += bytes + (draw(10) == 0 ? unit : 0);
    }
}

static void call_put(void)
{
    unsigned char source[512];
    int context = (int)draw((uint64_t)num_contexts), pe = (int)draw((uint64_t)npes);
    size_t place = draw(AREA), bytes = draw(sizeof source);
    bytes = bytes < AREA - place ? bytes : AREA - place;
    for (size_t i = 0; i < bytes; i++) {
        source[i] = (unsigned char)draw(256);
    }
    order(context, pe, place, bytes);
    shmem_ctx_putmem(contexts[context], mine_at(place), source, bytes, pe);
    note(context, pe, place, source, bytes);
    memset(source, 0xdd, sizeof source);
}

static void call_single(void)
{
    long value = (long)draw(UINT32_MAX);
    int context = (int)draw((uint64_t)num_contexts), pe = (int)draw((uint64_t)npes);
    size_t place = draw(AREA / sizeof value) * sizeof value;
    order(context, pe, place, sizeof value);
    shmem_ctx_long_p(contexts[context], (long *)(void *)mine_at(place), value, pe);
    note(context, pe, place, &value, sizeof value);
}

/* ---- pwr_shmem_putv ---- */

static void shuffle(pwr_shmem_fragment_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = draw(i);
        pwr_shmem_fragment_t kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

/* Fragments that do not overlap; their sources may. */
static size_t draw_fragments(pwr_shmem_fragment_t *items, size_t most, size_t place, size_t least)
{
    size_t count = 0;
    size_t gaps = draw(3);
    while (count < most && place < AREA) {
        size_t bytes = least + draw_bytes((AREA - place) / 4);
        bytes = bytes < AREA - place ? bytes : AREA - place;
        const unsigned char *source = static_source + draw(sizeof static_source - AREA);
        items[count++] = (pwr_shmem_fragment_t){mine_at(place), source, bytes};
        place += bytes + (gaps > 0 && draw(gaps * 4) == 0 ? 1 + draw(9) : 0);
    }
    return count;
}

static void call_putv(void)
{
    static pwr_shmem_fragment_t items[FRAGMENTS];
    int context = (int)draw((uint64_t)num_contexts), pe = (int)draw((uint64_t)npes);
    size_t first = draw(AREA), most = 1 + draw(FRAGMENTS);
    size_t count = draw_fragments(items, most, draw(8) == 0 ? first : 0, draw(3) * 8);
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)((unsigned char *)items[i].dest - mine_at(0));
        order(context, pe, place, items[i].bytes);
    }
    if (draw(4) == 0) {
        shuffle(items, count);
    }
    if (pwr_shmem_putv(contexts[context], &(pwr_shmem_fragments_t){items, count}, pe) != 0) {
        complain("pwr_shmem_putv", pe, 0, 1, 0);
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)((unsigned char *)items[i].dest - mine_at(0));
        note(context, pe, place, items[i].source, items[i].bytes);
    }
}

/* ---- what observes ---- */

static void call_get(void)
{
    unsigned char found[512];
    int pe = (int)draw((uint64_t)npes);
    size_t place = draw(AREA - sizeof found);
    quiet_all();
    shmem_getmem(found, mine_at(place), sizeof found, pe);
    compare("get", pe, found, model + (size_t)pe * AREA + place, sizeof found, place);
}

static void call_add(void)
{
    int pe = (int)draw((uint64_t)npes);
    long before = shmem_long_atomic_fetch_add(counters + me, 3, pe);
    if (before != counted[pe]) {
        complain("fetch_add", pe, 0, (int)before, (int)counted[pe]);
    }
    counted[pe] += 3;
}

static void call_order(void)
{
    int context = (int)draw((uint64_t)num_contexts);
    switch (draw(3)) {
    case 0:
        quiet(context);
        break;
    case 1:
        fence(context);
        break;
    default:
        quiet_all();
    }
}

/* All PEs: data and then a flag to the next one, without shmem_quiet; both come by puts that do not
 * wait. */
static void pass_on(void)
{
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    unsigned char data[RING];
    long turn = ++ring_turn;
    for (size_t i = 0; i < RING; i++) {
        data[i] = (unsigned char)(me + turn + (long)i);
    }
    for (size_t i = 0; i < RING; i += 16) {
        shmem_putmem_nbi(ring + i, data + i, 16, next);
    }
    shmem_fence();
    shmem_long_put_nbi(ring_flag, &turn, 1, next);
    shmem_long_wait_until(ring_flag, SHMEM_CMP_EQ, turn);
    for (size_t i = 0; i < RING; i++) {
        if (ring[i] != (unsigned char)(before + turn + (long)i)) {
            complain("ring", before, i, ring[i], (unsigned char)(before + turn + (long)i));
            break;
        }
    }
    shmem_barrier_all();
    quiet_all();
}

static void compare_all(void)
{
    if (num_contexts > 1) {
        shmem_ctx_quiet(contexts[1]);
    }
    shmem_barrier_all(); /* completes the default context's */
    forget_order(0);
    forget_order(1);
    for (int pe = 0; pe < npes; pe++) {
        shmem_putmem(expected + (size_t)me * AREA, model + (size_t)pe * AREA, AREA, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        compare("area", pe, areas + (size_t)pe * AREA, expected + (size_t)pe * AREA, AREA, 0);
    }
    shmem_barrier_all();
}

/* ---- the program ---- */

typedef struct kind {
    int share;
    void (*call)(void);
} kind_t;

static const kind_t all_kinds[] = {{6, call_run}, {2, call_put}, {2, call_single}, {4, call_putv},
                                   {1, call_get}, {1, call_add}, {2, call_order}};
static const kind_t only_putv[] = {{6, call_putv}, {1, call_order}, {1, call_get}};

static void random_call(const kind_t *kinds, size_t number)
{
    int sum = 0;
    for (size_t i = 0; i < number; i++) {
        sum += kinds[i].share;
    }
    int drawn = (int)draw((uint64_t)sum);
    for (size_t i = 0; i < number; i++) {
        drawn -= kinds[i].share;
        if (drawn < 0) {
            kinds[i].call();
            return;
        }
    }
}

static void *zeroes(size_t bytes, bool is_symmetric)
{
    void *memory = is_symmetric ? shmem_malloc(bytes) : malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "no %zu bytes\n", bytes);
        shmem_global_exit(1);
    }
    memset(memory, 0, bytes);
    return memory;
}

static void set_up(void)
{
    size_t all = (size_t)npes * AREA;
    areas = zeroes(all, true);
    expected = zeroes(all, true);
    counters = zeroes((size_t)npes * sizeof *counters, true);
    ring = zeroes(RING, true);
    ring_flag = zeroes(sizeof *ring_flag, true);
    model = zeroes(all, false);
    under_way = zeroes(all, false);
    counted = zeroes((size_t)npes * sizeof *counted, false);
    sources = zeroes(SOURCES, false);
    contexts[0] = SHMEM_CTX_DEFAULT;
    if (num_contexts > 1 && shmem_ctx_create(0, &contexts[1]) != 0) {
        num_contexts = 1;
    }
    for (size_t i = 0; i < sizeof static_source; i++) {
        static_source[i] = (unsigned char)draw(256);
    }
    shmem_barrier_all();
}

static void wrong_arguments(void)
{
    pwr_shmem_fragment_t item = {areas, sources, 1};
    pwr_shmem_fragments_t one = {&item, 1}, none = {NULL, 0}, missing = {NULL, 1};
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, &one, npes) == 0;
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, &one, -1) == 0;
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, &missing, me) == 0;
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, NULL, me) == 0;
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, &none, me) != 0;
    wrong += pwr_shmem_putv_pattern(&one, npes) != NULL;
    item = (pwr_shmem_fragment_t){NULL, NULL, 0};
    wrong += pwr_shmem_putv(SHMEM_CTX_DEFAULT, &one, me) != 0;
}

/* Adds up over PEs, without a collective that could be wrong itself. */
static long all_wrong(void)
{
    static long sum;
    shmem_barrier_all();
    shmem_long_atomic_add(&sum, wrong, 0);
    shmem_barrier_all();
    return sum;
}

static void run(long calls, bool is_putv)
{
    for (long i = 0; i < calls; i++) {
        if (is_putv) {
            random_call(only_putv, sizeof only_putv / sizeof only_putv[0]);
        } else {
            random_call(all_kinds, sizeof all_kinds / sizeof all_kinds[0]);
        }
        if ((i + 1) % ROUND == 0 || i + 1 == calls) {
            quiet_all();
            pass_on();
            compare_all();
        }
    }
}

int main(int argc, char **argv)
{
    long calls = 2000, seed = 1;
    bool is_putv = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        calls = strcmp(argv[i], "--calls") == 0 ? atol(argv[i + 1]) : calls;
        seed = strcmp(argv[i], "--seed") == 0 ? atol(argv[i + 1]) : seed;
        num_contexts = strcmp(argv[i], "--contexts") == 0 ? atoi(argv[i + 1]) : num_contexts;
        is_putv |= strcmp(argv[i], "--only") == 0 && strcmp(argv[i + 1], "putv") == 0;
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    state = (uint64_t)(seed * 1000 + me) * 0x9e3779b97f4a7c15ULL + 1;
    set_up();
    wrong_arguments();
    run(calls, is_putv);
    long sum = all_wrong();
    if (me == 0) {
        printf("%d PEs, %ld calls each, seed %ld: %ld wrong results\n", npes, calls, seed, sum);
    }
    if (num_contexts > 1) {
        shmem_ctx_destroy(contexts[1]);
    }
    shmem_finalize();
    return sum != 0;
}
