/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What each collective sends and receives on one rank, and where in its buffers.
 *
 * 1. The blocks of each side, with what is in them before and after (one function per family of
 *    collectives).
 * 2. Where they lie: one behind the other, or, where MPI takes displacements, in random order with
 *    holes (places.c).
 * 3. The arguments.
 */
#include "call.h"

#include <stdlib.h>

/* Collectives that differ only in who has which blocks. */
typedef enum blocks {
    NO_BLOCK,
    ONE_BLOCK, /* the same for everybody, or the root's */
    EACH_BLOCK /* one per rank */
} blocks_t;

typedef struct shape {
    bool rooted;
    blocks_t root_sends;
    blocks_t root_receives;
    blocks_t others_send;
    blocks_t others_receive;
    bool from_matters; /* counts may differ between senders */
    bool to_matters;   /* counts may differ between receivers */
} shape_t;

/* Of collectives that move data; Bcast, neighbours and reductions have functions of their own. */
static const shape_t shapes[DIFF_NUM_COLLECTIVES] = {
    [DIFF_ALLGATHER] = {false, 0, 0, ONE_BLOCK, EACH_BLOCK, false, false},
    [DIFF_ALLGATHERV] = {false, 0, 0, ONE_BLOCK, EACH_BLOCK, true, false},
    [DIFF_ALLTOALL] = {false, 0, 0, EACH_BLOCK, EACH_BLOCK, false, false},
    [DIFF_ALLTOALLV] = {false, 0, 0, EACH_BLOCK, EACH_BLOCK, true, true},
    [DIFF_ALLTOALLW] = {false, 0, 0, EACH_BLOCK, EACH_BLOCK, true, true},
    [DIFF_GATHER] = {true, ONE_BLOCK, EACH_BLOCK, ONE_BLOCK, NO_BLOCK, false, false},
    [DIFF_GATHERV] = {true, ONE_BLOCK, EACH_BLOCK, ONE_BLOCK, NO_BLOCK, true, false},
    [DIFF_SCATTER] = {true, EACH_BLOCK, ONE_BLOCK, NO_BLOCK, ONE_BLOCK, false, false},
    [DIFF_SCATTERV] = {true, EACH_BLOCK, ONE_BLOCK, NO_BLOCK, ONE_BLOCK, false, true},
};

static const diff_contents_t nothing = {.kind = DIFF_NOTHING};
static const diff_contents_t anything = {.kind = DIFF_ANYTHING};

/* ---- 1. blocks ---- */

