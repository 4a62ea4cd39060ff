/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A collective for which some ranks come late: are results right, and what did those who waited
 * cost?
 *
 *   mpirun -np N check_hang [-l MILLISECONDS] [-n NAME] WHAT LATE...
 *
 * After a call for which nobody is late, the ranks LATE come late to a second one of the same kind,
 * on a communicator of that name (default: MPI_COMM_WORLD itself).  Where ranks can be watched
 * (watched.h) they come when all others wait, and have waited for twice SHIFT_S by their clock
 * (shifted_clock.c); elsewhere, or with -l, after so many milliseconds (default 3000).
 *
 * WHAT:
 *
 *   barrier bcast allreduce alltoall gather scatterv
 *                                      the collective; rooted ones: at rank 0
 *   allreduce-stuck                    LATE come in time, and are late within the operator
 *   comms                              barriers of MPI_COMM_WORLD and of three copies, one
 *                                      after the other, for each of which LATE are late
 *   threads                            barriers of two copies in two threads at once
 *   lock                               the first of LATE has a lock of its window, and the others
 *                                      want it
 *   mismatch                           a wrong program: LATE broadcast where the others reduce, and
 *                                      end the job when they would have come
 *
 * The first of those who are late prints what the others did at last:
 *
 *     2 sleep, 0 poll, 1 are gone
 *
 * The last line of each rank counts wrong results.
 */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

enum { LONG = 40000, COMMS = 3, MOST_RANKS = 64 };

/* More than the limit of hang_report in tests.  Who has nothing to tell by then speaks after two.
 */
enum { SHIFT_S = 1100, SHIFTS = 2 };

static int rank, size, wrong;
static int late_ms = 3000;
static const char *name;
static bool late, stuck, watches, by_time;
static int first_late;
static int *in, *out;

static void expect(int got, int wanted, const char *what)
{
    if (got != wanted) {
        fprintf(stderr, "check_hang: rank %d: %s: %d, not %d\n", rank, what, got, wanted);
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
}

static void come_late(void)
{
    if (!watches) {
        const struct timespec time = {.tv_sec = late_ms / 1000,
                                      .tv_nsec = late_ms % 1000 * 1000000l};
        nanosleep(&time, NULL);
    } else if (watched_leads()) {
        watched_t found = watched_find(watched_usual);
        for (int i = 0; i < SHIFTS; ++i) {
            watched_shift_clock(SHIFT_S * UINT64_C(1000000000));
            found = watched_find(watched_usual);
        }
        printf("%d sleep, %d poll, %d are gone\n", found.sleep, found.poll, found.gone);
        fflush(stdout);
        watched_come();
    }
}

/* ---- one call each ---- */

static void barrier(MPI_Comm comm, int seed)
{
    (void)seed;
    MPI_Barrier(comm);
}

static void bcast(MPI_Comm comm, int seed)
{
    for (int i = 0; i < LONG; ++i) {
        in[i] = 0 == rank ? seed + i : -1;
    }
    MPI_Bcast(in, LONG, MPI_INT, 0, comm);
    expect(in[0], seed, "MPI_Bcast, first");
    expect(in[LONG - 1], seed + LONG - 1, "MPI_Bcast, last");
}

static void reduce_by(MPI_Comm comm, MPI_Op op, int seed)
{
    for (int i = 0; i < LONG; ++i) {
        out[i] = rank + seed + i;
    }
    MPI_Allreduce(out, in, LONG, MPI_INT, op, comm);
    expect(in[LONG - 1], size * (seed + LONG - 1) + size * (size - 1) / 2, "MPI_Allreduce");
}

static void allreduce(MPI_Comm comm, int seed)
{
    reduce_by(comm, MPI_SUM, seed);
}

static void add_late(void *left, void *right, int *len, MPI_Datatype *type)
{
    (void)type;
    if (stuck) {
        stuck = false;
        come_late();
    }
    for (int i = 0; i < *len; ++i) {
        ((int *)right)[i] += ((int *)left)[i];
    }
}

static void allreduce_stuck(MPI_Comm comm, int seed)
{
    MPI_Op op;
    MPI_Op_create(add_late, 1, &op);
    reduce_by(comm, op, seed);
    MPI_Op_free(&op);
}

static void alltoall(MPI_Comm comm, int seed)
{
    int block = LONG / size;
    for (int i = 0; i < LONG; ++i) {
        out[i] = seed + 1000 * rank + i / block;
    }
    MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, comm);
    expect(in[block - 1], seed + rank, "MPI_Alltoall, first block");
    expect(in[size * block - 1], seed + 1000 * (size - 1) + rank, "MPI_Alltoall, last block");
}

