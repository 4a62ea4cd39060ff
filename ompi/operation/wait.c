/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The one way in which operations wait, whatever for.
 *
 * 1. What is there already is told to the site (pwr/history.h): it did not wait.
 * 2. The policy of the operation, shortened by what the site knows; throttled waits expect a long
 *    phase.
 * 3. The ladder, again and again: a wait that lasts too long is spoken about (hang.c), and where
 *    communicators may end it looks for that.  Between its looks it makes the copies that others of
 *    the node ask for (pwr_ompi/owner_copy.h).
 *    While windows need this process's progress, it sleeps in the event loop for flags, too, where
 *    requests wake it: on a futex it would not hear them.  Who sets flags rings then (bell.h, W1 to
 *    W3), before it waits and when its operation ends.
 * 4. The site, the operation's sums and the trace learn how long it was.
 */
#include "operation_private.h"

#include "hang.h"
#include "pwr/lever.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/process.h"

/* Where communicators may end, a wait looks for that so often. */
enum { LOOK_NS = 100 * 1000 * 1000 };

/* A throttled wait progresses this seldom, and ever more seldom: other messages of the application
   still move, and the lever writes around it cost next to nothing. */
enum { FIRST_PROGRESS_NS = 5 * 1000 * 1000, LONGEST_PROGRESS_NS = 160 * 1000 * 1000 };

/* Where windows need this process's progress and requests do not wake it. */
enum { LONGEST_UNHEARD_NS = 1000 * 1000 };

typedef struct waiting {
    pwr_operation_t *operation;
    const pwr_awaited_t *awaited;
    bool throttled;
    bool serves; /* a flag is waited for in the event loop */
    uint64_t gap_ns; /* throttled: between two calls of progress */
    uint64_t next_ns;
} waiting_t;

/* ---- progress ---- */

static bool serve(const pwr_operation_t *operation)
{
    const pwr_operations_t *of = operation->of;
    return NULL != of->owner_copy && pwr_owner_copy_serve(of->owner_copy, of->hierarchy->my_local);
}

static int progress(void *arg)
{
    const waiting_t *w = arg;
    bool served = serve(w->operation);
    return pwr_ompi_progress() + served;
}

static bool is_over(void *arg)
{
    const waiting_t *w = arg;
    const pwr_awaited_t *awaited = w->awaited;
    serve(w->operation);
    return NULL == awaited->flag ? awaited->over(awaited->arg)
                                 : pwr_flag_reached(awaited->flag, awaited->target);
}

static int progress_throttled(void *arg)
{
    waiting_t *w = arg;
    uint64_t now_ns = pwr_env_now_ns(&pwr_process.env);
    if (now_ns < w->next_ns) {
        return 0;
    }
    pwr_levers_unthrottle();
    int moved = progress(w);
    (void)pwr_levers_throttle(w->operation->of->scheme, w->awaited->level, NULL);
    if (w->gap_ns < LONGEST_PROGRESS_NS) {
        w->gap_ns *= 2;
    }
    w->next_ns = now_ns + w->gap_ns;
    return moved;
}

/* ---- 2. ---- */

/* Most operations do not wait long enough to ask for it. */
const pwr_wait_policy_t *pwr_operation_policy(pwr_operation_t *operation)
{
    if (!operation->has_policy) {
        operation->has_policy = true;
        operation->policy = pwr_process_wait_policy();
        pwr_class_adjust(operation->class, &operation->policy);
    }
    return &operation->policy;
}

static pwr_wait_policy_t policy_of(const waiting_t *w, const pwr_history_t *site)
{
    bool unheard = NULL != w->awaited->flag && !w->serves && 0 != pwr_process.served_windows;
    pwr_wait_policy_t policy = *pwr_operation_policy(w->operation);
    if (w->throttled) {
        policy.spin_ns = 0;
        policy.monitor_ns = 0;
        policy.sleep_min_ns = FIRST_PROGRESS_NS;
        policy.sleep_max_ns = LONGEST_PROGRESS_NS;
    } else if (NULL != site) {
        pwr_history_apply(site, &policy);
    }
    if (unheard && policy.sleep_max_ns > LONGEST_UNHEARD_NS) {
        policy.sleep_max_ns = LONGEST_UNHEARD_NS;
    }
    return policy;
}

/* ---- 3. ---- */

static bool has_ended(const pwr_operation_t *operation)
{
    return operation->may_end && OMPI_SUCCESS != pwr_ompi_comm_error(operation->of->comm);
}

/* How long a wait for a flag lasts that is given up; Open MPI itself ends requests. */
static uint64_t given_up_after_ns(const waiting_t *w, const pwr_wait_policy_t *policy)
{
    bool looks = w->operation->may_end && NULL != w->awaited->flag &&
                 (0 == policy->longest_ns || LOOK_NS < policy->longest_ns);
    return looks ? LOOK_NS : policy->longest_ns;
}

static bool wait_once(waiting_t *w, const pwr_wait_policy_t *policy)
{
    const pwr_awaited_t *awaited = w->awaited;
    pwr_wait_stats_t *stats = &w->operation->waits;
    if (NULL == awaited->flag) {
        return PWR_OK == pwr_idle_wait(is_over, w, awaited->woken, NULL, policy, stats);
    }
    if (w->serves) {
        pwr_wait_policy_t bounded = *policy;
        bounded.longest_ns = given_up_after_ns(w, policy);
        return PWR_OK ==
               pwr_idle_wait(is_over, w, true, &w->operation->of->group, &bounded, stats);
    }
    uint64_t deadline_ns = w->operation->may_end ? pwr_env_now_ns(&pwr_process.env) + LOOK_NS : 0;
    bool before = pwr_idle_by_itself(true);
    pwr_status_t status =
        pwr_wait_until(awaited->flag, awaited->target, policy,
                       w->throttled ? progress_throttled : progress, w, deadline_ns, stats);
    pwr_idle_by_itself(before);
    return PWR_OK == status;
}

