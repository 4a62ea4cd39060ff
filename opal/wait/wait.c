/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder: pause, then bounded sleeps on a futex.
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
 * So a waiter that is not oversubscribed lingers for LINGER_NS between W1 and W2: if S2 has missed
 * W1, S1 arrives before W2.  Should a machine ever take longer, the sleep is bounded.
 */
#include "config.h"

#include "pwr/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS_PER_ROUND = 100, /* pauses between two looks at the clock: a few microseconds */
    LINGER_NS = 2000,
    MIN_SLEEP_NS = 1000, /* less only burns system calls: the kernel's timer slack is 50 us */
    NS_PER_S = 1000000000,
};

_Static_assert(sizeof(pwr_flag_t) == PWR_CACHE_LINE, "a flag is alone on its cache line");

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

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
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
                               .tv_nsec = (long)(timeout_ns % NS_PER_S)};
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

uint32_t pwr_flag_add(pwr_flag_t *flag, uint32_t amount)
{
    /* S1; acquire too: the last to arrive sees what the others wrote before they arrived. */
    uint32_t before = atomic_fetch_add_explicit(&flag->value, amount, memory_order_seq_cst);
    wake_if_any(flag);
    return before + amount;
}

void pwr_flag_arrive(pwr_flag_t *flag, uint32_t target)
{
    /* S1 */
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

static bool make_progress(const wait_call_t *call)
{
    return call->progress && call->progress(call->arg) > 0;
}

/* A few microseconds. */
static bool spin_round(const wait_call_t *call)
{
    for (int i = 0; i < SPINS_PER_ROUND; i++) {
        if (reached(call)) {
            return true;
        }
        cpu_pause();
    }
    return false;
}

/* Spins until until_ns; yields once a round when the CPU is needed by the one we wait for. */
static outcome_t spin(const wait_call_t *call, uint64_t now, uint64_t until_ns)
{
    while (now < until_ns) {
        if (call->policy->oversubscribed) {
            sched_yield();
        }
        if (spin_round(call)) {
            return REACHED;
        }
        make_progress(call);
        now = now_ns();
    }
    return reached(call) ? REACHED : now >= call->deadline_ns ? TIMED_OUT : NEXT_RUNG;
}

static outcome_t pause_rung(const wait_call_t *call)
{
    const pwr_wait_policy_t *policy = call->policy;
    if (policy->oversubscribed && !policy->poll) {
        sched_yield();
        return reached(call) ? REACHED : NEXT_RUNG;
    }
    /* most waits are over before the clock is worth a look */
    if (!policy->oversubscribed && spin_round(call)) {
        return REACHED;
    }
    uint64_t begin = now_ns();
    uint64_t until = call->deadline_ns;
    if (!policy->poll && policy->spin_ns < until - begin) {
        until = begin < until ? begin + policy->spin_ns : until;
    }
    outcome_t outcome = spin(call, begin, until);
    call->stats->spin_ns += now_ns() - begin;
    return outcome;
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
    uint64_t longest = policy->sleep_max_ns > shortest ? policy->sleep_max_ns : shortest;
    uint64_t length = shortest;
    while (now < call->deadline_ns) {
        bool moved = make_progress(call);
        if (reached(call)) {
            break;
        }
        length = moved ? shortest : length;
        uint64_t left = call->deadline_ns - now;
        sleep_once(call, length < left ? length : left);
        length = 2 * length < longest ? 2 * length : longest;
        now = now_ns();
        if (reached(call)) {
            break;
        }
    }
    return now;
}

static outcome_t futex_rung(const wait_call_t *call)
{
    uint64_t begin = now_ns();
    uint64_t now = begin;
    atomic_fetch_add_explicit(&call->flag->sleepers, 1, memory_order_seq_cst); /* W1 */
    if (!call->policy->oversubscribed) {
        while (!reached(call) && now - begin < LINGER_NS) {
            cpu_pause();
            now = now_ns();
        }
    }
    now = sleep_again_and_again(call, now);
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
    if (outcome == NEXT_RUNG) {
        outcome = futex_rung(&call);
    }
    return outcome == REACHED ? PWR_OK : PWR_ERR_TIMEOUT;
}
