/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The sequential oracle: every item of every rank, computed here and not received from anybody.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>

static diff_value_t operand(const diff_call_t *call, const diff_kind_t *kind, int rank, size_t item)
{
    uint64_t random = diff_mix(diff_hash(call->contents_seed, 0x6F70, (uint64_t)rank) + item);
    return call->plan->op->operand(kind, random, rank);
}

/* MPI's definition: x0 op x1 op ... in rank order; our operators are associative. */
static diff_value_t combined(const diff_call_t *call, const diff_kind_t *kind, int first, int last,
                             size_t item)
{
    diff_value_t result = operand(call, kind, first, item);
    for (int rank = first + 1; rank <= last; ++rank) {
        result = call->plan->op->combine(kind, result, operand(call, kind, rank, item));
    }
    return result;
}

diff_value_t diff_oracle_item(const diff_call_t *call, const diff_contents_t *contents,
                              const diff_kind_t *kind, size_t item)
{
    switch (contents->kind) {
    case DIFF_OPERAND:
        return operand(call, kind, contents->a, contents->first + item);
    case DIFF_RESULT:
        return combined(call, kind, contents->a, contents->b, contents->first + item);
    default:
        return diff_arbitrary(
            diff_hash(call->contents_seed, (uint64_t)contents->a, (uint64_t)contents->b), item);
    }
}

/* Writes a block's contents to where the buffer, or what is expected of it, begins. */
static void write_block(const diff_call_t *call, const diff_block_t *block,
                        const diff_contents_t *contents, unsigned char *base)
{
    if (DIFF_NOTHING == contents->kind || DIFF_ANYTHING == contents->kind) {
        return;
    }
    const diff_layout_t *layout = block->layout;
    size_t item = 0;
    for (size_t e = 0; e < block->elements; ++e) {
        unsigned char *element = base + block->at + (ptrdiff_t)e * layout->extent;
        for (int i = 0; i < layout->num; ++i) {
            diff_value_t value = diff_oracle_item(call, contents, layout->kind[i], item++);
            diff_put(element + layout->offset[i], layout->kind[i], &value);
        }
    }
}

static bool same_contents(const diff_contents_t *a, const diff_contents_t *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->first == b->first;
}

static void copy_expected(const diff_block_t *block, const diff_buffer_t *buffer)
{
    const diff_layout_t *layout = block->layout;
    for (size_t e = 0; e < block->elements; ++e) {
        ptrdiff_t element = block->at + (ptrdiff_t)e * layout->extent;
        for (int i = 0; i < layout->num; ++i) {
            ptrdiff_t at = element + layout->offset[i];
            diff_value_t value = diff_get(buffer->data + at, layout->kind[i]);
            diff_put(buffer->expected + at, layout->kind[i], &value);
        }
    }
}

/* Patterns differ between sides and ranks: a gap that was copied along shows. */
static void fill_side(diff_call_t *call, int which)
{
    diff_side_t *side = &call->side[which];
    diff_buffer_fill(&side->buffer, (unsigned char)(0x81 + 29 * call->comm->rank + 7 * which));
    for (int i = 0; i < side->num_blocks; ++i) {
        const diff_block_t *block = &side->blocks[i];
        write_block(call, block, &block->before, side->buffer.data);
        if (same_contents(&block->before, &block->after)) {
            copy_expected(block, &side->buffer);
        } else {
            write_block(call, block, &block->after, side->buffer.expected);
        }
    }
}

void diff_oracle_fill(diff_call_t *call)
{
    fill_side(call, DIFF_SEND);
    fill_side(call, DIFF_RECEIVE);
}

/* ---- comparing ---- */

/* Takes over from the buffer what may be as it is: everything where MPI leaves it open, else sums
   that were rounded in another order. */
static void accept(const diff_block_t *block, const diff_buffer_t *buffer)
{
    const diff_layout_t *layout = block->layout;
    bool anything = DIFF_ANYTHING == block->after.kind;
    for (size_t e = 0; e < block->elements; ++e) {
        ptrdiff_t element = block->at + (ptrdiff_t)e * layout->extent;
        for (int i = 0; i < layout->num; ++i) {
            ptrdiff_t at = element + layout->offset[i];
            const diff_kind_t *kind = layout->kind[i];
            diff_value_t got = diff_get(buffer->data + at, kind);
            if (anything || diff_operator_near(kind, diff_get(buffer->expected + at, kind), got)) {
                diff_put(buffer->expected + at, kind, &got);
            }
        }
    }
}

/* What lies at a byte: an item of a block, or nothing. */
static void locate(const diff_side_t *side, ptrdiff_t at, char *text, size_t size)
{
    for (int b = 0; b < side->num_blocks; ++b) {
        const diff_block_t *block = &side->blocks[b];
        for (size_t e = 0; e < block->elements; ++e) {
            ptrdiff_t element = block->at + (ptrdiff_t)e * block->layout->extent;
            for (int i = 0; i < block->layout->num; ++i) {
                ptrdiff_t from = at - element - block->layout->offset[i];
                if (from >= 0 && from < block->layout->kind[i]->extent) {
                    snprintf(text, size, "block %d, element %zu of %zu, item %d (%s)", b, e,
                             block->elements, i, block->layout->kind[i]->name);
                    return;
                }
            }
        }
    }
    snprintf(text, size, "outside of the data: a gap or a guard");
}

static bool check_side(diff_call_t *call, int which)
{
    diff_side_t *side = &call->side[which];
    bool inexact = NULL != call->plan->op && call->plan->op->inexact;
    for (int i = 0; i < side->num_blocks; ++i) {
        diff_contents_kind_t kind = side->blocks[i].after.kind;
        if (DIFF_ANYTHING == kind || (inexact && DIFF_RESULT == kind)) {
            accept(&side->blocks[i], &side->buffer);
        }
    }
    ptrdiff_t at;
    if (diff_buffer_right(&side->buffer, &at)) {
        return true;
    }
    char where[128];
    locate(side, at, where, sizeof where);
    snprintf(call->why, sizeof call->why,
             "byte %td of the %s buffer is 0x%02x, expected 0x%02x: %s", at,
             DIFF_SEND == which ? "send" : "receive", side->buffer.data[at],
             side->buffer.expected[at], where);
    return false;
}

bool diff_oracle_check(diff_call_t *call, bool damage)
{
    if (damage) {
        diff_buffer_t *buffer = &call->side[call->plan->seed >> 7 & 1].buffer;
        buffer->base[(call->plan->seed >> 8) % buffer->bytes] ^= 0x40;
    }
    return check_side(call, DIFF_RECEIVE) && check_side(call, DIFF_SEND);
}

uint64_t diff_oracle_digest(const diff_call_t *call)
{
    const diff_side_t *side = &call->side[DIFF_RECEIVE];
    uint64_t digest = 0;
    for (int b = 0; b < side->num_blocks; ++b) {
        const diff_block_t *block = &side->blocks[b];
        for (size_t e = 0; DIFF_RESULT == block->after.kind && e < block->elements; ++e) {
            ptrdiff_t element = block->at + (ptrdiff_t)e * block->layout->extent;
            for (int i = 0; i < block->layout->num; ++i) {
                ptrdiff_t at = element + block->layout->offset[i];
                diff_value_t value = diff_get(side->buffer.data + at, block->layout->kind[i]);
                digest = diff_hash(digest, value.part[0], value.part[1]);
            }
        }
    }
    return digest;
}
