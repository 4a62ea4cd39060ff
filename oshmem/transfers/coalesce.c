/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is held of small puts.  A run is a sequence of puts each of which begins at the target where
 * the one before ends; it is copied into a buffer, and becomes one put.  Several runs are open, so
 * that a program may put to many PEs, or into several arrays, in turn.
 *
 * A put that overlaps a run which it does not continue sends that run first: two puts to one place
 * arrive in the order of the program, which OpenSHMEM does not promise and programs rely on.
 */
#include "coalesce.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A buffer should stay in the second-level cache.  Runs of a PE are in one set. */
enum { SETS = 16, WAYS = 4, BUFFER = 64 * 1024, LARGEST = 32 * 1024 };

typedef struct run {
    size_t bytes; /* 0: the run is free */
    shmem_ctx_t ctx;
    char *dest;
    int pe;
    char data[BUFFER];
} run_t;

static run_t runs[SETS][WAYS];
static run_t *latest = runs[0];
static atomic_int open_runs; /* read without the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t largest; /* put that is held; 0: none */
static bool has_threads;
static atomic_int pes; /* set at last; 0: nothing above is known yet */

/* PWR_SHMEM_COALESCE */
static size_t largest_of(const char *wish)
{
    char *end;
    if (wish == NULL) {
        return LARGEST;
    }
    unsigned long bytes = strtoul(wish, &end, 10);
    if (*wish < '0' || *wish > '9' || *end != '\0' || bytes > BUFFER) {
        fprintf(stderr,
                "pwr_shmem_coalesce: PWR_SHMEM_COALESCE=%s: not a number of bytes from 0 to %d; puts "
                "of up to %d bytes are held\n",
                wish, BUFFER, LARGEST);
        return LARGEST;
    }
    return bytes;
}

/* The end of a program without shmem_finalize comes after handlers that are set later than
 * OpenSHMEM's. */
static void start(void)
{
    int level = SHMEM_THREAD_MULTIPLE;
    pshmem_query_thread(&level);
    has_threads = level == SHMEM_THREAD_MULTIPLE;
    largest = atexit(pwr_coalesce_send) == 0 ? largest_of(getenv("PWR_SHMEM_COALESCE")) : 0;
    atomic_store_explicit(&pes, pshmem_n_pes(), memory_order_release);
}

static void enter(void)
{
    if (has_threads) {
        pthread_mutex_lock(&lock);
    }
}

static void leave(void)
{
    if (has_threads) {
        pthread_mutex_unlock(&lock);
    }
}

static void send(run_t *run)
{
    if (run->bytes > 0) {
        /* blocking: when it returns the buffer may be filled again */
        pshmem_ctx_putmem(run->ctx, run->dest, run->data, run->bytes, run->pe);
        run->bytes = 0;
        atomic_fetch_sub(&open_runs, 1);
    }
}

void pwr_coalesce_send(void)
{
    /* relaxed: a thread that is to find what another one put has synchronised with it */
    if (atomic_load_explicit(&open_runs, memory_order_relaxed) == 0) {
        return;
    }
    enter();
    for (int set = 0; set < SETS; set++) {
        for (int way = 0; way < WAYS; way++) {
            send(&runs[set][way]);
        }
    }
    leave();
}

static bool ends_at(const run_t *run, shmem_ctx_t ctx, const char *dest)
{
    return run->ctx == ctx && run->dest + run->bytes == dest;
}

static bool overlaps(const run_t *run, const char *dest, size_t bytes)
{
    return dest < run->dest + run->bytes && run->dest < dest + bytes;
}

/* The run that a put continues, or a free one.  Sends those that it overlaps, and what it would
 * continue where that is full. */
static run_t *run_for(shmem_ctx_t ctx, const char *dest, size_t bytes, int pe)
{
    static unsigned turn;
    run_t *set = runs[pe % SETS], *found = NULL, *unused = NULL;
    for (run_t *run = set; run < set + WAYS; run++) {
        if (run->bytes > 0 && run->pe == pe) {
            bool is_next = ends_at(run, ctx, dest);
            if (is_next && run->bytes + bytes <= BUFFER) {
                found = run;
            } else if (is_next || overlaps(run, dest, bytes)) {
                send(run);
            }
        }
        unused = run->bytes == 0 ? run : unused;
    }
    if (found == NULL && unused == NULL) {
        unused = &set[turn++ % WAYS];
        send(unused);
    }
    return found != NULL ? found : unused;
}

