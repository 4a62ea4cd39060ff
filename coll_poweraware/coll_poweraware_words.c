/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits through the ladder, throttling around them; a rank's own memory, and single copy.
 */
#include "coll_poweraware_words.h"

#include <stdlib.h>

#include "coll_poweraware_hang.h"
#include "pwr/lever.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/single_copy.h"

#define SELF (&mca_coll_poweraware_component)

char *coll_poweraware_scratch(coll_poweraware_call_t *call)
{
    if (NULL == call->scratch) {
        call->scratch = malloc(COLL_POWERAWARE_SCRATCH_BYTES);
    }
    return call->scratch;
}

int coll_poweraware_read(const coll_poweraware_call_t *call, int local, void *to, uint64_t from,
                         size_t bytes)
{
    int error = pwr_single_copy_read(call->pids[local], to, from, bytes);
    return 0 == error ? OMPI_SUCCESS : OMPI_ERROR;
}

int coll_poweraware_write(const coll_poweraware_call_t *call, int local, uint64_t to,
                          const void *from, size_t bytes)
{
    int error = pwr_single_copy_write(call->pids[local], to, from, bytes);
    return 0 == error ? OMPI_SUCCESS : OMPI_ERROR;
}

static int progress(void *arg)
{
    (void)arg;
    return pwr_ompi_progress();
}

/* How long a wait lasts that is given up: where communicators may end it looks for that. */
enum { LOOK_NS = 100 * 1000 * 1000 };

static uint64_t given_up_after_ns(const coll_poweraware_call_t *call,
                                  const pwr_wait_policy_t *policy)
{
    bool looks = NULL != call->way_out && (0 == policy->longest_ns || LOOK_NS < policy->longest_ns);
    return looks ? LOOK_NS : policy->longest_ns;
}

/* Waits long enough, that is until the flag is there or the communicator has ended. */
static void wait_until(const coll_poweraware_call_t *call, pwr_flag_t *flag, uint32_t target,
                       const pwr_wait_policy_t *policy, pwr_progress_fn_t moves, void *arg)
{
    const pwr_wait_stats_t before = *call->wait_stats;
    coll_poweraware_patience_t patience;
    coll_poweraware_patience_begin(&patience, call->module, policy, NULL);
    for (;;) {
        uint64_t deadline_ns = NULL == call->way_out ? 0 : pwr_env_now_ns(&SELF->env) + LOOK_NS;
        if (PWR_OK == pwr_wait_until(flag, target, patience.policy, moves, arg, deadline_ns,
                                     call->wait_stats) ||
            OMPI_SUCCESS != pwr_ompi_comm_error(call->comm)) {
            break;
        }
        coll_poweraware_patience_lose(&patience, given_up_after_ns(call, patience.policy));
    }
    coll_poweraware_patience_end(&patience);
    pwr_events_add_wait(&before, call->wait_stats);
}

/* T-states as the trace sees them. */
static void throttle(unsigned level)
{
    pwr_power_throttle(SELF->power, level);
    pwr_events_add(PWR_EVENT_TSTATE, (int)level, -1, 0);
}

static void unthrottle(void)
{
    pwr_power_unthrottle(SELF->power);
    pwr_events_add(PWR_EVENT_TSTATE, 0, -1, 0);
}

void coll_poweraware_wait(const coll_poweraware_call_t *call, pwr_flag_t *flag, uint32_t target)
{
    if (pwr_flag_reached(flag, target)) {
        coll_poweraware_did_not_wait(call);
        return;
    }
    coll_poweraware_one_wait_t wait = coll_poweraware_begin_wait(call);
    wait_until(call, flag, target, &wait.policy, progress, NULL);
    coll_poweraware_end_wait(call, &wait);
    if (!pwr_flag_reached(flag, target)) {
        coll_poweraware_leave_if_ended(call);
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
    unthrottle();
    int moved = pwr_ompi_progress();
    throttle(throttled->level);
    if (throttled->gap_ns < LONGEST_PROGRESS_NS) {
        throttled->gap_ns *= 2;
    }
    throttled->next_ns = now_ns + throttled->gap_ns;
    return moved;
}

bool coll_poweraware_throttles(const coll_poweraware_call_t *call)
{
    return call->levers && NULL != SELF->power && pwr_power_has_tstates(SELF->power);
}

void coll_poweraware_wait_throttled(const coll_poweraware_call_t *call, pwr_flag_t *flag,
                                    uint32_t target, unsigned level)
{
    if (pwr_flag_reached(flag, target)) {
        return;
    }
    if (PWR_TSTATE_FULL == level || !coll_poweraware_throttles(call)) {
        coll_poweraware_wait(call, flag, target);
        return;
    }
    throttled_t throttled = {
        .level = level,
        .gap_ns = FIRST_PROGRESS_NS,
        .next_ns = pwr_env_now_ns(&SELF->env) + FIRST_PROGRESS_NS,
    };
    pwr_wait_policy_t policy = call->policy;
    policy.spin_ns = 0; /* a throttled rank expects a long phase */
    policy.monitor_ns = 0;
    policy.sleep_min_ns = FIRST_PROGRESS_NS;
    policy.sleep_max_ns = LONGEST_PROGRESS_NS;
    throttle(level);
    wait_until(call, flag, target, &policy, progress_throttled, &throttled);
    unthrottle();
    if (!pwr_flag_reached(flag, target)) {
        coll_poweraware_leave_if_ended(call);
    }
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
        throttle((unsigned)SELF->params.tstate_leader);
    }
}

void coll_poweraware_end_leading(const coll_poweraware_call_t *call)
{
    if (leader_throttles(call)) {
        unthrottle();
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
