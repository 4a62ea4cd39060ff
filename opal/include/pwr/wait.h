/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder: pause -> monitor (umwait, mwaitx, WFE) -> futex; for what is no flag: poll ->
 * sleep.
 *
 * Ski-rental rule: stay on a rung until staying has cost as much as the next rung's entry and
 * exit; then at most twice the offline optimum is ever paid.  A signaller makes a system call only
 * when somebody sleeps.  Every sleep is bounded, so a lost wake-up costs time, never a hang.
 */
#ifndef PWR_WAIT_H
#define PWR_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/monitor.h"
#include "pwr/status.h"

enum {
    PWR_CACHE_LINE = 64,
    /* A store that began before another core's announcement is visible to that core so long after
       it.  Who lingers so long spares the others a fence. */
    PWR_WAIT_LINGER_NS = 2000,
};

/* A sequence number in memory shared between processes, alone on its cache line.  Zeroed memory is
   a valid flag with value 0.  Values only grow (modulo 2^32), by less than 2^31 beyond any target
   that is waited for.  A waiter that is killed leaves sleepers too high: that costs later setters
   a system call each, nothing else. */
typedef struct pwr_flag {
    _Alignas(64) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
    unsigned char beside[56]; /* the setter's: written before value, read after it, it travels on
                                 the same cache line */
} pwr_flag_t;

/* Never give the CPU back (the paper's polling ranks). */
#define PWR_WAIT_POLL_ONLY UINT64_MAX

typedef struct pwr_wait_policy {
    uint64_t poll_ns;      /* before all else: poll so long, and yield when oversubscribed */
    uint32_t spin_ns;      /* pause rung: this long at most before the next rung */
    uint32_t sleep_min_ns; /* first bounded sleep (at least 1000); they grow up to ... */
    uint32_t sleep_max_ns; /* ... this (pwr_wait_next_sleep_ns); progress runs between sleeps */
    bool oversubscribed;   /* more ranks than CPUs: yield once instead of the pause rung, and do not
                              linger before the futex rung */
    const pwr_monitor_t *monitor; /* NULL: none; not used when oversubscribed or polling */
    uint32_t monitor_ns; /* monitor rung: this long before the futex rung; of the pause rung only
                            the first microseconds are left then; 0: no such rung */
    uint64_t
        longest_ns; /* a wait is given up when it has lasted this long.  Unlike a deadline that
                       costs no look at the clock before the wait takes one itself.  0: never */
} pwr_wait_policy_t;

typedef struct pwr_wait_stats {
    uint64_t waits;
    uint64_t sleeps;     /* futex calls */
    uint64_t spin_ns;    /* time on the pause rung, polling included */
    uint64_t sleep_ns;   /* time on the futex rung */
    uint64_t monitor_ns; /* time on the monitor rung */
} pwr_wait_stats_t;

static inline void pwr_wait_stats_add_plainly(pwr_wait_stats_t *total, const pwr_wait_stats_t *more)
{
    total->waits += more->waits;
    total->sleeps += more->sleeps;
    total->spin_ns += more->spin_ns;
    total->sleep_ns += more->sleep_ns;
    total->monitor_ns += more->monitor_ns;
}

/* The same where other threads may add to the total as well. */
static inline void pwr_wait_stats_add(pwr_wait_stats_t *total, const pwr_wait_stats_t *more)
{
    __atomic_fetch_add(&total->waits, more->waits, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total->sleeps, more->sleeps, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total->spin_ns, more->spin_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total->sleep_ns, more->sleep_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total->monitor_ns, more->monitor_ns, __ATOMIC_RELAXED);
}

enum {
    PWR_WAIT_SLEEP_GROWTH = 4,
    PWR_WAIT_SLEEP_PART = 4,
    PWR_WAIT_SLEEP_SHORT_NS = 4000000,
};
/* The sleep after one of length_ns, in a wait in which nothing has moved for lasted_ns.  Sleeps of
   more than PWR_WAIT_SLEEP_SHORT_NS are no longer than one PWR_WAIT_SLEEP_PART-th of that: so much
   at most a wait is prolonged by what should have woken it and has not, such as a peer that needs
   this rank's progress. */
static inline uint64_t pwr_wait_next_sleep_ns(uint64_t length_ns, uint64_t lasted_ns,
                                              const pwr_wait_policy_t *policy)
{
    uint64_t part = lasted_ns / PWR_WAIT_SLEEP_PART;
    uint64_t most = part > PWR_WAIT_SLEEP_SHORT_NS ? part : PWR_WAIT_SLEEP_SHORT_NS;
    uint64_t next = PWR_WAIT_SLEEP_GROWTH * length_ns;
    next = next < most ? next : most;
    next = next < policy->sleep_max_ns ? next : policy->sleep_max_ns;
    return next > policy->sleep_min_ns ? next : policy->sleep_min_ns;
}

/* How long to spin before the next sleep of a wait that needs several messages: spun before, and
   now something has come gap_ns after the last thing that came.  Where one came too late for a full
   spin, the next one is expected to, too: each of them would cost a spin besides the sleep. */
