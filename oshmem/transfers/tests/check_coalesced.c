/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What puts that are held must not change, by a program that trusts in more than OpenSHMEM
 * promises: check_coalesced reuse|flag|end|threads|contexts.  PE 0 sends, the last one receives.
 *
 * reuse: the source is written again at once, and a place twice.  flag: a put that waits follows,
 * and no shmem_fence.  end: the sender returns from main, without shmem_quiet and shmem_finalize.
 * threads: four of them.  contexts: and two of them put by a context of their own; two PEs.  (Not
 * by a private one: shmem_finalize of 5.0 and 6.0 aborts, as it uses that from another thread.)
 * Stock 4.1 does not wait in shmem_quiet for these puts, which are to data outside the heap, and
 * goes on with them only as long as there is the context: so contexts stay until the receiver has
 * all.
 */
#include "config.h"

#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 2000, THREADS = 4 };

static long numbers[THREADS][NUMBERS]; /* symmetric */
static long flag;
static int last;
static bool has_contexts;
static shmem_ctx_t contexts[THREADS];

static long value_of(int part, long i)
{
    return part * 1000000L + i * 7 + 1;
}

static long wrong_in(int part)
{
    long wrong = 0;
    for (long i = 0; i < NUMBERS; i++) {
        wrong += numbers[part][i] != value_of(part, i);
    }
    return wrong;
}

static void put_all(shmem_ctx_t ctx, int part)
{
    for (long i = 0; i < NUMBERS; i++) {
        long value = value_of(part, i);
        shmem_ctx_long_put_nbi(ctx, &numbers[part][i], &value, 1, last);
        value = -1;
    }
}

static long reuse(void)
{
    if (shmem_my_pe() == 0) {
        put_all(SHMEM_CTX_DEFAULT, 1);
        put_all(SHMEM_CTX_DEFAULT, 0);
        put_all(SHMEM_CTX_DEFAULT, 0);
        for (long i = NUMBERS - 1; i >= 0; i--) {
            long value = value_of(1, i), other = -2;
            shmem_long_put_nbi(&numbers[1][i], &other, 1, last);
            shmem_long_put_nbi(&numbers[1][i], &value, 1, last);
        }
    }
    shmem_barrier_all();
    return shmem_my_pe() == last ? wrong_in(0) + wrong_in(1) : 0;
}

static long flagged(void)
{
    if (shmem_my_pe() == 0) {
        put_all(SHMEM_CTX_DEFAULT, 0);
        shmem_long_p(&flag, 1, last);
    }
    if (shmem_my_pe() == last) {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        return wrong_in(0);
    }
    return 0;
}

/* PEs between the sender and the receiver just wait for the end. */
static long ended(void)
{
    if (shmem_my_pe() != last) {
        return 0;
    }
    shmem_long_wait_until(&numbers[0][NUMBERS - 1], SHMEM_CMP_EQ, value_of(0, NUMBERS - 1));
    return wrong_in(0);
}

/* Sources stay: the library below may read them until shmem_quiet. */
static void *thread(void *argument)
{
    static long sources[THREADS][NUMBERS];
    int part = *(int *)argument;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (has_contexts && part % 2 == 0 && shmem_ctx_create(0, &ctx) != 0) {
        ctx = SHMEM_CTX_DEFAULT;
    }
    for (long i = 0; i < NUMBERS; i++) {
        sources[part][i] = value_of(part, i);
        shmem_ctx_long_put_nbi(ctx, &numbers[part][i], &sources[part][i], 1, last);
    }
    shmem_ctx_quiet(ctx);
    shmem_quiet();
    contexts[part] = ctx;
    return NULL;
}

static void receive_all(void)
{
    for (int part = 0; part < THREADS; part++) {
        for (long i = 0; i < NUMBERS; i++) {
            shmem_long_wait_until(&numbers[part][i], SHMEM_CMP_EQ, value_of(part, i));
        }
    }
    shmem_long_p(&flag, 1, 0);
}

/* For ever, if something is lost. */
static void wait_for_all(void)
{
    if (shmem_my_pe() == last) {
        receive_all();
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
}

static void destroy_contexts(void)
{
    for (int part = 0; part < THREADS && shmem_my_pe() == 0; part++) {
        if (contexts[part] != SHMEM_CTX_DEFAULT) {
            shmem_ctx_destroy(contexts[part]);
        }
    }
}

static long threaded(void)
{
    static int parts[THREADS];
    pthread_t threads[THREADS];
    long wrong = 0;
    for (int i = 0; i < THREADS && shmem_my_pe() == 0; i++) {
        parts[i] = i;
        pthread_create(&threads[i], NULL, thread, &parts[i]);
    }
    for (int i = 0; i < THREADS && shmem_my_pe() == 0; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    if (has_contexts) {
        wait_for_all();
        destroy_contexts();
    }
    for (int i = 0; i < THREADS && shmem_my_pe() == last; i++) {
        wrong += wrong_in(i);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "reuse";
    int level;
    long wrong;
    has_contexts = strcmp(what, "contexts") == 0;
    bool has_threads = has_contexts || strcmp(what, "threads") == 0;
    shmem_init_thread(has_threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &level);
    last = shmem_n_pes() - 1;
    shmem_barrier_all();
    if (strcmp(what, "end") == 0) {
        if (shmem_my_pe() == 0) {
            put_all(SHMEM_CTX_DEFAULT, 0);
            return 0;
        }
        wrong = ended();
    } else if (has_threads) {
        wrong = threaded();
    } else {
        wrong = strcmp(what, "flag") == 0 ? flagged() : reuse();
    }
    if (shmem_my_pe() == last) {
        printf("%s, thread level %d: %ld wrong results\n", what, level, wrong);
        fflush(stdout);
    }
    if (strcmp(what, "end") != 0) {
        shmem_finalize();
    }
    return wrong != 0;
}
