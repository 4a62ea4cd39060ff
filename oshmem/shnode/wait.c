/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits for a word that a member of the node stores to.
 *
 *   1. Spin, if each member has a CPU.
 *   2. Yield the CPU, and let the implementation make progress: a PE of another node may need it.
 *   3. Announce the sleep, look once more, and wait for the bell by shmem_long_wait_until, which a
 *      plug-in may let sleep.
 *
 * Who stores to the word (with memory_order_seq_cst) then looks for sleepers; so one of the two
 * sees the other.  It rings by an atomic operation of OpenSHMEM, which wakes whatever the
 * implementation sleeps on. A wait that has come to 3 makes the next ones spin and yield for half
 * as long, others double that.
 */
#include "node.h"

#include <sched.h>
#include <shmem.h>
#include <time.h>

enum { SPIN_NS = 20 * 1000, LEAST_NS = 20 * 1000, MOST_NS = 1000 * 1000 };
static int64_t patience_ns = MOST_NS;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool reached(_Atomic uint64_t *flag, uint64_t at_least)
{
    return atomic_load_explicit(flag, memory_order_acquire) >= at_least;
}

static bool spin(_Atomic uint64_t *flag, uint64_t at_least)
{
    for (int64_t end = now_ns() + SPIN_NS; now_ns() < end;) {
        for (int i = 0; i < 64; i++) {
            if (reached(flag, at_least)) {
                return true;
            }
            rest();
        }
    }
    return false;
}

static bool yield(_Atomic uint64_t *flag, uint64_t at_least)
{
    for (int64_t end = now_ns() + patience_ns; now_ns() < end;) {
        for (int i = 0; i < 8; i++) {
            sched_yield();
            if (reached(flag, at_least)) {
                return true;
            }
        }
        (void)shmem_long_test(&T.mine->bell, SHMEM_CMP_NE, *(volatile long *)&T.mine->bell);
    }
    return false;
}

static void sleep_until(_Atomic uint64_t *flag, uint64_t at_least, int64_t waits_for)
{
    atomic_store(&T.mine->waits_for, waits_for);
    atomic_fetch_add(&T.leader->sleepers, 1);
    for (;;) {
        long heard = *(volatile long *)&T.mine->bell;
        atomic_thread_fence(memory_order_seq_cst);
        if (reached(flag, at_least)) {
            break;
        }
        shmem_long_wait_until(&T.mine->bell, SHMEM_CMP_NE, heard);
    }
    atomic_fetch_sub(&T.leader->sleepers, 1);
    atomic_store(&T.mine->waits_for, 0);
}

void shnode_wait_slowly(_Atomic uint64_t *flag, uint64_t at_least, int64_t waits_for)
{
    if ((!T.crowded && spin(flag, at_least)) || yield(flag, at_least)) { /* 1., 2. */
        patience_ns = 2 * patience_ns < MOST_NS ? 2 * patience_ns : MOST_NS;
        return;
    }
    patience_ns = patience_ns / 2 > LEAST_NS ? patience_ns / 2 : LEAST_NS;
    sleep_until(flag, at_least, waits_for); /* 3. */
}

/* Wakes those who wait for this: a member's round, or the end of work. */
void shnode_ring(int64_t waits_for)
{
    for (int i = 0; i < T.size; i++) {
        if (i != T.rank && atomic_load(&T.controls[i]->waits_for) == waits_for) {
            (void)shmem_long_atomic_fetch_inc(&T.mine->bell, T.members[i]);
        }
    }
}