static inline uint32_t pwr_wait_next_spin_ns(uint32_t spin_ns, uint64_t gap_ns,
                                             const pwr_wait_policy_t *policy)
{
    enum { SHRINKS = 4, SHORTEST_NS = 1000 };
    uint32_t next = gap_ns < policy->spin_ns ? policy->spin_ns : spin_ns / SHRINKS;
    return next < SHORTEST_NS ? 0 : next;
}

/* The end of what begins at begin_ns and lasts for length_ns, or deadline_ns if that comes first.
 */
static inline uint64_t pwr_wait_end_ns(uint64_t begin_ns, uint64_t length_ns, uint64_t deadline_ns)
{
    bool ends_before = begin_ns < deadline_ns && length_ns < deadline_ns - begin_ns;
    return ends_before ? begin_ns + length_ns : deadline_ns;
}

/* Called between sleeps or rests and every hundred or so spins; returns > 0 when something moved
   (the next sleep is then short again).  Lets the caller's communication go on while it waits. */
typedef int (*pwr_progress_fn_t)(void *arg);

/* Publishes value (release) and wakes sleepers, with a system call only if there are some. */
void pwr_flag_set(pwr_flag_t *flag, uint32_t value);
/* The same in two steps, publish and wake, with pwr_fence in between.  Without the fence, which
   costs the setter a wait for the cache line, it is good enough for waiters who are not
   oversubscribed: they linger between announcing that they are about to sleep and sleeping. */
static inline void pwr_flag_publish(pwr_flag_t *flag, uint32_t value)
{
    atomic_store_explicit(&flag->value, value, memory_order_release); /* S1 in wait.c */
}
static inline void pwr_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
void pwr_flag_wake_sleepers(pwr_flag_t *flag);
static inline void pwr_flag_wake(pwr_flag_t *flag)
{
    atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps S2 behind S1 */
    if (atomic_load_explicit(&flag->sleepers, memory_order_relaxed) != 0) { /* S2 */
        pwr_flag_wake_sleepers(flag);
    }
}
/* Adds 1 (seq_cst) for counting arrivals.  Nobody waits for less than target that is not there yet:
   the one arrival that reaches target wakes the sleepers, the others wake nobody. */
void pwr_flag_arrive(pwr_flag_t *flag, uint32_t target);
/* True once value has reached target (acquire), by signed distance. */
static inline bool pwr_flag_reached(const pwr_flag_t *flag, uint32_t target)
{
    /* Pairs with S1. */
    return (int32_t)(atomic_load_explicit(&flag->value, memory_order_acquire) - target) >= 0;
}

/* The same, looked at for a few microseconds: most waits of ranks that keep step are over by then,
   before the clock or anything else is worth a look.  Not where CPUs are shared. */
bool pwr_flag_reached_soon(const pwr_flag_t *flag, uint32_t target);

/* Waits until the flag reaches target.  progress may be NULL.  deadline_ns is CLOCK_MONOTONIC, 0
   for none.  Returns PWR_OK, or PWR_ERR_TIMEOUT when deadline or longest_ns are over.  stats may be
   NULL. */
pwr_status_t pwr_wait_until(pwr_flag_t *flag, uint32_t target, const pwr_wait_policy_t *policy,
                            pwr_progress_fn_t progress, void *arg, uint64_t deadline_ns,
                            pwr_wait_stats_t *stats);

/* ---- waits for what is no flag (wait_for.c) ---- */

/* Something that is over some time, and that only progress brings there: a request. */
typedef struct pwr_waitable {
    bool (*over)(void *arg);
    pwr_progress_fn_t progress; /* yields where the one waited for needs the CPU */
    /* Returns when something may have happened, after longest_ns at the latest.  NULL: nothing ends
       a sleep. */
    void (*sleep)(void *arg, uint64_t longest_ns);
    /* What ends the wait may end no sleep; so, too, without sleep.  It then sleeps for one
       PWR_WAIT_BLIND_PART-th of the time since something moved: so much later than by polling it
       ends at most. */
    bool blind;
    void *arg;
} pwr_waitable_t;

enum {
    PWR_WAIT_BLIND_PART = 32,
    PWR_WAIT_BLIND_MIN_NS = 50000, /* the kernel's timer slack, which is added to it */
};
/* How long what has lasted so long may sleep unwoken; 0: not yet. */
static inline uint64_t pwr_wait_blind_ns(uint64_t lasted_ns, const pwr_wait_policy_t *policy)
{
    uint64_t ns = lasted_ns / PWR_WAIT_BLIND_PART;
    return ns < PWR_WAIT_BLIND_MIN_NS ? 0 : ns < policy->sleep_max_ns ? ns : policy->sleep_max_ns;
}

/* Waits until it is over; policy, deadline_ns, stats (sleeps: calls of sleep) and result as in
   pwr_wait_until. */
pwr_status_t pwr_wait_for(const pwr_waitable_t *waitable, const pwr_wait_policy_t *policy,
                          uint64_t deadline_ns, pwr_wait_stats_t *stats);

#endif
