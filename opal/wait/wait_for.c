/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder for what is no flag: poll, then sleeps between looks.
 */
#include "config.h"

#include "pwr/clock.h"
#include "pwr/wait.h"

/* One wait, under way. */
typedef struct waiting {
    const pwr_waitable_t *waitable;
    const pwr_wait_policy_t *policy;
    uint64_t end_ns;
    uint64_t now_ns;
    uint64_t moved_ns; /* when something moved last, or the wait began */
    uint32_t spin_ns;  /* before the next sleep, if it is one that is woken */
    uint64_t next_ns;  /* length of the next sleep, if it is one that is woken */
    uint64_t slept_ns; /* altogether */
    uint64_t sleeps;
} waiting_t;

static bool is_over(const waiting_t *w)
{
    return w->waitable->over(w->waitable->arg);
}

static void make_progress(waiting_t *w)
{
    if (w->waitable->progress(w->waitable->arg) > 0) {
        w->spin_ns = pwr_wait_next_spin_ns(w->spin_ns, w->now_ns - w->moved_ns, w->policy);
        w->moved_ns = w->now_ns;
        w->next_ns = w->policy->sleep_min_ns;
    }
}

/* 0: not yet. */
static uint64_t sleep_length(const waiting_t *w)
{
    uint64_t lasted_ns = w->now_ns - w->moved_ns;
    if (lasted_ns < w->policy->poll_ns) {
        return 0;
    }
    if (w->waitable->sleep && !w->waitable->blind) {
        return lasted_ns >= w->spin_ns ? w->next_ns : 0;
    }
    return pwr_wait_blind_ns(lasted_ns, w->policy);
}

static void sleep_once(waiting_t *w, uint64_t ns)
{
    uint64_t before = pwr_now_ns();
    uint64_t until = pwr_wait_end_ns(before, ns, w->end_ns);
    ns = until > before ? until - before : 0;
    if (w->waitable->sleep) {
        w->waitable->sleep(w->waitable->arg, ns);
    } else {
        struct timespec length = pwr_timespec(ns);
        nanosleep(&length, NULL);
    }
    w->sleeps++;
    w->slept_ns += pwr_now_ns() - before;
    w->next_ns = pwr_wait_next_sleep_ns(w->next_ns, before - w->moved_ns, w->policy);
}

pwr_status_t pwr_wait_for(const pwr_waitable_t *waitable, const pwr_wait_policy_t *policy,
                          uint64_t deadline_ns, pwr_wait_stats_t *stats)
{
    uint64_t begin = pwr_now_ns();
    uint64_t longest_ns = policy->longest_ns > 0 ? policy->longest_ns : UINT64_MAX;
    waiting_t w = {
        .waitable = waitable,
        .policy = policy,
        .end_ns = pwr_wait_end_ns(begin, longest_ns, deadline_ns != 0 ? deadline_ns : UINT64_MAX),
        .now_ns = begin,
        .moved_ns = begin,
        .spin_ns = policy->spin_ns,
        .next_ns = policy->sleep_min_ns};
    bool over = is_over(&w);
    while (!over && w.now_ns < w.end_ns) {
        make_progress(&w);
        over = is_over(&w);
        uint64_t length = over ? 0 : sleep_length(&w);
        if (length > 0) {
            sleep_once(&w, length);
            over = is_over(&w);
        }
        w.now_ns = pwr_now_ns();
    }
    if (stats) {
        stats->waits++;
        stats->sleeps += w.sleeps;
        stats->sleep_ns += w.slept_ns;
        stats->spin_ns += w.now_ns - begin - w.slept_ns;
    }
    return over ? PWR_OK : PWR_ERR_TIMEOUT;
}
