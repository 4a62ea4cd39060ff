/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * libshnode against the OpenSHMEM below it: oshrun -np N shnode_bench [-r ROUNDS] [-b MILLISECONDS]
 * [-m BYTES] [NAME...]
 *
 * Each round times a batch of stock calls and one of ours, which goes first by turns.  A row has
 * the medians of the rounds, and the median of the rounds' ratios, stock over shnode, with its 95 %
 * interval (order statistics).  Times are those of PE 0. Results of both are compared once per row.
 */
#include "../../oshmem/shnode/shnode.h"
#include "../common/order.h"

#include <getopt.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int me, pes, peer;
static int rounds = 31;
static double batch_s = 0.004;
static size_t most = 1 << 20;
static int *source, *stock_target, *our_target, *work;
static long *sync_[2], *share;
static unsigned turn;
static volatile uintptr_t sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long *next_sync(void)
{
    turn ^= 1;
    return sync_[turn];
}

/* ---- what is timed: one call ---- */

static void stock_barrier(size_t bytes)
{
    (void)bytes;
    shmem_barrier_all();
}
static void our_barrier(size_t bytes)
{
    (void)bytes;
    shnode_barrier_all();
}
static void stock_sync(size_t bytes)
{
    (void)bytes;
    shmem_sync_all();
}
static void our_sync(size_t bytes)
{
    (void)bytes;
    shnode_sync_all();
}
static void stock_sum(size_t bytes)
{
    shmem_int_sum_to_all(stock_target, source, (int)(bytes / sizeof(int)), 0, 0, pes, work,
                         next_sync());
}
static void our_sum(size_t bytes)
{
    shnode_int_sum_to_all(our_target, source, bytes / sizeof(int));
}
static void stock_fcollect(size_t bytes)
{
    shmem_fcollect64(stock_target, source, bytes / 8, 0, 0, pes, next_sync());
}
static void our_fcollect(size_t bytes)
{
    shnode_fcollect64(our_target, source, bytes / 8);
}
static void stock_broadcast(size_t bytes)
{
    shmem_broadcast64(stock_target, source, bytes / 8, 0, 0, 0, pes, next_sync());
}
static void our_broadcast(size_t bytes)
{
    shnode_broadcast64(our_target, source, bytes / 8, 0);
}
static void stock_alltoall(size_t bytes)
{
    shmem_alltoall64(stock_target, source, bytes / 8, 0, 0, pes, next_sync());
}
static void our_alltoall(size_t bytes)
{
    shnode_alltoall64(our_target, source, bytes / 8);
}
static void stock_put(size_t bytes)
{
    shmem_putmem(stock_target, source, bytes, peer);
}
static void our_put(size_t bytes)
{
    shnode_putmem(our_target, source, bytes, peer);
}
static void stock_get(size_t bytes)
{
    shmem_getmem(stock_target, source, bytes, peer);
}
static void our_get(size_t bytes)
{
    shnode_getmem(our_target, source, bytes, peer);
}
static void stock_query(size_t bytes)
{
    (void)bytes;
    sink = (uintptr_t)shmem_ptr(source, peer);
}
static void our_member(size_t bytes)
{
    (void)bytes;
    sink = (uintptr_t)shnode_is_team_member(peer);
}
static void our_address(size_t bytes)
{
    (void)bytes;
    sink = (uintptr_t)shnode_get_member_remote_addr(peer, source);
}

struct kind {
    const char *name;
    void (*stock)(size_t bytes), (*ours)(size_t bytes);
    size_t sizes[10];
    bool alone;         /* PE 0 calls it, others wait */
    int result_per_pes; /* bytes of the result: 0 none, 1 as many, -1 times PEs */
    bool root_has_none;
};
#define SIZES                                                                                      \
    {                                                                                              \
        8, 64, 512, 4096, 8192, 65536, 262144, 1048576                                             \
    }
static const struct kind kinds[] = {
    {"barrier_all", stock_barrier, our_barrier, {1}, false, 0, false},
    {"sync_all", stock_sync, our_sync, {1}, false, 0, false},
    {"int_sum_to_all", stock_sum, our_sum, SIZES, false, 1, false},
    {"fcollect64", stock_fcollect, our_fcollect, SIZES, false, -1, false},
    {"broadcast64", stock_broadcast, our_broadcast, SIZES, false, 1, true},
    {"alltoall64", stock_alltoall, our_alltoall, {8, 512, 8192, 65536}, false, -1, false},
    {"putmem", stock_put, our_put, {8, 64, 4096, 65536, 1048576}, true, 0, false},
    {"getmem", stock_get, our_get, {8, 64, 4096, 65536, 1048576}, true, 1, false},
    {"is_team_member", stock_query, our_member, {1}, true, 0, false},
    {"get_member_remote_addr", stock_query, our_address, {1}, true, 0, false},
};

/* ---- rounds ---- */

static void stock_call_many(void (*call)(size_t), size_t bytes, long times)
{
    for (long i = 0; i < times; i++) {
        call(bytes);
    }
}

/* The same loop, with the query or transfer inlined as a program has it: calls through a pointer
   would cost more than some of what they call. */