/* Arrays have room for one entry per rank, whatever is sent: MPI reads as many. */
static void reserve(const diff_call_t *call, diff_side_t *side, int num_blocks)
{
    size_t room = 2 + (size_t)(num_blocks > call->comm->size ? num_blocks : call->comm->size);
    side->num_blocks = num_blocks;
    side->blocks = calloc(room, sizeof *side->blocks);
    side->counts = calloc(room, sizeof *side->counts);
    side->displs = calloc(room, sizeof *side->displs);
    side->types = calloc(room, sizeof *side->types);
    if (NULL == side->blocks || NULL == side->counts || NULL == side->displs ||
        NULL == side->types) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static size_t elements_of(const diff_layout_t *layout, size_t units)
{
    return units / (size_t)layout->units;
}

/* The message from one rank to another.  Where all get the same, it is called the one to rank 0;
   in place, two ranks exchange blocks of one size. */
static void set_message(const diff_call_t *call, diff_side_t *side, int index, int from, int to)
{
    const diff_plan_t *plan = call->plan;
    const shape_t *shape = &shapes[plan->collective];
    diff_block_t *block = &side->blocks[index];
    int a = shape->from_matters ? from : 0;
    int b = shape->to_matters ? to : 0;
    if (plan->in_place && shape->from_matters && shape->to_matters && a > b) {
        int swap = a;
        a = b;
        b = swap;
    }
    bool to_each = EACH_BLOCK == shape->others_send || EACH_BLOCK == shape->root_sends;
    block->layout = &side->layouts[diff_plan_signature(plan, a, b)];
    block->elements = elements_of(block->layout, diff_plan_units(plan, call->comm->size, a, b));
    block->after = (diff_contents_t){.kind = DIFF_MESSAGE, .a = from, .b = to_each ? to : 0};
}

static void build_movement(diff_call_t *call)
{
    const shape_t *shape = &shapes[call->plan->collective];
    diff_side_t *send = &call->side[DIFF_SEND];
    diff_side_t *receive = &call->side[DIFF_RECEIVE];
    int me = call->comm->rank;
    int size = call->comm->size;
    bool root = shape->rooted && me == call->root;
    bool in_place = call->plan->in_place && (root || !shape->rooted);
    blocks_t sends = root ? shape->root_sends : shape->others_send;
    blocks_t receives = root ? shape->root_receives : shape->others_receive;
    bool keeps = in_place && ONE_BLOCK == receives; /* Scatter: the root's part stays */
    sends = in_place && !keeps ? NO_BLOCK : sends;
    receives = keeps ? NO_BLOCK : receives;

    reserve(call, send, EACH_BLOCK == sends ? size : ONE_BLOCK == sends);
    for (int i = 0; i < send->num_blocks; ++i) {
        set_message(call, send, i, me, EACH_BLOCK == sends ? i : call->root);
        send->blocks[i].before = send->blocks[i].after;
    }
    reserve(call, receive, EACH_BLOCK == receives ? size : ONE_BLOCK == receives);
    bool exchanges = EACH_BLOCK == shape->others_send;
    for (int i = 0; i < receive->num_blocks; ++i) {
        diff_block_t *block = &receive->blocks[i];
        set_message(call, receive, i, EACH_BLOCK == receives ? i : call->root, me);
        block->before = nothing;
        if (in_place && exchanges) {
            block->before = (diff_contents_t){.kind = DIFF_MESSAGE, .a = me, .b = i};
        } else if (in_place && i == me) {
            block->before = block->after;
        }
    }
}

static void build_bcast(diff_call_t *call)
{
    diff_side_t *receive = &call->side[DIFF_RECEIVE];
    reserve(call, &call->side[DIFF_SEND], 0);
    reserve(call, receive, 1);
    diff_block_t *block = &receive->blocks[0];
    block->layout = &receive->layouts[0];
    block->elements =
        elements_of(block->layout, diff_plan_units(call->plan, call->comm->size, 0, 0));
    block->after = (diff_contents_t){.kind = DIFF_MESSAGE, .a = call->root};
    block->before = call->comm->rank == call->root ? block->after : nothing;
}

/* What goes down in a dimension arrives from above. */
static void build_neighbours(diff_call_t *call)
{
    const diff_comm_t *grid = call->comm;
    enum { NEIGHBOURS = 2 * DIFF_GRID_DIMENSIONS };
    for (int which = 0; which < 2; ++which) {
        diff_side_t *side = &call->side[which];
        reserve(call, side, NEIGHBOURS);
        for (int i = 0; i < NEIGHBOURS; ++i) {
            diff_block_t *block = &side->blocks[i];
            int neighbour = diff_comm_neighbour(grid, i / 2, i % 2);
            block->layout = &side->layouts[0];
            block->elements =
                elements_of(block->layout, diff_plan_units(call->plan, grid->size, 0, 0));
            diff_contents_t sent = {.kind = DIFF_MESSAGE, .a = grid->rank, .b = i};
            diff_contents_t got = {.kind = DIFF_MESSAGE, .a = neighbour, .b = i ^ 1};
            block->after = DIFF_SEND == which ? sent : neighbour < 0 ? nothing : got;
            block->before = DIFF_SEND == which ? sent : nothing;
        }
    }
}

/* Elements of the vector that is reduced, and which of them this rank gets. */
typedef struct part {
    size_t elements;
    size_t first;
    size_t mine;
} part_t;

static part_t part_of(diff_call_t *call, const diff_layout_t *layout)
{
    const diff_plan_t *plan = call->plan;
    part_t part = {0};
    if (DIFF_REDUCE_SCATTER != plan->collective && DIFF_REDUCE_SCATTER_BLOCK != plan->collective) {
        part.elements = elements_of(layout, diff_plan_units(plan, call->comm->size, 0, 0));
        part.mine = part.elements;
        return part;
    }
    for (int rank = 0; rank < call->comm->size; ++rank) {
        int to = DIFF_REDUCE_SCATTER == plan->collective ? rank : 0;
        size_t count = elements_of(layout, diff_plan_units(plan, call->comm->size, 0, to));
        call->side[DIFF_RECEIVE].counts[rank] = (int)count;
        part.first = rank == call->comm->rank ? part.elements : part.first;
        part.mine = rank == call->comm->rank ? count : part.mine;
        part.elements += count;
    }
    return part;
}

static diff_contents_t result_for(const diff_call_t *call, size_t first)
{
    diff_contents_t all = {.kind = DIFF_RESULT, .b = call->comm->size - 1, .first = first};
    bool root = call->comm->rank == call->root;
    switch (call->plan->collective) {
    case DIFF_REDUCE:
        return root ? all : nothing;
    case DIFF_SCAN:
        all.b = call->comm->rank;
        return all;
    case DIFF_EXSCAN:
        all.b = call->comm->rank - 1;
        return 0 == call->comm->rank ? anything : all;
    default:
        return all;
    }
}

/* In place, the vector is in the receive buffer; what the result does not cover is left open. */
static void build_reduction(diff_call_t *call)
{
    diff_side_t *send = &call->side[DIFF_SEND];
    diff_side_t *receive = &call->side[DIFF_RECEIVE];
    bool rooted = DIFF_REDUCE == call->plan->collective;
    bool root = call->comm->rank == call->root;
    bool in_place = call->plan->in_place && (root || !rooted);
    reserve(call, send, in_place ? 0 : 1);
    reserve(call, receive, 2);
    part_t part = part_of(call, &receive->layouts[0]);
    size_t item = (size_t)receive->layouts[0].num;
    diff_contents_t operand = {.kind = DIFF_OPERAND, .a = call->comm->rank};
    if (!in_place) {
        send->blocks[0] = (diff_block_t){.layout = &send->layouts[0],
                                         .elements = part.elements,
                                         .before = operand,
                                         .after = operand};
    }
    receive->num_blocks = rooted && !root ? 0 : in_place ? 2 : 1;
    receive->blocks[0] = (diff_block_t){.layout = &receive->layouts[0],
                                        .elements = part.mine,
                                        .before = in_place ? operand : nothing,
                                        .after = result_for(call, part.first * item)};
    operand.first = part.mine * item;
    receive->blocks[1] = (diff_block_t){.layout = &receive->layouts[0],
                                        .elements = part.elements - part.mine,
                                        .before = operand,
                                        .after = anything};
}

/* ---- 3. arguments ---- */

static void *address_of(const diff_call_t *call, const diff_side_t *side)
{
    bool ignored = 0 == side->num_blocks && call->plan->null_where_ignored;
    return ignored ? NULL : side->buffer.data;
}

/* MPI_IN_PLACE is said by who would have sent or, at Scatter's root, received.  Everything that it
   makes meaningless is passed as such. */
static void set_arguments(diff_call_t *call)
{
    diff_side_t *send = &call->side[DIFF_SEND];
    diff_side_t *receive = &call->side[DIFF_RECEIVE];
    diff_collective_t collective = call->plan->collective;
    bool rooted = shapes[collective].rooted || DIFF_REDUCE == collective;
    bool in_place = call->plan->in_place && (!rooted || call->comm->rank == call->root) &&
                    DIFF_BCAST != collective;
    bool scatters = DIFF_SCATTER == collective || DIFF_SCATTERV == collective;
    bool reduces = diff_plan_reduces(call->plan);
    call->args = (diff_args_t){
        .sbuf = in_place && !scatters ? MPI_IN_PLACE : address_of(call, send),
        .rbuf = in_place && scatters ? MPI_IN_PLACE : address_of(call, receive),
        .scount = send->num_blocks > 0 ? send->counts[0] : 0,
        .rcount = receive->num_blocks > 0 ? receive->counts[0] : 0,
        .stype = send->num_blocks > 0 ? send->layouts[0].type : MPI_DATATYPE_NULL,
        .rtype = receive->num_blocks > 0 || reduces ? receive->layouts[0].type : MPI_DATATYPE_NULL,
        .scounts = send->num_blocks > 0 ? send->counts : NULL,
        .rcounts = receive->num_blocks > 0 ? receive->counts : NULL,
        .sdispls = send->num_blocks > 0 ? send->displs : NULL,
        .rdispls = receive->num_blocks > 0 ? receive->displs : NULL,
        .stypes = send->num_blocks > 0 ? send->types : NULL,
        .rtypes = receive->num_blocks > 0 ? receive->types : NULL,
        .op = reduces ? diff_operator_handle(call->plan->op) : MPI_OP_NULL,
        .root = call->root,
        .comm = call->comm->comm,
    };
    if (reduces && DIFF_REDUCE_SCATTER != collective) {
        bool block = DIFF_REDUCE_SCATTER_BLOCK == collective;
        const diff_side_t *has = send->num_blocks > 0 ? send : receive;
        size_t all = has->blocks[0].elements + (1 < has->num_blocks ? has->blocks[1].elements : 0);
        call->args.rcount = block ? receive->counts[0] : (int)all;
    }
}

void diff_build_sides(diff_call_t *call)
{
    diff_collective_t collective = call->plan->collective;
    if (DIFF_BARRIER == collective) {
        reserve(call, &call->side[DIFF_SEND], 0);
        reserve(call, &call->side[DIFF_RECEIVE], 0);
    } else if (DIFF_BCAST == collective) {
        build_bcast(call);
    } else if (DIFF_NEIGHBOR_ALLTOALL == collective) {
        build_neighbours(call);
    } else if (diff_plan_reduces(call->plan)) {
        build_reduction(call);
    } else {
        build_movement(call);
    }
    diff_place(call, DIFF_SEND);
    diff_place(call, DIFF_RECEIVE);
    set_arguments(call);
}
