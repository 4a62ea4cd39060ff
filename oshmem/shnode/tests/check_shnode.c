/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Results of libshnode against an oracle: check_shnode TEST...
 *
 *   --nodes N        there are N teams
 *   --stock          SHNODE_COLLECTIVES is off
 *   types            every reduction, with counts from 0 to large, in place and not, symmetric heap
 * and static moves            fcollect, collect, broadcast, alltoall transfers        put, get, p,
 * g, queries errors           what is wrong gets its code random SEED N    N calls drawn from a
 * seed, PEs late now and then, some compared with OpenSHMEM's own, too
 *
 * What a PE contributes is computed from (PE, index, call), so each PE knows the answer.
 */
#include "../shnode.h"

#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20, STATIC_BYTES = 64 * 1024 };
static int me, pes;
static long wrong;
static unsigned char *heap_source, *heap_target, *stock_target;
static _Alignas(64) unsigned char static_source[STATIC_BYTES], static_target[STATIC_BYTES];
static long *sync_[2];
static unsigned sync_turn;
static unsigned call;

static uint64_t mixed(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static uint64_t drawn(int pe, size_t i)
{
    return mixed((uint64_t)pe << 48 ^ (uint64_t)call << 24 ^ i);
}

/* OpenSHMEM's own collectives write to the target of a PE that has not called them yet; ours do
 * not. */
static bool is_stock;
static void ready(void)
{
    if (is_stock) {
        shmem_barrier_all();
    }
}

static void report(const char *what, size_t count, size_t at)
{
    if (wrong++ < 5) {
        printf("check_shnode: PE %d: wrong: call %u, %s, count %zu, element %zu\n", me, call, what,
               count, at);
    }
}

/* ---- reductions ---- */

/* Small whole numbers, so that results of 9 PEs are exact in all types: 3^9 fits a short. */
#define INPUT_and(pe, i) drawn(pe, i)
#define INPUT_or(pe, i) drawn(pe, i)
#define INPUT_xor(pe, i) drawn(pe, i)
#define INPUT_max(pe, i) ((long)(drawn(pe, i) % 20001) - 10000)
#define INPUT_min(pe, i) INPUT_max(pe, i)
#define INPUT_sum(pe, i) ((long)(drawn(pe, i) % 2001) - 1000)
#define INPUT_prod(pe, i) (1 + (long)(drawn(pe, i) % 3))
#define WITH_and(a, b) ((a) & (b))
#define WITH_or(a, b) ((a) | (b))
#define WITH_xor(a, b) ((a) ^ (b))
#define WITH_max(a, b) ((a) < (b) ? (b) : (a))
#define WITH_min(a, b) ((b) < (a) ? (b) : (a))
#define WITH_sum(a, b) ((a) + (b))
#define WITH_prod(a, b) ((a) * (b))

#define CHECK(op, name, type)                                                                      \
    static void check_##name##_##op(void *target, void *source, size_t n)                          \
    {                                                                                              \
        type *t = target, *s = source;                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            s[i] = (type)INPUT_##op(me, i);                                                        \
        }                                                                                          \
        ready();                                                                                   \
        if (shnode_##name##_##op##_to_all(t, s, n) != SHNODE_SUCCESS) {                            \
            report(#name " " #op " refused", n, 0);                                                \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            type right = (type)INPUT_##op(0, i);                                                   \
            for (int pe = 1; pe < pes; pe++) {                                                     \
                right = (type)WITH_##op(right, (type)INPUT_##op(pe, i));                           \
            }                                                                                      \
            if (t[i] != right) {                                                                   \
                report(#name " " #op, n, i);                                                       \
                return;                                                                            \
            }                                                                                      \
            if (t != s && s[i] != (type)INPUT_##op(me, i)) {                                       \
                report(#name " " #op " source", n, i);                                             \
                return;                                                                            \
            }                                                                                      \
        }                                                                                          \
    }
SHNODE_REDUCTIONS_(CHECK)

struct reduction {
    const char *name;
    size_t element;
    void (*check)(void *target, void *source, size_t n);
};
#define ROW(op, name, type) {#name "_" #op, sizeof(type), check_##name##_##op},
static const struct reduction reductions[] = {SHNODE_REDUCTIONS_(ROW)};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

static void test_types(void)
{
    const size_t counts[] = {0, 1, 2, 3, 5, 7, 64, 301, 1021, 4099, 40009};
    for (size_t i = 0; i < REDUCTIONS; i++) {
        const struct reduction *r = &reductions[i];
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            call++;
            r->check(heap_target, heap_source, counts[c]);
            r->check(heap_source, heap_source, counts[c]);
            if (counts[c] * r->element <= STATIC_BYTES) {
                r->check(static_target, static_source, counts[c]);
            }
        }
    }
}

/* ---- blocks ---- */

static void fill(uint32_t *source, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        source[i] = (uint32_t)drawn(me, i);
    }
}

/* words of a block of pe's source, from word `from` on, are at `at` */
static void expect(const char *what, const uint32_t *at, int pe, size_t from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        if (at[i] != (uint32_t)drawn(pe, from + i)) {
            report(what, words, i);
            return;
        }
    }
}

