/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions that kernels call (poweraware_device.h), with threads of the host for those of the
 * GPUs, all at once: random rows of calls in one kernel, then the next kernel with another grid.
 *
 * In every other row each call takes the result of the one before, to which each rank has added
 * something of its own, and a rank's grid has a barrier between calls.  In the others calls have
 * elements of their own, and nothing but themselves keeps blocks in order.
 * Usage: test_team [ROWS [SEED [SECONDS]]]; after so many it gives up
 */
#define PWR_TEAM_TWO_STEPS 40000 /* long vectors are short here */
#include "kernels/team.cu"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 5, MOST_BLOCKS = 3, MOST_THREADS = 4, CALLS = 12, APART = 3000 };
enum { COUNT = CALLS * APART, SLOT = 8192 };
enum { KERNELS = 3, GIVE_UP_S = 600 };

static struct call {
    size_t count, at; /* elements from there on */
    int type, op, root;
} calls[KERNELS][CALLS];

static int ranks, blocks, threads;
static int apart; /* calls have elements of their own */
static poweraware_team_t team[MOST_RANKS];
static _Alignas(PWR_UNIT) uint64_t vector[MOST_RANKS][COUNT], model[MOST_RANKS][COUNT];
static pthread_barrier_t of_block[MOST_RANKS][MOST_BLOCKS], of_rank[MOST_RANKS];
static _Thread_local pthread_barrier_t *my_block;
_Thread_local struct pwr_host_place pwr_host_place;
static unsigned never, lives[MOST_RANKS];

void pwr_host_sync(void)
{
    pthread_barrier_wait(my_block);
}

/* ---- calls ---- */

static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

static void draw_calls(void)
{
    for (int k = 0; k < KERNELS; ++k) {
        for (int i = 0; i < CALLS; ++i) {
            struct call *c = &calls[k][i];
            const unsigned most[] = {7, 100, 1024, APART, apart ? APART : 3 * APART};
            c->type = 0 == draw(2) ? PWR_IS_u32 : PWR_IS_u64;
            size_t width = PWR_IS_u64 == c->type ? 8 : 4;
            c->count = 1 + draw(most[draw(5)] - 4);
            c->at = (apart ? (size_t)(i * APART) * 8 / width : 0) + draw(4);
            c->op = (int)draw(4);
            c->root = 0 == draw(4) ? (int)draw((unsigned)ranks) : PWR_ALL;
        }
    }
}

static uint64_t of_rank_in(int rank, int call, size_t i)
{
    return (uint64_t)(rank + 1) * 1000003 + (uint64_t)call * 7919 + i;
}

/* What a kernel of the program may do. */
static void add_own(int rank, int call, const struct call *c)
{
    size_t first = (size_t)pwr_block() * pwr_threads() + pwr_thread();
    for (size_t i = first; i < c->count; i += (size_t)pwr_blocks() * pwr_threads()) {
        if (PWR_IS_u64 == c->type) {
            vector[rank][c->at + i] += of_rank_in(rank, call, i);
        } else {
            ((uint32_t *)vector[rank])[c->at + i] += (uint32_t)of_rank_in(rank, call, i);
        }
    }
}

static void barrier_of_grid(int rank)
{
    pthread_barrier_wait(&of_rank[rank]);
}

static void make_calls(int rank, int kernel)
{
    for (int i = 0; i < CALLS; ++i) {
        const struct call *c = &calls[kernel][i];
        size_t width = PWR_IS_u64 == c->type ? 8 : 4;
        char *at = (char *)vector[rank] + c->at * width;
        if (!apart) {
            add_own(rank, i, c);
            barrier_of_grid(rank);
        }
        int by_block = !apart && 0 == i % 4; /* others of the grid have nothing to do with it */
        if (!by_block || pwr_block() == (unsigned)(i % blocks)) {
            pwr_team_reduce(&team[rank], by_block ? POWERAWARE_BLOCK : POWERAWARE_GRID, at, at,
                            c->count, (unsigned)width, c->root, c->type, c->op);
        }
        if (!apart) {
            barrier_of_grid(rank);
        }
        if (0 == (rank + i) % 5) { /* somebody is late now and then */
            usleep(50);
        }
    }
    poweraware_barrier(&team[rank], POWERAWARE_GRID);
}

/* ---- the answer ---- */

#define COMBINE(a, b, op)                                                                          \
    (PWR_IS_sum == (op)    ? (a) + (b)                                                             \
     : PWR_IS_prod == (op) ? (a) * (b)                                                             \
     : PWR_IS_min == (op)  ? ((b) < (a) ? (b) : (a))                                               \
                           : ((b) > (a) ? (b) : (a)))

static void expect(const struct call *c, int call)
{
    for (size_t i = c->at; i < c->at + c->count; ++i) {
        uint64_t sum = 0;
        uint32_t short_sum = 0;
        for (int r = 0; r < ranks; ++r) {
            uint32_t *short_model = (uint32_t *)model[r];
            uint64_t own = apart ? 0 : of_rank_in(r, call, i - c->at);
            if (PWR_IS_u64 == c->type) {
                model[r][i] += own;
                sum = 0 == r ? model[r][i] : COMBINE(sum, model[r][i], c->op);
            } else {
                short_model[i] += (uint32_t)own;
                short_sum = 0 == r ? short_model[i] : COMBINE(short_sum, short_model[i], c->op);
            }
        }
        for (int r = 0; r < ranks; ++r) {
            if (PWR_ALL != c->root && r != c->root) {
                continue;
            }
            if (PWR_IS_u64 == c->type) {
                model[r][i] = sum;
            } else {
                ((uint32_t *)model[r])[i] = short_sum;
            }
        }
    }
}

