/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder: pause, rests on the flag's cache line, then bounded sleeps on a futex.
 *
 * The signaller must not make a system call when nobody sleeps, and a sleeper must not miss a value
 * published just before it sleeps.  Dekker's pattern, both sides sequentially consistent:
 *
 *     waiter                                  setter
 *     W1 sleepers += 1      (seq_cst)         S1 value = new      (seq_cst)
 *     W2 read value         (seq_cst)         S2 read sleepers    (seq_cst)
 *     W3 futex wait while value is as in W2   S3 futex wake if sleepers > 0
 *
 * Either W2 sees S1, or S2 sees W1; in the second case the kernel compares value under its lock, so
 * a wake between W2 and W3 turns the wait into an immediate return.
 *
 * A setter in two steps has S1 as a release, a full fence, and S2: the same.  Without the fence S2
 * may read before S1 has left the core's store buffer, where it stays for well under a microsecond.
 * So a waiter that is not oversubscribed lingers for PWR_WAIT_LINGER_NS between W1 and W2: if S2
 * has missed W1, S1 arrives before W2.  Should a machine ever take longer, the sleep is bounded.
 *
 * Whoever rests on the cache line is woken by S1 itself, and is no sleeper: setters need not know.
 * wait/model searches all of this; who changes a step here changes it there.
 */
#include "config.h"

#include "pwr/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "wait/monitor.h"

enum {
    SPINS_PER_ROUND = 100, /* pauses between two looks at the clock: a few microseconds */
    /* Waking from a rest takes 0.2 to 1 us, and programs that rest without looking for a while
       first have become slower by it: what is over this soon never rests. */
    PAUSE_BEFORE_MONITOR_NS = 3000,
    REST_NS = 10000,     /* between two calls of progress; ten times what waking costs */
    MIN_SLEEP_NS = 1000, /* less only burns system calls: the kernel's timer slack is 50 us */
};

_Static_assert(sizeof(pwr_flag_t) == PWR_CACHE_LINE, "a flag is alone on its cache line");

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static bool has_reached(uint32_t value, uint32_t target)
{
    return (int32_t)(value - target) >= 0;
}

/* Not FUTEX_PRIVATE: the flag is shared between processes. */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec timeout = pwr_timespec(timeout_ns);
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

