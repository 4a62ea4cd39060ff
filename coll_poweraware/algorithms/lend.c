/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The root lends its memory to the ranks of its node (steps: lend.h).
 */
#include "lend.h"

#include <string.h>

#include "box.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/packer.h"
#include "pwr_ompi/single_copy.h"

typedef const coll_poweraware_loan_t loan_t;

/* What the root posts. */
typedef struct offer {
    uint64_t memory; /* 0: not lent */
    int64_t stride;
    uint64_t bytes;
} offer_t;

static offer_t make_offer(const coll_poweraware_call_t *call, loan_t *loan)
{
    offer_t offer = {.stride = loan->stride, .bytes = loan->bytes};
    if (NULL != loan->memory) {
        pwr_copy_way_t way = pwr_copier_choose(&call->segment->copier, pwr_copy_class(loan->bytes),
                                               loan->root_copies);
        offer.memory = PWR_COPY_LENT == way ? (uint64_t)(uintptr_t)loan->memory : 0;
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

static int code_of(int error)
{
    return 0 == error ? OMPI_SUCCESS : OMPI_ERROR;
}

/* 2. where my block has gaps: through a buffer that stays in the nearest cache. */
static int copy_with_gaps(loan_t *loan, pid_t pid, uint64_t there)
{
    unsigned char buffer[16 * 1024];
    pwr_packer_t packer;
    int rc = loan->to_root
                 ? pwr_packer_begin_pack(&packer, loan->buffer, loan->count, loan->datatype)
                 : pwr_packer_begin_unpack(&packer, loan->buffer, loan->count, loan->datatype);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    for (size_t done = 0; done < loan->bytes && OMPI_SUCCESS == rc; done += sizeof buffer) {
        size_t left = loan->bytes - done;
        size_t bytes = left < sizeof buffer ? left : sizeof buffer;
        if (loan->to_root) {
            rc = pwr_packer_pack(&packer, buffer, bytes);
            rc = OMPI_SUCCESS == rc
                     ? code_of(pwr_single_copy_write(pid, there + done, buffer, bytes))
                     : rc;
        } else {
            rc = code_of(pwr_single_copy_read(pid, buffer, there + done, bytes));
            rc = OMPI_SUCCESS == rc ? pwr_packer_unpack(&packer, buffer, bytes) : rc;
        }
    }
    pwr_packer_end(&packer);
    return rc;
}

static int copy_block(loan_t *loan, pid_t pid, uint64_t there)
{
    unsigned char *here = pwr_packer_contiguous(loan->buffer, loan->count, loan->datatype);
    if (NULL == here) {
        return copy_with_gaps(loan, pid, there);
    }
    return code_of(loan->to_root ? pwr_single_copy_write(pid, there, here, loan->bytes)
                                 : pwr_single_copy_read(pid, here, there, loan->bytes));
}

/* 2. */
static int copy(const coll_poweraware_call_t *call, loan_t *loan, const offer_t *offer)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    const pwr_env_t *env = &mca_coll_poweraware_component.env;
    if (offer->bytes != loan->bytes) {
        return MPI_ERR_TRUNCATE;
    }
    uint64_t there = offer->memory + (uint64_t)(offer->stride * h->my_rank);
    pwr_events_add(PWR_EVENT_COPY, 0, -1, loan->bytes);
    uint64_t begin_ns = pwr_env_now_ns(env);
    int rc = copy_block(loan, call->pids[h->local_of[loan->root]], there);
    pwr_copier_copied(&call->segment->copier, pwr_copy_class(loan->bytes), PWR_COPY_LENT,
                      loan->bytes, pwr_env_now_ns(env) - begin_ns);
    pwr_events_add(PWR_EVENT_COPY_END, 0, -1, 0);
    return rc;
}

bool coll_poweraware_may_lend(const coll_poweraware_call_t *call)
{
    return 1 == call->hierarchy->num_nodes && NULL != call->pids &&
           !pwr_boxes_are_crowded(&call->segment->boxes);
}

bool coll_poweraware_lend(coll_poweraware_call_t *call, loan_t *loan, int *rc)
{
    enum { SHORTEST = 2 * COLL_POWERAWARE_SHORTEST_SINGLE_COPY }; /* two rounds are to be paid */
    if (!coll_poweraware_may_lend(call) || loan->bytes < SHORTEST) {
        return false;
    }
    offer_t offer = agree(call, loan); /* 1 */
    if (0 == offer.memory) {
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
