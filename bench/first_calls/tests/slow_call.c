/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An MPI_Bcast in front of the library's, which takes 50 ms of CPU more in its 23rd call on rank 1.
 */
#include <mpi.h>
#include <time.h>

#include "pwr/clock.h"

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    static int calls;
    int rank;
    MPI_Comm_rank(comm, &rank);
    uint64_t begin_ns = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (calls == 22 && rank == 1 &&
           pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < 50u * 1000 * 1000) {
    }
    calls++;
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}
