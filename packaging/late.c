/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The last rank comes late to a collective, twice, and to the fence of a window: the first is the
 * first call of the program.  The other ranks say how much of a CPU they took meanwhile.
 *
 *   mpirun -np 2 late [SECONDS]
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void call(int i, MPI_Win *win, int rank, int size)
{
    int sum = 0;
    if (2 == i) {
        MPI_Win_fence(0, *win);
        return;
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    static const char *const calls[] = {"first call", "second call", "fence"};
    unsigned late_s = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    int rank, size;
    int *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; ++i) {
        if (2 == i) {
            MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        }
        if (rank == size - 1) {
            sleep(late_s);
        }
        double cpu = cpu_s();
        double wall = MPI_Wtime();
        call(i, &win, rank, size);
        cpu = cpu_s() - cpu;
        wall = MPI_Wtime() - wall;
        if (rank < size - 1) {
            printf("%s: %.2f %% of a CPU in %.1f s\n", calls[i], 100 * cpu / wall, wall);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
