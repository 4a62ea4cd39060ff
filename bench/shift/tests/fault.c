/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One-sided calls with one fault, linked in front of the MPI library's (profiling interface): proof
 * that the benchmark's check sees it.
 *
 * PWR_FAULT="KIND RANK CALL OFFSET" breaks the CALL-th operation (from 0) of RANK:
 *   flip   one bit of byte OFFSET at the origin changes: before a put or an accumulate, after a get
 *   wide   8 bytes more are put, to OFFSET
 *   lost   nothing is done
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;
static unsigned char *after_flush; /* of a get: the byte that changes */

/* True when this operation is the one to break. */
static bool due(const char *kind, long *offset)
{
    const char *text = getenv("PWR_FAULT");
    char name[16];
    int wanted_rank, wanted_call, rank;
    if (!text || !*text) {
        return false;
    }
    if (sscanf(text, "%15s %d %d %ld", name, &wanted_rank, &wanted_call, offset) != 4) {
        fprintf(stderr, "PWR_FAULT: \"%s\" is not KIND RANK CALL OFFSET\n", text);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return strcmp(name, kind) == 0 && wanted_rank == rank && wanted_call == calls;
}

static bool spoil(const void *origin)
{
    long offset;
    if (due("flip", &offset)) {
        ((unsigned char *)origin)[offset] ^= 0x10;
    }
    return due("lost", &offset);
}

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint at,
            int target_count, MPI_Datatype target_type, MPI_Win win)
{
    long offset;
    bool is_lost = spoil(origin);
    if (due("wide", &offset)) {
        PMPI_Put("too wide", 8, MPI_BYTE, target, at + offset, 8, MPI_BYTE, win);
    }
    calls++;
    return is_lost ? MPI_SUCCESS
                   : PMPI_Put(origin, count, type, target, at, target_count, target_type, win);
}

int MPI_Accumulate(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint at,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    bool is_lost = spoil(origin);
    calls++;
    return is_lost ? MPI_SUCCESS
                   : PMPI_Accumulate(origin, count, type, target, at, target_count, target_type, op,
                                     win);
}

int MPI_Get(void *origin, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win)
{
    long offset;
    after_flush = due("flip", &offset) ? (unsigned char *)origin + offset : NULL;
    bool is_lost = due("lost", &offset);
    calls++;
    return is_lost ? MPI_SUCCESS
                   : PMPI_Get(origin, count, type, target, at, target_count, target_type, win);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    int status = PMPI_Win_flush(rank, win);
    if (after_flush) {
        *after_flush ^= 0x10;
        after_flush = NULL;
    }
    return status;
}
