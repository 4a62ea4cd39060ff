/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Drawing how a slot is used, and the calls that use it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_faults.h"
#include "program.h"

/* What is drawn from and for. */
typedef struct draw {
    const rma_program_t *program;
    const rma_window_plan_t *plan;
    rma_epoch_t *epoch;
    rma_slot_t *slot;
    diff_random_t random;
    int unit; /* of the target's displacements */
} draw_t;

static bool without(const draw_t *d, rma_name_t name)
{
    return rma_has(d->program->without, name);
}

/* ---- datatypes ---- */

/* MPI does not say what becomes of bytes between the parts of a pair. */
static bool has_padding(const diff_kind_t *kind)
{
    return diff_kind_size(kind) != kind->extent;
}

static const diff_kind_t *draw_kind(draw_t *d, const diff_operator_t *op)
{
    const diff_kind_t *kind;
    do {
        kind = &diff_kinds[diff_draw(&d->random, (unsigned)diff_num_kinds)];
    } while (has_padding(kind) || (NULL != op && !diff_operator_fits(op, kind)) ||
             (NULL != op && kind->parts > 1 && without(d, RMA_COMPLEX)) ||
             (DIFF_COMPLEX == kind->class && diff_known_fault_complex()));
    return kind;
}

static bool left_out(const draw_t *d, MPI_Op op)
{
    bool logical = MPI_LAND == op || MPI_LOR == op || MPI_LXOR == op;
    bool bitwise = MPI_BAND == op || MPI_BOR == op || MPI_BXOR == op;
    bool of_pairs = MPI_MAXLOC == op || MPI_MINLOC == op;
    bool extreme = MPI_MAX == op || MPI_MIN == op || of_pairs;
    return (logical && without(d, RMA_LOGICAL)) || (bitwise && without(d, RMA_BITWISE)) ||
           (extreme && without(d, RMA_EXTREMES)) || (of_pairs && without(d, RMA_COMPLEX));
}

static const diff_operator_t *draw_operator(draw_t *d)
{
    const diff_operator_t *op;
    do {
        op = diff_operator_draw(&d->random, false);
    } while (MPI_OP_NULL == op->op || left_out(d, op->op)); /* ours are for reductions only */
    return op;
}

static void draw_signature(draw_t *d, bool alike)
{
    diff_signature_t *signature = &d->slot->signature;
    const diff_kind_t *kind = draw_kind(d, d->slot->op);
    bool derived = !without(d, RMA_DERIVED);
    signature->num = derived ? 1 + (int)diff_draw(&d->random, DIFF_MAX_SIGNATURE) : 1;
    for (int i = 0; i < signature->num; ++i) {
        signature->kind[i] = i > 0 && !alike ? draw_kind(d, NULL) : kind;
    }
}

/* Elements of it that fit into a slot, the first one's address being begin + *at. */
static size_t elements_that_fit(const diff_layout_t *layout, size_t bytes, size_t *at)
{
    *at = layout->low < 0 ? (size_t)(-layout->low + 15) / 16 * 16 : 0;
    ptrdiff_t left = (ptrdiff_t)bytes - (ptrdiff_t)*at - layout->high;
    return left < 0 ? 0 : 1 + (size_t)(left / layout->extent);
}

/* Accumulates meet at items: all calls of a slot see one arrangement, at aligned addresses. */
static void draw_layout(draw_t *d, bool aligned)
{
    rma_slot_t *slot = d->slot;
    diff_style_t style = (diff_style_t)diff_draw(&d->random, DIFF_NUM_STYLES);
    int units = 1 + (int)diff_draw(&d->random, 6);
    size_t at;
    if (aligned && DIFF_PACKED == style) {
        style = DIFF_GAPS;
    }
    if (!without(d, RMA_DERIVED)) {
        diff_layout_make(&slot->layout, &slot->signature, units, style, &d->random);
        slot->elements = elements_that_fit(&slot->layout, d->plan->slot_bytes, &at);
        if (slot->elements > 0) {
            slot->begin += at;
            return;
        }
        diff_layout_free(&slot->layout);
    }
    slot->signature.num = 1;
    diff_layout_make(&slot->layout, &slot->signature, 1, DIFF_PLAIN, &d->random);
    slot->elements = elements_that_fit(&slot->layout, d->plan->slot_bytes, &at);
}

/* ---- calls ---- */

