/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * WFE and WFET on the exclusive monitor: AArch64 (Arm Architecture Reference Manual, "Wait for
 * Event").
 *
 * A load-exclusive arms the monitor; when another core writes there the monitor is lost, which is
 * an event, and WFE waits for one.  An event that was there before makes the first WFE return at
 * once.
 *
 * WFE has no end of its own.  The kernel's event stream sends an event every 100 us; without it a
 * rest could last until the next interrupt, so such machines have no monitor here.  WFET takes an
 * end; processors have it from Armv8.7 on.
 */
#include "config.h"

#include "pwr/ticks.h"
#include "wait/monitor.h"

#if defined(__aarch64__)

/* The kernel's: asm/hwcap.h of older ones lacks the second. */
static const unsigned long hwcap_evtstrm = 1ul << 2;
static const unsigned long hwcap2_wfxt = 1ul << 31;

enum { EVENT_STREAM_NS = 100000 };

static bool probe_wfet(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->hwcap2 & hwcap2_wfxt) != 0;
}

static bool probe_wfe(const pwr_monitor_cpu_t *cpu)
{
    return (cpu->hwcap & hwcap_evtstrm) != 0;
}

static void arm(const _Atomic uint32_t *word)
{
    uint32_t seen;
    __asm__ volatile("ldaxr %w0, [%1]" : "=r"(seen) : "r"(word) : "memory");
}

static void rest_wfet(uint64_t ticks)
{
    uint64_t now = pwr_ticks_counter();
    uint64_t until = ticks < UINT64_MAX - now ? now + ticks : UINT64_MAX;
    /* "wfet until", spelled so that assemblers for older processors take it */
    __asm__ volatile("msr s0_3_c1_c0_0, %0" : : "r"(until) : "memory");
}

static void rest_wfe(uint64_t ticks)
{
    (void)ticks; /* the event stream decides */
    __asm__ volatile("wfe" : : : "memory");
}

static uint64_t ticks_per_ms(void)
{
    uint64_t per_s;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(per_s));
    return per_s / 1000;
}

static uint64_t no_ticks(void)
{
    return 1;
}

const pwr_monitor_t pwr_monitor_wfet = {
    .name = "wfet",
    .probe = probe_wfet,
    .arm = arm,
    .rest = rest_wfet,
    .ticks_per_ms = ticks_per_ms,
};

const pwr_monitor_t pwr_monitor_wfe = {
    .name = "wfe",
    .grain_ns = EVENT_STREAM_NS,
    .probe = probe_wfe,
    .arm = arm,
    .rest = rest_wfe,
    .ticks_per_ms = no_ticks,
};

#endif
