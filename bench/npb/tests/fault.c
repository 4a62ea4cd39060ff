/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Exchanges that deliver one wrong byte, linked in front of the MPI library's (profiling
 * interface).
 *
 * PWR_FAULT="RANK CALL BYTE" changes one bit of a byte of what the CALL-th exchange (from 0:
 * MPI_Alltoall of doubles, MPI_Alltoallv) delivers to RANK.
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls; /* so far */

static void change(void *buffer, MPI_Comm comm)
{
    int rank;
    int wanted_rank;
    int wanted_call;
    long byte;
    const char *text = getenv("PWR_FAULT");
    PMPI_Comm_rank(comm, &rank);
    if (text != NULL && sscanf(text, "%d %d %ld", &wanted_rank, &wanted_call, &byte) == 3 &&
        wanted_rank == rank && wanted_call == calls) {
        ((unsigned char *)buffer)[byte] ^= 1;
    }
    calls++;
}

int MPI_Alltoall(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm)
{
    int rc = PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm);
    if (out_type == MPI_DOUBLE) {
        change(in, comm);
    }
    return rc;
}

int MPI_Alltoallv(const void *out, const int *out_counts, const int *out_starts,
                  MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                  MPI_Datatype in_type, MPI_Comm comm)
{
    int rc = PMPI_Alltoallv(out, out_counts, out_starts, out_type, in, in_counts, in_starts,
                            in_type, comm);
    change(in, comm);
    return rc;
}
