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
 *   late   RANK sleeps for OFFSET ms behind the call
 *   open   the CALL-th MPI_Barrier, of any caller, does nothing on any rank, and MPI_Wtime goes slowly
 * Only calls with the benchmarks' datatypes count: the harness itself uses the same functions.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static fault_t read_fault(void)
{
    fault_t fault = {.call = -1};
    const char *text = getenv("PWR_FAULT");
    if (text && *text &&
        sscanf(text, "%15s %d %d %ld", fault.kind, &fault.rank, &fault.call, &fault.offset) != 4) {
        fprintf(stderr, "PWR_FAULT: \"%s\" is not KIND RANK CALL OFFSET\n", text);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    return fault;
}

static bool here(const fault_t *fault, const char *kind, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return fault->call == calls && fault->rank == rank && strcmp(fault->kind, kind) == 0;
}

/* Whether the collective is called at all. */
static bool begin(fault_t *fault)
{
    *fault = read_fault();
    return fault->call != calls || strcmp(fault->kind, "skip") != 0;
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

/* After the call: what is wrong with the buffers; recv has size bytes. */
static int end(const fault_t *fault, MPI_Comm comm, const void *sent, void *received, size_t size)
{
    unsigned char *send = (unsigned char *)sent;
    unsigned char *recv = received;
    if (here(fault, "flip", comm)) {
        recv[fault->offset] ^= 0x10;
    }
    if (here(fault, "send", comm)) {
        send[fault->offset] ^= 0x10;
    }
    if (here(fault, "swap", comm)) {
        swap_blocks(recv, (size_t)fault->offset);
    }
    if (here(fault, "stale", comm) && last_size == size) {
        memcpy(recv, last, size);
    }
    if (here(fault, "late", comm)) {
        usleep((useconds_t)(1000 * fault->offset));
    }
    remember(recv, size);
    calls++;
    return MPI_SUCCESS;
}

static int size_of(MPI_Comm comm)
{
    int np;
    PMPI_Comm_size(comm, &np);
    return np;
}

/* What this rank contributes to a reduction: zeros where it is to be dropped. */
static const void *contribution(const fault_t *fault, MPI_Comm comm, const void *send, size_t size)
{
    static void *zeros;
    free(zeros);
    zeros = calloc(1, size + 1);
    return here(fault, "drop", comm) ? zeros : send;
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                  int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
    if (send_type != MPI_CHAR) {
        return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
    }
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_count);
}

int MPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                   const int recv_counts[], const int displs[], MPI_Datatype recv_type,
                   MPI_Comm comm)
{
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Allgatherv(send, send_count, send_type, recv, recv_counts, displs, recv_type, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_counts[0]);
}

/* MPI_Allreduce, MPI_Scan, MPI_Exscan */
typedef int (*reduction_t)(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm);

/* of floats */
static int reduce_to_all(reduction_t run, const void *send, void *recv, int count, MPI_Op op,
                         MPI_Comm comm)
{
    fault_t fault;
    size_t size = (size_t)count * sizeof(float);
    if (begin(&fault)) {
        run(contribution(&fault, comm, send, size), recv, count, MPI_FLOAT, op, comm);
    }
    return end(&fault, comm, send, recv, size);
}

/* The benchmarks' own sums, of other types, stay as they are. */
int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    if (type != MPI_FLOAT) {
        return PMPI_Allreduce(send, recv, count, type, op, comm);
    }
    return reduce_to_all(PMPI_Allreduce, send, recv, count, op, comm);
}

int MPI_Exscan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type;
    return reduce_to_all(PMPI_Exscan, send, recv, count, op, comm);
}

int MPI_Scan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type;
    return reduce_to_all(PMPI_Scan, send, recv, count, op, comm);
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                 int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_count);
}

int MPI_Alltoallv(const void *send, const int send_counts[], const int send_displs[],
                  MPI_Datatype send_type, void *recv, const int recv_counts[],
                  const int recv_displs[], MPI_Datatype recv_type, MPI_Comm comm)
{
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Alltoallv(send, send_counts, send_displs, send_type, recv, recv_counts, recv_displs,
                       recv_type, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_counts[0]);
}

int MPI_Alltoallw(const void *send, const int send_counts[], const int send_displs[],
                  const MPI_Datatype send_types[], void *recv, const int recv_counts[],
                  const int recv_displs[], const MPI_Datatype recv_types[], MPI_Comm comm)
{
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Alltoallw(send, send_counts, send_displs, send_types, recv, recv_counts, recv_displs,
                       recv_types, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_counts[0]);
}

static bool opens(const fault_t *fault)
{
    return strcmp(fault->kind, "open") == 0;
}

/* Follows every call of every benchmark, so it is counted apart. */
int MPI_Barrier(MPI_Comm comm)
{
    static int barriers;
    fault_t fault = read_fault();
    bool is_open = opens(&fault) && barriers == fault.call;
    barriers++;
    return is_open ? MPI_SUCCESS : PMPI_Barrier(comm);
}

/* The late rank of a barrier waits for those that leave too early, who may not get a CPU in time. */
double MPI_Wtime(void)
{
    enum { SLOWER = 10000 };
    fault_t fault = read_fault();
    return opens(&fault) ? PMPI_Wtime() / SLOWER : PMPI_Wtime();
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (type != MPI_CHAR) {
        return PMPI_Bcast(buffer, count, type, root, comm);
    }
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Bcast(buffer, count, type, root, comm);
    }
    return end(&fault, comm, buffer, buffer, (size_t)count);
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
               MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    if (send_type != MPI_CHAR) {
        return PMPI_Gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
    }
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
    }
    return end(&fault, comm, send, recv, (size_t)size_of(comm) * (size_t)recv_count);
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    if (type != MPI_FLOAT) {
        return PMPI_Reduce(send, recv, count, type, op, root, comm);
    }
    fault_t fault;
    size_t size = (size_t)count * sizeof(float);
    if (begin(&fault)) {
        PMPI_Reduce(contribution(&fault, comm, send, size), recv, count, type, op, root, comm);
    }
    return end(&fault, comm, send, recv, size);
}

int MPI_Reduce_scatter(const void *send, void *recv, const int counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm)
{
    fault_t fault;
    size_t size = 0;
    for (int i = 0; i < size_of(comm); i++) {
        size += (size_t)counts[i] * sizeof(float);
    }
    if (begin(&fault)) {
        PMPI_Reduce_scatter(contribution(&fault, comm, send, size), recv, counts, type, op, comm);
    }
    return end(&fault, comm, send, recv, (size_t)counts[0] * sizeof(float));
}

int MPI_Reduce_scatter_block(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    fault_t fault;
    size_t part = (size_t)count * sizeof(float);
    if (begin(&fault)) {
        PMPI_Reduce_scatter_block(contribution(&fault, comm, send, (size_t)size_of(comm) * part),
                                  recv, count, type, op, comm);
    }
    return end(&fault, comm, send, recv, part);
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    fault_t fault;
    if (begin(&fault)) {
        PMPI_Scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
    }
    return end(&fault, comm, send, recv, (size_t)recv_count);
}
