/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A target that computes and makes no call: are requests of others served meanwhile?
 *
 *   mpirun -np N check_agent [-s SECONDS] [-r ROUNDS] [-f allocate|create] [KIND...]
 *
 * The last rank spins until rank 0 has put a word into its window, after a call of the KIND.  So it
 * returns because it was served, and not because time has passed; where nobody serves it, it makes
 * progress by calls after SECONDS (default 60).  Prints for each kind
 *
 *     accumulate: served
 *
 * or "accumulate: waits".  Kind "stress": all ranks accumulate into all, under locks, and compute
 * in between, ROUNDS times (default 200); "kill": the last rank kills itself while it is served.
 * The last line counts wrong results.
 */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Places of a window; ranks have those from SUMS on. */
enum { FLAG, VALUE, SUM, LOCKED, SUMS = 8, SLOTS = 64, HANG_S = 1500 };

static int rank, size, last, wrong;
static int limit_s = 60, rounds = 200;
static MPI_Win window;
static long *exposed;

static void check(bool right, const char *what)
{
    if (!right) {
        printf("rank %d: wrong: %s\n", rank, what);
        ++wrong;
    }
}

/* ---- a target that computes ---- */

static long look(int place)
{
    return __atomic_load_n(&exposed[place], __ATOMIC_ACQUIRE);
}

/* Whether the flag came while it spun. */
static bool compute_until_told(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD); /* its last call */
    double end_s = MPI_Wtime() + limit_s;              /* no progress: it reads a clock */
    while (1 != look(FLAG) && MPI_Wtime() < end_s) {
    }
    bool served = 1 == look(FLAG);
    while (1 != look(FLAG)) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    return served;
}

static void let_it_compute(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tell(void)
{
    long one = 1;
    MPI_Put(&one, 1, MPI_LONG, last, FLAG, 1, MPI_LONG, window);
    MPI_Win_flush(last, window);
}

typedef struct kind {
    const char *name;
    void (*request)(void);
} kind_t;

static void put(void)
{
    long value = 7;
    MPI_Put(&value, 1, MPI_LONG, last, VALUE, 1, MPI_LONG, window);
    MPI_Win_flush(last, window);
}

static void get(void)
{
    long value = 0;
    MPI_Get(&value, 1, MPI_LONG, last, VALUE, 1, MPI_LONG, window);
    MPI_Win_flush(last, window);
    check(7 == value, "get");
}

static void accumulate(void)
{
    long three = 3;
    MPI_Accumulate(&three, 1, MPI_LONG, last, SUM, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_flush(last, window);
}

static void fetch(void)
{
    long three = 3, before = 0;
    MPI_Fetch_and_op(&three, &before, MPI_LONG, last, SUM, MPI_SUM, window);
    MPI_Win_flush(last, window);
    check(0 == before, "fetch_and_op");
}

static const kind_t kinds[] = {
    {"put", put}, {"get", get}, {"accumulate", accumulate}, {"fetch", fetch}};

static void ask_with_lock(int lock, void (*request)(void))
{
    MPI_Win_lock(lock, last, 0, window);
    request();
    tell();
    MPI_Win_unlock(last, window);
}

static void run_kind(const char *name, int lock, void (*request)(void))
{
    memset(exposed, 0, SLOTS * sizeof *exposed);
    exposed[VALUE] = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        bool served = compute_until_told();
        printf("%s: %s\n", name, served ? "served" : "waits");
        fflush(stdout);
    } else if (0 == rank) {
        let_it_compute();
        ask_with_lock(lock, request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(rank != last || 0 == exposed[SUM] || 3 == exposed[SUM], "sum");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- all serve all ---- */

static void compute(unsigned work)
{
    for (volatile unsigned i = 0; i < work; ++i) {
    }
}

static void add_to(int target, int round)
{
    long one = 1, value = 0;
    if (0 == round % 3) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Get(&value, 1, MPI_LONG, target, LOCKED, 1, MPI_LONG, window);
        MPI_Win_flush(target, window);
        ++value;
        MPI_Put(&value, 1, MPI_LONG, target, LOCKED, 1, MPI_LONG, window);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        MPI_Accumulate(&one, 1, MPI_LONG, target, SUMS + rank, 1, MPI_LONG, MPI_SUM, window);
    }
    MPI_Win_unlock(target, window);
}

static void stress(void)
{
    memset(exposed, 0, SLOTS * sizeof *exposed);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; ++i) {
        for (int target = 0; target < size; ++target) {
            add_to(target, i);
        }
        compute((unsigned)(rank + 1) * 1000 * (unsigned)(i % 7));
        if (0 == i % 5) {
            long sum = 1;
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            check(size == sum, "allreduce in between");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long locked = (rounds + 2) / 3;
    check(locked * size == look(LOCKED), "sum under exclusive locks");
    for (int i = 0; i < size; ++i) {
        check(rounds - locked == look(SUMS + i), "sum of accumulates");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void be_killed(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last && compute_until_told()) {
        printf("kill: served\n");
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    if (0 == rank) {
        let_it_compute();
    }
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
    for (;;) {
        accumulate();
        tell();
    }
}

/* ---- all of them ---- */

static bool is_named(const char *name, int argc, char **argv, bool without_names)
{
    for (int i = optind; i < argc; ++i) {
        if (0 == strcmp(name, argv[i])) {
            return true;
        }
    }
    return optind == argc && without_names;
}

static void run_named(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        if (is_named(kinds[i].name, argc, argv, true)) {
            run_kind(kinds[i].name, MPI_LOCK_SHARED, kinds[i].request);
        }
    }
    if (is_named("lock", argc, argv, true)) {
        run_kind("lock", MPI_LOCK_EXCLUSIVE, accumulate);
    }
    if (is_named("stress", argc, argv, false)) {
        stress();
    }
    if (is_named("kill", argc, argv, false)) {
        be_killed();
    }
}

static void make_window(const char *flavour)
{
    MPI_Aint bytes = SLOTS * sizeof *exposed;
    if (0 == strcmp("create", flavour)) {
        exposed = malloc((size_t)bytes);
        MPI_Win_create(exposed, bytes, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    } else {
        MPI_Win_allocate(bytes, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
    }
}

int main(int argc, char **argv)
{
    int option, total = 0;
    const char *flavour = "allocate";
    while (-1 != (option = getopt(argc, argv, "s:r:f:"))) {
        switch (option) {
        case 's':
            limit_s = atoi(optarg);
            break;
        case 'r':
            rounds = atoi(optarg);
            break;
        case 'f':
            flavour = optarg;
            break;
        default:
            return 2;
        }
    }
    alarm(HANG_S);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    make_window(flavour);
    run_named(argc, argv);
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Win_free(&window);
    if (0 == rank) {
        printf("check_agent: %d wrong results\n", total);
    }
    MPI_Finalize();
    return 0 == total ? 0 : 1;
}