#define INLINED(call)                                                                              \
    if (f == (call)) {                                                                             \
        for (long i = 0; i < times; i++) {                                                         \
            call(bytes);                                                                           \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
        return;                                                                                    \
    }
static void call_many(void (*f)(size_t), size_t bytes, long times)
{
    INLINED(stock_query)
    INLINED(our_member)
    INLINED(our_address)
    INLINED(stock_put)
    INLINED(our_put)
    INLINED(stock_get)
    INLINED(our_get)
    stock_call_many(f, bytes, times);
}

static double time_of(const struct kind *kind, void (*call)(size_t), size_t bytes, long times)
{
    shmem_barrier_all();
    double begin = now();
    if (!kind->alone || me == 0) {
        call_many(call, bytes, times);
    }
    double end = now();
    shmem_barrier_all();
    return (end - begin) / (double)times;
}

/* PE 0's number for all. */
static long shared(long number)
{
    *share = number;
    shmem_barrier_all();
    long of_0 = me == 0 ? number : shmem_long_g(share, 0);
    shmem_barrier_all();
    return of_0;
}

static long calls_of_batch(const struct kind *kind, void (*call)(size_t), size_t bytes)
{
    long times = 1;
    for (;;) {
        double each = time_of(kind, call, bytes, times);
        long wanted = shared((long)(batch_s / each) + 1);
        if (times >= wanted / 2 || times > 10 * 1000 * 1000) {
            return wanted;
        }
        times = wanted > 10 * times ? 10 * times : wanted;
    }
}

static void print(const struct kind *kind, size_t bytes, double *stock, double *ours)
{
    double ratios[1000];
    pwr_order_ratio_t ratio = pwr_order_ratio(stock, ours, ratios, rounds);
    printf("%-22s %3d %8zu %12.4f %12.4f %8.2f [%.2f, %.2f]\n", kind->name, pes,
           bytes == 1 ? 0 : bytes, 1e6 * pwr_order_median(stock, rounds),
           1e6 * pwr_order_median(ours, rounds), ratio.median, ratio.low, ratio.high);
    fflush(stdout);
}

static long wrong_results(const struct kind *kind, size_t bytes)
{
    size_t result =
        kind->result_per_pes < 0 ? bytes * (size_t)pes : bytes * (size_t)kind->result_per_pes;
    bool has = result > 0 && !(kind->root_has_none && me == 0) && !(kind->alone && me != 0);
    shmem_barrier_all();
    return has && memcmp(stock_target, our_target, result) != 0;
}

static long measure(const struct kind *kind, size_t bytes)
{
    double stock[1000], ours[1000];
    long stock_calls = calls_of_batch(kind, kind->stock, bytes),
         our_calls = calls_of_batch(kind, kind->ours, bytes);
    for (int i = 0; i < rounds; i++) {
        for (int way = 0; way < 2; way++) {
            if (way == i % 2) {
                stock[i] = time_of(kind, kind->stock, bytes, stock_calls);
            } else {
                ours[i] = time_of(kind, kind->ours, bytes, our_calls);
            }
        }
    }
    long wrong = wrong_results(kind, bytes);
    if (wrong) {
        printf("shnode_bench: PE %d: results differ: %s, %zu bytes\n", me, kind->name, bytes);
    }
    if (me == 0) {
        print(kind, bytes, stock, ours);
    }
    return wrong;
}

static bool chosen(const char *name, char **names)
{
    bool is = *names == NULL;
    for (; *names != NULL; names++) {
        is |= strcmp(name, *names) == 0;
    }
    return is;
}

static long measure_all(char **names)
{
    long wrong = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (const size_t *bytes = kinds[k].sizes; chosen(kinds[k].name, names) && *bytes != 0;
             bytes++) {
            if (*bytes <= most && !(kinds[k].alone && pes == 1)) {
                wrong += measure(&kinds[k], *bytes);
            }
        }
    }
    return wrong;
}

static void allocate(void)
{
    size_t bytes = most * (size_t)pes, syncs = SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE;
    source = shmem_align(4096, bytes);
    stock_target = shmem_align(4096, bytes);
    our_target = shmem_align(4096, bytes);
    work = shmem_malloc(most);
    share = shmem_malloc(sizeof *share);
    for (int t = 0; t < 2; t++) {
        sync_[t] = shmem_malloc(syncs * sizeof(long));
        for (size_t i = 0; i < syncs; i++) {
            sync_[t][i] = SHMEM_SYNC_VALUE;
        }
    }
    for (size_t i = 0; i < bytes / sizeof(int); i++) {
        source[i] = me + (int)i;
    }
    shmem_barrier_all();
}

static const char usage[] =
    "usage: shnode_bench [options] [call...]    stock OpenSHMEM and libshnode; all calls, or those named\n"
    "  -r N      rounds, 1 to 1000 (31)\n"
    "  -b MS     duration of a batch (4)\n"
    "  -m BYTES  largest size (1048576)\n"
    "  --help    this\n";

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "r:b:m:h", longs, NULL)) != -1;) {
        switch (option) {
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'r':
            rounds = atoi(optarg);
            break;
        case 'b':
            batch_s = atof(optarg) / 1000;
            break;
        case 'm':
            most = strtoul(optarg, NULL, 10);
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (rounds < 1 || rounds > 1000 || batch_s <= 0 || most < 8) {
        fprintf(stderr, "shnode_bench: -r must be 1 to 1000, -b above 0, -m 8 or more\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    peer = (me + 1) % pes;
    allocate();
    if (shnode_init() != SHNODE_SUCCESS || shnode_create_team(source) != SHNODE_SUCCESS ||
        shnode_add_data(our_target) != SHNODE_SUCCESS) {
        fprintf(stderr, "shnode_bench: no team\n");
        shmem_global_exit(1);
    }
    if (me == 0) {
        printf("%-22s %3s %8s %12s %12s %8s %s\n", "call", "PEs", "bytes", "stock us", "shnode us",
               "ratio", "95 %");
    }
    long wrong = measure_all(argv + optind);
    shnode_finalize();
    shmem_finalize();
    return wrong != 0;
}
