/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is drawn of a program from its seed: epochs, and the steps of all PEs in each.
 *
 * Every PE draws the steps of all PEs.  All go through the steps of an epoch in one order, each PE
 * doing its part in a step, if it has one; so no program can deadlock.  Each step has places of its
 * own in memory, and what is in them at the end follows from the seed: no two steps meet.
 */
#ifndef RSH_PROGRAM_H
#define RSH_PROGRAM_H

#include <stddef.h>

#include "names.h"
#include "plan.h"
#include "random.h"

/* Memory that programs use: the same places on all PEs. */
typedef enum rsh_arena { RSH_HEAP, RSH_STATIC, RSH_PRIVATE, RSH_ARENAS } rsh_arena_t;

extern const size_t rsh_arena_bytes[RSH_ARENAS];

typedef struct rsh_place {
    rsh_arena_t arena;
    size_t offset;
    size_t bytes;
} rsh_place_t;

/* An active set. */
typedef struct rsh_set {
    int start;
    int log_stride;
    int size;
} rsh_set_t;

static inline int rsh_set_pe(const rsh_set_t *set, int index)
{
    return set->start + (index << set->log_stride);
}
/* -1: not in it */
int rsh_set_index(const rsh_set_t *set, int pe);

typedef struct rsh_kind rsh_kind_t;

typedef struct rsh_step {
    const rsh_kind_t *kind;
    rsh_name_t name; /* of its call */
    uint64_t seed;
    int number;
    /* what these mean is up to the kind */
    rsh_set_t set;
    int origin;
    int target;
    int type; /* in a table of the kind */
    int detail;
    int repeat;
    size_t count;
    ptrdiff_t stride[2];
    uint64_t without;
    bool context;
    bool store;
    bool flag;
    rsh_place_t from;
    rsh_place_t to;
    rsh_place_t extra;
} rsh_step_t;

enum { RSH_MOST_STEPS = 48 };

typedef struct rsh_program {
    uint64_t seed;
    uint64_t without; /* names */
    size_t most_units;
    int pes;
    int epochs;
    bool contexts;
    long context_options;
} rsh_program_t;

typedef struct rsh_epoch {
    uint64_t seed;
    bool begins_with_sync;
    int num_steps;
    rsh_step_t steps[RSH_MOST_STEPS];
    size_t used[RSH_ARENAS];
    uint64_t calls; /* of all PEs */
} rsh_epoch_t;

void rsh_program_draw(rsh_program_t *program, uint64_t seed, const diff_limits_t *limits, int pes);
void rsh_epoch_draw(rsh_epoch_t *epoch, const rsh_program_t *program, int number);

/* ---- for those who draw steps ---- */

typedef struct rsh_draw {
    const rsh_program_t *program;
    rsh_epoch_t *epoch;
    diff_random_t random;
} rsh_draw_t;

bool rsh_may(rsh_draw_t *d, rsh_name_t name, unsigned percent);
/* One of the names [first, end) that are not left out; RSH_NUM_NAMES: there is none. */
rsh_name_t rsh_draw_name(rsh_draw_t *d, rsh_name_t first, rsh_name_t end);
int rsh_draw_pe(rsh_draw_t *d);
/* RSH_SELF is left out: another one, where there is another. */
int rsh_draw_target(rsh_draw_t *d, int origin);
rsh_set_t rsh_draw_set(rsh_draw_t *d);
/* How many elements, each of which needs that many bytes on a PE. */
size_t rsh_draw_count(rsh_draw_t *d, size_t bytes);
typedef enum rsh_where { RSH_ANYWHERE, RSH_SYMMETRIC, RSH_IN_HEAP } rsh_where_t;

/* Symmetric memory for a call in a context, or in none. */
rsh_where_t rsh_where(const rsh_draw_t *d, bool context);
/* align: a power of two */
rsh_place_t rsh_draw_place(rsh_draw_t *d, size_t bytes, size_t align, rsh_where_t where);

#endif
