/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every call of windows that waits, with the last rank late: is the result right, and did those who
 * waited give their CPU back?
 *
 *   mpirun -np N check_late [-c] [-f allocate|create|shared] [-l MILLISECONDS] [-t] [KIND...]
 *
 * -c: nobody is watched; instead of that, says how much of a CPU the call took of who waited (the
 * most of any rank) and how long it took.  -l: how late then (default 100).  -f: how the window is
 * made (default allocate).  -t: with MPI_THREAD_MULTIPLE.
 * The last rank prints for each kind, or those that are named, what the others did while it was
 * late, as check_waits does:
 *
 *     post: 1 sleep, 0 poll, 0 are gone
 *
 * Where the window is such that a call need not wait for the last rank, the others are gone.  The
 * last line counts wrong results.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

enum { SLOTS = 64, HANG_S = 1500 };

static int rank, size, last, wrong;
static int late_ms = 100;
static bool watches, costs;
static watched_t found;
static MPI_Win window;
static long *exposed;
static MPI_Group late, others;

static void check(bool right, const char *what)
{
    if (!right) {
        printf("rank %d: wrong: %s\n", rank, what);
        ++wrong;
    }
}

static void come_late(void)
{
    if (rank == last && watches && watched_leads()) {
        found = watched_find(watched_usual);
        watched_come();
    } else if (rank == last && !watches) {
        const struct timespec time = {.tv_sec = late_ms / 1000,
                                      .tv_nsec = late_ms % 1000 * 1000000l};
        nanosleep(&time, NULL);
    }
}

/* Each rank's own slot of the last rank's memory. */
static void put_to_last(long *value)
{
    *value = rank + 1;
    MPI_Put(value, 1, MPI_LONG, last, rank, 1, MPI_LONG, window);
}

static void check_slots(const char *what)
{
    for (int i = 0; rank == last && i < last; ++i) {
        check(i + 1 == exposed[i], what);
    }
}

/* ---- all ranks ---- */

static void fence(void)
{
    MPI_Win_fence(0, window);
    come_late();
    MPI_Win_fence(0, window);
}

static void fence_put(void)
{
    long value;
    MPI_Win_fence(0, window);
    come_late();
    if (rank != last) {
        put_to_last(&value);
    }
    MPI_Win_fence(0, window);
    check_slots("put between fences");
}

/* ---- post, start, complete, wait ---- */

static void expose_late(void)
{
    long value = 7;
    if (rank == last) {
        MPI_Win_start(others, 0, window);
        come_late();
        for (int peer = 0; peer < last; ++peer) {
            MPI_Put(&value, 1, MPI_LONG, peer, 0, 1, MPI_LONG, window);
        }
        MPI_Win_complete(window);
    } else {
        MPI_Win_post(late, 0, window);
        MPI_Win_wait(window);
        check(value == *exposed, "put while exposed");
    }
}

static void access_late(void)
{
    long value;
    if (rank == last) {
        come_late();
        MPI_Win_post(others, 0, window);
        MPI_Win_wait(window);
        check_slots("put after start");
    } else {
        MPI_Win_start(late, 0, window);
        put_to_last(&value);
        MPI_Win_complete(window);
    }
}

/* ---- locks: the last rank is late to let go ---- */

