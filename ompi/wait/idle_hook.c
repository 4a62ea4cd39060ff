/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What blocks without a request (files, shared memory of others) gives the CPU back, from 5.0 on.
 *
 * It loops over opal_progress, which calls a function through a pointer when nothing moved.  That
 * function cannot know whether its caller blocks: it takes calls that follow each other without a
 * pause for a wait, and sleeps for a bounded part of it.  A loop of brief calls would look the
 * same, and sleep in each of them: so calls of windows say where they begin and end, and sleep by
 * themselves (idle_loop.c).
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/ucx.h"

#include "idle_private.h"

#if OMPI_MAJOR_VERSION >= 5

#include "pwr/clock.h"

#include "ompi/runtime/params.h"
#include "ompi/win/win.h"
#include "opal/mca/threads/threads.h"

/* Looks of a wait follow each other in less than GAP_NS.  The first one after a sleep finds its
   caches cold, and the CPU may have been somebody else's: it may take GAP_ASLEEP_NS. */
enum { GAP_NS = 20000, GAP_ASLEEP_NS = 200000 };

static struct {
    bool hooked;
    const pwr_wait_policy_t *policy;
    pwr_wait_stats_t *stats;
    opal_threads_pthreads_yield_fn_t *yield; /* what was there before */
    bool yields;                             /* what ompi_mpi_yield_when_idle was */
} hook;

/* The wait that this thread may be in. */
static _Thread_local struct {
    uint64_t since_ns; /* 0: in none */
    uint64_t seen_ns;  /* when the last call returned */
    bool slept;        /* in the last call */
    unsigned looks;    /* of opal_progress since the last call */
} idle;

static int count_look(void)
{
    ++idle.looks;
    return 0;
}

/* ---- the wait ---- */

/* When the wait began that this look belongs to.  A look more than this one has found something to
   do.  In a longer gap the thread may have been interrupted, or its caller have done something
   else: a wait that has lasted long probably goes on, and half of it counts.  So in a call that is
   brief it sleeps for at most half a PWR_WAIT_BLIND_PART-th of the wait before. */
static uint64_t begin_of_wait(uint64_t now)
{
    uint64_t gap_ns = now - idle.seen_ns;
    if (0 == idle.since_ns || idle.looks > 1 || gap_ns > GAP_ASLEEP_NS) {
        return now;
    }
    bool interrupted = !idle.slept && gap_ns > GAP_NS;
    return interrupted ? now - (idle.seen_ns - idle.since_ns) / 2 : idle.since_ns;
}

/* Without those who say where calls of windows begin, many brief ones look like a wait. */
static bool may_be_windows(void)
{
    int size = pwr_idle_knows_loops ? 0 : opal_pointer_array_get_size(&ompi_mpi_windows);
    for (int i = 0; i < size; ++i) {
        const ompi_win_t *win = opal_pointer_array_get_item(&ompi_mpi_windows, i);
        if (NULL != win && &ompi_mpi_win_null.win != win) {
            return true;
        }
    }
    return false;
}

/* Nothing wakes it: who calls may wait for anything.  Returns the time. */
static uint64_t sleep_if_long_idle(uint64_t now)
{
    uint64_t length_ns = pwr_wait_blind_ns(now - idle.since_ns, hook.policy);
    idle.slept = 0 != length_ns && !may_be_windows();
    if (!idle.slept) {
        return now;
    }
    pwr_ucx_nap(length_ns);
    uint64_t after = pwr_now_ns();
    const pwr_wait_stats_t slept = {.sleeps = 1, .sleep_ns = after - now};
    pwr_wait_stats_add(hook.stats, &slept);
    return after;
}

/* opal_progress has found nothing to do. */
static void give_back(void)
{
    uint64_t now = pwr_now_ns();
    idle.since_ns = begin_of_wait(now);
    idle.looks = 0;
    if (hook.yields) {
        hook.yield();
        now = pwr_now_ns();
    }
    if (NULL != pwr_thread.loop) {
        idle.since_ns = 0; /* it sleeps by itself */
    } else if (!pwr_thread.waits && !pwr_thread.looks) {
        now = sleep_if_long_idle(now);
    }
    idle.seen_ns = now;
}

/* MPI_Init copies ompi_mpi_yield_when_idle to where opal_progress looks, last of all. */
void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    hook.policy = policy;
    hook.stats = stats;
    hook.yields = ompi_mpi_yield_when_idle;
    hook.yield = opal_threads_pthreads_yield_fn;
    hook.hooked = true;
    opal_progress_register(count_look);
    ompi_mpi_yield_when_idle = true;
    opal_threads_pthreads_yield_fn = give_back;
}

void pwr_idle_unhook(void)
{
    if (!hook.hooked) {
        return;
    }
    if (give_back == opal_threads_pthreads_yield_fn) {
        opal_threads_pthreads_yield_fn = hook.yield;
        ompi_mpi_yield_when_idle = hook.yields;
        opal_progress_set_yield_when_idle(hook.yields);
    }
    opal_progress_unregister(count_look);
    hook.hooked = false;
}

bool pwr_idle_is_crowded(void)
{
    return hook.hooked ? hook.yields : opal_progress_yield_when_idle;
}

#else /* opal_progress calls sched_yield itself */

void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    (void)policy;
    (void)stats;
}

void pwr_idle_unhook(void)
{
}

bool pwr_idle_is_crowded(void)
{
    return opal_progress_yield_when_idle;
}

#endif
