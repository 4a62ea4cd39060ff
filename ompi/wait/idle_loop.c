/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that loop over opal_progress give the CPU back.
 *
 * Nobody but the call itself knows what it looks for.  But when it calls opal_progress it has just
 * looked, in vain.  A callback of opal_progress, the first of each pass, sleeps in its place:
 *
 *   1. Passes are counted.  A look at the clock costs as much as a pass.
 *   2. When the wait has lasted as long as a spin, the process announces that it is about to sleep
 *      (B1, A1, W1 of bell.h; B2 is what follows), and the callback returns.
 *   3. Some passes go by.  In each the call looks, and what has come through a socket or shared
 * memory is taken.  Calls that look once in several passes look at least once.
 *   4. It sleeps in Open MPI's event loop (B3), unless something was heard or has moved meanwhile,
 * and goes on with 1.
 *
 * Where nothing wakes it, it sleeps unannounced, for a bounded part of the time.
 *
 * Calls of osc/ucx and spml/ucx loop over UCX's progress: ucx_users.c makes passes of that, too.
 *
 * The callback must come first in a pass: whatever came before it could end the wait, and the call
 * would not have looked yet.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/idle.h"

#include <sched.h>

#include "idle_private.h"
#include "pwr/clock.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/operation.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/ucx.h"

/* Passes before the clock is worth a look: most waits are over by then.  Where CPUs are shared each
   of them lets others have theirs.  After a sleep there is not much to be seen. */
enum {
    LOOKS = 64 * PWR_IDLE_PASS,
    LOOKS_CROWDED = 12 * PWR_IDLE_PASS,
    LOOKS_AWAKE = 4 * PWR_IDLE_PASS,
    PASSES = 4 * PWR_IDLE_PASS /* of 3. */
};

/* ---- what wakes ---- */

/* Messages of a window's calls ring as those of collectives do. */
static bool is_woken_by(const pwr_idle_ends_t *ends)
{
    bool all_ring = PWR_IDLE_ALL == (pwr_idle_where_t)pwr_process.settings.idle;
    return !opal_using_threads() && !ends->unheard && pwr_doorbell_group_rings(&ends->group) &&
           (!ends->messages || pwr_idle_is_woken(!all_ring));
}

static void begin(pwr_idle_loop_t *loop, uint64_t now)
{
    loop->begun_ns = loop->moved_ns = now;
    loop->events = pwr_doorbell_events();
    loop->stats = (pwr_wait_stats_t){0};
    loop->announced = false;
    loop->next_low_ns = 0;
    loop->policy = NULL == loop->operation ? pwr_process_wait_policy()
                                           : *pwr_operation_policy(loop->operation);
    if (NULL != loop->operation && !loop->operation->of->idles) {
        loop->policy.poll_ns = PWR_WAIT_POLL_ONLY;
    }
    loop->expires_ns = NULL == loop->expired ? 0 : loop->policy.longest_ns;
    loop->next_ns = loop->policy.sleep_min_ns;
    loop->woken = is_woken_by(loop->ends);
    if (NULL != loop->site) {
        pwr_history_apply(loop->site, &loop->policy);
        if (0 == loop->expected_ns) {
            loop->expected_ns = pwr_history_expected_ns(loop->site);
        }
    }
    loop->spin_ns = loop->policy.spin_ns;
}

/* ---- levers ----

   They move where nothing else is to be done: before a sleep; where the call polls, from the first
   look at the clock on.  A message may bring something to copy or to add up, so they come back when
   something comes. */

/* What lasts longer than was expected probably lasts as long again. */
static void move_low(pwr_idle_loop_t *loop, uint64_t now)
{
    uint64_t lasted_ns = now - loop->begun_ns;
    bool levers = NULL != loop->operation && loop->operation->levers;
    if (!levers || lasted_ns < loop->next_low_ns) {
        return;
    }
    loop->next_low_ns = 2 * lasted_ns;
    pwr_operation_low(loop->operation,
                      loop->expected_ns > lasted_ns ? loop->expected_ns - lasted_ns : lasted_ns);
}

static void move_full(pwr_idle_loop_t *loop)
{
    loop->next_low_ns = 0;
    if (NULL != loop->operation) {
        pwr_operation_full(loop->operation);
    }
}

/* ---- sleeping ---- */

static void count_sleep(pwr_idle_loop_t *loop, uint64_t before)
{
    ++loop->stats.sleeps;
    loop->stats.sleep_ns += pwr_now_ns() - before;
    loop->looks = LOOKS_AWAKE;
}

