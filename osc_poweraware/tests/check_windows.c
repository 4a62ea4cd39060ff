/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What random_windows cannot draw, because the outcome depends on who comes first, but not on who
 * all come: counters, tickets, locks made of swaps, neighbours' memory, and what MPI_PROC_NULL and
 * empty epochs leave alone.
 *
 *   mpirun -np N check_windows [allocate|create|shared|dynamic] [name of a test to leave out ...]
 */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 64, TURNS = 20, LIMIT_S = 1500 };

static int rank;
static int size;
static int wrong;
static const char *running;

typedef struct window {
    MPI_Win win;
    long *mine;      /* [CELLS] */
    MPI_Aint *bases; /* [size] displacement of each rank's first cell */
    const char *flavour;
} window_t;

static void expect(bool right, const char *what, long found, long expected)
{
    if (!right) {
        ++wrong;
        fprintf(stderr, "check_windows: wrong: %s, rank %d of %d: %s is %ld, expected %ld\n",
                running, rank, size, what, found, expected);
    }
}

static void expect_equal(const char *what, long found, long expected)
{
    expect(found == expected, what, found, expected);
}

static void nap(void)
{
    struct timespec pause = {0, (rand() % 3) * 300000L};
    nanosleep(&pause, NULL);
}

static MPI_Aint at(const window_t *w, int target, int cell)
{
    return w->bases[target] +
           cell * (MPI_Aint)(0 == strcmp("dynamic", w->flavour) ? sizeof(long) : 1);
}

/* ---- windows ---- */

static void make_window(window_t *w, const char *flavour)
{
    MPI_Aint bytes = CELLS * (MPI_Aint)sizeof(long);
    MPI_Aint base = 0;
    w->flavour = flavour;
    w->bases = calloc((size_t)size, sizeof *w->bases);
    w->mine = NULL;
    if (0 == strcmp("allocate", flavour)) {
        MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w->mine, &w->win);
    } else if (0 == strcmp("shared", flavour)) {
        MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w->mine,
                                &w->win);
    } else if (0 == strcmp("dynamic", flavour)) {
        w->mine = malloc((size_t)bytes);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
        MPI_Win_attach(w->win, w->mine, bytes);
        MPI_Get_address(w->mine, &base);
    } else {
        w->mine = malloc((size_t)bytes);
        MPI_Win_create(w->mine, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
    }
    MPI_Allgather(&base, 1, MPI_AINT, w->bases, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void free_window(window_t *w)
{
    bool own = 0 == strcmp("create", w->flavour) || 0 == strcmp("dynamic", w->flavour);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == strcmp("dynamic", w->flavour)) {
        MPI_Win_detach(w->win, w->mine);
    }
    MPI_Win_free(&w->win);
    if (own) {
        free(w->mine);
    }
    free(w->bases);
}

static void clear(const window_t *w)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win);
    memset(w->mine, 0, CELLS * sizeof(long));
    MPI_Win_unlock(rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static long cell_of(const window_t *w, int cell)
{
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win);
    long value = w->mine[cell];
    MPI_Win_unlock(rank, w->win);
    return value;
}

/* ---- tests ---- */

/* Read, add, write under a lock: no turn is lost. */
static void exclusive_counter(window_t *w)
{
    for (int i = 0; i < TURNS; ++i) {
        long value = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
        MPI_Get(&value, 1, MPI_LONG, 0, at(w, 0, 0), 1, MPI_LONG, w->win);
        MPI_Win_flush(0, w->win);
        if (0 == i % 7) {
            nap();
        }
        ++value;
        MPI_Put(&value, 1, MPI_LONG, 0, at(w, 0, 0), 1, MPI_LONG, w->win);
        MPI_Win_unlock(0, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        expect_equal("the counter", cell_of(w, 0), (long)TURNS * size);
    }
}

/* Tickets are all different, and rise on each rank. */
static void tickets(window_t *w)
{
    long one = 1;
    long sum = 0;
    long all;
    long last = -1;
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < TURNS; ++i) {
        long ticket = -1;
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, at(w, 0, 1), MPI_SUM, w->win);
        MPI_Win_flush(0, w->win);
        expect(ticket > last, "a ticket", ticket, last + 1);
        last = ticket;
        sum += ticket;
    }
    MPI_Win_unlock_all(w->win);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long num = (long)TURNS * size;
    expect_equal("the sum of all tickets", all, num * (num - 1) / 2);
}

/* Ranks pass a token on by swaps, in their order. */
static void swaps(window_t *w)
{
    long next = rank + 1;
    long want = rank;
    long found = -1;
    MPI_Win_lock_all(0, w->win);
    while (want != found) {
        MPI_Compare_and_swap(&next, &want, &found, MPI_LONG, 0, at(w, 0, 2), w->win);
        MPI_Win_flush(0, w->win);
        expect(found <= rank, "the token", found, rank);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        expect_equal("the token at the end", cell_of(w, 2), size);
    }
}