static void append(run_t *run, const void *source, size_t bytes)
{
    char *at = run->data + run->bytes;
    switch (bytes) { /* what the compiler copies by itself */
    case 4:
        memcpy(at, source, 4);
        break;
    case 8:
        memcpy(at, source, 8);
        break;
    default:
        memcpy(at, source, bytes);
    }
    run->bytes += bytes;
}

static void hold(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
    run_t *run = run_for(ctx, dest, bytes, pe);
    if (run->bytes == 0) {
        run->ctx = ctx;
        run->dest = dest;
        run->pe = pe;
        atomic_fetch_add(&open_runs, 1);
    }
    append(run, source, bytes);
    latest = run;
}

/* What most puts are: the next one of the only run. */
static bool continue_latest(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
    enter();
    bool does = open_runs == 1 && bytes <= largest && latest->pe == pe &&
                ends_at(latest, ctx, dest) && latest->bytes + bytes <= BUFFER;
    if (does) {
        append(latest, source, bytes);
    }
    leave();
    return does;
}

/* Symmetric addresses of a PE that can be stored to, and what is to be added to them.  All between
 * two with the same distance have it (ways.c). */
typedef struct mapping {
    const char *low, *high; /* NULL: none yet; high is the address of a byte */
    ptrdiff_t distance;
    int pe;
} mapping_t;

static void look_at(mapping_t *mapping, const char *dest, int pe)
{
    const char *there = pshmem_ptr(dest, pe);
    if (there == NULL) {
        return;
    }
    if (mapping->low == NULL || mapping->pe != pe || mapping->distance != there - dest) {
        *mapping = (mapping_t){dest, dest, there - dest, pe};
    }
    mapping->low = dest < mapping->low ? dest : mapping->low;
    mapping->high = dest > mapping->high ? dest : mapping->high;
}

static bool has(const mapping_t *mapping, const char *dest, int pe)
{
    return mapping->pe == pe && mapping->low != NULL && mapping->low <= dest &&
           dest <= mapping->high;
}

/* Stores, where the PE's memory is mapped. */
static bool store(char *dest, const void *source, size_t bytes, int pe)
{
    static mapping_t mappings[SETS];
    mapping_t *mapping = &mappings[pe % SETS];
    enter();
    if (!has(mapping, dest, pe)) {
        look_at(mapping, dest, pe);
    }
    bool is_mapped = has(mapping, dest, pe);
    ptrdiff_t distance = mapping->distance;
    leave();
    if (is_mapped) {
        memcpy(dest + distance, source, bytes);
        /* release: for the target, which reads after a signal of ours */
        atomic_thread_fence(memory_order_release);
    }
    return is_mapped;
}

/* Others are left to the library below, which names what is wrong. */
static bool is_right(size_t bytes, int pe)
{
    return bytes > 0 && pe >= 0 && pe < pes;
}

/* Other threads may not use a context that one has made for itself. */
static bool may_hold(shmem_ctx_t ctx, size_t bytes)
{
    return bytes <= largest && (!has_threads || ctx == SHMEM_CTX_DEFAULT);
}

void pwr_coalesce_put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (atomic_load_explicit(&pes, memory_order_acquire) == 0) {
        pthread_once(&once, start);
    }
    bool is_ours = largest > 0 && is_right(bytes, pe);
    if (is_ours && (continue_latest(ctx, dest, source, bytes, pe) ||
                    store(dest, source, bytes, pe))) {
        return;
    }
    if (is_ours && may_hold(ctx, bytes)) {
        enter();
        hold(ctx, dest, source, bytes, pe);
        leave();
        return;
    }
    pwr_coalesce_send();
    pshmem_ctx_putmem_nbi(ctx, dest, source, bytes, pe);
}