/* Something has come; more may. */
static void come(pwr_idle_loop_t *loop, uint64_t now)
{
    loop->spin_ns = pwr_wait_next_spin_ns(loop->spin_ns, now - loop->moved_ns, &loop->policy);
    loop->moved_ns = now;
    loop->next_ns = loop->policy.sleep_min_ns;
    move_full(loop);
}

/* 2. */
static void announce(pwr_idle_loop_t *loop)
{
    loop->heard = pwr_doorbell_counts().heard;
    loop->announced = pwr_doorbell_may_sleep(&loop->ends->group);
    loop->answers = 0;
    loop->looks = PASSES;
    if (!loop->announced) {
        pwr_doorbell_awake();
    }
}

/* 4. What ended a sleep early, and was no ring, was a message.  Who asks stays
   announced until a ring or the end of a rest: the next question is asked after that. */
static void sleep_in_event_loop(pwr_idle_loop_t *loop)
{
    uint64_t before = pwr_now_ns();
    uint64_t until = 0 != loop->rests_until_ns ? loop->rests_until_ns : before + loop->next_ns;
    if (before < until && pwr_doorbell_is_quiet() && pwr_ucx_may_block()) {
        move_low(loop, before);
        pwr_idle_block(until - before);
        pwr_ucx_awake();
        count_sleep(loop, before);
    }
    uint64_t after = pwr_now_ns();
    if (loop->asks && after < until && pwr_doorbell_is_quiet()) {
        return;
    }
    pwr_doorbell_awake();
    loop->announced = false;
    loop->rests_until_ns = 0;
    if (after < until && loop->heard == pwr_doorbell_counts().heard) {
        come(loop, after);
        if (0 == loop->spin_ns) {
            announce(loop);
        }
    } else {
        uint64_t since_ns = loop->asks ? loop->begun_ns : loop->moved_ns;
        loop->next_ns = pwr_wait_next_sleep_ns(loop->next_ns, before - since_ns, &loop->policy);
    }
}

static void sleep_blindly(pwr_idle_loop_t *loop, uint64_t now, uint64_t length_ns)
{
    if (0 != length_ns) {
        pwr_ucx_nap(length_ns);
        count_sleep(loop, now);
    }
}

/* ---- looks ---- */

static bool is_crowded(void)
{
    return pwr_process.waits.oversubscribed || pwr_idle_is_crowded();
}

/* 1.  Who shares CPUs is asked when some looks were in vain: calls that do not wait pay nothing. */
static bool look_is_due(pwr_idle_loop_t *loop, unsigned passes)
{
    if (loop->looks > passes) {
        loop->looks -= passes;
        return false;
    }
    bool goes_on = loop->fresh && !is_crowded();
    loop->looks = goes_on ? LOOKS - LOOKS_CROWDED : is_crowded() ? LOOKS_CROWDED : LOOKS;
    loop->fresh = false;
    return !goes_on;
}

static void see_move(pwr_idle_loop_t *loop, uint64_t now)
{
    loop->moved = false;
    if (loop->asks) {
        loop->moved_ns = now;
        return;
    }
    come(loop, now);
    if (loop->announced) {
        loop->announced = false;
        pwr_doorbell_awake();
    }
}

/* ---- questions ----

   A call that asks others again and again by messages rests when it has an answer, and not while it
   waits for one, which would wake it at once.  It goes on with the ladder meanwhile, and does not
   return to its caller: others may need this process. */

/* The first answer that comes after it was announced may be to a question from before that. */
static void see_answer(pwr_idle_loop_t *loop, uint64_t now)
{
    uint64_t lasted_ns = now - loop->begun_ns;
    if (!loop->woken) {
        uint64_t length_ns = pwr_wait_blind_ns(lasted_ns, &loop->policy);
        loop->rests_until_ns = 0 != length_ns ? now + length_ns : 0;
    } else if (lasted_ns >= loop->spin_ns) {
        if (!loop->announced) {
            announce(loop);
        } else if (0 != loop->answers++) {
            loop->rests_until_ns = now + loop->next_ns;
        }
    }
}

static void rest(pwr_idle_loop_t *loop, uint64_t now)
{
    if (loop->woken && (now >= loop->rests_until_ns || !pwr_doorbell_is_quiet() ||
                        now - loop->moved_ns >= loop->spin_ns)) {
        sleep_in_event_loop(loop);
    } else if (now >= loop->rests_until_ns) {
        loop->rests_until_ns = 0;
    } else if (!loop->woken && now - loop->moved_ns >= loop->spin_ns) {
        sleep_blindly(loop, now, loop->rests_until_ns - now);
    }
}

/* ---- passes ---- */

/* Who wakes may have come since it began.  A call may need many messages one after the other, each
   of which is late by a sleep. */
