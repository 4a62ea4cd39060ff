/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of few kinds, so often that scheme auto experiments with each of its candidates and may
 * change its mind.  Every result is checked: a rank that took another algorithm than the others
 * would hang or have wrong data.
 *
 *   mpirun -np N check_learning CALLS COUNT [AGAIN [LATE]]
 *     CALLS of each collective with blocks of COUNT elements; AGAIN on a second communicator
 *     LATE: ms that rank 0 is late to each Allreduce, from when it is known what the
 *     others do in it (watched.h)
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "watched.h"

static int rank, size, count, late_ms, wrong;
static MPI_Comm comm;
static int *s, *r;
static int *scounts, *rcounts, *displs;
static MPI_Datatype pair;
static MPI_Op affine; /* pairs (a, b): x -> a x + b; associative, not commutative */

static int element(int call, int from, int i)
{
    return (call * 31 + from * 101 + i * 7) % 1009;
}

static void check(const char *what, int call, bool right)
{
    if (!right && 0 == wrong++) {
        fprintf(stderr, "rank %d: call %d of %s is wrong\n", rank, call, what);
    }
}

static void fill(int call)
{
    for (int i = 0; i < size * count; ++i) {
        s[i] = element(call, rank, i);
        r[i] = -1;
    }
}

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const int *left = in;
    int *right = inout;
    (void)type;
    for (int i = 0; i < 2 * *len; i += 2) {
        int a = left[i] * right[i] % 1009;
        int b = (right[i] * left[i + 1] + right[i + 1]) % 1009;
        right[i] = a;
        right[i + 1] = b;
    }
}

/* The composition of ranks first .. last. */
static void composed(int call, int first, int last, int i, int *out)
{
    int result[2] = {1, 0};
    for (int from = first; from <= last; ++from) {
        int two[2] = {element(call, from, i), element(call, from, i + 1)};
        int len = 1;
        compose(result, two, &len, NULL);
        memcpy(result, two, sizeof result);
    }
    memcpy(out, result, sizeof result);
}

static bool is_sum(int call, int first, int last, const int *got)
{
    for (int i = 0; i < count; ++i) {
        int sum = 0;
        for (int from = first; from <= last; ++from) {
            sum += element(call, from, i);
        }
        if (sum != got[i]) {
            return false;
        }
    }
    return true;
}

static bool is_composed(int call, int first, int last)
{
    for (int i = 0; i + 1 < count; i += 2) {
        int want[2];
        composed(call, first, last, i, want);
        if (want[0] != r[i] || want[1] != r[i + 1]) {
            return false;
        }
    }
    return true;
}

/* Block b of r came from rank b, which sent its block `mine` (-1: its first one). */
static bool are_blocks(int call, int mine)
{
    for (int b = 0; b < size; ++b) {
        for (int i = 0; i < count; ++i) {
            int at = (mine < 0 ? 0 : mine * count) + i;
            if (r[b * count + i] != element(call, b, at)) {
                return false;
            }
        }
    }
    return true;
}

/* Elements of an Alltoallv, of which a rank knows its own alone: now as many for all, now not. */
static int elements(int call, int from, int to)
{
    return 0 == call / 100 % 2 ? count : (from + 2 * to) % 3;
}

static void count_elements(int call)
{
    for (int peer = 0; peer < size; ++peer) {
        scounts[peer] = elements(call, rank, peer);
        rcounts[peer] = elements(call, peer, rank);
        displs[peer] = peer * count;
    }
}

