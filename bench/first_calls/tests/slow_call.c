/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An MPI_Bcast in front of the library's, which takes 50 ms of CPU more in its 23rd call on rank 1:
 * by a clock of its own, that nothing else moves.  By a real one, ranks that poll for one without a
 * CPU take as long.
 */
#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long cpu_ns;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    enum { NS_PER_S = 1000000000 };
    if (clock != CLOCK_THREAD_CPUTIME_ID) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    *now = (struct timespec){.tv_sec = cpu_ns / NS_PER_S, .tv_nsec = cpu_ns % NS_PER_S};
    return 0;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    static int calls;
    int rank;
    MPI_Comm_rank(comm, &rank);
    cpu_ns += calls == 22 && rank == 1 ? 50 * 1000 * 1000 : 0;
    calls++;
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}
