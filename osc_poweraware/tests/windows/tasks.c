/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Buffers of calls, and the calls themselves.
 */
#include "tasks.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

/* An element of the target's type is one, or so many small ones, on this side. */
static void make_side(rma_task_t *task, int side, const rma_program_t *program)
{
    const rma_call_t *call = task->call;
    const diff_layout_t *there = &call->slot->layout;
    diff_random_t random = {diff_hash(call->seed, (uint64_t)side, 11)};
    diff_signature_t signature = call->slot->signature;
    int units = diff_chance(&random, 50) ? 1 : there->units;
    size_t elements = call->count * (size_t)(there->units / units);
    diff_style_t style = (diff_style_t)diff_draw(&random, DIFF_NUM_STYLES);
    if (rma_call_is_single(call->name)) {
        signature = (diff_signature_t){1, {there->kind[call->item]}};
        units = 1;
        elements = 1;
        style = DIFF_PLAIN;
    }
    if (rma_has(program->without, RMA_DERIVED)) {
        style = DIFF_PLAIN;
    }
    diff_layout_t *here = &task->layout[side];
    diff_layout_make(here, &signature, units, style, &random);
    ptrdiff_t last = elements > 0 ? (ptrdiff_t)(elements - 1) * here->extent : 0;
    diff_buffer_make(&task->buffer[side], here->low, last + here->high);
    diff_buffer_fill(&task->buffer[side], (unsigned char)(0xA1 + call->seed % 64));
    task->elements[side] = (int)elements;
    task->used[side] = true;
}

static void fill_origin(rma_task_t *task)
{
    const diff_layout_t *layout = &task->layout[RMA_ORIGIN];
    diff_buffer_t *buffer = &task->buffer[RMA_ORIGIN];
    size_t items = rma_call_items(task->call);
    for (size_t i = 0; i < items; ++i) {
        diff_value_t value = rma_call_value(task->call, i);
        diff_put(rma_item_at(layout, buffer->data, i), rma_item_kind(layout, i), &value);
        diff_put(rma_item_at(layout, buffer->expected, i), rma_item_kind(layout, i), &value);
    }
}

void rma_task_make(rma_task_t *task, const rma_call_t *call, const rma_program_t *program)
{
    memset(task, 0, sizeof *task);
    task->call = call;
    task->request = MPI_REQUEST_NULL;
    task->order = (uint64_t)call->number << 32 | (diff_hash(call->seed, 0, 12) & 0xffffffff);
    if (rma_call_sends(call->name)) {
        make_side(task, RMA_ORIGIN, program);
        fill_origin(task);
    }
    if (rma_call_fetches(call->name)) {
        make_side(task, RMA_RESULT, program);
    }
}

void rma_task_free(rma_task_t *task)
{
    for (int side = 0; side < RMA_SIDES; ++side) {
        if (task->used[side]) {
            diff_layout_free(&task->layout[side]);
            diff_buffer_free(&task->buffer[side]);
        }
    }
}

void rma_task_fetches(rma_task_t *task, size_t index, diff_value_t value)
{
    const diff_layout_t *layout = &task->layout[RMA_RESULT];
    if (task->used[RMA_RESULT]) {
        diff_put(rma_item_at(layout, task->buffer[RMA_RESULT].expected, index),
                 rma_item_kind(layout, index), &value);
    }
}

/* ---- issuing ---- */

/* One side of a call, as MPI's functions take it. */
typedef struct side {
    void *buffer;
    int count;
    MPI_Datatype type;
} side_t;

static side_t side_of(const rma_task_t *task, int side)
{
    return (side_t){task->buffer[side].data, task->elements[side], task->layout[side].type};
}

static MPI_Op handle(const rma_call_t *call)
{
    return RMA_FETCHING == call->how    ? MPI_NO_OP
           : RMA_REPLACING == call->how ? MPI_REPLACE
                                        : diff_operator_handle(call->slot->op);
}

