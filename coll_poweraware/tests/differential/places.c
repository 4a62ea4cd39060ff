/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where blocks lie in a buffer.
 */
#include "call.h"

#include <stdlib.h>

static bool takes_displacements(const diff_call_t *call, int which)
{
    switch (call->plan->collective) {
    case DIFF_ALLTOALLV:
    case DIFF_ALLTOALLW:
        return true;
    case DIFF_ALLGATHERV:
    case DIFF_GATHERV:
        return DIFF_RECEIVE == which;
    case DIFF_SCATTERV:
        return DIFF_SEND == which;
    default:
        return false;
    }
}

/* The order in which blocks lie in memory. */
static void draw_order(int *order, int num, bool scattered, diff_random_t *random)
{
    for (int i = 0; i < num; ++i) {
        int k = scattered ? (int)diff_draw(random, (unsigned)i + 1) : i;
        order[i] = order[k];
        order[k] = i;
    }
}

/* Displacements in elements: tiles of one layout never overlap. */
static void place_by_elements(diff_side_t *side, const int *order, bool scattered,
                              diff_random_t *random)
{
    ptrdiff_t next = scattered ? -(ptrdiff_t)diff_draw(random, 8) : 0;
    for (int i = 0; i < side->num_blocks; ++i) {
        diff_block_t *block = &side->blocks[order[i]];
        next += scattered && diff_chance(random, 30) ? 1 + (ptrdiff_t)diff_draw(random, 3) : 0;
        side->displs[order[i]] = (int)next;
        block->at = next * block->layout->extent;
        next += (ptrdiff_t)block->elements;
    }
}

static ptrdiff_t high_of(const diff_block_t *block)
{
    return 0 == block->elements
               ? 0
               : block->layout->high + (ptrdiff_t)(block->elements - 1) * block->layout->extent;
}

static ptrdiff_t low_of(const diff_block_t *block)
{
    return 0 == block->elements ? 0 : block->layout->low;
}

/* Displacements in bytes: blocks of different layouts lie apart. */
static void place_by_bytes(diff_side_t *side, const int *order, bool scattered,
                           diff_random_t *random)
{
    enum { ALIGNMENT = 16 };
    ptrdiff_t next = scattered ? -ALIGNMENT * (ptrdiff_t)diff_draw(random, 16) : 0;
    for (int i = 0; i < side->num_blocks; ++i) {
        diff_block_t *block = &side->blocks[order[i]];
        next += scattered ? ALIGNMENT * (ptrdiff_t)diff_draw(random, 4) : 0;
        ptrdiff_t below = (ALIGNMENT - 1 - low_of(block)) / ALIGNMENT * ALIGNMENT;
        block->at = next + (below > 0 ? below : 0);
        side->displs[order[i]] = (int)block->at;
        next = block->at + (high_of(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

void diff_place(diff_call_t *call, int which)
{
    diff_side_t *side = &call->side[which];
    bool scattered = call->plan->scattered && takes_displacements(call, which);
    diff_random_t random = {
        diff_hash(call->plan->seed, (uint64_t)(2 * call->comm->rank + which), 0x706C)};
    int *order = calloc((size_t)side->num_blocks + 1, sizeof *order);
    if (NULL == order) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    draw_order(order, side->num_blocks, scattered, &random);
    if (DIFF_ALLTOALLW == call->plan->collective) {
        place_by_bytes(side, order, scattered, &random);
    } else {
        place_by_elements(side, order, scattered, &random);
    }
    free(order);
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    for (int i = 0; i < side->num_blocks; ++i) {
        const diff_block_t *block = &side->blocks[i];
        if (block->elements > 0) {
            low = block->at + low_of(block) < low ? block->at + low_of(block) : low;
            high = block->at + high_of(block) > high ? block->at + high_of(block) : high;
        }
        side->types[i] = block->layout->type;
        if (!diff_plan_reduces(call->plan)) {
            side->counts[i] = (int)block->elements;
        }
    }
    diff_buffer_make(&side->buffer, low, high);
}