static void hold_and_come_late(int target)
{
    if (rank == last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Win_flush(target, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        come_late();
        MPI_Win_unlock(target, window);
    }
}

static void lock(void)
{
    long sum = 0, one = 1;
    if (0 == rank) {
        *exposed = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    hold_and_come_late(0);
    if (rank != last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        sum += one;
        MPI_Put(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(0 != rank || last == *exposed, "sum within locks");
}

static void lock_shared(void)
{
    hold_and_come_late(0);
    if (rank != last) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Win_unlock(0, window);
    }
}

static void lock_all(void)
{
    hold_and_come_late(last);
    if (rank != last) {
        MPI_Win_lock_all(0, window);
        MPI_Win_unlock_all(window);
    }
}

/* ---- the last rank is the target, and not in MPI ---- */

typedef void operation_t(long *value, long *result);

static void put(long *value, long *result)
{
    (void)result;
    put_to_last(value);
}

static void get(long *value, long *result)
{
    (void)value;
    MPI_Get(result, 1, MPI_LONG, last, SLOTS - 1, 1, MPI_LONG, window);
}

static void accumulate(long *value, long *result)
{
    (void)result;
    MPI_Accumulate(value, 1, MPI_LONG, last, SLOTS - 2, 1, MPI_LONG, MPI_SUM, window);
}

static void get_accumulate(long *value, long *result)
{
    MPI_Get_accumulate(value, 1, MPI_LONG, result, 1, MPI_LONG, last, SLOTS - 2, 1, MPI_LONG,
                       MPI_SUM, window);
}

static void fetch_and_op(long *value, long *result)
{
    MPI_Fetch_and_op(value, result, MPI_LONG, last, SLOTS - 2, MPI_SUM, window);
}

static void compare_and_swap(long *value, long *result)
{
    MPI_Compare_and_swap(value, value, result, MPI_LONG, last, SLOTS - 3, window);
}

static void in_a_lock(operation_t *operate)
{
    long value = 1, result = 0;
    come_late();
    if (rank != last) {
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
        operate(&value, &result);
        MPI_Win_unlock(last, window);
    }
}

static void flushed(operation_t *operate, void (*flush)(void))
{
    long value = 1, result = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    come_late();
    if (rank != last) {
        operate(&value, &result);
        flush();
    }
    MPI_Win_unlock_all(window);
}

static void flush_one(void)
{
    MPI_Win_flush(last, window);
}

static void flush_all(void)
{
    MPI_Win_flush_all(window);
}

static void flush_one_locally(void)
{
    MPI_Win_flush_local(last, window);
}

static void flush_all_locally(void)
{
    MPI_Win_flush_local_all(window);
}

static void unlock(void)
{
    in_a_lock(put);
    MPI_Barrier(MPI_COMM_WORLD);
    check_slots("put before unlock");
}

static void put_flush(void)
{
    flushed(put, flush_one);
}

static void put_flush_all(void)
{
    flushed(put, flush_all);
}

static void get_flush(void)
{
    flushed(get, flush_one);
}

static void get_flush_local(void)
{
    flushed(get, flush_one_locally);
}

static void get_flush_local_all(void)
{
    flushed(get, flush_all_locally);
}

static void acc_flush(void)
{
    flushed(accumulate, flush_one);
}

static void get_acc_flush(void)
{
    flushed(get_accumulate, flush_one);
}

static void fetch_flush(void)
{
    flushed(fetch_and_op, flush_one);
}

static void swap_flush(void)
{
    flushed(compare_and_swap, flush_one);
}

/* ---- requests ---- */

typedef int request_fn_t(long *value, MPI_Request *request);

static int rput(long *value, MPI_Request *request)
{
    return MPI_Rput(value, 1, MPI_LONG, last, rank, 1, MPI_LONG, window, request);
}

static int rget(long *value, MPI_Request *request)
{
    return MPI_Rget(value, 1, MPI_LONG, last, SLOTS - 1, 1, MPI_LONG, window, request);
}

static int raccumulate(long *value, MPI_Request *request)
{
    return MPI_Raccumulate(value, 1, MPI_LONG, last, SLOTS - 2, 1, MPI_LONG, MPI_SUM, window,
                           request);
}

static void waited_for(request_fn_t *start)
{
    long value = 1;
    MPI_Request request;
    come_late();
    if (rank != last) {
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
        start(&value, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(last, window);
    }
}

static void rput_wait(void)
{
    waited_for(rput);
}

static void rget_wait(void)
{
    waited_for(rget);
}

static void racc_wait(void)
{
    waited_for(raccumulate);
}

/* ---- all of them ---- */

typedef struct kind {
    const char *name;
    void (*run)(void);
} kind_t;

static const kind_t kinds[] = {
    {"fence", fence},
    {"fence-put", fence_put},
    {"expose", expose_late},
    {"access", access_late},
    {"lock", lock},
    {"lock-shared", lock_shared},
    {"lock-all", lock_all},
    {"unlock", unlock},
    {"put-flush", put_flush},
    {"put-flush-all", put_flush_all},
    {"get-flush", get_flush},
    {"get-flush-local", get_flush_local},
    {"get-flush-local-all", get_flush_local_all},
    {"acc-flush", acc_flush},
    {"get-acc-flush", get_acc_flush},
    {"fetch-flush", fetch_flush},
    {"swap-flush", swap_flush},
    {"rput-wait", rput_wait},
    {"rget-wait", rget_wait},
    {"racc-wait", racc_wait},
};

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_and_measure(const kind_t *kind)
{
    double began_s = MPI_Wtime(), used_s = cpu_s(), mine[2] = {0.0, 0.0}, most[2];
    kind->run();
    if (rank != last) {
        mine[1] = MPI_Wtime() - began_s;
        mine[0] = (cpu_s() - used_s) / mine[1];
    }
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, last, MPI_COMM_WORLD);
    if (rank == last) {
        printf("%s: %.1f %% of a CPU, %.2f ms\n", kind->name, 100.0 * most[0], 1e3 * most[1]);
    }
}

static void run_and_watch(const kind_t *kind)
{
    if (rank != last) {
        watched_begin();
    }
    kind->run();
    if (rank != last) {
        watched_end();
    } else {
        printf("%s: %d sleep, %d poll, %d are gone\n", kind->name, found.sleep, found.poll,
               found.gone);
    }
}

static void run(const kind_t *kind)
{
    memset(exposed, 0, SLOTS * sizeof *exposed);
    MPI_Barrier(MPI_COMM_WORLD);
    if (costs) {
        run_and_measure(kind);
    } else {
        run_and_watch(kind);
    }
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
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

static void make_window(const char *flavour)
{
    MPI_Aint bytes = SLOTS * sizeof *exposed;
    if (0 == strcmp("shared", flavour)) {
        MPI_Win_allocate_shared(bytes, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed,
                                &window);
    } else if (0 == strcmp("create", flavour)) {
        exposed = malloc((size_t)bytes);
        MPI_Win_create(exposed, bytes, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    } else {
        MPI_Win_allocate(bytes, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
    }
}

static void make_groups(void)
{
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &last, &late);
    MPI_Group_excl(all, 1, &last, &others);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    int option, total = 0, level = MPI_THREAD_SINGLE;
    const char *flavour = "allocate";
    while (-1 != (option = getopt(argc, argv, "cf:l:t"))) {
        switch (option) {
        case 'c':
            costs = true;
            break;
        case 'f':
            flavour = optarg;
            break;
        case 'l':
            late_ms = atoi(optarg);
            break;
        case 't':
            level = MPI_THREAD_MULTIPLE;
            break;
        default:
            return 2;
        }
    }
    alarm(HANG_S);
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    watches = !costs && watched_open(rank == last, 1);
    make_groups();
    make_window(flavour);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (is_named(&kinds[k], argc, argv)) {
            run(&kinds[k]);
        }
    }
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Group_free(&late);
    MPI_Group_free(&others);
    MPI_Win_free(&window);
    if (0 == rank) {
        printf("check_late: %d wrong results\n", total);
    }
    MPI_Finalize();
    return 0 == total ? 0 : 1;
}
