/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives, a row and a call each.
 */
#include "config.h"

#include "osu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts and displacements of blocks side by side, in elements of MPI_CHAR; or the counts of a
   message that is dealt out, of MPI_FLOAT. */
typedef struct vectors {
    int *counts;         /* [np] */
    int *displs;         /* [np] */
    MPI_Datatype *types; /* [np] */
    const pwr_osu_benchmark_t *benchmark;
    int np;
    size_t bytes;
} vectors_t;

static void *resize(void *memory, int np, size_t size)
{
    void *resized = realloc(memory, (size_t)np * size);
    if (!resized) {
        fprintf(stderr, "no memory for the counts of %d ranks\n", np);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return resized;
}

/* Made anew only when something is another than in the call before, because this is timed. */
static const vectors_t *vectors_of(const pwr_osu_call_t *call)
{
    static vectors_t v;
    if (call->benchmark == v.benchmark && call->np == v.np && call->bytes == v.bytes) {
        return &v;
    }
    v.counts = resize(v.counts, call->np, sizeof *v.counts);
    v.displs = resize(v.displs, call->np, sizeof *v.displs);
    v.types = resize(v.types, call->np, sizeof *v.types);
    v.benchmark = call->benchmark;
    v.np = call->np;
    v.bytes = call->bytes;
    pwr_osu_part_t (*part)(int, int, size_t) = v.benchmark->part;
    for (int i = 0; i < v.np; i++) {
        v.counts[i] = (int)(part ? part(v.np, i, v.bytes / sizeof(float)).count : v.bytes);
        v.displs[i] = (int)((size_t)i * v.bytes);
        v.types[i] = MPI_CHAR;
    }
    return &v;
}

/* The first ranks get what is left over. */
static pwr_osu_part_t dealt_out(int np, int rank, size_t elements)
{
    size_t each = elements / (size_t)np;
    size_t left = elements % (size_t)np;
    size_t before = (size_t)rank;
    return (pwr_osu_part_t){.first = before * each + (before < left ? before : left),
                            .count = each + (before < left)};
}

/* What is left over is not sent. */
static pwr_osu_part_t dealt_evenly(int np, int rank, size_t elements)
{
    size_t each = elements / (size_t)np;
    return (pwr_osu_part_t){.first = (size_t)rank * each, .count = each};
}

static int before_me(int rank)
{
    return rank;
}

static int up_to_me(int rank)
{
    return rank + 1;
}

static int floats(const pwr_osu_call_t *call)
{
    return (int)(call->bytes / sizeof(float));
}

static void allgather(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Allgather(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->comm);
}

static void allgatherv(const pwr_osu_call_t *call)
{
    const vectors_t *v = vectors_of(call);
    MPI_Allgatherv(call->send, (int)call->bytes, MPI_CHAR, call->recv, v->counts, v->displs,
                   MPI_CHAR, call->comm);
}

static void allreduce(const pwr_osu_call_t *call)
{
    MPI_Allreduce(call->send, call->recv, floats(call), MPI_FLOAT, MPI_SUM, call->comm);
}

static void alltoall(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Alltoall(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->comm);
}

static void alltoallv(const pwr_osu_call_t *call)
{
    const vectors_t *v = vectors_of(call);
    MPI_Alltoallv(call->send, v->counts, v->displs, MPI_CHAR, call->recv, v->counts, v->displs,
                  MPI_CHAR, call->comm);
}

static void alltoallw(const pwr_osu_call_t *call)
{
    const vectors_t *v = vectors_of(call);
    MPI_Alltoallw(call->send, v->counts, v->displs, v->types, call->recv, v->counts, v->displs,
                  v->types, call->comm);
}

static void barrier(const pwr_osu_call_t *call)
{
    MPI_Barrier(call->comm);
}

static void bcast(const pwr_osu_call_t *call)
{
    MPI_Bcast(call->recv, (int)call->bytes, MPI_CHAR, call->root, call->comm);
}

static void exscan(const pwr_osu_call_t *call)
{
    MPI_Exscan(call->send, call->recv, floats(call), MPI_FLOAT, MPI_SUM, call->comm);
}

static void gather(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Gather(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->root, call->comm);
}

static void reduce(const pwr_osu_call_t *call)
{
    MPI_Reduce(call->send, call->recv, floats(call), MPI_FLOAT, MPI_SUM, call->root, call->comm);
}

static void reduce_scatter(const pwr_osu_call_t *call)
{
    MPI_Reduce_scatter(call->send, call->recv, vectors_of(call)->counts, MPI_FLOAT, MPI_SUM,
                       call->comm);
}

static void reduce_scatter_block(const pwr_osu_call_t *call)
{
    MPI_Reduce_scatter_block(call->send, call->recv, floats(call) / call->np, MPI_FLOAT, MPI_SUM,
                             call->comm);
}

static void scan(const pwr_osu_call_t *call)
{
    MPI_Scan(call->send, call->recv, floats(call), MPI_FLOAT, MPI_SUM, call->comm);
}

static void scatter(const pwr_osu_call_t *call)
{
    int count = (int)call->bytes;
    MPI_Scatter(call->send, count, MPI_CHAR, call->recv, count, MPI_CHAR, call->root, call->comm);
}

const pwr_osu_benchmark_t pwr_osu_benchmarks[] = {
    {"allgather", "Allgather", &pwr_osu_blocks, .recv_each = true, .run = allgather},
    {"allgatherv", "Allgatherv", &pwr_osu_blocks, .recv_each = true, .run = allgatherv},
    {"allreduce", "Allreduce", &pwr_osu_sums, .run = allreduce},
    {"alltoall", "All-to-All Personalized Exchange", &pwr_osu_blocks, .send_each = true,
     .recv_each = true, .run = alltoall},
    {"alltoallv", "All-to-Allv Personalized Exchange", &pwr_osu_blocks, .send_each = true,
     .recv_each = true, .run = alltoallv},
    {"alltoallw", "All-to-Allw Personalized Exchange", &pwr_osu_blocks, .send_each = true,
     .recv_each = true, .run = alltoallw},
    {"barrier", "Barrier", &pwr_osu_nothing, .run = barrier},
    {"bcast", "Broadcast", &pwr_osu_message, .rooted = true, .run = bcast},
    {"exscan", "Exscan", &pwr_osu_sums, .summed = before_me, .run = exscan},
    {"gather", "Gather", &pwr_osu_blocks, .rooted = true, .recv_each = true, .run = gather},
    {"reduce", "Reduce", &pwr_osu_sums, .rooted = true, .run = reduce},
    {"reduce_scatter", "Reduce_scatter", &pwr_osu_sums, .part = dealt_out, .run = reduce_scatter},
    {"reduce_scatter_block", "Reduce_scatter_block", &pwr_osu_sums, .part = dealt_evenly,
     .run = reduce_scatter_block},
    {"scan", "Scan", &pwr_osu_sums, .summed = up_to_me, .run = scan},
    {"scatter", "Scatter", &pwr_osu_blocks, .rooted = true, .send_each = true, .run = scatter},
};
const int pwr_osu_num_benchmarks = sizeof pwr_osu_benchmarks / sizeof pwr_osu_benchmarks[0];