static void climb(pwr_idle_loop_t *loop, uint64_t now)
{
    enum { LONGEST_NS = 1000 * 1000 };
    uint64_t lasted_ns = now - loop->moved_ns;
    loop->woken = loop->woken || is_woken_by(loop->ends);
    if (!loop->woken) {
        uint64_t length_ns = pwr_wait_blind_ns(lasted_ns, &loop->policy);
        sleep_blindly(loop, now, length_ns < LONGEST_NS ? length_ns : LONGEST_NS);
    } else if (lasted_ns >= loop->spin_ns && loop->announced) {
        sleep_in_event_loop(loop);
    } else if (lasted_ns >= loop->spin_ns) {
        announce(loop);
    }
}

static void expire(pwr_idle_loop_t *loop, uint64_t lasted_ns)
{
    if (0 != loop->expires_ns && lasted_ns >= loop->expires_ns) {
        loop->expires_ns = 0;
        loop->expired(loop, lasted_ns);
    }
}

static void go_on(pwr_idle_loop_t *loop)
{
    uint64_t now = pwr_now_ns();
    if (0 == loop->begun_ns) {
        begin(loop, now);
    }
    expire(loop, now - loop->begun_ns);
    uint64_t events = pwr_doorbell_events();
    if (!loop->woken && events != loop->events) {
        loop->moved_ns = now;
    }
    loop->events = events;
    bool moved = loop->moved;
    if (moved) {
        see_move(loop, now);
    }
    if (PWR_WAIT_POLL_ONLY == loop->policy.poll_ns) {
        move_low(loop, now);
    }
    if (now - (loop->asks ? loop->begun_ns : loop->moved_ns) < loop->policy.poll_ns) {
        return;
    }
    if (0 != loop->rests_until_ns) {
        rest(loop, now);
    } else if (moved && loop->asks) {
        see_answer(loop, now);
    } else {
        climb(loop, now);
    }
}

void pwr_idle_loop_pass(unsigned passes)
{
    pwr_idle_loop_t *loop = pwr_thread.loop;
    if (pwr_thread.waits) {
        return;
    }
    if (loop->yields) {
        sched_yield();
    }
    if (look_is_due(loop, passes)) {
        pwr_thread.waits = true; /* progress may call what makes progress */
        go_on(loop);
        pwr_thread.waits = false;
    }
}

static int pass(void)
{
    if (NULL != pwr_thread.loop) {
        pwr_idle_loop_pass(PWR_IDLE_PASS);
    }
    return 0;
}

/* ---- calls ---- */

void pwr_idle_loop_enter(pwr_idle_loop_t *loop, pwr_operation_t *operation,
                         const pwr_idle_ends_t *ends, pwr_history_t *site, uint64_t expected_ns)
{
    loop->outer = pwr_thread.loop;
    loop->operation = operation;
    loop->expected_ns = expected_ns;
    loop->ends = ends;
    loop->site = site;
    loop->asks = false;
    loop->expired = NULL;
    loop->begun_ns = 0;
    loop->moved = false;
    loop->rests_until_ns = 0;
    loop->looks = LOOKS_CROWDED;
    loop->yields = pwr_process.waits.oversubscribed && !opal_progress_yield_when_idle;
    loop->fresh = true;
    pwr_thread.loop = loop;
}

/* It has waited. */
static void end(pwr_idle_loop_t *loop)
{
    static const pwr_wait_stats_t none;
    move_full(loop);
    if (loop->announced) {
        pwr_doorbell_awake();
    }
    uint64_t lasted_ns = pwr_now_ns() - loop->begun_ns;
    loop->stats.waits = 1;
    loop->stats.spin_ns = lasted_ns - loop->stats.sleep_ns;
    if (NULL != loop->site) {
        pwr_history_add(loop->site, lasted_ns);
    }
    pwr_events_add_wait(&none, &loop->stats);
}

void pwr_idle_loop_leave(pwr_idle_loop_t *loop)
{
    pwr_thread.loop = loop->outer;
    if (0 != loop->begun_ns) {
        end(loop);
    } else if (NULL != loop->site) {
        pwr_history_add(loop->site, 0);
    }
}

/* ---- on and off ---- */

static int users; /* components that have started and not stopped */

void pwr_idle_loops_start(void)
{
    if (0 == users++) {
        pwr_idle_knows_loops = pwr_idle_hears_windows = true;
        opal_progress_register(pass);
    }
}

void pwr_idle_loops_stop(void)
{
    if (0 == --users) {
        pwr_idle_knows_loops = pwr_idle_hears_windows = false;
        opal_progress_unregister(pass);
    }
}

void pwr_idle_loops_unheard(void)
{
    pwr_idle_hears_windows = false;
}
