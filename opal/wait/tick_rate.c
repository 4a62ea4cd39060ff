/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The rate of a counter, and of x86's time stamp counter.
 */
#include "config.h"

#include "wait/tick_rate.h"

#include "pwr/clock.h"
#include "pwr/ticks.h"

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

#if defined(__x86_64__)

static pwr_tick_rate_t tsc_rate;

uint64_t pwr_tsc_per_ms(void)
{
    uint64_t known = atomic_load_explicit(&tsc_rate.per_ms, memory_order_relaxed);
    if (known != 0) {
        return known; /* without a look at the clock */
    }
    return pwr_tick_rate_per_ms(&tsc_rate, pwr_clock_ns(CLOCK_MONOTONIC), pwr_ticks_counter());
}

#endif
