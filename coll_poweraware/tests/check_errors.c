/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives while the layer below fails: the n-th message that cannot be posted, the n-th
 * allocation that gets nothing, for growing n until a call needs no n of them.
 *
 *   mpirun -np N check_errors WHAT [COLLECTIVE ...]
 *
 * WHAT is isend, irecv or both in turn (messages), or memory.  Only calls from our plug-in fail,
 * and only on one rank.  For each failure:
 * 1. the call returns on all ranks: none hangs;
 * 2. the rank that failed to post a message gets an error; out of memory is none, the stock
 *    function does it then;
 * 3. a rank that gets no error has the right result;
 * 4. further calls on the same communicator are right on all ranks.
 * Prints how many failures there were, and a line for each broken promise.
 */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

enum { HANG_S = 1500, CALLS_AFTER = 20, SMALL = 3, LARGE = 30000, MOST_RANKS = 64 };

static int size;
static int rank;
static int broken;
static int fired_in_all;

/* ---- collectives with results that are known ---- */

typedef struct call {
    MPI_Comm comm;
    int count; /* ints per block */
    int root;
    int *sbuf; /* [size * count] */
    int *rbuf;
    int counts[MOST_RANKS];
    int displs[MOST_RANKS];
    int byte_displs[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
} call_t;

/* Element i of what a rank sends to peer. */
static int element(int from, int peer, int i)
{
    return from * 1000003 + peer * 1009 + i;
}

static int sum(int peer, int i)
{
    int total = 0;
    for (int from = 0; from < size; ++from) {
        total += element(from, peer, i);
    }
    return total;
}

typedef struct collective {
    const char *name;
    int (*run)(call_t *c);
    /* What element i of block b of rbuf is then. */
    int (*expected)(const call_t *c, int b, int i);
    bool one_block; /* of results, else one from each rank */
    bool root_only; /* the others get nothing */
} collective_t;

static int from_each(const call_t *c, int b, int i)
{
    (void)c;
    return element(b, rank, i);
}

static int same_from_each(const call_t *c, int b, int i)
{
    (void)c;
    return element(b, 0, i);
}

static int sum_of_first(const call_t *c, int b, int i)
{
    (void)c;
    (void)b;
    return sum(0, i);
}

static int my_sum(const call_t *c, int b, int i)
{
    (void)c;
    (void)b;
    return sum(rank, i);
}

static int zero(const call_t *c, int b, int i)
{
    (void)c;
    (void)b;
    (void)i;
    return 0;
}

static int from_root(const call_t *c, int b, int i)
{
    (void)b;
    return element(c->root, 0, i);
}

static int mine_from_root(const call_t *c, int b, int i)
{
    (void)b;
    return element(c->root, rank, i);
}

static int run_allgather(call_t *c)
{
    return MPI_Allgather(c->sbuf, c->count, MPI_INT, c->rbuf, c->count, MPI_INT, c->comm);
}
static int run_allgatherv(call_t *c)
{
    return MPI_Allgatherv(c->sbuf, c->count, MPI_INT, c->rbuf, c->counts, c->displs, MPI_INT,
                          c->comm);
}
static int run_allreduce(call_t *c)
{
    return MPI_Allreduce(c->sbuf, c->rbuf, c->count, MPI_INT, MPI_SUM, c->comm);
}
static int run_alltoall(call_t *c)
{
    return MPI_Alltoall(c->sbuf, c->count, MPI_INT, c->rbuf, c->count, MPI_INT, c->comm);
}
static int run_alltoallv(call_t *c)
{
    return MPI_Alltoallv(c->sbuf, c->counts, c->displs, MPI_INT, c->rbuf, c->counts, c->displs,
                         MPI_INT, c->comm);
}
static int run_alltoallw(call_t *c)
{
    return MPI_Alltoallw(c->sbuf, c->counts, c->byte_displs, c->types, c->rbuf, c->counts,
                         c->byte_displs, c->types, c->comm);
}
static int run_barrier(call_t *c)
{
    memset(c->rbuf, 0, (size_t)c->count * sizeof(int));
    return MPI_Barrier(c->comm);
}
static int run_bcast(call_t *c)
{
    if (rank == c->root) {
        memcpy(c->rbuf, c->sbuf, (size_t)c->count * sizeof(int));
    }
    return MPI_Bcast(c->rbuf, c->count, MPI_INT, c->root, c->comm);
}
static int run_gather(call_t *c)
{
    return MPI_Gather(c->sbuf, c->count, MPI_INT, c->rbuf, c->count, MPI_INT, c->root, c->comm);
}
static int run_reduce(call_t *c)
{
    return MPI_Reduce(c->sbuf, c->rbuf, c->count, MPI_INT, MPI_SUM, c->root, c->comm);
}
static int run_reduce_scatter(call_t *c)
{
    return MPI_Reduce_scatter(c->sbuf, c->rbuf, c->counts, MPI_INT, MPI_SUM, c->comm);
}
static int run_reduce_scatter_block(call_t *c)
{
    return MPI_Reduce_scatter_block(c->sbuf, c->rbuf, c->count, MPI_INT, MPI_SUM, c->comm);
}
static int run_scatter(call_t *c)
{
    return MPI_Scatter(c->sbuf, c->count, MPI_INT, c->rbuf, c->count, MPI_INT, c->root, c->comm);
}

static const collective_t collectives[] = {
    {"allgather", run_allgather, same_from_each, false, false},
    {"allgatherv", run_allgatherv, same_from_each, false, false},
    {"allreduce", run_allreduce, sum_of_first, true, false},
    {"alltoall", run_alltoall, from_each, false, false},
    {"alltoallv", run_alltoallv, from_each, false, false},
    {"alltoallw", run_alltoallw, from_each, false, false},
    {"barrier", run_barrier, zero, true, false},
    {"bcast", run_bcast, from_root, true, false},
    {"gather", run_gather, same_from_each, false, true},
    {"reduce", run_reduce, sum_of_first, true, true},
    {"reduce_scatter", run_reduce_scatter, my_sum, true, false},
    {"reduce_scatter_block", run_reduce_scatter_block, my_sum, true, false},
    {"scatter", run_scatter, mine_from_root, true, false},
};

enum { NUM_COLLECTIVES = sizeof collectives / sizeof collectives[0] };

static void prepare(call_t *c, MPI_Comm comm, int count)
{
    c->comm = comm;
    c->count = count;
    for (int peer = 0; peer < size; ++peer) {
        c->counts[peer] = count;
        c->displs[peer] = peer * count;
        c->byte_displs[peer] = peer * count * (int)sizeof(int);
        c->types[peer] = MPI_INT;
        for (int i = 0; i < count; ++i) {
            c->sbuf[peer * count + i] = element(rank, peer, i);
        }
    }
}

static bool is_right(const call_t *c, const collective_t *collective)
{
    int blocks = collective->one_block ? 1 : size;
    if (collective->root_only && rank != c->root) {
        return true;
    }
    for (int b = 0; b < blocks; ++b) {
        for (int i = 0; i < c->count; ++i) {
            if (c->rbuf[b * c->count + i] != collective->expected(c, b, i)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the promises ---- */

static const char *doing = "nothing";

static void hung(int signal)
{
    (void)signal;
    static const char text[] = "check_errors: a rank hangs in ";
    if (write(2, text, sizeof text - 1) < 0 || write(2, doing, strlen(doing)) < 0 ||
        write(2, "\n", 1) < 0) {
        _exit(3);
    }
    _exit(2);
}

static void breaks(const call_t *c, const char *promise, long n, int where)
{
    ++broken;
    fprintf(stderr, "check_errors: rank %d: %s of %d ints, failure %ld on rank %d: %s\n", rank,
            doing, c->count, n, where, promise);
}

static int run(call_t *c, const collective_t *collective)
{
    memset(c->rbuf, 0xee, (size_t)size * (size_t)c->count * sizeof(int));
    alarm(HANG_S);
    int rc = collective->run(c);
    alarm(0);
    return rc;
}

/* Whether it happened on any rank, told by point-to-point messages only. */
static bool anywhere(bool here)
{
    int mine = here;
    int any = here;
    for (int peer = 0; peer < size; ++peer) {
        int other = 0;
        MPI_Sendrecv(&mine, 1, MPI_INT, peer, 7, &other, 1, MPI_INT, peer, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        any = any || other;
    }
    return any;
}

static void check_after(call_t *c, const collective_t *collective, long n, int where)
{
    for (int i = 0; i < CALLS_AFTER; ++i) {
        if (MPI_SUCCESS != run(c, collective) || !is_right(c, collective)) {
            breaks(c, "a later call is wrong", n, where);
            return;
        }
    }
}

/* Returns whether the n-th one was reached. */
static bool check_failure(call_t *c, const collective_t *collective, unsigned kinds, long n,
                          int where)
{
    faults_arm(rank == where ? kinds : 0, n);
    int rc = run(c, collective);
    bool fired = faults_disarm();
    if (fired && FAULTS_MEMORY != kinds && MPI_SUCCESS == rc) {
        breaks(c, "no error on the rank that failed", n, where);
    }
    if (MPI_SUCCESS != rc && FAULTS_MEMORY == kinds) {
        breaks(c, "an error for want of memory", n, where);
    }
    if (MPI_SUCCESS == rc && !is_right(c, collective)) {
        breaks(c, "no error, but a wrong result", n, where);
    }
    fired = anywhere(fired);
    check_after(c, collective, n, where);
    return fired;
}

static void check_collective(call_t *c, const collective_t *collective, unsigned kinds, int count)
{
    doing = collective->name;
    for (int where = 0; where < size; ++where) {
        MPI_Comm comm = MPI_COMM_NULL;
        bool fired = true;
        for (long n = 1; fired; n += FAULTS_MEMORY == kinds ? 1 : 1 + n / 3) {
            /* messages: one communicator for all failures; memory: the set-up is what fails */
            if (MPI_COMM_NULL == comm || FAULTS_MEMORY == kinds) {
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                prepare(c, comm, count);
                /* the root itself, then a rank that may lead another node than the root's */
                c->root = SMALL == count ? where : (where + size - 1) % size;
            }
            if (FAULTS_MEMORY != kinds && 1 == n) {
                run(c, collective);
            }
            /* every n at first, then ever fewer */
            fired = check_failure(c, collective, kinds, n, where);
            fired_in_all += fired;
            if (FAULTS_MEMORY == kinds) {
                MPI_Comm_free(&comm);
            }
        }
        if (MPI_COMM_NULL != comm) {
            MPI_Comm_free(&comm);
        }
    }
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; ++i) {
        if (0 == strcmp(argv[i], name)) {
            return true;
        }
    }
    return argc <= 2;
}

static unsigned kinds_of(const char *word)
{
    return 0 == strcmp(word, "isend")    ? FAULTS_ISEND
           : 0 == strcmp(word, "irecv")  ? FAULTS_IRECV
           : 0 == strcmp(word, "both")   ? FAULTS_ISEND | FAULTS_IRECV
           : 0 == strcmp(word, "memory") ? FAULTS_MEMORY
                                         : 0;
}

int main(int argc, char **argv)
{
    unsigned kinds = argc > 1 ? kinds_of(argv[1]) : 0;
    if (0 == kinds) {
        fprintf(stderr, "usage: check_errors isend|irecv|both|memory [COLLECTIVE ...]\n");
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    signal(SIGALRM, hung);
    faults_begin();
    call_t c = {.sbuf = malloc((size_t)size * LARGE * sizeof(int)),
                .rbuf = malloc((size_t)size * LARGE * sizeof(int))};
    for (int i = 0; i < NUM_COLLECTIVES; ++i) {
        if (wanted(collectives[i].name, argc, argv)) {
            check_collective(&c, &collectives[i], kinds, SMALL);
            check_collective(&c, &collectives[i], kinds, LARGE);
        }
    }
    broken = anywhere(0 != broken);
    if (0 == rank) {
        printf("check_errors: %d failures, %s\n", fired_in_all,
               broken ? "broken" : "all as promised");
    }
    faults_end();
    MPI_Finalize();
    return broken;
}