/* Everybody adds to everybody's cells at once; what they fetch is a partial sum. */
static void sums(window_t *w)
{
    long mine[8];
    long found[8];
    for (int i = 0; i < 8; ++i) {
        mine[i] = rank + 1;
    }
    MPI_Win_fence(0, w->win);
    for (int i = 0; i < size; ++i) {
        int target = (rank + i) % size;
        MPI_Accumulate(mine, 8, MPI_LONG, target, at(w, target, 8), 8, MPI_LONG, MPI_SUM, w->win);
    }
    MPI_Win_fence(0, w->win);
    long all = (long)size * (size + 1) / 2;
    for (int i = 0; i < 8; ++i) {
        expect_equal("a sum after the fence", w->mine[8 + i], all);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    MPI_Win_lock_all(0, w->win);
    for (int target = 0; target < size; ++target) {
        MPI_Get_accumulate(mine, 8, MPI_LONG, found, 8, MPI_LONG, target, at(w, target, 8), 8,
                           MPI_LONG, MPI_SUM, w->win);
        MPI_Win_flush_local(target, w->win);
        expect(found[7] >= all && found[7] <= 2 * all - mine[0], "a partial sum", found[7], all);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_equal("a sum at the end", cell_of(w, 15), 2 * all);
}

/* A flag and what it announces: written, flushed, seen. */
static void announced(window_t *w)
{
    int right = (rank + 1) % size;
    long flag = 0;
    long value = rank + 1000;
    long one = 1;
    MPI_Win_lock_all(0, w->win);
    MPI_Put(&value, 1, MPI_LONG, right, at(w, right, 20), 1, MPI_LONG, w->win);
    MPI_Win_flush(right, w->win);
    MPI_Accumulate(&one, 1, MPI_LONG, right, at(w, right, 21), 1, MPI_LONG, MPI_REPLACE, w->win);
    MPI_Win_flush(right, w->win);
    while (0 == flag) {
        MPI_Fetch_and_op(NULL, &flag, MPI_LONG, rank, at(w, rank, 21), MPI_NO_OP, w->win);
        MPI_Win_flush(rank, w->win);
    }
    MPI_Get(&value, 1, MPI_LONG, rank, at(w, rank, 20), 1, MPI_LONG, w->win);
    MPI_Win_flush(rank, w->win);
    MPI_Win_unlock_all(w->win);
    expect_equal("what was announced", value, (rank + size - 1) % size + 1000);
}

/* Nobody's memory is touched, requests end, epochs of nothing pass. */
static void nobody(window_t *w)
{
    long value = 5;
    MPI_Request requests[2];
    MPI_Group none = MPI_GROUP_EMPTY;
    MPI_Win_fence(0, w->win);
    MPI_Get(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win);
    MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    MPI_Win_post(none, 0, w->win);
    MPI_Win_start(none, 0, w->win);
    MPI_Win_complete(w->win);
    MPI_Win_wait(w->win);
    MPI_Win_lock_all(0, w->win);
    MPI_Rget(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win, &requests[0]);
    MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(w->win);
    expect_equal("what nobody had", value, 5);
    for (int i = 0; i < CELLS; ++i) {
        expect_equal("a cell", w->mine[i], 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The neighbours' memory by loads and stores. */
static void neighbours(window_t *w)
{
    MPI_Aint bytes;
    int unit;
    long *theirs;
    int right = (rank + 1) % size;
    if (0 != strcmp("shared", w->flavour)) {
        return;
    }
    MPI_Win_shared_query(w->win, right, &bytes, &unit, &theirs);
    expect_equal("bytes of the neighbour", (long)bytes, CELLS * (long)sizeof(long));
    MPI_Win_lock_all(0, w->win);
    theirs[30] = rank + 1;
    MPI_Win_sync(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w->win);
    expect_equal("what the neighbour stored", w->mine[30], (rank + size - 1) % size + 1);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(window_t *w);
} tests[] = {
    {"exclusive_counter", exclusive_counter},
    {"tickets", tickets},
    {"swaps", swaps},
    {"sums", sums},
    {"announced", announced},
    {"nobody", nobody},
    {"neighbours", neighbours},
};

static void say_what_hangs(int signal_number)
{
    static const char before[] = "check_windows: hangs: ";
    (void)signal_number;
    bool said = write(STDERR_FILENO, before, sizeof before - 1) > 0 &&
                write(STDERR_FILENO, running, strlen(running)) > 0 &&
                write(STDERR_FILENO, "\n", 1) > 0;
    _exit(said ? 4 : 5);
}

static bool is_named(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; ++i) {
        if (0 == strcmp(name, argv[i])) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *flavour = argc > 1 ? argv[1] : "allocate";
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank + 1);
    signal(SIGALRM, say_what_hangs);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
        window_t w;
        running = tests[i].name;
        if (!is_named(running, argc, argv)) {
            alarm(LIMIT_S);
            make_window(&w, flavour);
            clear(&w);
            tests[i].run(&w);
            free_window(&w);
        }
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_windows: %d wrong results\n", all);
    }
    MPI_Finalize();
    return wrong > 0;
}
