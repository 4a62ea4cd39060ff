/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoallvs whose sizes change after many calls.  Rank 0 receives as many bytes in all calls of a
 * size, the others now one element less, now two: it may repeat calls where they choose anew, and
 * must come to the same.  Else ranks hang.
 *
 *   mpirun -np N check_sizes CALLS
 *     CALLS of each size
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 4, LEAST = 16, MOST_RANKS = 8, MOST = LEAST << 3 * (SIZES - 1) };

static int rank, size;

/* Elements that each rank sends to this one. */
static int count_of(int receiver, int elements, int call)
{
    return 0 == receiver ? elements : elements - 1 - (call + receiver) % 2;
}

static int exchange(int elements, int call)
{
    static int s[MOST_RANKS * MOST], r[MOST_RANKS * MOST];
    int scounts[MOST_RANKS], rcounts[MOST_RANKS], displs[MOST_RANKS], wrong = 0;
    for (int i = 0; i < size; ++i) {
        scounts[i] = count_of(i, elements, call);
        rcounts[i] = count_of(rank, elements, call);
        displs[i] = i * elements;
        s[displs[i]] = call * MOST_RANKS + rank;
        r[displs[i]] = -1;
    }
    MPI_Alltoallv(s, scounts, displs, MPI_INT, r, rcounts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        wrong += call * MOST_RANKS + i != r[displs[i]];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int calls = argc > 1 ? atoi(argv[1]) : 1000, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST_RANKS) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int elements = LEAST; elements <= MOST; elements *= 8) {
        for (int call = 0; call < calls; ++call) {
            wrong += exchange(elements, call);
        }
    }
    printf("rank %d: %d wrong results\n", rank, wrong);
    MPI_Finalize();
    return 0 != wrong;
}