static void expect_success(const char *what, int status)
{
    if (status != SHNODE_SUCCESS) {
        report(what, 0, (size_t)-status);
    }
}

static void check_fcollect(uint32_t *target, uint32_t *source, size_t words, bool wide)
{
    fill(source, words);
    ready();
    expect_success("fcollect", wide ? shnode_fcollect64(target, source, words / 2)
                                    : shnode_fcollect32(target, source, words));
    for (int pe = 0; pe < pes; pe++) {
        expect("fcollect", target + (size_t)pe * words, pe, 0, words);
    }
}

static size_t words_of(int pe, size_t most, bool wide)
{
    size_t words = drawn(pe, 1 << 20) % (most + 1);
    return drawn(pe, 1 << 21) % 4 == 0 ? 0 : wide ? words / 2 * 2 : words;
}

static void check_collect(uint32_t *target, uint32_t *source, size_t most, bool wide)
{
    size_t words = words_of(me, most, wide);
    fill(source, words);
    ready();
    expect_success("collect", wide ? shnode_collect64(target, source, words / 2)
                                   : shnode_collect32(target, source, words));
    for (int pe = 0; pe < pes; pe++) {
        expect("collect", target, pe, 0, words_of(pe, most, wide));
        target += words_of(pe, most, wide);
    }
}

static void check_broadcast(uint32_t *target, uint32_t *source, size_t words, bool wide)
{
    int root = (int)(call % (unsigned)pes);
    fill(source, words);
    memset(target, 0x5a, words * sizeof *target);
    ready();
    expect_success("broadcast", wide ? shnode_broadcast64(target, source, words / 2, root)
                                     : shnode_broadcast32(target, source, words, root));
    if (me != root) {
        expect("broadcast", target, root, 0, words);
        return;
    }
    for (size_t i = 0; i < words; i++) {
        if (target[i] != 0x5a5a5a5a) {
            report("broadcast: the root's target", words, i);
            return;
        }
    }
}

static void check_alltoall(uint32_t *target, uint32_t *source, size_t words, bool wide)
{
    fill(source, words * (size_t)pes);
    ready();
    expect_success("alltoall", wide ? shnode_alltoall64(target, source, words / 2)
                                    : shnode_alltoall32(target, source, words));
    for (int pe = 0; pe < pes; pe++) {
        expect("alltoall", target + (size_t)pe * words, pe, (size_t)me * words, words);
    }
}

typedef void check_blocks_t(uint32_t *target, uint32_t *source, size_t words, bool wide);
static check_blocks_t *const blocks[] = {check_fcollect, check_collect, check_broadcast,
                                         check_alltoall};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

/* The root of small broadcasts waits for nobody, but must not be so far ahead that late PEs miss
 * one. */
static void test_root_ahead(void)
{
    int64_t *source = (int64_t *)heap_source, *target = (int64_t *)heap_target;
    shmem_barrier_all();
    for (int64_t i = 0; i < 200; i++) {
        *source = i;
        if (me != 0 && i % 20 == me) {
            usleep(2000);
        }
        expect_success("broadcast", shnode_broadcast64(target, source, 1, 0));
        if (me != 0 && *target != i) {
            report("broadcast of a root that is ahead", 1, (size_t)i);
        }
    }
}

static void test_moves(void)
{
    if (!is_stock) {
        test_root_ahead();
    }
    const size_t words[] = {0, 2, 4, 6, 12, 14, 100, 510, 1022, 1026, 5000, 25000};
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            for (int wide = 0; wide < 2; wide++) {
                call++;
                blocks[b]((uint32_t *)heap_target, (uint32_t *)heap_source, words[w], wide);
                if (words[w] * 4 * (size_t)pes <= STATIC_BYTES) {
                    blocks[b]((uint32_t *)static_target, (uint32_t *)static_source, words[w], wide);
                }
            }
        }
    }
}

/* ---- put, get, queries ---- */

static void expect_equal(const char *what, long is, long should)
{
    if (is != should) {
        wrong++;
        printf("check_shnode: PE %d: wrong: %s is %ld instead of %ld\n", me, what, is, should);
    }
}