static void gather(MPI_Comm comm, int seed)
{
    int mine = seed + 7 * rank;
    MPI_Gather(&mine, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    for (int i = 0; 0 == rank && i < size; ++i) {
        expect(in[i], seed + 7 * i, "MPI_Gather");
    }
}

/* None of ours. */
static void scatterv(MPI_Comm comm, int seed)
{
    int counts[MOST_RANKS], displs[MOST_RANKS];
    for (int i = 0; i < size; ++i) {
        counts[i] = 1;
        displs[i] = i;
        out[i] = seed + i;
    }
    MPI_Scatterv(out, counts, displs, MPI_INT, in, 1, MPI_INT, 0, comm);
    expect(in[0], seed + rank, "MPI_Scatterv");
}

/* ---- with some ranks late ---- */

typedef void (*call_t)(MPI_Comm comm, int seed);

/* Watched, unless others wait for this rank. */
static void wait_in(call_t call, MPI_Comm comm)
{
    if (!late && watches) {
        watched_begin();
    }
    call(comm, 2);
    if (!late && watches) {
        watched_end();
    }
}

static void with_late_ranks(call_t call, MPI_Comm comm)
{
    call(comm, 1);
    MPI_Barrier(comm);
    if (late && call == allreduce_stuck) {
        stuck = true;
    } else if (late) {
        come_late();
    }
    wait_in(call, comm);
    call(comm, 3);
}

static void on_one(call_t call)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    if (NULL != name) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, name);
    }
    with_late_ranks(call, comm);
    if (NULL != name) {
        MPI_Comm_free(&comm);
    }
}

static void copy(MPI_Comm *comm, int number)
{
    char text[MPI_MAX_OBJECT_NAME];
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    snprintf(text, sizeof text, "copy %d", number);
    MPI_Comm_set_name(*comm, text);
}

static void comms(void)
{
    MPI_Comm copies[COMMS];
    for (int i = 0; i < COMMS; ++i) {
        copy(&copies[i], i);
    }
    with_late_ranks(barrier, MPI_COMM_WORLD);
    for (int i = 0; i < COMMS; ++i) {
        with_late_ranks(barrier, copies[i]);
        MPI_Comm_free(&copies[i]);
    }
}

static void *meet(void *arg)
{
    MPI_Comm *copies = arg;
    watched_take_lane(1);
    with_late_ranks(barrier, copies[1]);
    return NULL;
}

static void threads(void)
{
    MPI_Comm copies[2];
    pthread_t thread;
    copy(&copies[0], 0);
    copy(&copies[1], 1);
    pthread_create(&thread, NULL, meet, copies);
    with_late_ranks(barrier, copies[0]);
    pthread_join(thread, NULL);
    MPI_Comm_free(&copies[0]);
    MPI_Comm_free(&copies[1]);
}

static void lock(void)
{
    MPI_Win window;
    void *memory;
    MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_name(window, "my window");
    if (late) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first_late, 0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (late) {
        come_late();
    } else {
        watched_begin();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first_late, 0, window);
        watched_end();
    }
    MPI_Win_unlock(first_late, window);
    MPI_Win_free(&window);
}

static void *end_job(void *unused)
{
    (void)unused;
    come_late();
    kill(getpid(), SIGTERM);
    return NULL;
}

static void mismatch(void)
{
    pthread_t thread;
    bcast(MPI_COMM_WORLD, 1);
    allreduce(MPI_COMM_WORLD, 1);
    if (late) {
        pthread_create(&thread, NULL, end_job, NULL);
        bcast(MPI_COMM_WORLD, 2);
    } else {
        wait_in(allreduce, MPI_COMM_WORLD);
    }
}

static bool run(const char *what)
{
    static const struct {
        const char *name;
        call_t call;
    } calls[] = {{"barrier", barrier},     {"bcast", bcast},
                 {"allreduce", allreduce}, {"allreduce-stuck", allreduce_stuck},
                 {"alltoall", alltoall},   {"gather", gather},
                 {"scatterv", scatterv}};
    static const struct {
        const char *name;
        void (*run)(void);
    } others[] = {
        {"comms", comms}, {"threads", threads}, {"lock", lock}, {"mismatch", mismatch}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        if (0 == strcmp(what, calls[i].name)) {
            on_one(calls[i].call);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        if (0 == strcmp(what, others[i].name)) {
            others[i].run();
            return true;
        }
    }
    return false;
}

static void read_options(int argc, char **argv)
{
    int option;
    while (-1 != (option = getopt(argc, argv, "l:n:"))) {
        if ('l' == option) {
            late_ms = atoi(optarg);
            by_time = true;
        } else if ('n' == option) {
            name = optarg;
        }
    }
    for (int i = optind + 1; i < argc; ++i) {
        late = late || rank == atoi(argv[i]);
    }
    first_late = optind + 1 < argc ? atoi(argv[optind + 1]) : 0;
}

int main(int argc, char **argv)
{
    int provided;
    bool many = false; /* levers want one */
    for (int i = 1; i < argc; ++i) {
        many = many || 0 == strcmp(argv[i], "threads");
    }
    MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_options(argc, argv);
    watches = !by_time && watched_open(late, many ? 2 : 1);
    in = calloc(LONG, sizeof *in);
    out = calloc(LONG, sizeof *out);
    if (NULL == in || NULL == out || !run(optind < argc ? argv[optind] : "")) {
        fprintf(stderr, "check_hang: no memory, or no such word\n");
        wrong = 1;
    }
    printf("check_hang: rank %d: %d wrong\n", rank, wrong);
    free(in);
    free(out);
    MPI_Finalize();
    return 0 != wrong;
}
