/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast, Scatter and Gather of long blocks on one node: the root lends its memory.
 *
 * 1. The root tells where its memory is, or that it does not lend it.
 * 2. All others copy at the same time, from there or to there.
 * 3. They join a round when they are through; the root waits for all.
 */
#include "lend.h"

#include <string.h>

typedef const coll_poweraware_loan_t loan_t;

/* What the root posts. */
typedef struct offer {
    uint64_t memory; /* 0: not lent */
    int64_t stride;
    uint64_t bytes;
    uint64_t measures;
} offer_t;

static offer_t make_offer(const coll_poweraware_call_t *call, loan_t *loan)
{
    offer_t offer = {.stride = loan->stride, .bytes = loan->bytes};
    pwr_copier_t *copier = &call->segment->copier;
    int class = pwr_copy_class((int)call->collective, loan->bytes);
    if (NULL != loan->memory) {
        pwr_copy_way_t way = pwr_copier_choose(copier, class);
        offer.memory = PWR_COPY_LENT == way ? (uint64_t)(uintptr_t)loan->memory : 0;
        offer.measures = pwr_copier_measures(copier, class);
    }
    return offer;
}

/* 1. */
static offer_t agree(coll_poweraware_call_t *call, loan_t *loan)
{
    offer_t offer;
    int rc;
    coll_poweraware_begin_round(call);
    if (call->hierarchy->my_rank == loan->root) {
        offer = make_offer(call, loan);
        memcpy(coll_poweraware_my_set(call, sizeof offer), &offer, sizeof offer);
        coll_poweraware_post_set(call, OMPI_SUCCESS);
    } else {
        memcpy(&offer, coll_poweraware_rest_for_set(call, loan->root, sizeof offer, &rc),
               sizeof offer);
    }
    coll_poweraware_end_round(call);
    return offer;
}

/* 2. */
static int copy(coll_poweraware_call_t *call, loan_t *loan, const offer_t *offer)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (offer->bytes != loan->bytes) {
        return MPI_ERR_TRUNCATE;
    }
    uint64_t there = offer->memory + (uint64_t)(offer->stride * h->my_rank);
    uint64_t begin_ns = coll_poweraware_begin_work(call, 0, loan->bytes);
    int rc = coll_poweraware_copy_lent(call, h->local_of[loan->root], there, loan->to_root,
                                       loan->buffer, loan->count, loan->datatype, loan->bytes);
    coll_poweraware_end_work(call, 0, begin_ns);
    coll_poweraware_tell_work(call, PWR_COPY_LENT);
    return rc;
}

bool coll_poweraware_lend_root(coll_poweraware_call_t *call, loan_t *loan, int *rc)
{
    if (!coll_poweraware_may_lend(call, loan->bytes)) {
        return false;
    }
    offer_t offer = agree(call, loan); /* 1 */
    call->measured_bytes = 0 != offer.measures ? loan->bytes : 0;
    if (0 == offer.memory) {
        pwr_segment_touch_slots(call->segment);
        return false;
    }
    bool root = call->hierarchy->my_rank == loan->root;
    *rc = root ? OMPI_SUCCESS : copy(call, loan, &offer);
    coll_poweraware_begin_round(call); /* 3 */
    coll_poweraware_my_box(call, 0);
    coll_poweraware_join(call, *rc);
    if (root) {
        *rc = coll_poweraware_wait_all(call);
    }
    coll_poweraware_end_round(call);
    return true;
}
