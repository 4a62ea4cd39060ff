/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives with one fault, linked in front of the MPI library's (profiling interface): proof
 * that the benchmarks' validation sees it.
 *
 * PWR_FAULT="KIND RANK CALL OFFSET" breaks the CALL-th call (from 0) on RANK:
 *   flip   one bit of byte OFFSET of the receive buffer changes; OFFSET may lie outside of it
 *   send   the same in the rank's own send buffer
 *   stale  the receive buffer gets the data of the call before
 *   swap   the first two blocks of the receive buffer change places (OFFSET: the block's size)
 *   drop   what RANK contributes to a reduction is taken as zero
 *   skip   nothing is done, on any rank
 * Only calls with the benchmarks' datatypes count: the harness itself uses the same functions.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_MAX = 16 };

typedef struct fault {
    char kind[KIND_MAX];
    int rank;
    int call;
    long offset;
} fault_t;

static int calls;           /* so far */
static unsigned char *last; /* receive buffer after the last call */
static size_t last_size;

/* The fault of this call; false: none. */
static bool due(fault_t *fault)
{
    const char *text = getenv("PWR_FAULT");
    if (!text || !*text) {
        return false;
    }
    if (sscanf(text, "%15s %d %d %ld", fault->kind, &fault->rank, &fault->call, &fault->offset) !=
        4) {
        fprintf(stderr, "PWR_FAULT: \"%s\" is not KIND RANK CALL OFFSET\n", text);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    return fault->call == calls;
}

static bool here(const fault_t *fault, bool is_due, const char *kind, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return is_due && fault->rank == rank && strcmp(fault->kind, kind) == 0;
}

static bool skipped(const fault_t *fault, bool is_due)
{
    return is_due && strcmp(fault->kind, "skip") == 0;
}

static void swap_blocks(unsigned char *recv, size_t block)
{
    for (size_t i = 0; i < block; i++) {
        unsigned char byte = recv[i];
        recv[i] = recv[block + i];
        recv[block + i] = byte;
    }
}

static void remember(const unsigned char *recv, size_t size)
{
    last = realloc(last, size + 1);
    if (!last) {
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    memcpy(last, recv, size);
    last_size = size;
}

/* After the call: what is wrong with the buffers. */
static void spoil(const fault_t *fault, bool is_due, MPI_Comm comm, unsigned char *send,
                  unsigned char *recv, size_t size)
{
    if (here(fault, is_due, "flip", comm)) {
        recv[fault->offset] ^= 0x10;
    }
    if (here(fault, is_due, "send", comm)) {
        send[fault->offset] ^= 0x10;
    }
    if (here(fault, is_due, "swap", comm)) {
        swap_blocks(recv, (size_t)fault->offset);
    }
    if (here(fault, is_due, "stale", comm) && last_size == size) {
        memcpy(recv, last, size);
    }
    remember(recv, size);
    calls++;
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                 int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
    fault_t fault;
    int np;
    bool is_due = due(&fault);
    PMPI_Comm_size(comm, &np);
    if (!skipped(&fault, is_due)) {
        PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
    }
    spoil(&fault, is_due, comm, (unsigned char *)send, recv, (size_t)np * (size_t)recv_count);
    return MPI_SUCCESS;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (type != MPI_CHAR) {
        return PMPI_Bcast(buffer, count, type, root, comm);
    }
    fault_t fault;
    bool is_due = due(&fault);
    if (!skipped(&fault, is_due)) {
        PMPI_Bcast(buffer, count, type, root, comm);
    }
    spoil(&fault, is_due, comm, buffer, buffer, (size_t)count);
    return MPI_SUCCESS;
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    if (type != MPI_FLOAT) {
        return PMPI_Reduce(send, recv, count, type, op, root, comm);
    }
    fault_t fault;
    bool is_due = due(&fault);
    size_t size = (size_t)count * sizeof(float);
    void *zeros = calloc(1, size + 1);
    if (!skipped(&fault, is_due)) {
        PMPI_Reduce(here(&fault, is_due, "drop", comm) ? zeros : send, recv, count, type, op, root,
                    comm);
    }
    free(zeros);
    spoil(&fault, is_due, comm, (unsigned char *)send, recv, size);
    return MPI_SUCCESS;
}
