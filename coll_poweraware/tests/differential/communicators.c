/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Making communicators.
 */
#include "communicators.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

typedef struct parent {
    MPI_Comm comm;
    int rank;
    int size;
} parent_t;

static parent_t look_at(MPI_Comm comm)
{
    parent_t parent = {.comm = comm};
    MPI_Comm_rank(comm, &parent.rank);
    MPI_Comm_size(comm, &parent.size);
    return parent;
}

static MPI_Comm split(const parent_t *parent, int color, int key)
{
    MPI_Comm comm;
    MPI_Comm_split(parent->comm, color, key, &comm);
    return comm;
}

static MPI_Comm make_dup(const parent_t *parent)
{
    MPI_Comm comm;
    MPI_Comm_dup(parent->comm, &comm);
    return comm;
}

/* Of the ranks whose bit is set; bits repeat every 64 ranks. */
static MPI_Comm make_group(const parent_t *parent, uint64_t members)
{
    int *ranks = calloc((size_t)parent->size, sizeof *ranks);
    int num = 0;
    for (int rank = 0; NULL != ranks && rank < parent->size; ++rank) {
        if (0 != (members >> (rank % 64) & 1)) {
            ranks[num++] = rank;
        }
    }
    MPI_Comm comm = MPI_COMM_NULL;
    if (0 != (members >> (parent->rank % 64) & 1)) {
        MPI_Group all;
        MPI_Group some;
        MPI_Comm_group(parent->comm, &all);
        MPI_Group_incl(all, num, ranks, &some);
        MPI_Comm_create_group(parent->comm, some, 7, &comm);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
    }
    free(ranks);
    return comm;
}

/* Two dimensions; they are rings where the two neighbours are different ranks. */
static MPI_Comm make_grid(const parent_t *parent, diff_comm_t *made)
{
    memset(made->dims, 0, sizeof made->dims);
    MPI_Dims_create(parent->size, DIFF_GRID_DIMENSIONS, made->dims);
    for (int d = 0; d < DIFF_GRID_DIMENSIONS; ++d) {
        made->periods[d] = made->dims[d] >= 3;
    }
    MPI_Comm comm;
    MPI_Cart_create(parent->comm, DIFF_GRID_DIMENSIONS, made->dims, made->periods, 1, &comm);
    return comm;
}

static MPI_Comm make_ring(const parent_t *parent)
{
    int from = (parent->rank + parent->size - 1) % parent->size;
    int to = (parent->rank + 1) % parent->size;
    int one = 1;
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(parent->comm, 1, &from, &one, 1, &to, &one, MPI_INFO_NULL, 1,
                                   &comm);
    return comm;
}

static MPI_Comm make_node(const parent_t *parent)
{
    MPI_Comm comm;
    MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED, -parent->rank, MPI_INFO_NULL, &comm);
    return comm;
}

static MPI_Comm make_leaders(const parent_t *parent)
{
    MPI_Comm node;
    int rank;
    MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED, parent->rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return split(parent, 0 == rank ? 0 : MPI_UNDEFINED, parent->rank);
}

static MPI_Comm make(const parent_t *parent, diff_family_t family, diff_comm_t *made)
{
    int rank = parent->rank;
    int size = parent->size;
    switch (family) {
    case DIFF_REVERSED:
        return split(parent, 0, -rank);
    case DIFF_ODD_EVEN:
        return split(parent, rank % 2, rank);
    case DIFF_THIRDS:
        return split(parent, rank * 3 / size, -rank);
    case DIFF_ALL_BUT_LAST:
        return split(parent, size > 1 && rank == size - 1 ? MPI_UNDEFINED : 0, rank);
    case DIFF_ALONE:
        return split(parent, rank, 0);
    case DIFF_GROUP:
        return make_group(parent, UINT64_C(0xDB6DB6DB6DB6DB6D));
    case DIFF_GRID:
        return make_grid(parent, made);
    case DIFF_RING:
        return make_ring(parent);
    case DIFF_NODE:
        return make_node(parent);
    case DIFF_LEADERS:
        return make_leaders(parent);
    default:
        return make_dup(parent);
    }
}

static void describe(diff_comm_t *made, const parent_t *parent, MPI_Comm comm, const char *name)
{
    made->name = name;
    made->comm = comm;
    if (MPI_COMM_NULL == comm) {
        return;
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &made->rank);
    MPI_Comm_size(comm, &made->size);
    MPI_Group ours;
    MPI_Group theirs;
    int zero = 0;
    MPI_Comm_group(comm, &ours);
    MPI_Comm_group(parent->comm, &theirs);
    MPI_Group_translate_ranks(ours, 1, &zero, theirs, &made->first);
    MPI_Group_free(&ours);
    MPI_Group_free(&theirs);
}

const char *diff_family_name(diff_family_t family)
{
    static const char *const names[DIFF_NUM_FAMILIES + 1] = {
        [DIFF_DUP] = "dup",
        [DIFF_REVERSED] = "reversed",
        [DIFF_ODD_EVEN] = "odd/even",
        [DIFF_THIRDS] = "thirds",
        [DIFF_ALL_BUT_LAST] = "all but last",
        [DIFF_ALONE] = "alone",
        [DIFF_GROUP] = "group",
        [DIFF_GRID] = "grid",
        [DIFF_RING] = "ring",
        [DIFF_NODE] = "node",
        [DIFF_LEADERS] = "leaders",
        [DIFF_FRESH] = "fresh",
    };
    return names[family];
}

void diff_comm_make(diff_comm_t *comm, MPI_Comm parent_comm, diff_family_t family)
{
    memset(comm, 0, sizeof *comm);
    parent_t parent = look_at(parent_comm);
    describe(comm, &parent, make(&parent, family, comm), diff_family_name(family));
}

void diff_comm_make_fresh(diff_comm_t *comm, MPI_Comm parent_comm, uint64_t seed)
{
    memset(comm, 0, sizeof *comm);
    parent_t parent = look_at(parent_comm);
    diff_random_t random = {seed};
    switch (diff_draw(&random, 3)) {
    case 0:
        describe(comm, &parent, make_dup(&parent), "fresh dup");
        break;
    case 1: {
        uint64_t mine = diff_hash(seed, (uint64_t)parent.rank, 1);
        MPI_Comm made = split(&parent, (int)(mine % 2), (int)(mine >> 8 & 0xffff));
        describe(comm, &parent, made, "fresh split");
        break;
    }
    default:
        describe(comm, &parent, make_group(&parent, diff_hash(seed, 0, 2)), "fresh group");
        break;
    }
}

void diff_comm_free(diff_comm_t *comm)
{
    if (MPI_COMM_NULL != comm->comm) {
        MPI_Comm_free(&comm->comm);
    }
}

int diff_comm_neighbour(const diff_comm_t *grid, int dimension, int direction)
{
    int stride = 1;
    for (int d = dimension + 1; d < DIFF_GRID_DIMENSIONS; ++d) {
        stride *= grid->dims[d];
    }
    int length = grid->dims[dimension];
    int mine = grid->rank / stride % length;
    int other = mine + (0 == direction ? -1 : 1);
    if (grid->periods[dimension]) {
        other = (other + length) % length;
    }
    return other < 0 || other >= length ? -1 : grid->rank + (other - mine) * stride;
}
