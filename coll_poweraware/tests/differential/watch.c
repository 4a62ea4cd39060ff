/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A thread that sleeps and looks whether calls go on, and handlers that name the call of a crash.
 */
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

/* Written by one thread, read by the watcher and by signal handlers: relaxed, a value of the call
   before does no harm. */
typedef struct place {
    atomic_ullong steps; /* calls begun, repeats included */
    atomic_ullong index;
    atomic_ullong seed;
    atomic_ullong simpler;
    atomic_ullong most_units;
    atomic_bool left; /* no more calls */
} place_t;

static place_t places[DIFF_MAX_THREADS];
static int my_rank;
static int num_threads;
static unsigned seconds_allowed;
static const diff_watched_t *watched;
static pthread_t watcher;
static bool watching;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool is_over;

void diff_watch_enter(int thread, uint64_t index, uint64_t seed, const diff_limits_t *limits)
{
    place_t *p = &places[thread];
    atomic_store_explicit(&p->index, index, memory_order_relaxed);
    atomic_store_explicit(&p->seed, seed, memory_order_relaxed);
    atomic_store_explicit(&p->simpler, limits->simpler, memory_order_relaxed);
    atomic_store_explicit(&p->most_units, limits->most_units, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->steps, 1, memory_order_relaxed);
}

void diff_watch_leave(int thread)
{
    atomic_store_explicit(&places[thread].left, true, memory_order_relaxed);
}

/* In a signal handler, too: formatted without allocating. */
static void say(const char *what, int thread)
{
    const place_t *p = &places[thread];
    const diff_limits_t limits = {
        .simpler = atomic_load_explicit(&p->simpler, memory_order_relaxed),
        .most_units = atomic_load_explicit(&p->most_units, memory_order_relaxed),
    };
    uint64_t seed = atomic_load_explicit(&p->seed, memory_order_relaxed);
    char text[768];
    char line[1024];
    watched->describe(seed, &limits, text, sizeof text);
    int length = snprintf(line, sizeof line, "%s: rank %d %s in %s %llu of thread %d: %s\n",
                          watched->tester, my_rank, what, watched->unit,
                          atomic_load_explicit(&p->index, memory_order_relaxed), thread, text);
    if (write(STDERR_FILENO, line, (size_t)length) < 0) {
        return; /* nobody listens: nothing else can be done */
    }
}

static void look(unsigned long long *seen, unsigned *seconds)
{
    for (int t = 0; t < num_threads; ++t) {
        unsigned long long steps = atomic_load_explicit(&places[t].steps, memory_order_relaxed);
        bool left = atomic_load_explicit(&places[t].left, memory_order_relaxed);
        seconds[t] = steps == seen[t] && !left ? seconds[t] + 1 : 0;
        seen[t] = steps;
        if (seconds[t] > seconds_allowed) {
            say("hangs", t);
            _exit(4); /* mpirun ends the others */
        }
    }
}

static void *watch(void *unused)
{
    (void)unused;
    unsigned long long seen[DIFF_MAX_THREADS] = {0};
    unsigned seconds[DIFF_MAX_THREADS] = {0};
    pthread_mutex_lock(&lock);
    while (!is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        ++until.tv_sec;
        if (ETIMEDOUT == pthread_cond_timedwait(&over, &lock, &until)) {
            look(seen, seconds);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NUM_CRASHES = sizeof crashes / sizeof crashes[0] };
static struct sigaction before[NUM_CRASHES];

/* Which thread crashed is not known here: all are named. */
static void crash(int signal_number)
{
    for (int t = 0; t < num_threads; ++t) {
        say("crashed", t);
    }
    for (int i = 0; i < NUM_CRASHES; ++i) {
        if (crashes[i] == signal_number) {
            sigaction(signal_number, &before[i], NULL);
        }
    }
    raise(signal_number);
}

void diff_watch_start(const diff_watched_t *what, int rank, int threads, unsigned limit_s)
{
    watched = what;
    my_rank = rank;
    num_threads = threads;
    seconds_allowed = limit_s;
    struct sigaction action = {.sa_handler = crash};
    for (int i = 0; i < NUM_CRASHES; ++i) {
        sigaction(crashes[i], &action, &before[i]);
    }
    watching = 0 == pthread_create(&watcher, NULL, watch, NULL);
    if (!watching) {
        fprintf(stderr, "%s: no thread to watch for what hangs\n", what->tester);
    }
}

void diff_watch_stop(void)
{
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_signal(&over);
    pthread_mutex_unlock(&lock);
    if (watching) {
        pthread_join(watcher, NULL);
    }
}
