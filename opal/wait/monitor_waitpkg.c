/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * umonitor and umwait: Intel's WAITPKG (SDM volume 2).
 *
 * The state asked for is C0.2, the deeper of the two: C0.1 showed no clear saving where both were
 * measured (Bityutskiy, Linux patches for C0.x on Sapphire Rapids, 2023).  The kernel may forbid
 * C0.2, and ends each rest after 100,000 ticks (IA32_UMWAIT_CONTROL): both are fine, the caller
 * comes back.
 *
 * In assembly because then neither the compiler nor the library needs to be for such a processor.
 */
#include "config.h"

#include "pwr/ticks.h"
#include "wait/monitor.h"
#include "wait/tick_rate.h"

#if defined(__x86_64__)

enum { WAITPKG = 1u << 5, STATE_C02 = 0 };

static bool probe(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->leaf_7_ecx & WAITPKG) != 0;
}

static void arm(const _Atomic uint32_t *word)
{
    __asm__ volatile("umonitor %%rax" : : "a"(word) : "memory");
}

static void rest(uint64_t ticks)
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
    .probe = probe,
    .arm = arm,
    .rest = rest,
    .ticks_per_ms = pwr_tsc_per_ms,
};

#endif
