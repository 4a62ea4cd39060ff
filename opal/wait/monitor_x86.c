/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * umonitor and umwait: Intel's WAITPKG (SDM volume 2); monitorx and mwaitx: AMD (Architecture
 * Programmer's Manual, volume 3).
 *
 * Of umwait the state asked for is C0.2, the deeper of the two: C0.1 showed no clear saving where
 * both were measured (Bityutskiy, Linux patches for C0.x on Sapphire Rapids, 2023).  The kernel may
 * forbid C0.2, and ends each rest after 100,000 ticks (IA32_UMWAIT_CONTROL): both are fine, the
 * caller comes back.
 *
 * Of mwaitx it is C1.  The other choice, hint 0xf0, stays in C0: it wakes sooner, which is why the
 * kernel takes it for delays of microseconds, but nobody has published that it saves anything, and
 * saving is what this rung is for.  C1 costs about 1 us to leave, and on Rome a core in C1 draws
 * 0.09 W where one that pauses draws 0.33 W.  Waits that are over within a few microseconds never
 * come here.
 *
 * In assembly because then neither the compiler nor the library needs to be for such a processor.
 */
#include "config.h"

#include "pwr/clock.h"
#include "pwr/ticks.h"
#include "wait/monitor.h"

#if defined(__x86_64__)

/* ---- how fast the time stamp counter ticks ---- */

static const uint64_t ns_per_ms = 1000000;
static const uint64_t shortest_ns = 10000000;
/* 0.1 and 10 GHz: beyond them one of the clocks was set, not read. */
static const uint64_t slowest_per_ms = 100000;
static const uint64_t assumed_per_ms = 1000000;
static const uint64_t fastest_per_ms = 10000000;

uint64_t pwr_tick_rate_per_ms(pwr_tick_rate_t *rate, uint64_t now_ns, uint64_t ticks)
{
    uint64_t known = atomic_load_explicit(&rate->per_ms, memory_order_relaxed);
    if (known != 0) {
        return known;
    }
    if (rate->first_ns == 0) {
        rate->first_ns = now_ns;
        rate->first_ticks = ticks;
    }
    if (now_ns < rate->first_ns + shortest_ns) {
        return assumed_per_ms;
    }
    uint64_t passed_ms = (now_ns - rate->first_ns) / ns_per_ms;
    uint64_t per_ms = (ticks - rate->first_ticks) / passed_ms;
    if (per_ms < slowest_per_ms || per_ms > fastest_per_ms) {
        per_ms = assumed_per_ms;
    }
    atomic_store_explicit(&rate->per_ms, per_ms, memory_order_relaxed);
    return per_ms;
}

static pwr_tick_rate_t tsc_rate;

static uint64_t tsc_per_ms(void)
{
    uint64_t known = atomic_load_explicit(&tsc_rate.per_ms, memory_order_relaxed);
    if (known != 0) {
        return known; /* without a look at the clock */
    }
    return pwr_tick_rate_per_ms(&tsc_rate, pwr_clock_ns(CLOCK_MONOTONIC), pwr_ticks_counter());
}

/* ---- Intel ---- */

enum { WAITPKG = 1u << 5, STATE_C02 = 0 };

static bool probe_umwait(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->leaf_7_ecx & WAITPKG) != 0;
}

static void arm_umonitor(const _Atomic uint32_t *word)
{
    __asm__ volatile("umonitor %%rax" : : "a"(word) : "memory");
}

static void rest_umwait(uint64_t ticks)
{
    uint64_t now = pwr_ticks_counter();
    uint64_t until = ticks < UINT64_MAX - now ? now + ticks : UINT64_MAX;
    __asm__ volatile("umwait %%ecx"
                     :
                     : "c"(STATE_C02), "a"((uint32_t)until), "d"((uint32_t)(until >> 32))
                     : "cc", "memory");
}

const pwr_monitor_t pwr_monitor_umwait = {
    .name = "umwait",
    .probe = probe_umwait,
    .arm = arm_umonitor,
    .rest = rest_umwait,
    .ticks_per_ms = tsc_per_ms,
};

/* ---- AMD ---- */

enum {
    MONITORX = 1u << 29,
    HINT_C1 = 0,     /* bits 4 to 7: the state less one */
    TIMER = 1u << 1, /* ebx has the longest time; 0 there would be no limit */
    NO_EXTENSION = 0,
    NO_HINT = 0,
};

static bool probe_mwaitx(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->leaf_80000001_ecx & MONITORX) != 0;
}

static void arm_monitorx(const _Atomic uint32_t *word)
{
    __asm__ volatile("monitorx" : : "a"(word), "c"(NO_EXTENSION), "d"(NO_HINT) : "memory");
}

static void rest_mwaitx(uint64_t ticks)
{
    uint32_t kept = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    __asm__ volatile("mwaitx" : : "a"(HINT_C1), "b"(kept), "c"(TIMER) : "cc", "memory");
}

const pwr_monitor_t pwr_monitor_mwaitx = {
    .name = "mwaitx",
    .probe = probe_mwaitx,
    .arm = arm_monitorx,
    .rest = rest_mwaitx,
    .ticks_per_ms = tsc_per_ms,
};

#endif
