/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits for flags of the segment, with or without throttling.
 */
#include "primitives/primitives.h"

#include "pwr/lever.h"

void coll_poweraware_leave_if_ended(const coll_poweraware_call_t *call)
{
    if (NULL != call->way_out && OMPI_SUCCESS != pwr_ompi_comm_error(call->comm)) {
        longjmp(*call->way_out, 1);
    }
}

static inline void wait_at(const coll_poweraware_call_t *call, pwr_site_t site, pwr_flag_t *flag,
                           uint32_t target, unsigned level)
{
    const pwr_awaited_t awaited = {.site = site, .level = level, .flag = flag, .target = target};
    if (!pwr_operation_wait(call->operation, &awaited)) {
        coll_poweraware_leave_if_ended(call);
    }
}

void coll_poweraware_wait_throttled(const coll_poweraware_call_t *call, pwr_site_t site,
                                    pwr_flag_t *flag, uint32_t target, unsigned level)
{
    wait_at(call, site, flag, target, level);
}

void coll_poweraware_wait(const coll_poweraware_call_t *call, pwr_site_t site, pwr_flag_t *flag,
                          uint32_t target)
{
    wait_at(call, site, flag, target, PWR_TSTATE_FULL);
}

static bool by_package(const coll_poweraware_call_t *call)
{
    return COLL_POWERAWARE_SCOPE_PACKAGE == call->settings->tstate_scope;
}

static bool leader_throttles(const coll_poweraware_call_t *call)
{
    return call->hierarchy->num_nodes > 1 && by_package(call) &&
           PWR_TSTATE_FULL != call->settings->tstate_leader;
}

void coll_poweraware_begin_leading(const coll_poweraware_call_t *call)
{
    if (leader_throttles(call)) {
        pwr_operation_throttle(call->operation, (unsigned)call->settings->tstate_leader);
    }
}

void coll_poweraware_end_leading(const coll_poweraware_call_t *call)
{
    if (leader_throttles(call)) {
        pwr_operation_unthrottle(call->operation);
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
