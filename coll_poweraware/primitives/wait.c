/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits for flags of the segment and in rounds of boxes, with or without throttling.
 */
#include "primitives/primitives.h"

#include "pwr_ompi/events.h"

void coll_poweraware_leave_if_ended(const coll_poweraware_call_t *call)
{
    if (NULL != call->way_out && OMPI_SUCCESS != pwr_ompi_comm_error(call->comm)) {
        longjmp(*call->way_out, 1);
    }
}

void coll_poweraware_wait_throttled(const coll_poweraware_call_t *call, pwr_site_t site,
                                    pwr_flag_t *flag, uint32_t target, unsigned level)
{
    const pwr_awaited_t awaited = {.site = site, .level = level, .flag = flag, .target = target};
    if (!pwr_operation_wait(call->operation, &awaited)) {
        coll_poweraware_leave_if_ended(call);
    }
}

static bool by_package(const coll_poweraware_call_t *call)
{
    return COLL_POWERAWARE_SCOPE_PACKAGE == call->settings->tstate_scope;
}

static bool leader_throttles(const coll_poweraware_call_t *call)
{
    return by_package(call) && PWR_TSTATE_FULL != call->settings->tstate_leader;
}

void coll_poweraware_begin_network(coll_poweraware_call_t *call, int error)
{
    if (call->hierarchy->num_nodes > 1) {
        coll_poweraware_note_error(call, error);
        if (leader_throttles(call)) {
            pwr_operation_throttle(call->operation, (unsigned)call->settings->tstate_leader);
        }
        pwr_events_add(PWR_EVENT_NET, call->hierarchy->my_node, -1, 0);
    }
}

void coll_poweraware_end_network(const coll_poweraware_call_t *call)
{
    if (call->hierarchy->num_nodes > 1) {
        pwr_events_add(PWR_EVENT_NET_END, call->hierarchy->my_node, -1, 0);
        if (leader_throttles(call)) {
            pwr_operation_unthrottle(call->operation);
        }
    }
}

void coll_poweraware_rest(const coll_poweraware_call_t *call, pwr_site_t site, pwr_flag_t *flag,
                          uint32_t target, int leader)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    unsigned level = (unsigned)call->settings->tstate;
    if (by_package(call) && h->group_of[leader] == h->my_group) {
        level = (unsigned)call->settings->tstate_leader;
    }
    /* one node: no network phase, only copies among us */
    coll_poweraware_wait_throttled(call, site, flag, target,
                                   h->num_nodes > 1 ? level : PWR_TSTATE_FULL);
}

/* ---- in rounds of boxes ---- */

static pwr_site_t site_of(pwr_box_wait_t what)
{
    static const pwr_site_t sites[] = {
        [PWR_BOX_FREE] = PWR_SITE_BOX_FREE,
        [PWR_BOX_JOINED] = PWR_SITE_BOX_JOINED,
        [PWR_BOX_POSTED] = PWR_SITE_BOX_POSTED,
    };
    return sites[what];
}

void coll_poweraware_wait_in_round(void *call, pwr_box_wait_t what, pwr_flag_t *flag,
                                   uint32_t target)
{
    coll_poweraware_wait(call, site_of(what), flag, target);
}

typedef struct resting {
    const coll_poweraware_call_t *call;
    int leader;
} resting_t;

static void rest(void *who, pwr_box_wait_t what, pwr_flag_t *flag, uint32_t target)
{
    const resting_t *resting = who;
    coll_poweraware_rest(resting->call, site_of(what), flag, target, resting->leader);
}

const unsigned char *coll_poweraware_rest_for_set(coll_poweraware_call_t *call, int poster,
                                                  size_t bytes, int *error)
{
    pwr_boxes_t *boxes = call->boxes;
    int local = call->hierarchy->local_of[poster];
    resting_t resting = {call, poster};
    *error = pwr_boxes_wait_for(boxes, local, rest, &resting);
    return pwr_boxes_read_set(boxes, local, bytes);
}
