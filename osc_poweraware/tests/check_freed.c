/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Windows are made and freed: is the module of each, when it is freed at last, as its component has
 * made it, and is all memory given back?
 *
 *   mpirun -np N check_freed [-s] [-t] [WINDOWS]
 *
 * WINDOWS (default 1000) are made, several at a time, called and freed in another order.  -s:
 * shared ones.  -t: with MPI_THREAD_MULTIPLE; meanwhile other threads put into one that stays. Rank
 * 0 prints in how many of them functions of ours were, how many had some left, and by how many
 * bytes the process grew.
 */
#include "pwr_ompi/compat.h"

#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"

#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_A_TIME = 10, WARM = 200, THREADS = 3, PUTS = 2000, HANG_S = 1500 };

static int rank, size, wrong, ours, left;
static bool shared;

static void check(bool right, const char *what)
{
    if (!right) {
        printf("rank %d: wrong: %s\n", rank, what);
        ++wrong;
    }
}

/* ---- whose functions a module has ---- */

static bool is_ours(const void *function)
{
    Dl_info found;
    return NULL != function && 0 != dladdr(function, &found) &&
           NULL != strstr(found.dli_fname, "mca_osc_poweraware");
}

/* A table of functions, whatever is in it. */
static bool has_ours(const ompi_osc_base_module_t *module)
{
    void *functions[sizeof *module / sizeof(void *)];
    memcpy(functions, module, sizeof functions);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        if (is_ours(functions[i])) {
            return true;
        }
    }
    return false;
}

/* The component gives the module's memory back: the last moment to look at it. */
static const void *_Atomic watched;
static ompi_osc_base_module_t last_seen;

extern void __libc_free(void *memory);

void free(void *memory)
{
    if (NULL != memory && memory == watched) {
        watched = NULL;
        memcpy(&last_seen, memory, sizeof last_seen);
    }
    __libc_free(memory);
}

/* ---- windows ---- */

static MPI_Win make(long **memory)
{
    MPI_Win window;
    if (shared) {
        MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory,
                                &window);
    } else {
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory,
                         &window);
    }
    ours += has_ours(((ompi_win_t *)window)->w_osc_module);
    return window;
}

static void call(MPI_Win window, const long *memory)
{
    long value = rank;
    int peer = (rank + 1) % size;
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_LONG, peer, 0, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    check((rank + size - 1) % size == *memory, "put between fences");
}

static void drop(MPI_Win *window)
{
    watched = ((ompi_win_t *)*window)->w_osc_module;
    memset(&last_seen, 0, sizeof last_seen);
    MPI_Win_free(window);
    check(NULL == watched, "the module's memory was not given back");
    left += has_ours(&last_seen);
}

/* One of them is never called. */
static void make_and_free(int round)
{
    MPI_Win windows[AT_A_TIME];
    long *memory[AT_A_TIME];
    for (int i = 0; i < AT_A_TIME; ++i) {
        windows[i] = make(&memory[i]);
    }
    for (int i = 1; i < AT_A_TIME; ++i) {
        call(windows[i], memory[i]);
    }
    for (int i = 0; i < AT_A_TIME; ++i) {
        drop(&windows[(3 * i + round) % AT_A_TIME]);
    }
}

/* ---- other threads ---- */

static MPI_Win lasting;
static long *slots;

/* Each its own slot of each rank. */
static void *put_often(void *arg)
{
    long value = 0;
    int slot = *(int *)arg;
    for (int i = 0; i < PUTS; ++i) {
        value = i;
        MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, slot, 1, MPI_LONG, lasting);
        MPI_Win_flush((rank + 1) % size, lasting);
    }
    return NULL;
}

static void begin_threads(pthread_t *threads, int *numbers)
{
    MPI_Win_allocate(THREADS * sizeof *slots, sizeof *slots, MPI_INFO_NULL, MPI_COMM_WORLD, &slots,
                     &lasting);
    MPI_Win_lock_all(0, lasting);
    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, put_often, &numbers[i]);
    }
}

static void end_threads(const pthread_t *threads)
{
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    MPI_Win_unlock_all(lasting);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; ++i) {
        check(PUTS - 1 == slots[i], "puts of threads");
    }
    MPI_Win_free(&lasting);
}

int main(int argc, char **argv)
{
    int option, level = MPI_THREAD_SINGLE, total = 0, numbers[THREADS];
    pthread_t threads[THREADS];
    while (-1 != (option = getopt(argc, argv, "st"))) {
        if ('s' == option) {
            shared = true;
        } else if ('t' == option) {
            level = MPI_THREAD_MULTIPLE;
        } else {
            return 2;
        }
    }
    bool has_threads = MPI_THREAD_MULTIPLE == level;
    int windows = optind < argc ? atoi(argv[optind]) : 1000;
    size_t before = 0;
    alarm(HANG_S);
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (has_threads) {
        begin_threads(threads, numbers);
    }
    for (int i = 0; i < windows; i += AT_A_TIME) {
        make_and_free(i / AT_A_TIME);
        before = WARM == i ? mallinfo2().uordblks : before;
    }
    size_t after = mallinfo2().uordblks;
    if (has_threads) {
        end_threads(threads);
    }
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("ours: %d, left: %d, grew: %ld\n", ours, left, (long)(after - before));
        printf("check_freed: %d wrong results\n", total);
    }
    MPI_Finalize();
    return 0 == total ? 0 : 1;
}
