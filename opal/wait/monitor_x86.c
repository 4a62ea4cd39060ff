/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * umonitor and umwait: Intel's WAITPKG (SDM volume 2); monitorx and mwaitx: AMD (Architecture
 * Programmer's Manual, volume 3).
 *
 * In assembly because then neither the compiler nor the library needs to be for such a processor.
 */
#include "config.h"

#include "pwr/ticks.h"
#include "wait/monitor.h"

#if defined(__x86_64__)

/* ---- umwait ---- */

/* The state asked for is C0.2, the deeper of the two: C0.1 showed no clear saving where both were
   measured (Bityutskiy, Linux patches for C0.x on Sapphire Rapids, 2023).  The kernel may forbid
   C0.2, and ends each rest after 100,000 ticks (IA32_UMWAIT_CONTROL): both are fine, the caller
   comes back. */
enum { WAITPKG = 1u << 5, STATE_C02 = 0 };

static bool probe_umwait(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->leaf_7_ecx & WAITPKG) != 0;
}

static void arm_umwait(const _Atomic uint32_t *word)
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
    .arm = arm_umwait,
    .rest = rest_umwait,
    .ticks_per_ms = pwr_ticks_counter_per_ms,
};

/* ---- mwaitx ---- */

/* The state asked for is C1.  The other choice, hint 0xf0, stays in C0: it wakes sooner, which is
   why the kernel takes it for delays of microseconds, but nobody has published that it saves
   anything, and saving is what this rung is for.  C1 costs about 1 us to leave, and on Rome a core
   in C1 draws 0.09 W where one that pauses draws 0.33 W.  Waits that are over within a few
   microseconds never come here. */
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

static void arm_mwaitx(const _Atomic uint32_t *word)
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
    .arm = arm_mwaitx,
    .rest = rest_mwaitx,
    .ticks_per_ms = pwr_ticks_counter_per_ms,
};

#endif
