/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Communicators made in every way that changes who is in them or in which order.
 */
#ifndef DIFF_COMMUNICATORS_H
#define DIFF_COMMUNICATORS_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

enum { DIFF_GRID_DIMENSIONS = 2 };

typedef struct diff_comm {
    const char *name;
    MPI_Comm comm; /* MPI_COMM_NULL: this rank is not in it */
    int rank;
    int size;
    int first; /* rank 0 of it, as a rank of the parent: tells sister communicators apart */
    int dims[DIFF_GRID_DIMENSIONS]; /* of a grid */
    int periods[DIFF_GRID_DIMENSIONS];
} diff_comm_t;

typedef enum diff_family {
    DIFF_DUP, /* the parent's ranks in its order */
    DIFF_REVERSED,
    DIFF_ODD_EVEN,
    DIFF_THIRDS,
    DIFF_ALL_BUT_LAST,
    DIFF_ALONE, /* one rank each */
    DIFF_GROUP, /* made by its members only */
    DIFF_GRID,  /* Cartesian, reordered */
    DIFF_RING,  /* distributed graph, reordered */
    DIFF_NODE,  /* all ranks of a node */
    DIFF_LEADERS,
    DIFF_NUM_FAMILIES,
    DIFF_FRESH = DIFF_NUM_FAMILIES, /* made for a few calls */
} diff_family_t;

const char *diff_family_name(diff_family_t family);
/* Collective over the parent; MPI's errors are returned on it from then on. */
void diff_comm_make(diff_comm_t *comm, MPI_Comm parent, diff_family_t family);
/* Ranks and way are drawn from seed. */
void diff_comm_make_fresh(diff_comm_t *comm, MPI_Comm parent, uint64_t seed);
void diff_comm_free(diff_comm_t *comm);

/* The neighbour in direction 0 (down) or 1 (up) of a grid's dimension; -1: there is none. */
int diff_comm_neighbour(const diff_comm_t *grid, int dimension, int direction);

#endif
