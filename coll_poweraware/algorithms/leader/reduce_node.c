/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduction over the ranks of a node, chunk by chunk (protocol: reduce_node.h).
 */
#include "algorithms/leader/reduce_node.h"

#include "algorithms/single_copy/single_copy.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

static bool has_network(const coll_poweraware_reduction_t *r)
{
    return r->call->hierarchy->num_nodes > 1;
}

static void keep_error(coll_poweraware_reduction_t *r, int rc)
{
    r->error = coll_poweraware_first_error(r->error, rc);
}

static void copy(coll_poweraware_reduction_t *r, char *to, const char *from, size_t count)
{
    keep_error(r, coll_poweraware_copy_operands(&r->operands, to, from, count));
}

/* An element of what I contribute. */
static char *given(const coll_poweraware_reduction_t *r, size_t element)
{
    return (char *)r->operands.contribution + (ptrdiff_t)element * r->operands.extent;
}

static char *in_result(const coll_poweraware_reduction_t *r, size_t element)
{
    return r->operands.rbuf + (ptrdiff_t)element * r->operands.extent;
}

/* ---- 1. ---- */

static void give(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk,
                 size_t from, size_t to)
{
    int me = r->call->hierarchy->my_local;
    for (size_t k = 0; k < r->num_runs && from < to; ++k) {
        coll_poweraware_stretch_t s = coll_poweraware_reduction_clip(r, k, from, to);
        if (s.count > 0) {
            copy(r, coll_poweraware_reduction_area(r, chunk, me, s.at), given(r, s.user), s.count);
        }
    }
}

static void contribute(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    uint64_t begin_ns = coll_poweraware_begin_work(r->call, 1, 0);
    if (0 == h->my_local) {
        pwr_slot_set_error(chunk->slot.slot, OMPI_SUCCESS);
    }
    if (r->gives_all) {
        give(r, chunk, 0, chunk->count);
    } else {
        give(r, chunk, 0, chunk->from);
        give(r, chunk, chunk->to, chunk->count);
    }
    coll_poweraware_end_work(r->call, 1, begin_ns);
    pwr_flag_arrive(&chunk->slot.slot->arrived, chunk->slot.expect->arrived);
}

/* ---- 2. ---- */

/* Predefined operators read both operands where they are; a user's wants one of them where the
   result shall be. */
static bool reads_both(const coll_poweraware_reduction_t *r)
{
    return ompi_op_is_intrinsic(r->operands.op) &&
           ompi_datatype_is_predefined(r->operands.datatype);
}

static char *operand(const coll_poweraware_reduction_t *r,
                     const coll_poweraware_reduce_chunk_t *chunk,
                     const coll_poweraware_stretch_t *s, int local)
{
    return local == r->call->hierarchy->my_local
               ? given(r, s->user)
               : coll_poweraware_reduction_area(r, chunk, local, s->at);
}

/* From the right: sum = x op sum keeps the order. */
static void reduce_stretch(coll_poweraware_reduction_t *r,
                           const coll_poweraware_reduce_chunk_t *chunk,
                           const coll_poweraware_stretch_t *s)
{
    int local = r->call->hierarchy->num_local - 1;
    char *last = operand(r, chunk, s, local);
    char *sum = r->direct ? in_result(r, chunk->take_to + s->at - chunk->from)
                          : coll_poweraware_reduction_sum(r, chunk, s->at);
    if (sum != last && local > 0 && reads_both(r)) {
        --local;
        ompi_3buff_op_reduce(r->operands.op, operand(r, chunk, s, local), last, sum, (int)s->count,
                             r->operands.datatype);
    } else if (sum != last) {
        copy(r, sum, last, s->count);
    }
    while (--local >= 0) {
        ompi_op_reduce(r->operands.op, operand(r, chunk, s, local), sum, (int)s->count,
                       r->operands.datatype);
    }
}

/* Whoever has to wait for a rank that leads waits until it is back from the last chunk's network
   phase: that is a rest. */
static void await_contributions(const coll_poweraware_reduction_t *r,
                                const coll_poweraware_reduce_chunk_t *chunk)
{
    pwr_flag_t *arrived = &chunk->slot.slot->arrived;
    if (has_network(r) && r->my_part < 0 && chunk->number > 0) {
        coll_poweraware_rest(r->call, PWR_SITE_SLOT_FILLED, arrived, chunk->slot.expect->arrived,
                             coll_poweraware_reduction_leader_near_me(r));
    } else {
        coll_poweraware_wait(r->call, PWR_SITE_SLOT_FILLED, arrived, chunk->slot.expect->arrived);
    }
}