bool rma_call_is_single(rma_name_t name)
{
    return RMA_FETCH_AND_OP == name || RMA_COMPARE_AND_SWAP == name;
}

bool rma_call_fetches(rma_name_t name)
{
    return RMA_GET == name || RMA_RGET == name || RMA_GET_ACCUMULATE == name ||
           RMA_RGET_ACCUMULATE == name || rma_call_is_single(name);
}

bool rma_call_sends(rma_name_t name)
{
    return RMA_GET != name && RMA_RGET != name;
}

bool rma_call_has_request(rma_name_t name)
{
    return RMA_RPUT == name || RMA_RGET == name || RMA_RACCUMULATE == name ||
           RMA_RGET_ACCUMULATE == name;
}

size_t rma_call_items(const rma_call_t *call)
{
    return rma_call_is_single(call->name) ? 1 : call->count * (size_t)call->slot->layout.num;
}

size_t rma_call_item(const rma_call_t *call, size_t index)
{
    size_t first = call->first * (size_t)call->slot->layout.num;
    return first + (rma_call_is_single(call->name) ? (size_t)call->item : index);
}

static diff_value_t value_of(const rma_slot_t *slot, uint64_t random, size_t item, int contribution)
{
    const diff_kind_t *kind = slot->layout.kind[item % (size_t)slot->layout.num];
    if (NULL != slot->op) {
        return slot->op->operand(kind, random, contribution);
    }
    diff_value_t value = diff_arbitrary(random, 0);
    if (DIFF_LOGICAL == kind->class) {
        value.part[0] &= 1;
    }
    return value;
}

diff_value_t rma_call_value(const rma_call_t *call, size_t index)
{
    return value_of(call->slot, diff_mix(call->seed + index), rma_call_item(call, index),
                    call->contribution);
}

diff_value_t rma_slot_value(const rma_slot_t *slot, uint64_t seed, size_t item)
{
    return value_of(slot, diff_hash(seed, slot->begin, item), item, 0);
}

static int draw_origin(draw_t *d)
{
    int size = d->epoch->size;
    int first = (int)diff_draw(&d->random, (unsigned)size);
    for (int i = 0; i < size; ++i) {
        int origin = (first + i) % size;
        bool self = origin == d->slot->target;
        if (rma_epoch_access(d->epoch, origin, d->slot->target) &&
            !(self && without(d, RMA_SELF))) {
            return origin;
        }
    }
    return -1;
}

/* In passive epochs some calls have requests.  RMA_NO_NAME: it is left out. */
static rma_name_t named(draw_t *d, rma_name_t name)
{
    static const rma_name_t with_request[RMA_NUM_CALLS] = {
        [RMA_PUT] = RMA_RPUT,
        [RMA_GET] = RMA_RGET,
        [RMA_ACCUMULATE] = RMA_RACCUMULATE,
        [RMA_GET_ACCUMULATE] = RMA_RGET_ACCUMULATE,
    };
    bool wanted = diff_chance(&d->random, 35) && rma_epoch_passive(d->epoch->sync);
    rma_name_t other = with_request[name];
    if (RMA_PUT != other && !without(d, other) && (wanted || without(d, name)) &&
        rma_epoch_passive(d->epoch->sync)) {
        return other;
    }
    return without(d, name) ? RMA_NO_NAME : name;
}

static bool is_at_unit(const draw_t *d, const rma_call_t *call)
{
    const diff_layout_t *layout = &d->slot->layout;
    ptrdiff_t at = (ptrdiff_t)d->slot->begin + (ptrdiff_t)call->first * layout->extent;
    at += rma_call_is_single(call->name) ? layout->offset[call->item] : 0;
    return 0 == at % d->unit;
}