/* Returns whether it is over. */
static bool wait_long_enough(waiting_t *w, const pwr_wait_policy_t *policy)
{
    pwr_hang_watch_t watch;
    pwr_hang_watch_begin(&watch, w->operation, w->awaited, policy);
    bool over = wait_once(w, watch.policy);
    while (!over && !(NULL != w->awaited->flag && has_ended(w->operation))) {
        pwr_hang_watch_expired(&watch, given_up_after_ns(w, watch.policy));
        over = wait_once(w, watch.policy);
    }
    pwr_hang_watch_end(&watch);
    return over;
}

/* ---- 4. ---- */

static uint64_t waited_ns(const pwr_wait_stats_t *waits)
{
    return waits->spin_ns + waits->monitor_ns + waits->sleep_ns;
}

bool pwr_operation_throttles(const pwr_operation_t *operation)
{
    return operation->levers && NULL != pwr_process.power &&
           pwr_power_has(pwr_process.power, PWR_LEVER_TSTATE);
}

void pwr_operation_throttle(const pwr_operation_t *operation, unsigned level)
{
    if (pwr_operation_throttles(operation)) {
        (void)pwr_levers_throttle(operation->of->scheme, level, NULL);
    }
}

void pwr_operation_unthrottle(const pwr_operation_t *operation)
{
    if (pwr_operation_throttles(operation)) {
        pwr_levers_unthrottle();
    }
}

/* Whether it can: all ranks of the node ring. */
static bool serves_windows(pwr_operations_t *of)
{
    if (0 == pwr_process.served_windows || pwr_process.mpi_threads) {
        return false;
    }
    if (!of->group_known) {
        of->group_known = true;
        pwr_doorbell_group(of->comm, &of->group);
    }
    return pwr_doorbell_group_rings(&of->group);
}

/* Before anything is prepared for a longer wait. */
static bool is_over_soon(const pwr_awaited_t *awaited)
{
    return NULL != awaited->flag && PWR_TSTATE_FULL == awaited->level &&
           !pwr_process.waits.oversubscribed && !pwr_idle_is_crowded() &&
           pwr_flag_reached_soon(awaited->flag, awaited->target);
}

bool pwr_operation_wait_on(pwr_operation_t *operation, const pwr_awaited_t *awaited,
                           pwr_history_t *site)
{
    pwr_doorbell_let_go();
    if (is_over_soon(awaited)) {
        ++operation->waits.waits;
        if (NULL != site) {
            pwr_history_add(site, 0);
        }
        return true;
    }
    waiting_t w = {.operation = operation, .awaited = awaited};
    w.serves = NULL != awaited->flag && serves_windows(operation->of);
    if (0 == pwr_process.served_windows && PWR_TSTATE_FULL != awaited->level &&
        pwr_operation_throttles(operation)) {
        w.throttled = pwr_levers_throttle(operation->of->scheme, awaited->level, site);
        w.gap_ns = FIRST_PROGRESS_NS;
        w.next_ns = pwr_env_now_ns(&pwr_process.env) + FIRST_PROGRESS_NS;
    }
    const pwr_wait_policy_t policy = policy_of(&w, site); /* 2 */
    const pwr_wait_stats_t before = operation->waits;
    bool over = wait_long_enough(&w, &policy); /* 3 */
    if (w.throttled) {
        pwr_levers_unthrottle();
    }
    if (NULL != site) { /* 4 */
        pwr_history_add(site, waited_ns(&operation->waits) - waited_ns(&before));
    }
    pwr_events_add_wait(&before, &operation->waits);
    return over;
}

/* ---- stock functions ---- */

typedef struct in_stock {
    const pwr_operation_t *operation;
    const pwr_idle_awaited_t *awaited;
} in_stock_t;

static void missing_requests(const void *arg, pwr_missing_fn_t tell, void *to)
{
    const in_stock_t *wait = arg;
    for (size_t i = 0; i < wait->awaited->num_requests; ++i) {
        const ompi_request_t *request = wait->awaited->requests[i];
        int rank;
        bool receives;
        if (!pwr_ompi_request_is_complete(request) &&
            pwr_idle_peer_of(request, wait->operation->of->comm, &rank, &receives)) {
            tell(to, rank, receives);
        }
    }
}

static bool stock_is_over(void *arg)
{
    const in_stock_t *wait = arg;
    return wait->awaited->over(wait->awaited->arg);
}

/* Sites know nothing of these: which of its waits this one is, only the stock function knows. */
void pwr_wait_in_stock(pwr_idle_within_t *within, const pwr_idle_awaited_t *in_stock)
{
    pwr_operation_t *operation = (pwr_operation_t *)within;
    in_stock_t wait = {.operation = operation, .awaited = in_stock};
    const pwr_awaited_t awaited = {
        .site = PWR_SITE_MESSAGES,
        .over = stock_is_over,
        .arg = &wait,
        .woken = in_stock->woken,
        .missing = missing_requests,
    };
    (void)pwr_operation_wait(operation, &awaited);
}