/* ---- kernels ---- */

static int kernel;

static void *run(void *number)
{
    int n = (int)(intptr_t)number, rank = n / (blocks * threads);
    pwr_host_place = (struct pwr_host_place){.thread = (unsigned)(n % threads),
                                             .threads = (unsigned)threads,
                                             .block = (unsigned)(n / threads % blocks),
                                             .blocks = (unsigned)blocks};
    my_block = &of_block[rank][pwr_host_place.block];
    make_calls(rank, kernel);
    return NULL;
}

static void launch_all(void)
{
    enum { MOST = MOST_RANKS * MOST_BLOCKS * MOST_THREADS };
    pthread_t all[MOST];
    blocks = 1 + (int)draw(MOST_BLOCKS);
    threads = 1 + (int)draw(MOST_THREADS);
    int num = ranks * blocks * threads;
    for (int r = 0; r < ranks; ++r) {
        pthread_barrier_init(&of_rank[r], NULL, (unsigned)(blocks * threads));
        for (int b = 0; b < blocks; ++b) {
            pthread_barrier_init(&of_block[r][b], NULL, (unsigned)threads);
        }
    }
    for (int n = 0; n < num; ++n) {
        if (0 != pthread_create(&all[n], NULL, run, (void *)(intptr_t)n)) {
            exit(99);
        }
    }
    for (int n = 0; n < num; ++n) {
        pthread_join(all[n], NULL);
    }
    for (int r = 0; r < ranks; ++r) {
        pthread_barrier_destroy(&of_rank[r]);
        for (int b = 0; b < blocks; ++b) {
            pthread_barrier_destroy(&of_block[r][b]);
        }
    }
}

static void open_teams(void)
{
    memset(team, 0, sizeof team);
    for (int r = 0; r < ranks; ++r) {
        size_t bytes = pwr_team_window_bytes((unsigned)ranks, SLOT);
        char *window = aligned_alloc(PWR_UNIT, bytes);
        if (NULL == window) {
            exit(99);
        }
        memset(window, 0, pwr_team_zeroed_bytes((unsigned)ranks));
        for (int other = 0; other < ranks; ++other) {
            team[other].window[r] = (uintptr_t)window;
        }
        team[r].rank = (unsigned)r;
        team[r].size = (unsigned)ranks;
        team[r].slot = SLOT;
        team[r].stop = (uintptr_t)&never;
        team[r].lives = (uintptr_t)lives;
        team[r].life_bytes = sizeof lives[0];
    }
}

static void close_teams(void)
{
    for (int r = 0; r < ranks; ++r) {
        void *window = (void *)(uintptr_t)team[0].window[r];
        free(window);
    }
}

#ifndef __SANITIZE_THREAD__ /* who gives up has no order with others */
/* The last rank's kernel never comes: the others' end, when that rank has died or they are told
   to. */
static int without_one(unsigned *word, unsigned value)
{
    ranks = MOST_RANKS;
    open_teams();
    for (kernel = 0; kernel < 2; ++kernel) { /* short ones, then by flags */
        for (int i = 0; i < CALLS; ++i) {
            calls[0][i] = calls[1][i] = (struct call){
                .count = 0 == kernel ? 10 : APART, .type = PWR_IS_u64, .root = PWR_ALL};
        }
        --ranks;
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
        launch_all();
        ++ranks;
    }
    int all_stopped = 1;
    for (int r = 0; r < ranks - 1; ++r) {
        all_stopped &= 0 != team[r].stopped;
    }
    *word = 0;
    close_teams();
    return all_stopped;
}

#endif

static int row(void)
{
    ranks = 1 + (int)draw(MOST_RANKS);
    apart = (int)draw(2);
    open_teams();
    draw_calls();
    for (size_t i = 0; i < COUNT; ++i) {
        for (int r = 0; r < ranks; ++r) {
            vector[r][i] = model[r][i] = i * 31 + (uint64_t)r * 17;
        }
    }
    for (kernel = 0; kernel < KERNELS; ++kernel) {
        launch_all();
        for (int i = 0; i < CALLS; ++i) {
            expect(&calls[kernel][i], i);
        }
    }
    close_teams();
    return 0 == memcmp(vector, model, sizeof vector[0] * (size_t)ranks);
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? atol(argv[1]) : 20;
    uint64_t seed = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
    alarm(argc > 3 ? (unsigned)atoi(argv[3]) : GIVE_UP_S);
    for (long i = 0; i < rows; ++i) {
        state = seed * 1000003 + (uint64_t)i;
        draw(2);
        if (!row()) {
            printf("test_team: row %ld of seed %lu is wrong\n", i, (unsigned long)seed);
            return 1;
        }
    }
#ifndef __SANITIZE_THREAD__
    if (!without_one(&never, 1) || !without_one(&lives[MOST_RANKS - 1], POWERAWARE_DIED)) {
        printf("test_team: kernels that do not stop\n");
        return 1;
    }
#endif
    return 0;
}
