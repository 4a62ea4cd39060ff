/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every call of OpenSHMEM that waits, with the last PE late: is the result right, and did those who
 * waited give their CPU back?
 *
 *   oshrun -np N check_late [-c] [-l MILLISECONDS] [-t] [KIND...]
 *
 * -c: nobody is watched; instead of that, says how much of a CPU the call took of who waited (the
 * most of any PE) and how long it took.  -l: how late then (default 100).  -t: with
 * SHMEM_THREAD_MULTIPLE.
 * The last PE prints for each kind, or those that are named, what the others did while it was late:
 *
 *     wait-until: 1 sleep, 0 poll, 0 are gone
 *
 * Where a call need not wait for the last PE, the others are gone.  The last line counts wrong
 * results.
 */
#include <shmem.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

enum { COUNT = 64, LARGE = 1 << 17, ASKED = 200, HANG_S = 1500 };

static int me, size, last;
static int late_ms = 100;
static bool watches, costs;
static watched_t found;
static long turn; /* of the flag */
static double served_us;
static double used[2];  /* by this PE in the call: share of a CPU, seconds */
static double *results; /* [2][size], at the last PE: used, of each */

/* symmetric */
static long *flag, *counter, *lock, *from, *to, *work, *sync_words, *wrong;

static void check(bool right, const char *what)
{
    if (!right) {
        printf("PE %d: wrong: %s\n", me, what);
        ++*wrong;
    }
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void come_late(void)
{
    if (me == last && watches && watched_leads()) {
        found = watched_find(watched_usual);
        watched_come();
    } else if (me == last && !watches) {
        const struct timespec time = {.tv_sec = late_ms / 1000,
                                      .tv_nsec = late_ms % 1000 * 1000000l};
        nanosleep(&time, NULL);
    }
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
    long before = *counter;
    come_late();
    for (int pe = 0; me == last && pe < last; ++pe) {
        shmem_long_atomic_add(counter, 1, pe);
    }
    if (me != last) {
        shmem_long_wait_until(counter, SHMEM_CMP_GT, before);
        check(before + 1 == *counter, "what an atomic operation has added");
    }
}

/* Who sleeps serves others as if it did not. */
static void ask(void)
{
    double began_s = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < ASKED; ++i) {
        check(1000 + i % COUNT == shmem_long_g(from + i % COUNT, 0), "what a sleeping PE has");
    }
    served_us = 1e6 * (seconds(CLOCK_MONOTONIC) - began_s) / ASKED;
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
    come_late();
    memset(to, 0, sizeof *to * (size_t)size * 6);
    shmem_alltoalls64(to, from, 3, 1, 2, 0, 0, size, sync_words);
    for (int pe = 0; pe < size; ++pe) {
        check(10000l * pe + 1001 + 2 * me == to[6 * pe + 3] && 0 == to[6 * pe + 1], "alltoalls");
    }
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

typedef struct kind {
    const char *name;
    void (*run)(void);
} kind_t;

static const kind_t kinds[] = {
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
};

static void run_and_measure(const kind_t *kind)
{
    double began_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double most[2] = {0.0, 0.0};
    kind->run();
    used[1] = seconds(CLOCK_MONOTONIC) - began_s;
    used[0] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s) / used[1];
    shmem_double_put(results + 2 * me, used, 2, last);
    shmem_barrier_all();
    for (int pe = 0; pe < last; ++pe) {
        for (int i = 0; i < 2; ++i) {
            most[i] = results[2 * pe + i] > most[i] ? results[2 * pe + i] : most[i];
        }
    }
    if (me == last) {
        printf("%s: %.1f %% of a CPU, %.2f ms\n", kind->name, 100.0 * most[0], 1e3 * most[1]);
    }
    if (me == last && served_us > 0.0) {
        printf("served: %.2f us for each of %d gets\n", served_us, ASKED);
    }
    served_us = 0.0;
}

static void run_and_watch(const kind_t *kind)
{
    if (me != last) {
        watched_begin();
    }
    kind->run();
    if (me != last) {
        watched_end();
    } else {
        printf("%s: %d sleep, %d poll, %d are gone\n", kind->name, found.sleep, found.poll,
               found.gone);
    }
}

static void run(const kind_t *kind)
{
    shmem_barrier_all();
    if (costs) {
        run_and_measure(kind);
    } else {
        run_and_watch(kind);
    }
    fflush(stdout);
    shmem_barrier_all();
}

static bool is_named(const kind_t *kind, int argc, char **argv)
{
    for (int i = optind; i < argc; ++i) {
        if (0 == strcmp(kind->name, argv[i])) {
            return true;
        }
    }
    return optind == argc;
}

static void *symmetric(size_t count, size_t bytes)
{
    void *memory = shmem_calloc(count, bytes);
    if (NULL == memory) {
        printf("PE %d: no symmetric memory\n", me);
        shmem_global_exit(2);
    }
    return memory;
}

static void make_memory(void)
{
    enum { SYNC_WORDS = 4096 };
    flag = symmetric(1, sizeof *flag);
    counter = symmetric(2, sizeof *counter);
    lock = symmetric(1, sizeof *lock);
    from = symmetric(LARGE, sizeof *from);
    to = symmetric(LARGE, sizeof *to);
    work = symmetric(LARGE + SHMEM_REDUCE_MIN_WRKDATA_SIZE, sizeof *work);
    sync_words = symmetric(SYNC_WORDS, sizeof *sync_words);
    wrong = symmetric(2, sizeof *wrong);
    results = symmetric(2 * (size_t)size, sizeof *results);
    for (int i = 0; i < SYNC_WORDS; ++i) {
        sync_words[i] = SHMEM_SYNC_VALUE;
    }
    for (int i = 0; i < LARGE; ++i) {
        from[i] = 10000l * me + 1000 + i % COUNT;
    }
}

int main(int argc, char **argv)
{
    int option, level = SHMEM_THREAD_SINGLE;
    while (-1 != (option = getopt(argc, argv, "cl:t"))) {
        switch (option) {
        case 'c':
            costs = true;
            break;
        case 'l':
            late_ms = atoi(optarg);
            break;
        case 't':
            level = SHMEM_THREAD_MULTIPLE;
            break;
        default:
            return 2;
        }
    }
    alarm(HANG_S);
    shmem_init_thread(level, &level);
    me = shmem_my_pe();
    size = shmem_n_pes();
    last = size - 1;
    make_memory();
    watches = !costs && watched_open(me == last, 1);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (is_named(&kinds[k], argc, argv)) {
            run(&kinds[k]);
        }
    }
    shmem_long_sum_to_all(wrong + 1, wrong, 1, 0, 0, size, work, sync_words);
    long total = wrong[1];
    if (0 == me) {
        printf("check_late: %ld wrong results\n", total);
    }
    shmem_finalize();
    return 0 == total ? 0 : 1;
}