static int issue_single(rma_task_t *task, const rma_place_t *place, int target, MPI_Aint at)
{
    side_t o = side_of(task, RMA_ORIGIN);
    side_t r = side_of(task, RMA_RESULT);
    return RMA_FETCH_AND_OP == task->call->name
               ? MPI_Fetch_and_op(o.buffer, r.buffer, o.type, target, at, handle(task->call),
                                  place->win)
               : MPI_Compare_and_swap(o.buffer, task->compare, r.buffer, o.type, target, at,
                                      place->win);
}

int rma_task_issue(rma_task_t *task, const rma_place_t *place, int target, MPI_Request *request)
{
    const rma_call_t *call = task->call;
    const rma_slot_t *slot = call->slot;
    const diff_layout_t *there = &slot->layout;
    MPI_Aint bytes = (MPI_Aint)slot->begin + (MPI_Aint)call->first * there->extent;
    bytes += rma_call_is_single(call->name) ? there->offset[call->item] : 0;
    MPI_Aint at = (place->base + bytes) / place->unit;
    int count = (int)call->count;
    side_t o = side_of(task, RMA_ORIGIN);
    side_t r = side_of(task, RMA_RESULT);
    MPI_Win win = place->win;
    switch (call->name) {
    case RMA_PUT:
        return MPI_Put(o.buffer, o.count, o.type, target, at, count, there->type, win);
    case RMA_RPUT:
        return MPI_Rput(o.buffer, o.count, o.type, target, at, count, there->type, win, request);
    case RMA_GET:
        return MPI_Get(r.buffer, r.count, r.type, target, at, count, there->type, win);
    case RMA_RGET:
        return MPI_Rget(r.buffer, r.count, r.type, target, at, count, there->type, win, request);
    case RMA_ACCUMULATE:
        return MPI_Accumulate(o.buffer, o.count, o.type, target, at, count, there->type,
                              handle(call), win);
    case RMA_RACCUMULATE:
        return MPI_Raccumulate(o.buffer, o.count, o.type, target, at, count, there->type,
                               handle(call), win, request);
    case RMA_GET_ACCUMULATE:
        return MPI_Get_accumulate(o.buffer, o.count, o.type, r.buffer, r.count, r.type, target, at,
                                  count, there->type, handle(call), win);
    case RMA_RGET_ACCUMULATE:
        return MPI_Rget_accumulate(o.buffer, o.count, o.type, r.buffer, r.count, r.type, target, at,
                                   count, there->type, handle(call), win, request);
    default:
        return issue_single(task, place, target, at);
    }
}

/* ---- comparing ---- */

/* Takes over what MPI leaves open. */
static void accept(rma_task_t *task)
{
    const diff_layout_t *layout = &task->layout[RMA_RESULT];
    diff_buffer_t *buffer = &task->buffer[RMA_RESULT];
    for (size_t i = 0; i < rma_call_items(task->call); ++i) {
        diff_value_t value =
            diff_get(rma_item_at(layout, buffer->data, i), rma_item_kind(layout, i));
        diff_put(rma_item_at(layout, buffer->expected, i), rma_item_kind(layout, i), &value);
    }
}

static bool side_right(rma_task_t *task, int side, char *text, size_t size)
{
    diff_buffer_t *buffer = &task->buffer[side];
    ptrdiff_t at = 0;
    bool right = !task->used[side] || diff_buffer_right(buffer, &at);
    if (!right) {
        snprintf(text, size, "byte %td of the %s buffer is 0x%02x, expected 0x%02x", at,
                 RMA_ORIGIN == side ? "origin" : "result", buffer->data[at], buffer->expected[at]);
    }
    return right;
}

bool rma_task_conclude(rma_task_t *task, char *text, size_t size)
{
    if (task->call->open_result && task->used[RMA_RESULT] && !task->complete) {
        accept(task);
    }
    bool right =
        side_right(task, RMA_RESULT, text, size) && side_right(task, RMA_ORIGIN, text, size);
    for (int side = 0; side < RMA_SIDES && !task->complete; ++side) {
        if (task->used[side]) {
            diff_buffer_fill(&task->buffer[side], 0x5E);
        }
    }
    task->complete = true;
    return right;
}