/* S3.  All of them, because they may wait for different targets. */
void pwr_flag_wake_sleepers(pwr_flag_t *flag)
{
    syscall(SYS_futex, &flag->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wake_if_any(pwr_flag_t *flag)
{
    /* S2 */
    if (atomic_load_explicit(&flag->sleepers, memory_order_seq_cst) != 0) {
        pwr_flag_wake_sleepers(flag);
    }
}

void pwr_flag_set(pwr_flag_t *flag, uint32_t value)
{
    /* S1; as a release it also pairs with the acquire in pwr_flag_reached. */
    atomic_store_explicit(&flag->value, value, memory_order_seq_cst);
    wake_if_any(flag);
}

void pwr_flag_arrive(pwr_flag_t *flag, uint32_t target)
{
    /* S1; acquire too: the last to arrive sees what the others wrote before they arrived. */
    uint32_t before = atomic_fetch_add_explicit(&flag->value, 1, memory_order_seq_cst);
    if (has_reached(before + 1, target)) {
        wake_if_any(flag);
    }
}

/* ---- the ladder ---- */

typedef struct wait_call {
    pwr_flag_t *flag;
    uint32_t target;
    const pwr_wait_policy_t *policy;
    pwr_progress_fn_t progress;
    void *arg;
    uint64_t deadline_ns; /* UINT64_MAX: none */
    pwr_wait_stats_t *stats;
} wait_call_t;

/* What one rung came to. */
typedef enum outcome { REACHED, TIMED_OUT, NEXT_RUNG } outcome_t;

static bool reached(const wait_call_t *call)
{
    return pwr_flag_reached(call->flag, call->target);
}

/* At the first look at the clock; later ones change nothing. */
static void bound(wait_call_t *call, uint64_t now)
{
    uint64_t longest = call->policy->longest_ns;
    if (longest > 0) {
        call->deadline_ns = pwr_wait_end_ns(now, longest, call->deadline_ns);
    }
}

static outcome_t outcome_at(const wait_call_t *call, uint64_t now)
{
    return reached(call) ? REACHED : now >= call->deadline_ns ? TIMED_OUT : NEXT_RUNG;
}

static bool make_progress(const wait_call_t *call)
{
    return call->progress && call->progress(call->arg) > 0;
}

bool pwr_flag_reached_soon(const pwr_flag_t *flag, uint32_t target)
{
    for (int i = 0; i < SPINS_PER_ROUND; i++) {
        if (pwr_flag_reached(flag, target)) {
            return true;
        }
        cpu_pause();
    }
    return false;
}

/* At the flag, for one round; where the one that we wait for may need this CPU, once, after a yield.
 */
static bool look(const wait_call_t *call)
{
    if (call->policy->oversubscribed) {
        sched_yield();
        return reached(call);
    }
    return pwr_flag_reached_soon(call->flag, call->target);
}

static outcome_t spin(const wait_call_t *call, uint64_t now, uint64_t until_ns)
{
    while (now < until_ns) {
        if (look(call)) {
            return REACHED;
        }
        make_progress(call);
        now = pwr_now_ns();
    }
    return outcome_at(call, now);
}

static bool has_monitor(const pwr_wait_policy_t *policy)
{
    return policy->monitor && policy->monitor_ns > 0 && !policy->oversubscribed;
}

/* One that progress cannot interrupt in time must not begin before sleeping would, which holds
   progress up as long. */
static uint64_t pause_ns(const wait_call_t *call)
{
    const pwr_wait_policy_t *policy = call->policy;
    if (policy->poll_ns > 0) {
        return policy->poll_ns > policy->spin_ns ? policy->poll_ns : policy->spin_ns;
    }
    bool soon = has_monitor(policy) && (!call->progress || policy->monitor->grain_ns <= REST_NS);
    return soon && policy->spin_ns > PAUSE_BEFORE_MONITOR_NS ? PAUSE_BEFORE_MONITOR_NS
                                                             : policy->spin_ns;
}

static outcome_t pause_rung(wait_call_t *call)
{
    const pwr_wait_policy_t *policy = call->policy;
    /* most waits are over before the clock is worth a look */
    if (look(call)) {
        return REACHED;
    }
    if (policy->oversubscribed && 0 == policy->poll_ns) {
        return NEXT_RUNG;
    }
    uint64_t begin = pwr_now_ns();
    bound(call, begin);
    outcome_t outcome =
        spin(call, begin, pwr_wait_end_ns(begin, pause_ns(call), call->deadline_ns));
    call->stats->spin_ns += pwr_now_ns() - begin;
    return outcome;
}

/* Until the flag's cache line is written, or it is time for progress. */
static void rest_once(const wait_call_t *call, uint64_t longest_ns)
{
    uint64_t kept = call->progress && longest_ns > REST_NS ? REST_NS : longest_ns;
    uint32_t seen = atomic_load_explicit(&call->flag->value, memory_order_relaxed);
    if (!has_reached(seen, call->target)) {
        pwr_monitor_wait(call->policy->monitor, &call->flag->value, seen, kept);
    }
}

static outcome_t monitor_rung(const wait_call_t *call)
{
    uint64_t begin = pwr_now_ns();
    uint64_t now = begin;
    uint64_t until = pwr_wait_end_ns(begin, call->policy->monitor_ns, call->deadline_ns);
    while (now < until && !reached(call)) {
        make_progress(call);
        rest_once(call, until - now);
        now = pwr_now_ns();
    }
    call->stats->monitor_ns += now - begin;
    return outcome_at(call, now);
}

static void sleep_once(const wait_call_t *call, uint64_t timeout_ns)
{
    pwr_flag_t *flag = call->flag;
    uint32_t seen = atomic_load_explicit(&flag->value, memory_order_seq_cst); /* W2 */
    if (!has_reached(seen, call->target)) {
        futex_wait(&flag->value, seen, timeout_ns); /* W3 */
        call->stats->sleeps++;
    }
}

/* Announced since W1.  Returns the time. */
static uint64_t sleep_again_and_again(const wait_call_t *call, uint64_t now)
{
    const pwr_wait_policy_t *policy = call->policy;
    uint64_t shortest = policy->sleep_min_ns > MIN_SLEEP_NS ? policy->sleep_min_ns : MIN_SLEEP_NS;
    uint64_t length = shortest;
    uint64_t moved = now;
    while (now < call->deadline_ns) {
        if (make_progress(call)) {
            moved = now;
            length = shortest;
        }
        if (reached(call)) {
            break;
        }
        sleep_once(call, pwr_wait_end_ns(now, length, call->deadline_ns) - now);
        now = pwr_now_ns();
        uint64_t next = pwr_wait_next_sleep_ns(length, now - moved, policy);
        length = next > shortest ? next : shortest;
        if (reached(call)) {
            break;
        }
    }
    return now;
}

/* Timed from after W1: what kept this rank off the CPU before it helps nobody. */
static void linger(const wait_call_t *call)
{
    uint64_t announced = pwr_now_ns();
    while (!reached(call) && pwr_now_ns() - announced < PWR_WAIT_LINGER_NS) {
        cpu_pause();
    }
}

static outcome_t futex_rung(wait_call_t *call)
{
    uint64_t begin = pwr_now_ns();
    bound(call, begin);
    atomic_fetch_add_explicit(&call->flag->sleepers, 1, memory_order_seq_cst); /* W1 */
    if (!call->policy->oversubscribed) {
        linger(call);
    }
    uint64_t now = sleep_again_and_again(call, pwr_now_ns());
    /* Relaxed: a setter that still sees us only makes a call too many. */
    atomic_fetch_sub_explicit(&call->flag->sleepers, 1, memory_order_relaxed);
    call->stats->sleep_ns += now - begin;
    return reached(call) ? REACHED : TIMED_OUT;
}

pwr_status_t pwr_wait_until(pwr_flag_t *flag, uint32_t target, const pwr_wait_policy_t *policy,
                            pwr_progress_fn_t progress, void *arg, uint64_t deadline_ns,
                            pwr_wait_stats_t *stats)
{
    pwr_wait_stats_t unused = {0};
    wait_call_t call = {.flag = flag,
                        .target = target,
                        .policy = policy,
                        .progress = progress,
                        .arg = arg,
                        .deadline_ns = deadline_ns != 0 ? deadline_ns : UINT64_MAX,
                        .stats = stats ? stats : &unused};
    call.stats->waits++;
    if (reached(&call)) {
        return PWR_OK;
    }
    outcome_t outcome = pause_rung(&call);
    if (outcome == NEXT_RUNG && has_monitor(policy)) {
        outcome = monitor_rung(&call);
    }
    if (outcome == NEXT_RUNG) {
        outcome = futex_rung(&call);
    }
    return outcome == REACHED ? PWR_OK : PWR_ERR_TIMEOUT;
}