static void transfer(unsigned char *target, unsigned char *source)
{
    int right = (me + 1) % pes, left = (me + pes - 1) % pes;
    call++;
    fill((uint32_t *)source, 1000);
    shnode_barrier_all();
    shnode_putmem(target, source, 8, right);
    shnode_int_put((int *)target + 2, (int *)source + 2, 990, right);
    shnode_uint32_p((uint32_t *)target + 992, (uint32_t)drawn(me, 992), right);
    shnode_short_p((short *)target + 2000, (short)me, right);
    shnode_barrier_all();
    expect("put", (uint32_t *)target, left, 0, 993);
    expect_equal("short_p", ((short *)target)[2000], left);
    expect_equal("g", shnode_uint32_g((uint32_t *)source + 5, right), (uint32_t)drawn(right, 5));
    uint32_t got[1000];
    shnode_getmem(got, source, 8, right);
    shnode_uint32_get(got + 2, (uint32_t *)source + 2, 998, right);
    expect("get", got, right, 0, 1000);
    shnode_barrier_all();
}

static void query(void)
{
    for (int pe = -1; pe <= pes; pe++) {
        int member = shnode_is_team_member(pe);
        void *there = shnode_get_member_remote_addr(pe, heap_source);
        expect_equal("an address is known of members alone", there != NULL, member);
        expect_equal("of others", pe < 0 || pe == pes ? member : 0, 0);
        if (there != NULL && pe != me) {
            expect_equal("the address", (long)there, (long)shmem_ptr(heap_source, pe));
        }
    }
    expect_equal("the PE itself is a member", shnode_is_team_member(me), 1);
    expect_equal("its own address", (long)shnode_get_member_remote_addr(me, heap_source),
                 (long)heap_source);
    int leads = 1;
    for (int pe = 0; pe < me; pe++) {
        leads &= !shnode_is_team_member(pe);
    }
    expect_equal("leader", shnode_am_team_leader(), leads);
}

static void test_transfers(void)
{
    transfer(heap_target, heap_source);
    transfer(static_target, static_source);
    query();
}

/* ---- errors ---- */

static void test_errors(void)
{
    int local = 1;
    void *allocated = malloc(100);
    expect_equal("init twice", shnode_init(), SHNODE_ERR_TWICE);
    expect_equal("create_team twice", shnode_create_team(heap_source), SHNODE_ERR_TWICE);
    expect_equal("add_data, the stack", shnode_add_data(&local), SHNODE_ERR_SYMMETRIC);
    expect_equal("add_data, malloc", shnode_add_data(allocated), SHNODE_ERR_SYMMETRIC);
    expect_equal("add_data, NULL", shnode_add_data(NULL), SHNODE_ERR_SYMMETRIC);
    expect_equal("add_data again", shnode_add_data(heap_source), SHNODE_SUCCESS);
    expect_equal("address of the stack", shnode_get_member_remote_addr(0, &local) != NULL, 0);
    expect_equal("sum, the stack", shnode_int_sum_to_all(&local, &local, 1), SHNODE_ERR_SYMMETRIC);
    expect_equal("fcollect, malloc", shnode_fcollect64(heap_target, allocated, 1),
                 SHNODE_ERR_SYMMETRIC);
    expect_equal("broadcast, root", shnode_broadcast32(heap_target, heap_source, 1, pes),
                 SHNODE_ERR_ARGUMENT);
    expect_equal("broadcast, root", shnode_broadcast32(heap_target, heap_source, 1, -1),
                 SHNODE_ERR_ARGUMENT);
    expect_equal("finalize", shnode_finalize(), SHNODE_SUCCESS);
    expect_equal("finalize twice", shnode_finalize(), SHNODE_ERR_INIT);
    expect_equal("sum afterwards", shnode_int_sum_to_all(&local, &local, 1), SHNODE_ERR_INIT);
    expect_equal("sum of nothing afterwards", shnode_int_sum_to_all(&local, &local, 0),
                 SHNODE_ERR_INIT);
    expect_equal("barrier afterwards", shnode_barrier_all(), SHNODE_ERR_INIT);
    expect_equal("add_data afterwards", shnode_add_data(heap_source), SHNODE_ERR_INIT);
    expect_equal("collect afterwards", shnode_collect32(heap_target, heap_source, 0),
                 SHNODE_ERR_INIT);
    expect_equal("a member afterwards", shnode_is_team_member(me), 0);
    expect_equal("an address afterwards", shnode_get_member_remote_addr(me, heap_source) != NULL,
                 0);
    expect_equal("leader afterwards", shnode_am_team_leader(), 0);
    free(allocated);
    expect_equal("init again", shnode_init(), SHNODE_SUCCESS);
    expect_equal("create_team again", shnode_create_team(heap_source), SHNODE_SUCCESS);
}

/* ---- random calls ---- */

static long *next_sync(void)
{
    sync_turn ^= 1;
    return sync_[sync_turn];
}