static void reduce_slice(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    if (chunk->from < chunk->to) {
        await_contributions(r, chunk);
        uint64_t begin_ns = coll_poweraware_begin_work(r->call, 2, 0);
        for (size_t k = 0; k < r->num_runs; ++k) {
            coll_poweraware_stretch_t s =
                coll_poweraware_reduction_clip(r, k, chunk->from, chunk->to);
            if (s.count > 0) {
                (NULL == r->combine ? reduce_stretch : r->combine)(r, chunk, &s);
            }
        }
        coll_poweraware_end_work(r->call, 2, begin_ns);
    }
    if (r->shares_sum) {
        pwr_flag_arrive(&chunk->slot.slot->reduced, chunk->slot.expect->reduced);
    }
}

/* ---- 3. ---- */

static void lead(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    pwr_slot_t *slot = chunk->slot.slot;
    coll_poweraware_wait(r->call, PWR_SITE_SLOT_REDUCED, &slot->reduced,
                         chunk->slot.expect->reduced);
    coll_poweraware_begin_network(r->call, OMPI_SUCCESS);
    r->network(r, chunk);
    coll_poweraware_end_network(r->call);
    int rc = r->call->error;
    if (OMPI_SUCCESS != rc) {
        keep_error(r, rc);
        __atomic_store_n(&slot->error, rc, __ATOMIC_RELAXED); /* other leaders may do so, too */
    }
    pwr_flag_arrive(&slot->ready, chunk->slot.expect->ready);
}

/* ---- 4. ---- */

static void await_sum(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk)
{
    pwr_slot_t *slot = chunk->slot.slot;
    if (has_network(r)) {
        coll_poweraware_rest(r->call, PWR_SITE_SLOT_READY, &slot->ready, chunk->slot.expect->ready,
                             coll_poweraware_reduction_leader_near_me(r));
        keep_error(r, __atomic_load_n(&slot->error, __ATOMIC_RELAXED));
    } else if (r->shares_sum) {
        coll_poweraware_wait(r->call, PWR_SITE_SLOT_REDUCED, &slot->reduced,
                             chunk->slot.expect->reduced);
    }
}

static void release_slots(const coll_poweraware_reduction_t *r,
                          const coll_poweraware_reduce_chunk_t *chunk)
{
    for (int i = 0; i < r->num_slots; ++i) {
        coll_poweraware_chunk_t slot = {.slot = chunk->slot.slot + i,
                                        .expect = chunk->slot.expect + i};
        coll_poweraware_release_chunk(r->call, &slot);
    }
}

static void take(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    if (r->awaits_sum) {
        await_sum(r, chunk);
    }
    if (!r->direct && OMPI_SUCCESS == r->error && chunk->take_count > 0) {
        uint64_t begin_ns = coll_poweraware_begin_work(r->call, 4, 0);
        if (NULL != r->take) {
            keep_error(r, r->take(r, chunk));
        } else {
            copy(r, in_result(r, chunk->take_to),
                 coll_poweraware_reduction_sum(r, chunk, chunk->take_from), chunk->take_count);
        }
        coll_poweraware_end_work(r->call, 4, begin_ns);
    }
    release_slots(r, chunk);
}

/* Takes the previous chunk out, if that is still to be done: what a leader does while its messages
   travel. */
static void take_previous(void *self)
{
    coll_poweraware_reduction_t *r = self;
    if (r->has_previous) {
        r->has_previous = false;
        take(r, &r->previous);
    }
}

/* ---- all of it ---- */

/* Slots of a chunk lie side by side and are claimed and released together. */
static void claim_slots(const coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    pwr_segment_t *segment = r->call->segment;
    while (0 != segment->next_chunk % (unsigned)r->num_slots) {
        ++segment->next_chunk;
    }
    for (int i = 0; i < r->num_slots; ++i) {
        coll_poweraware_chunk_t slot = coll_poweraware_next_chunk(r->call);
        coll_poweraware_wait_free(r->call, &slot);
        chunk->slot = 0 == i ? slot : chunk->slot;
    }
}

static void begin_chunk(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    claim_slots(r, chunk);
    chunk->slot.expect->arrived += (uint32_t)h->num_local;
    chunk->slot.expect->reduced += r->shares_sum ? (uint32_t)h->num_local : 0;
    chunk->slot.expect->ready += has_network(r) ? (uint32_t)r->num_leaders : 0;
    r->cut(r, chunk);
    chunk->place = coll_poweraware_reduction_place(r, chunk->count);
}

int coll_poweraware_reduction_run(coll_poweraware_reduction_t *r)
{
    r->leaders.meanwhile = take_previous;
    for (size_t number = 0; number < r->num_chunks; ++number) {
        coll_poweraware_reduce_chunk_t chunk = {.number = number};
        begin_chunk(r, &chunk);
        contribute(r, &chunk);
        reduce_slice(r, &chunk);
        if (has_network(r) && r->my_part >= 0) {
            lead(r, &chunk);
        }
        take_previous(r);
        r->previous = chunk;
        r->has_previous = true;
    }
    take_previous(r);
    coll_poweraware_report_work(r->call, PWR_COPY_SHARED);
    return r->error;
}
