/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A job in the middle of power-aware collectives that ends in the way it is told.
 *
 *   mpirun -np N die finalize | exit | abort | segv | term | kill
 *
 * Rank 1 ends that way while the others are inside an Alltoall that waits for it.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char *way)
{
    static const struct {
        const char *way;
        int signal;
    } signals[] = {{"segv", SIGSEGV}, {"term", SIGTERM}, {"kill", SIGKILL}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        if (0 == strcmp(way, signals[i].way)) {
            kill(getpid(), signals[i].signal);
            pause();
        }
    }
    if (0 == strcmp(way, "abort")) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (0 == strcmp(way, "exit")) {
        _exit(4);
    }
}

int main(int argc, char **argv)
{
    enum { BLOCK = 20000, CALLS = 5 };
    const char *way = argc > 1 ? argv[1] : "finalize";
    MPI_Init(&argc, &argv);
    int rank;
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *sbuf = calloc((size_t)size, BLOCK);
    char *rbuf = calloc((size_t)size, BLOCK);
    if (NULL == sbuf || NULL == rbuf) {
        fprintf(stderr, "die: out of memory\n");
        return 2;
    }
    for (int i = 0; i < CALLS; ++i) {
        MPI_Alltoall(sbuf, BLOCK, MPI_BYTE, rbuf, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    }
    if (1 == rank) {
        usleep(100000); /* the others are throttled by now */
        end(way);
    }
    MPI_Alltoall(sbuf, BLOCK, MPI_BYTE, rbuf, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
