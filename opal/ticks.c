/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which clock calls are timed by, and how fast it ticks.
 */
#include "config.h"

#include "pwr/ticks.h"

#include <stdatomic.h>
#include <string.h>

#include "pwr/env.h"

enum { NS_PER_MS = 1000000, UNKNOWN = 1 };

static const char clock_source_path[] =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/* The counters' names as Linux's clock. */
static bool is_kernels_clock(const char *root)
{
    const pwr_env_t env = {.root = root};
    char name[64];
    return PWR_TICKS_HAVE_COUNTER &&
           pwr_env_read_text(&env, clock_source_path, name, sizeof name) == PWR_OK &&
           (strcmp(name, "tsc") == 0 || strcmp(name, "arch_sys_counter") == 0);
}

typedef struct moment {
    uint64_t ns;
    uint64_t ticks;
} moment_t;

/* Both clocks at once: of a few attempts the one between whose readings the least time passed, as
   a process may lose its CPU between them. */
static moment_t moment_now(void)
{
    enum { ATTEMPTS = 8 };
    moment_t best = {0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = pwr_ticks_counter();
        uint64_t ns = pwr_now_ns();
        uint64_t took = pwr_ticks_counter() - before;
        if (took < shortest) {
            shortest = took;
            best = (moment_t){.ns = ns, .ticks = before + took / 2};
        }
    }
    return best;
}

/* UNKNOWN where there is no counter, or it did not tick between 1 MHz and 10 GHz. */
static uint64_t measure_per_ms(void)
{
    enum { SLOWEST_PER_MS = 1000, FASTEST_PER_MS = 10000000 };
    const moment_t begin = moment_now();
    pwr_sleep_ns(NS_PER_MS);
    const moment_t end = moment_now();
    if (end.ns < begin.ns + NS_PER_MS / 2) {
        return UNKNOWN;
    }
    uint64_t per_ms = (end.ticks - begin.ticks) * NS_PER_MS / (end.ns - begin.ns);
    return per_ms >= SLOWEST_PER_MS && per_ms <= FASTEST_PER_MS ? per_ms : UNKNOWN;
}

/* The same, measured once. */
static uint64_t known_per_ms(void)
{
    static _Atomic uint64_t known; /* 0: not measured yet */
    uint64_t per_ms = atomic_load_explicit(&known, memory_order_relaxed);
    if (per_ms == 0) {
        per_ms = measure_per_ms();
        atomic_store_explicit(&known, per_ms, memory_order_relaxed);
    }
    return per_ms;
}

uint64_t pwr_ticks_counter_per_ms(void)
{
    uint64_t per_ms = known_per_ms();
    return per_ms != UNKNOWN ? per_ms : NS_PER_MS;
}

pwr_ticks_t pwr_ticks_open(const char *root)
{
    uint64_t per_ms = is_kernels_clock(root) ? known_per_ms() : UNKNOWN;
    return per_ms != UNKNOWN
               ? (pwr_ticks_t){.counter = true, .ns_per_tick = NS_PER_MS / (double)per_ms}
               : (pwr_ticks_t){.counter = false, .ns_per_tick = 1.0};
}
