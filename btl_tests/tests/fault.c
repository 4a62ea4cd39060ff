/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls with one fault, linked in front of the MPI library's (profiling interface):
 * proof that the verification in transports sees it.
 *
 * PWR_FAULT="KIND RANK CALL OFFSET" breaks the CALL-th call of its kind (from 0) on RANK:
 *   send    byte OFFSET changes before it is sent (MPI_Isend, MPI_Issend, MPI_Sendrecv, MPI_Put,
 *           MPI_Accumulate)
 *
 *   recv    byte OFFSET of the receive buffer, or outside of it, changes after MPI_Sendrecv, or
 *           after MPI_Win_complete where MPI_Get has brought it
 *
 *   short   one byte less is sent (MPI_Isend)
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_MAX = 16 };

/* True when this call of that kind is the one to break. */
static bool due(const char *kind, int *calls, MPI_Comm comm, long *offset)
{
    const char *text = getenv("PWR_FAULT");
    char name[KIND_MAX];
    int wanted_rank;
    int wanted_call;
    int rank;
    int call = (*calls)++;
    if (!text || !*text) {
        return false;
    }
    if (sscanf(text, "%15s %d %d %ld", name, &wanted_rank, &wanted_call, offset) != 4) {
        fprintf(stderr, "PWR_FAULT: \"%s\" is not KIND RANK CALL OFFSET\n", text);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    PMPI_Comm_rank(comm, &rank);
    return strcmp(name, kind) == 0 && wanted_rank == rank && wanted_call == call;
}

static void spoil_sent(const void *buffer, MPI_Comm comm)
{
    static int calls;
    long offset;
    if (due("send", &calls, comm, &offset)) {
        ((unsigned char *)buffer)[offset] ^= 0x10;
    }
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static int calls;
    long offset;
    spoil_sent(buffer, comm);
    if (due("short", &calls, comm, &offset)) {
        count--;
    }
    return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}

int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    spoil_sent(buffer, comm);
    return PMPI_Issend(buffer, count, type, dest, tag, comm, request);
}

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int dest, int send_tag,
                 void *recv, int recv_count, MPI_Datatype recv_type, int source, int recv_tag,
                 MPI_Comm comm, MPI_Status *status)
{
    static int calls;
    long offset;
    spoil_sent(send, comm);
    int result = PMPI_Sendrecv(send, send_count, send_type, dest, send_tag, recv, recv_count,
                               recv_type, source, recv_tag, comm, status);
    if (due("recv", &calls, comm, &offset)) {
        ((unsigned char *)recv)[offset] ^= 0x10;
    }
    return result;
}

int MPI_Put(const void *buffer, int count, MPI_Datatype type, int target, MPI_Aint at,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    spoil_sent(buffer, MPI_COMM_WORLD);
    return PMPI_Put(buffer, count, type, target, at, target_count, target_type, window);
}

int MPI_Accumulate(const void *buffer, int count, MPI_Datatype type, int target, MPI_Aint at,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window)
{
    spoil_sent(buffer, MPI_COMM_WORLD);
    return PMPI_Accumulate(buffer, count, type, target, at, target_count, target_type, op, window);
}

static unsigned char *spoiled; /* what a get brings: changes when that is complete */

int MPI_Get(void *buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window)
{
    static int calls;
    long offset;
    if (due("recv", &calls, MPI_COMM_WORLD, &offset)) {
        spoiled = (unsigned char *)buffer + offset;
    }
    return PMPI_Get(buffer, count, type, target, at, target_count, target_type, window);
}

int MPI_Win_complete(MPI_Win window)
{
    int result = PMPI_Win_complete(window);
    if (spoiled) {
        *spoiled ^= 0x10;
        spoiled = NULL;
    }
    return result;
}
