/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages through the PML, waits through the ladder, throttling around them.
 */
#include "coll_poweraware_words.h"

#include "pwr/lever.h"
#include "pwr_ompi/events.h"

#include "ompi/mca/pml/pml.h"

#define SELF (&mca_coll_poweraware_component)

int coll_poweraware_post_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                              struct ompi_datatype_t *datatype, int peer)
{
    int rc = MCA_PML_CALL(
        irecv(buffer, count, datatype, peer, call->tag, call->comm, &call->requests[call->posted]));
    call->posted += OMPI_SUCCESS == rc;
    return rc;
}

int coll_poweraware_post_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                              struct ompi_datatype_t *datatype, int peer)
{
    int rc =
        MCA_PML_CALL(isend(buffer, count, datatype, peer, call->tag, MCA_PML_BASE_SEND_STANDARD,
                           call->comm, &call->requests[call->posted]));
    call->posted += OMPI_SUCCESS == rc;
    return rc;
}

int coll_poweraware_complete(coll_poweraware_call_t *call, int first, size_t *received)
{
    int posted = call->posted;
    call->posted = 0;
    if (0 == posted) {
        return first;
    }
    ompi_status_public_t status = {.MPI_ERROR = MPI_SUCCESS};
    int rc = ompi_request_wait(&call->requests[0], &status);
    if (NULL != received) {
        *received = status._ucount;
    }
    for (int i = 1; i < posted; ++i) {
        int rc_i = ompi_request_wait(&call->requests[i], MPI_STATUS_IGNORE);
        rc = OMPI_SUCCESS == rc ? rc_i : rc;
    }
    return OMPI_SUCCESS == first ? rc : first;
}

static int progress(void *arg)
{
    (void)arg;
    return pwr_ompi_progress();
}

void coll_poweraware_wait(const coll_poweraware_call_t *call, pwr_flag_t *flag, uint32_t target)
{
    if (!pwr_flag_reached(flag, target)) {
        pwr_wait_until(flag, target, call->wait_policy, progress, NULL, 0, call->wait_stats);
    }
}

/* A throttled wait progresses this seldom, and ever more seldom: other messages of the application
   still move, and the lever writes around it cost next to nothing. */
enum { FIRST_PROGRESS_NS = 5 * 1000 * 1000, LONGEST_PROGRESS_NS = 160 * 1000 * 1000 };

typedef struct throttled {
    unsigned level;
    uint64_t gap_ns;
    uint64_t next_ns;
} throttled_t;

static int progress_throttled(void *arg)
{
    throttled_t *throttled = arg;
    uint64_t now_ns = pwr_env_now_ns(&SELF->env);
    if (now_ns < throttled->next_ns) {
        return 0;
    }
    pwr_power_unthrottle(SELF->power);
    int moved = pwr_ompi_progress();
    pwr_power_throttle(SELF->power, throttled->level);
    if (throttled->gap_ns < LONGEST_PROGRESS_NS) {
        throttled->gap_ns *= 2;
    }
    throttled->next_ns = now_ns + throttled->gap_ns;
    return moved;
}

void coll_poweraware_wait_throttled(const coll_poweraware_call_t *call, pwr_flag_t *flag,
                                    uint32_t target, unsigned level)
{
    if (pwr_flag_reached(flag, target)) {
        return;
    }
    if (!call->levers || PWR_TSTATE_FULL == level || NULL == SELF->power ||
        !pwr_power_has_tstates(SELF->power)) {
        coll_poweraware_wait(call, flag, target);
        return;
    }
    throttled_t throttled = {
        .level = level,
        .gap_ns = FIRST_PROGRESS_NS,
        .next_ns = pwr_env_now_ns(&SELF->env) + FIRST_PROGRESS_NS,
    };
    pwr_wait_policy_t policy = *call->wait_policy;
    policy.spin_ns = 0; /* a throttled rank expects a long phase */
    policy.sleep_min_ns = FIRST_PROGRESS_NS;
    policy.sleep_max_ns = LONGEST_PROGRESS_NS;
    pwr_power_throttle(SELF->power, level);
    pwr_wait_until(flag, target, &policy, progress_throttled, &throttled, 0, call->wait_stats);
    pwr_power_unthrottle(SELF->power);
}

static bool leader_throttles(const coll_poweraware_call_t *call)
{
    return call->levers && call->hierarchy->num_nodes > 1 && NULL != SELF->power &&
           COLL_POWERAWARE_SCOPE_PACKAGE == SELF->params.tstate_scope &&
           PWR_TSTATE_FULL != SELF->params.tstate_leader;
}

void coll_poweraware_begin_leading(const coll_poweraware_call_t *call)
{
    if (leader_throttles(call)) {
        pwr_power_throttle(SELF->power, (unsigned)SELF->params.tstate_leader);
    }
}

void coll_poweraware_end_leading(const coll_poweraware_call_t *call)
{
    if (leader_throttles(call)) {
        pwr_power_unthrottle(SELF->power);
    }
}

void coll_poweraware_rest(const coll_poweraware_call_t *call, pwr_flag_t *flag, uint32_t target,
                          int leader)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    unsigned level = (unsigned)SELF->params.tstate;
    if (COLL_POWERAWARE_SCOPE_PACKAGE == SELF->params.tstate_scope &&
        h->group_of[leader] == h->my_group) {
        level = (unsigned)SELF->params.tstate_leader;
    }
    /* one node: no network phase, only copies among us */
    coll_poweraware_wait_throttled(call, flag, target, h->num_nodes > 1 ? level : PWR_TSTATE_FULL);
}

void coll_poweraware_arrive(pwr_flag_t *flag, uint32_t target)
{
    pwr_flag_arrive(flag, target);
}

coll_poweraware_chunk_t coll_poweraware_next_chunk(coll_poweraware_call_t *call)
{
    pwr_segment_t *segment = call->segment;
    unsigned index = segment->next_chunk++ % PWR_SEGMENT_SLOTS;
    return (coll_poweraware_chunk_t){
        .slot = &segment->control->slot[index],
        .expect = &segment->expect[index],
        .data = segment->data[index],
    };
}

void coll_poweraware_wait_free(const coll_poweraware_call_t *call,
                               const coll_poweraware_chunk_t *chunk)
{
    coll_poweraware_wait(call, &chunk->slot->released, chunk->expect->released);
}

void coll_poweraware_release_chunk(const coll_poweraware_call_t *call,
                                   coll_poweraware_chunk_t *chunk)
{
    chunk->expect->released += (uint32_t)call->hierarchy->num_local;
    coll_poweraware_arrive(&chunk->slot->released, chunk->expect->released);
}
