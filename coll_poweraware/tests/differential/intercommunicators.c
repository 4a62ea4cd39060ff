/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls on an intercommunicator: each group gets what the other one sends.
 */
#include "intercommunicators.h"

#include <stdio.h>
#include <stdlib.h>

#include "random.h"

MPI_Comm diff_inter_make(MPI_Comm parent)
{
    int rank;
    int size;
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    if (size < 2) {
        return MPI_COMM_NULL;
    }
    MPI_Comm_split(parent, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, parent, 1 - rank % 2, 9, &inter);
    MPI_Comm_free(&half);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
}

typedef struct groups {
    MPI_Comm inter;
    int mine;   /* rank in my group */
    int others; /* size of the other group */
    int parity;
    uint64_t seed;
    int count;
} groups_t;

static int32_t value(const groups_t *g, int parity, int rank, int index)
{
    return (int32_t)(diff_hash(g->seed, (uint64_t)(2 * rank + parity), (uint64_t)index) & 0xffff);
}

static void fill(const groups_t *g, int32_t *data)
{
    for (int i = 0; i < g->count; ++i) {
        data[i] = value(g, g->parity, g->mine, i);
    }
}

static bool check_allgather(const groups_t *g, int32_t *mine, int32_t *theirs)
{
    fill(g, mine);
    bool right = MPI_SUCCESS == MPI_Allgather(mine, g->count, MPI_INT32_T, theirs, g->count,
                                              MPI_INT32_T, g->inter);
    for (int k = 0; right && k < g->others * g->count; ++k) {
        right = theirs[k] == value(g, 1 - g->parity, k / g->count, k % g->count);
    }
    return right;
}

static bool check_allreduce(const groups_t *g, int32_t *mine, int32_t *theirs)
{
    fill(g, mine);
    bool right =
        MPI_SUCCESS == MPI_Allreduce(mine, theirs, g->count, MPI_INT32_T, MPI_SUM, g->inter);
    for (int i = 0; right && i < g->count; ++i) {
        int32_t sum = 0;
        for (int rank = 0; rank < g->others; ++rank) {
            sum += value(g, 1 - g->parity, rank, i);
        }
        right = sum == theirs[i];
    }
    return right;
}

/* From the first odd rank to all even ones. */
static bool check_bcast(const groups_t *g, int32_t *mine, int32_t *theirs)
{
    bool sends = 1 == g->parity;
    int root = !sends ? 0 : 0 == g->mine ? MPI_ROOT : MPI_PROC_NULL;
    fill(g, mine);
    bool right =
        MPI_SUCCESS == MPI_Bcast(sends ? mine : theirs, g->count, MPI_INT32_T, root, g->inter);
    for (int i = 0; right && !sends && i < g->count; ++i) {
        right = theirs[i] == value(g, 1, 0, i);
    }
    return right;
}

bool diff_inter_check(MPI_Comm inter, uint64_t seed, char *why, size_t size)
{
    groups_t g = {.inter = inter, .seed = seed, .count = 1 + (int)(seed >> 9 & 0x3ff)};
    MPI_Comm_rank(inter, &g.mine);
    MPI_Comm_remote_size(inter, &g.others);
    MPI_Group ours;
    MPI_Group world;
    int zero = 0;
    int first;
    MPI_Comm_group(inter, &ours);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(ours, 1, &zero, world, &first);
    MPI_Group_free(&ours);
    MPI_Group_free(&world);
    g.parity = first % 2;
    int32_t *mine = calloc((size_t)g.count, sizeof *mine);
    int32_t *theirs = calloc((size_t)(g.count * g.others), sizeof *theirs);
    if (NULL == mine || NULL == theirs) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return false;
    }
    const char *wrong = !check_allgather(&g, mine, theirs)   ? "allgather"
                        : !check_allreduce(&g, mine, theirs) ? "allreduce"
                        : !check_bcast(&g, mine, theirs)     ? "bcast"
                        : MPI_SUCCESS != MPI_Barrier(inter)  ? "barrier"
                                                             : NULL;
    if (NULL != wrong) {
        snprintf(why, size, "%s of %d integers, rank %d of the %s ranks", wrong, g.count, g.mine,
                 0 == g.parity ? "even" : "odd");
    }
    free(mine);
    free(theirs);
    return NULL == wrong;
}
