/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * monitorx and mwaitx: AMD (Architecture Programmer's Manual, volume 3).
 *
 * The state asked for is C1.  The other choice, hint 0xf0, stays in C0: it wakes sooner, which is
 * why the kernel takes it for delays of microseconds, but nobody has published that it saves
 * anything, and saving is what this rung is for.  C1 costs about 1 us to leave, and on Rome a core
 * in C1 draws 0.09 W where one that pauses draws 0.33 W.  Waits that are over within a few
 * microseconds never come here.
 */
#include "config.h"

#include "wait/monitor.h"
#include "wait/tick_rate.h"

#if defined(__x86_64__)

enum {
    MONITORX = 1u << 29,
    HINT_C1 = 0,     /* bits 4 to 7: the state less one */
    TIMER = 1u << 1, /* ebx has the longest time; 0 there would be no limit */
    NO_EXTENSION = 0,
    NO_HINT = 0,
};

static bool probe(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->leaf_80000001_ecx & MONITORX) != 0;
}

static void arm(const _Atomic uint32_t *word)
{
    __asm__ volatile("monitorx" : : "a"(word), "c"(NO_EXTENSION), "d"(NO_HINT) : "memory");
}

static void rest(uint64_t ticks)
{
    uint32_t kept = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    __asm__ volatile("mwaitx" : : "a"(HINT_C1), "b"(kept), "c"(TIMER) : "cc", "memory");
}

const pwr_monitor_t pwr_monitor_mwaitx = {
    .name = "mwaitx",
    .probe = probe,
    .arm = arm,
    .rest = rest,
    .ticks_per_ms = pwr_tsc_per_ms,
};

#endif
