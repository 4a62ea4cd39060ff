/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * See late.h.
 */
#include "late.h"

#include <shmem.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { COUNT = 64, LARGE = 1 << 17, ASKED = 200 };

static int me, size, last;
static void (*come_late)(void);
static long turn; /* of the flag */
static double served_us;

/* symmetric */
static long *flag, *counter, *lock, *from, *to, *work, *sync_words, *wrong;

static void check(bool right, const char *what)
{
    if (!right) {
        printf("PE %d: wrong: %s\n", me, what);
        ++*wrong;
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the others wait until memory changes ---- */

static void tell_others(void)
{
    for (int pe = 0; pe < last; ++pe) {
        shmem_long_p(flag, turn, pe);
    }
    shmem_quiet();
}

static void wait_until(void)
{
    ++turn;
    come_late();
    if (me == last) {
        tell_others();
    } else {
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    }
}

static void wait_atomic(void)
{
    static long added; /* what it is to be: a PE may come later than who is late */
    ++added;
    come_late();
    for (int pe = 0; me == last && pe < last; ++pe) {
        shmem_long_atomic_add(counter, 1, pe);
    }
    if (me != last) {
        shmem_long_wait_until(counter, SHMEM_CMP_GE, added);
        check(added == *counter, "what an atomic operation has added");
    }
}

/* Who sleeps serves others as if it did not. */
static void ask(void)
{
    double began_s = now_s();
    for (int i = 0; i < ASKED; ++i) {
        check(1000 + i % COUNT == shmem_long_g(from + i % COUNT, 0), "what a sleeping PE has");
    }
    served_us = 1e6 * (now_s() - began_s) / ASKED;
}

static void serve(void)
{
    ++turn;
    come_late();
    if (me != last) {
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    } else {
        ask();
        tell_others();
    }
}

static void serve_in_barrier(void)
{
    come_late();
    if (me == last) {
        ask();
    }
    shmem_barrier_all();
}

static void lock_held(void)
{
    if (me == last) {
        shmem_set_lock(lock);
    }
    ++turn;
    if (me == last) {
        tell_others();
    } else {
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    }
    come_late();
    if (me != last) {
        shmem_set_lock(lock);
    }
    shmem_clear_lock(lock);
}

/* ---- all meet ---- */

static void barrier_all(void)
{
    come_late();
    shmem_barrier_all();
}

static void barrier(void)
{
    come_late();
    shmem_barrier(0, 0, size, sync_words);
}

static void sync_all(void)
{
    come_late();
    shmem_sync_all();
}

static void sum(void)
{
    come_late();
    shmem_long_sum_to_all(to, from, COUNT, 0, 0, size, work, sync_words);
    for (int i = 0; i < COUNT; ++i) {
        long pes = size * (size - 1l) / 2;
        check(size * (1000l + i) + 10000 * pes == to[i], "a sum");
    }
}

static void max_large(void)
{
    come_late();
    shmem_long_max_to_all(to, from, LARGE / 2, 0, 0, size, work, sync_words);
    check(10000l * last + 1000 == to[0], "a maximum");
}

static void broadcast(void)
{
    come_late();
    shmem_broadcast64(to, from, COUNT, last, 0, 0, size, sync_words);
    check(me == last || 10000l * last + 1001 == to[1], "a broadcast");
}

static void check_gathered(const char *what)
{
    for (int pe = 0; pe < size; ++pe) {
        check(10000l * pe + 1000 == to[pe * COUNT], what);
    }
}

static void collect(void)
{
    come_late();
    shmem_collect64(to, from, COUNT, 0, 0, size, sync_words);
    check_gathered("collect");
}

static void fcollect(void)
{
    come_late();
    shmem_fcollect64(to, from, COUNT, 0, 0, size, sync_words);
    check_gathered("fcollect");
}

static void alltoall(void)
{
    come_late();
    shmem_alltoall64(to, from, 2, 0, 0, size, sync_words);
    for (int pe = 0; pe < size; ++pe) {
        check(10000l * pe + 1000 + 2 * me == to[2 * pe], "alltoall");
    }
}

static void alltoalls(void)
{
    long *strided = to + LARGE / 2; /* zeros, for others may have put their parts by now */
    come_late();
    shmem_alltoalls64(strided, from, 3, 1, 2, 0, 0, size, sync_words);
    for (int pe = 0; pe < size; ++pe) {
        const long *part = strided + 6 * pe;
        check(10000l * pe + 1001 + 2 * me == part[3] && 0 == part[1], "alltoalls");
    }
    memset(strided, 0, sizeof *to * (size_t)size * 6);
}

/* ---- the others need the last PE's part ---- */

static void put_quiet(void)
{
    come_late();
    if (me != last) {
        shmem_long_put_nbi(to + me * COUNT, from, COUNT, last);
        shmem_quiet();
    }
}

static void put_large(void)
{
    come_late();
    if (me != last) {
        shmem_long_put(work, from, LARGE, last);
        shmem_quiet();
    }
}

static void get(void)
{
    come_late();
    if (me != last) {
        shmem_long_get(to, from, COUNT, last);
        check(10000l * last + 1000 == to[0], "a get");
    }
}

static void get_nbi_quiet(void)
{
    come_late();
    if (me != last) {
        shmem_long_get_nbi(to, from, COUNT, last);
        shmem_quiet();
        check(10000l * last + 1000 == to[0], "a get that does not block");
    }
}

static void fetch_add(void)
{
    come_late();
    if (me != last) {
        check(0 <= shmem_long_atomic_fetch_add(counter, 0, last), "fetch and add");
    }
}

static void compare_swap(void)
{
    come_late();
    if (me != last) {
        check(0 == shmem_long_atomic_compare_swap(counter + 1, 7, 8, last), "compare and swap");
    }
}

/* ---- all of them ---- */

const late_kind_t late_kinds[] = {
    {"wait-until", wait_until},
    {"wait-atomic", wait_atomic},
    {"serve", serve},
    {"serve-in-barrier", serve_in_barrier},
    {"lock", lock_held},
    {"barrier-all", barrier_all},
    {"barrier", barrier},
    {"sync-all", sync_all},
    {"sum", sum},
    {"max-large", max_large},
    {"broadcast", broadcast},
    {"collect", collect},
    {"fcollect", fcollect},
    {"alltoall", alltoall},
    {"alltoalls", alltoalls},
    {"put-quiet", put_quiet},
    {"put-large", put_large},
    {"get", get},
    {"get-nbi-quiet", get_nbi_quiet},
    {"fetch-add", fetch_add},
    {"compare-swap", compare_swap},
    {NULL, NULL},
};

void *late_symmetric(size_t count, size_t bytes)
{
    void *memory = shmem_calloc(count, bytes);
    if (NULL == memory) {
        printf("PE %d: no symmetric memory\n", me);
        shmem_global_exit(2);
    }
    return memory;
}

void late_begin(void (*come)(void))
{
    enum { SYNC_WORDS = 4096 };
    come_late = come;
    me = shmem_my_pe();
    size = shmem_n_pes();
    last = size - 1;
    flag = late_symmetric(1, sizeof *flag);
    counter = late_symmetric(2, sizeof *counter);
    lock = late_symmetric(1, sizeof *lock);
    from = late_symmetric(LARGE, sizeof *from);
    to = late_symmetric(LARGE, sizeof *to);
    work = late_symmetric(LARGE + SHMEM_REDUCE_MIN_WRKDATA_SIZE, sizeof *work);
    sync_words = late_symmetric(SYNC_WORDS, sizeof *sync_words);
    wrong = late_symmetric(2, sizeof *wrong);
    for (int i = 0; i < SYNC_WORDS; ++i) {
        sync_words[i] = SHMEM_SYNC_VALUE;
    }
    for (int i = 0; i < LARGE; ++i) {
        from[i] = 10000l * me + 1000 + i % COUNT;
    }
}

long late_all_wrong(void)
{
    shmem_barrier_all(); /* the words may be in use */
    shmem_long_sum_to_all(wrong + 1, wrong, 1, 0, 0, size, work, sync_words);
    shmem_barrier_all();
    return wrong[1];
}

double late_served_us(void)
{
    double us = served_us;
    served_us = 0.0;
    return us;
}
