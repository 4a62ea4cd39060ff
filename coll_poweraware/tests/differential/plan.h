/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is drawn of a call from its seed, and how a call is made simpler.
 *
 * A plan is the same on all ranks and does not know the size of the communicator.  What differs
 * from rank to rank (layouts, displacements) is drawn from (seed, rank) when the call is built.
 */
#ifndef DIFF_PLAN_H
#define DIFF_PLAN_H

#include "communicators.h"
#include "layouts.h"
#include "mpi_calls.h"
#include "operators.h"

/* What to draw from; part of the command that repeats a call. */
typedef struct diff_choice {
    unsigned collectives; /* bit per collective */
    unsigned modes;       /* bit per mode */
    size_t most_bytes;    /* of data in a rank's buffer; one call in 200 has eight times as many */
    bool inexact;         /* only sums that round */
    bool beyond_stock;    /* also what Open MPI's own functions get wrong */
    bool fresh;           /* each call on a communicator of its own */
} diff_choice_t;

/* Simplifications, each of which leaves the rest of the plan as it was. */
typedef enum diff_simpler {
    DIFF_SIMPLER_BLOCKING = 1 << 0,
    DIFF_SIMPLER_DUP = 1 << 1,      /* the communicator with all ranks in order */
    DIFF_SIMPLER_PUNCTUAL = 1 << 2, /* no rank comes late */
    DIFF_SIMPLER_ROOT = 1 << 3,
    DIFF_SIMPLER_APART = 1 << 4,  /* no MPI_IN_PLACE */
    DIFF_SIMPLER_EVEN = 1 << 5,   /* equal counts */
    DIFF_SIMPLER_PLACED = 1 << 6, /* blocks in order, one behind the other */
    DIFF_SIMPLER_ALIKE = 1 << 7,  /* one layout for all */
    DIFF_SIMPLER_LAYOUT = 1 << 8, /* plain layouts of one unit */
    DIFF_SIMPLER_INT = 1 << 9,    /* of MPI_INT, with an operator of ours */
    DIFF_SIMPLER_END = 1 << 10
} diff_simpler_t;

typedef struct diff_limits {
    uint64_t simpler;  /* diff_simpler_t */
    size_t most_units; /* of a block */
} diff_limits_t;

typedef struct diff_plan {
    uint64_t seed;
    diff_collective_t collective;
    diff_mode_t mode;
    diff_family_t family;
    unsigned root; /* modulo the communicator's size */
    bool late;     /* ranks enter at different times */
    bool in_place;
    bool uneven;
    bool scattered;
    bool alike;
    bool beyond_stock;
    bool null_where_ignored; /* NULL, not a buffer, for what MPI must not look at */
    diff_style_t style;
    int num_signatures; /* Alltoallw uses the second one, too */
    diff_signature_t signature[2];
    int units[2];       /* of an element: each rank uses one of these */
    size_t small_units; /* units of a block; 0: by bytes */
    size_t bytes;       /* of data in a rank's buffer */
    size_t most_units;
    const diff_operator_t *op; /* reductions */
} diff_plan_t;

void diff_plan_draw(diff_plan_t *plan, uint64_t seed, const diff_choice_t *choice,
                    const diff_limits_t *limits);

bool diff_plan_reduces(const diff_plan_t *plan);
/* Units of the block from one rank to another, in a communicator of that size: a multiple of every
   element's units. */
size_t diff_plan_units(const diff_plan_t *plan, int size, int from, int to);
/* The most that any block has; a limit below it makes the call smaller. */
size_t diff_plan_most_units(const diff_plan_t *plan, int size);
/* Which signature a block from one rank to another has. */
int diff_plan_signature(const diff_plan_t *plan, int from, int to);
/* One layout per signature, as this rank uses on this side (0: send, 1: receive). */
void diff_plan_layouts(const diff_plan_t *plan, int rank, int side, diff_layout_t layouts[2]);

/* Everything that was drawn, in one line. */
void diff_plan_describe(const diff_plan_t *plan, char *text, size_t size);

#endif
