/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A target that computes and makes no call: are requests of others served meanwhile?
 *
 *   mpirun -np N check_agent [-s SECONDS] [-r ROUNDS] [-f allocate|create] [-l MILLISECONDS] [-q]
 *       [KIND...]
 *
 * The last rank spins until rank 0 has put a word into its window, after a call of the KIND.  So it
 * returns because it was served, and not because time has passed; where nobody serves it, it makes
 * progress by calls after SECONDS (default 60).  Prints for each kind
 *
 *     accumulate: served
 *
 * or "accumulate: waits".  Kind "stress": all ranks accumulate into all, under locks, and compute
 * in between, ROUNDS times (default 200); "kill": the last rank kills itself while it is served.
 * "cost" is no test: it says how long rank 0's accumulates take under a lock, 10 ms apart (-q:
 * there are none), while the last rank computes pieces of MILLISECONDS (default 100) and makes
 * progress for 1 ms in between, ROUNDS times; and how long a piece takes, over the CPU time that
 * its thread has of it, and what other threads take. The last line counts wrong results.
 */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Places of a window; ranks have those from SUMS on. */
enum { FLAG, VALUE, SUM, LOCKED, SUMS = 8, SLOTS = 64, HANG_S = 1500 };

static int rank, size, last, wrong;
static int limit_s = 60, rounds = 200, piece_ms = 100;
static bool quiet;
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
    if (rank == last) {
        if (!compute_until_told()) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
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

/* ---- what it costs, and gains ---- */

enum { TOLD = 1, MOST_TIMES = 100000 };

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Loops of compute() that last as long as a piece, at best. */
static unsigned find_work(void)
{
    enum { LOOPS = 10000000, TRIES = 10 };
    double best_s = 1.0;
    for (int i = 0; i < TRIES; ++i) {
        double begun_s = MPI_Wtime();
        compute(LOOPS);
        double took_s = MPI_Wtime() - begun_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return (unsigned)(1e-3 * piece_ms / best_s * LOOPS);
}

static void make_progress(double seconds)
{
    double end_s = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end_s) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void compute_in_pieces(unsigned work)
{
    double pieces_s = 0.0, thread_s = 0.0, begun_s = MPI_Wtime();
    double others_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - clock_s(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < rounds; ++i) {
        double piece_s = MPI_Wtime(), own_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
        compute(work);
        thread_s += clock_s(CLOCK_THREAD_CPUTIME_ID) - own_s;
        pieces_s += MPI_Wtime() - piece_s;
        make_progress(1e-3);
    }
    others_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - clock_s(CLOCK_THREAD_CPUTIME_ID) - others_s;
    double lasted_s = MPI_Wtime() - begun_s;
    MPI_Send(NULL, 0, MPI_BYTE, 0, TOLD, MPI_COMM_WORLD);
    printf("cost: piece %.3f ms, %.4f of its CPU time; other threads %.3f %% of a CPU\n",
           1e3 * pieces_s / rounds, pieces_s / thread_s, 100.0 * others_s / lasted_s);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void ask_until_told(void)
{
    static double times_s[MOST_TIMES];
    const struct timespec pause = {.tv_nsec = 10000000};
    int told = 0, num = 0;
    while (!told && num < MOST_TIMES) {
        nanosleep(&pause, NULL);
        double begun_s = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
        accumulate();
        MPI_Win_unlock(last, window);
        times_s[num++] = MPI_Wtime() - begun_s;
        MPI_Iprobe(last, TOLD, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    }
    qsort(times_s, (size_t)num, sizeof times_s[0], compare);
    printf("cost: %d requests, median %.3f ms, 95 %% below %.3f ms\n", num, 1e3 * times_s[num / 2],
           1e3 * times_s[(size_t)num * 95 / 100]);
}

static void cost(void)
{
    unsigned work = rank == last ? find_work() : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        compute_in_pieces(work);
    } else if (0 == rank) {
        if (!quiet) {
            ask_until_told();
        }
        MPI_Recv(NULL, 0, MPI_BYTE, last, TOLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
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
    if (is_named("cost", argc, argv, false)) {
        cost();
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
    while (-1 != (option = getopt(argc, argv, "s:r:f:l:q"))) {
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
        case 'l':
            piece_ms = atoi(optarg);
            break;
        case 'q':
            quiet = true;
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