/* Stock and ours of the same input. */
static void compare_with_stock(size_t n)
{
    int *source = (int *)heap_source, *target = (int *)heap_target, *theirs = (int *)stock_target;
    static int *work;
    work = work != NULL ? work : shmem_malloc(MOST);
    fill((uint32_t *)source, n);
    shmem_barrier_all();
    shmem_int_xor_to_all(theirs, source, (int)n, 0, 0, pes, work, next_sync());
    shnode_int_xor_to_all(target, source, n);
    if (memcmp(theirs, target, n * sizeof(int)) != 0) {
        report("int xor against stock", n, 0);
    }
    n = n / (size_t)pes + 1;
    shmem_barrier_all();
    shmem_fcollect32(theirs, source, n, 0, 0, pes, next_sync());
    shnode_fcollect32(target, source, n);
    if (memcmp(theirs, target, n * (size_t)pes * sizeof(int)) != 0) {
        report("fcollect against stock", n, 0);
    }
    shmem_barrier_all();
}

static void nap(uint64_t dice)
{
    if (dice % 61 == (unsigned)me) {
        usleep((useconds_t)(dice >> 8) % 4000);
    }
}

static size_t drawn_count(uint64_t dice)
{
    const size_t up_to[] = {4, 64, 1100, 4200, 20000};
    return (dice >> 16) % (up_to[dice % 5] + 1);
}

static void random_call(uint64_t seed)
{
    uint64_t dice = mixed(mixed(seed) ^ ++call), what = mixed(dice) % 100;
    size_t n = drawn_count(dice), shift = 16 * (dice >> 56 & 3);
    bool is_static = n <= 2000 / (size_t)pes && (dice >> 40) % 8 == 0;
    unsigned char *target = is_static ? static_target : heap_target + shift;
    unsigned char *source = is_static ? static_source : heap_source + shift;
    nap(mixed(dice ^ 7));
    if (what < 50) {
        const struct reduction *r = &reductions[dice % REDUCTIONS];
        r->check((dice >> 32) % 4 == 0 ? source : target, source, n);
    } else if (what < 85) {
        blocks[what % BLOCKS]((uint32_t *)target, (uint32_t *)source, n / 2 * 2, dice >> 41 & 1);
    } else if (what < 97) {
        expect_success("barrier", dice % 2 ? shnode_barrier_all() : shnode_sync_all());
    } else {
        compare_with_stock(n + 1);
    }
}

/* ---- main ---- */

static void allocate(void)
{
    heap_source = shmem_malloc(MOST);
    heap_target = shmem_malloc(MOST);
    stock_target = shmem_malloc(MOST);
    for (int t = 0; t < 2; t++) {
        int n = SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE;
        sync_[t] = shmem_malloc((size_t)n * sizeof(long));
        for (int i = 0; i < n; i++) {
            sync_[t][i] = SHMEM_SYNC_VALUE;
        }
    }
    shmem_barrier_all();
}

static void count_teams(long expected)
{
    long *leads = (long *)heap_source, *teams = (long *)heap_target;
    *leads = shnode_am_team_leader();
    shnode_long_sum_to_all(teams, leads, 1);
    expect_equal("the number of teams", *teams, expected);
}

static int run(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) {
            count_teams(atol(argv[++i]));
        } else if (strcmp(argv[i], "--stock") == 0) {
            is_stock = true;
        } else if (strcmp(argv[i], "types") == 0) {
            test_types();
        } else if (strcmp(argv[i], "moves") == 0) {
            test_moves();
        } else if (strcmp(argv[i], "transfers") == 0) {
            test_transfers();
        } else if (strcmp(argv[i], "errors") == 0) {
            test_errors();
        } else if (strcmp(argv[i], "random") == 0 && i + 2 < argc) {
            uint64_t seed = strtoull(argv[++i], NULL, 0);
            for (long n = atol(argv[++i]); n > 0; n--) {
                random_call(seed);
            }
        } else {
            return 2;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    allocate();
    expect_equal("barrier before init", shnode_barrier_all(), SHNODE_ERR_INIT);
    expect_equal("init", shnode_init(), SHNODE_SUCCESS);
    expect_equal("create_team", shnode_create_team(heap_source), SHNODE_SUCCESS);
    expect_equal("add_data", shnode_add_data(heap_target), SHNODE_SUCCESS);
    int status = run(argc, argv);
    expect_equal("finalize", shnode_finalize(), SHNODE_SUCCESS);
    static long mine, all;
    static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 1];
    mine = wrong;
    shmem_barrier_all();
    shmem_long_sum_to_all(&all, &mine, 1, 0, 0, pes, work, next_sync());
    if (me == 0) {
        printf("check_shnode: %u calls, %ld wrong results\n", call, all);
    }
    shmem_finalize();
    return status != 0 ? status : all != 0;
}