static bool are_elements(int call)
{
    for (int b = 0; b < size; ++b) {
        for (int i = 0; i < count; ++i) {
            bool sent = i < rcounts[b];
            if (r[b * count + i] != (sent ? element(call, b, rank * count + i) : -1)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_block(int call, int from, int block)
{
    for (int i = 0; i < count; ++i) {
        if (r[i] != element(call, from, block * count + i)) {
            return false;
        }
    }
    return true;
}

static bool is_largest(int call)
{
    for (int i = 0; i < count; ++i) {
        int largest = element(call, 0, i);
        for (int from = 1; from < size; ++from) {
            int other = element(call, from, i);
            largest = other > largest ? other : largest;
        }
        if (r[i] != largest) {
            return false;
        }
    }
    return true;
}

/* Every step-th element is the root's, from the first one on; those between are as before. */
static bool is_spread(int call, int from, int step)
{
    for (int i = 0; i < count / 2 * step; ++i) {
        if (r[i] != (0 == i % step ? element(call, from, i) : -1)) {
            return false;
        }
    }
    return true;
}

static void open_watch(void)
{
    if (!watched_open(0 == rank, 1)) {
        fprintf(stderr, "check_learning: PWR_WATCHED names no file\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Around a call for which rank 0 is late: it comes late_ms after it is known what the others do in
   theirs, however late they are by themselves. */
static void begin_late(void)
{
    const struct timespec late = {late_ms / 1000, late_ms % 1000 * 1000000L};
    if (0 == late_ms) {
        return;
    }
    if (0 != rank) {
        watched_begin();
    } else if (watched_leads()) {
        (void)watched_find(watched_usual);
        nanosleep(&late, NULL);
        watched_come();
    }
}

static void end_late(void)
{
    if (late_ms > 0 && 0 != rank) {
        watched_end();
    }
}

static void one_of_each(int call)
{
    int root = call % size;
    fill(call);
    MPI_Allgather(s, count, MPI_INT, r, count, MPI_INT, comm);
    check("Allgather", call, are_blocks(call, -1));
    fill(call);
    begin_late();
    MPI_Allreduce(s, r, count, MPI_INT, MPI_SUM, comm);
    end_late();
    check("Allreduce", call, is_sum(call, 0, size - 1, r));
    fill(call);
    begin_late();
    MPI_Allreduce(s, r, count / 2, pair, affine, comm);
    end_late();
    check("Allreduce, not commutative", call, is_composed(call, 0, size - 1));
    fill(call);
    MPI_Alltoall(s, count, MPI_INT, r, count, MPI_INT, comm);
    check("Alltoall", call, are_blocks(call, rank));
    fill(call);
    count_elements(call);
    MPI_Alltoallv(s, scounts, displs, MPI_INT, r, rcounts, displs, MPI_INT, comm);
    check("Alltoallv", call, are_elements(call));
    fill(call);
    if (root == rank) {
        memcpy(r, s, (size_t)count * sizeof *r);
    }
    MPI_Bcast(r, count, MPI_INT, root, comm);
    check("Bcast", call, is_block(call, root, 0));
    fill(call);
    MPI_Gather(s, count, MPI_INT, r, count, MPI_INT, root, comm);
    check("Gather", call, root != rank || are_blocks(call, -1));
    fill(call);
    MPI_Reduce(s, r, count, MPI_INT, MPI_SUM, root, comm);
    check("Reduce", call, root != rank || is_sum(call, 0, size - 1, r));
    fill(call);
    MPI_Scan(s, r, count, MPI_INT, MPI_SUM, comm);
    check("Scan", call, is_sum(call, 0, rank, r));
    fill(call);
    MPI_Scatter(s, count, MPI_INT, r, count, MPI_INT, root, comm);
    check("Scatter", call, is_block(call, root, rank));
    MPI_Barrier(comm);
}

/* Calls that differ from the one before in one point only: what was chosen for that may be wrong
   for them.  A type may come to lie where another one was. */
static void almost_alike(int call)
{
    MPI_Datatype type;
    fill(call);
    memcpy(r, s, (size_t)count * sizeof *r);
    MPI_Allreduce(MPI_IN_PLACE, r, count, MPI_INT, MPI_SUM, comm);
    check("Allreduce in place", call, is_sum(call, 0, size - 1, r));
    fill(call);
    MPI_Allreduce(s, r, count, MPI_INT, MPI_MAX, comm);
    check("Allreduce, largest", call, is_largest(call));
    for (int gap = 0; gap < 2; ++gap) {
        MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * (1 + gap), &type);
        MPI_Type_commit(&type);
        fill(call);
        MPI_Bcast(call % size == rank ? s : r, count / 2, type, call % size, comm);
        check("Bcast with gaps", call,
              call % size == rank || is_spread(call, call % size, 1 + gap));
        MPI_Type_free(&type);
    }
}

static void work(int calls)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < calls; ++call) {
        one_of_each(call);
        if (0 == call % 16) {
            almost_alike(call);
        }
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int calls = argc > 1 ? atoi(argv[1]) : 300;
    count = argc > 2 ? atoi(argv[2]) : 16;
    late_ms = argc > 4 ? atoi(argv[4]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (late_ms > 0) {
        open_watch();
    }
    s = calloc((size_t)size * (size_t)count, sizeof *s);
    r = calloc((size_t)size * (size_t)count, sizeof *r);
    scounts = calloc((size_t)size, sizeof *scounts);
    rcounts = calloc((size_t)size, sizeof *rcounts);
    displs = calloc((size_t)size, sizeof *displs);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &affine);
    work(calls);
    if (argc > 3) {
        work(atoi(argv[3]));
    }
    MPI_Op_free(&affine);
    MPI_Type_free(&pair);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_learning: %d wrong results\n", wrong);
    }
    free(s);
    free(r);
    free(scounts);
    free(rcounts);
    free(displs);
    MPI_Finalize();
    return 0 != wrong;
}