static void append(rma_epoch_t *epoch, const rma_call_t *call)
{
    if (epoch->num_calls == epoch->room) {
        epoch->room = 2 * epoch->room + 32;
        epoch->calls = realloc(epoch->calls, (size_t)epoch->room * sizeof *epoch->calls);
    }
    if (NULL == epoch->calls) {
        fprintf(stderr, "random_windows: no memory for calls\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    epoch->calls[epoch->num_calls++] = *call;
}

/* Elements [first, first + count) of the slot, as far as limits and displacement units allow. */
static void add_call(draw_t *d, rma_call_t call)
{
    call.name = named(d, call.name);
    call.seed = diff_draw(&d->random, 1u << 30);
    call.slot = d->slot;
    call.item = (int)(call.seed % (uint64_t)d->slot->layout.num);
    call.contribution = ++d->slot->contributions;
    bool atomic = RMA_PUT != call.name && RMA_RPUT != call.name && RMA_GET != call.name &&
                  RMA_RGET != call.name && RMA_COMPARE_AND_SWAP != call.name;
    bool unwanted = atomic && ((RMA_REPLACING == call.how && without(d, RMA_REPLACE)) ||
                               (RMA_FETCHING == call.how && without(d, RMA_NO_OP)));
    call.count = call.count < d->program->most_units ? call.count : d->program->most_units;
    if (call.origin < 0 || unwanted || RMA_NO_NAME == call.name ||
        (rma_call_is_single(call.name) && 0 == call.count)) {
        return;
    }
    while (!is_at_unit(d, &call) && call.first + call.count < d->slot->elements && call.count > 0) {
        ++call.first;
        --call.count;
    }
    if (is_at_unit(d, &call) && (call.count > 0 || !rma_call_is_single(call.name))) {
        append(d->epoch, &call);
    }
}

static rma_call_t some_elements(draw_t *d)
{
    rma_call_t call = {.count = d->slot->elements};
    if (diff_chance(&d->random, 50)) {
        call.first = diff_draw(&d->random, (unsigned)d->slot->elements);
        call.count -= call.first;
        call.count -= diff_draw(&d->random, (unsigned)call.count + 1); /* none is fine, too */
    }
    return call;
}

static rma_name_t draw_accumulate(draw_t *d)
{
    static const rma_name_t names[] = {RMA_ACCUMULATE, RMA_ACCUMULATE, RMA_GET_ACCUMULATE,
                                       RMA_FETCH_AND_OP};
    return names[diff_draw(&d->random, 4)];
}

/* ---- uses of a slot ---- */

static void draw_puts(draw_t *d)
{
    unsigned parts = 1 + diff_draw(&d->random, 3);
    for (unsigned part = 0; part < parts; ++part) {
        size_t first = d->slot->elements * part / parts;
        size_t end = d->slot->elements * (part + 1) / parts;
        rma_call_t call = {
            .name = RMA_PUT, .origin = draw_origin(d), .first = first, .count = end - first};
        add_call(d, call);
    }
}

static void draw_gets(draw_t *d)
{
    bool atomic = diff_chance(&d->random, 40);
    unsigned calls = 1 + diff_draw(&d->random, 4);
    for (unsigned i = 0; i < calls; ++i) {
        rma_call_t call = some_elements(d);
        call.name = diff_chance(&d->random, 50) ? RMA_GET_ACCUMULATE : RMA_FETCH_AND_OP;
        call.how = RMA_FETCHING;
        call.origin = draw_origin(d);
        if (!atomic || 0 == d->slot->stored) {
            call.name = RMA_GET;
        }
        add_call(d, call);
    }
}

static void draw_contest(draw_t *d)
{
    unsigned calls = 2 + diff_draw(&d->random, 5);
    for (unsigned i = 0; i < calls; ++i) {
        rma_call_t call = some_elements(d);
        call.name = draw_accumulate(d);
        call.origin = draw_origin(d);
        call.open_result = true;
        add_call(d, call);
    }
}

static void draw_in_order(draw_t *d)
{
    unsigned calls =
        1 + diff_draw(&d->random, d->plan->unordered || without(d, RMA_ORDERED) ? 1 : 4);
    int origin = draw_origin(d);
    rma_how_t how = diff_chance(&d->random, 50) ? RMA_REPLACING : RMA_COMBINING;
    for (unsigned i = 0; i < calls; ++i) {
        rma_call_t call = some_elements(d);
        call.name = draw_accumulate(d);
        call.origin = origin;
        call.how = NULL == d->slot->op ? RMA_REPLACING : how;
        if (RMA_ACCUMULATE != call.name && diff_chance(&d->random, 20)) {
            call.how = RMA_FETCHING;
        }
        call.number = (int)i;
        add_call(d, call);
    }
}

static bool may_be_swapped(const diff_kind_t *kind)
{
    return DIFF_SIGNED == kind->class || DIFF_UNSIGNED == kind->class ||
           DIFF_LOGICAL == kind->class || DIFF_BITS == kind->class;
}

static void draw_chain(draw_t *d)
{
    unsigned calls = 2 + diff_draw(&d->random, 4);
    int origin = draw_origin(d);
    for (unsigned i = 0; i < calls; ++i) {
        rma_call_t call = some_elements(d);
        static const rma_name_t names[] = {RMA_PUT, RMA_GET, RMA_COMPARE_AND_SWAP};
        unsigned which = diff_draw(&d->random, 6);
        call.name = which < 3 ? names[which] : draw_accumulate(d);
        if (RMA_COMPARE_AND_SWAP == call.name && !may_be_swapped(d->slot->signature.kind[0])) {
            call.name = RMA_FETCH_AND_OP;
        }
        bool replaces = NULL == d->slot->op || diff_chance(&d->random, 30);
        call.how = replaces ? RMA_REPLACING : RMA_COMBINING;
        if (rma_call_fetches(call.name) && diff_chance(&d->random, 15)) {
            call.how = RMA_FETCHING;
        }
        call.origin = origin;
        call.number = (int)i;
        call.flush_before = i > 0;
        add_call(d, call);
    }
}

/* One swap alone is what an active epoch has room for. */
static void draw_swap(draw_t *d)
{
    if (may_be_swapped(d->slot->signature.kind[0])) {
        rma_call_t call = some_elements(d);
        call.name = RMA_COMPARE_AND_SWAP;
        call.origin = draw_origin(d);
        add_call(d, call);
    }
}

static rma_use_t draw_use(draw_t *d)
{
    unsigned drawn = diff_draw(&d->random, 100);
    bool passive = rma_epoch_passive(d->epoch->sync);
    if (drawn < 20) {
        return RMA_UNUSED;
    }
    if (drawn < 40) {
        return RMA_PUTS;
    }
    if (drawn < 55) {
        return RMA_GETS;
    }
    if (drawn < 75) {
        return without(d, RMA_CONTENDED) ? RMA_IN_ORDER : RMA_CONTEND;
    }
    return drawn < 88 && passive && !without(d, RMA_CHAINED) ? RMA_IN_CHAIN : RMA_IN_ORDER;
}

static void draw_calls(draw_t *d)
{
    switch (d->slot->use) {
    case RMA_PUTS:
        draw_puts(d);
        break;
    case RMA_GETS:
        draw_gets(d);
        break;
    case RMA_CONTEND:
        draw_contest(d);
        break;
    case RMA_IN_CHAIN:
        draw_chain(d);
        break;
    default:
        if (diff_chance(&d->random, 20)) {
            draw_swap(d);
        } else {
            draw_in_order(d);
        }
        break;
    }
}

static void draw_slot(draw_t *d)
{
    rma_slot_t *slot = d->slot;
    slot->use = draw_use(d);
    if (RMA_UNUSED == slot->use) {
        return;
    }
    bool alike = RMA_PUTS != slot->use && (RMA_GETS != slot->use || diff_chance(&d->random, 50));
    bool combines =
        RMA_CONTEND == slot->use || (RMA_PUTS != slot->use && alike && diff_chance(&d->random, 80));
    slot->op = combines ? draw_operator(d) : NULL;
    slot->stored = alike && RMA_PUTS != slot->use;
    draw_signature(d, alike);
    draw_layout(d, alike);
    draw_calls(d);
}

void rma_epoch_draw(rma_epoch_t *epoch, const rma_program_t *program, int window, int step,
                    int size)
{
    const rma_window_plan_t *plan = &program->window[window];
    *epoch = (rma_epoch_t){.seed = diff_hash(plan->seed, (uint64_t)step, 6),
                           .sync = rma_epoch_sync(program, window, step),
                           .size = size,
                           .num_slots = size * plan->most_slots};
    epoch->slots = calloc((size_t)epoch->num_slots, sizeof *epoch->slots);
    if (NULL == epoch->slots) {
        fprintf(stderr, "random_windows: no memory for slots\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int i = 0; i < epoch->num_slots; ++i) {
        int target = i / plan->most_slots;
        int number = i % plan->most_slots;
        draw_t d = {program,
                    plan,
                    epoch,
                    &epoch->slots[i],
                    {diff_hash(epoch->seed, (uint64_t)i, 7)},
                    rma_window_unit(plan, program->without, target)};
        d.slot->target = target;
        d.slot->begin = (size_t)number * plan->slot_bytes;
        if (number < rma_window_slots(plan, target)) {
            draw_slot(&d);
        }
    }
}
