/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which clock calls are timed by, and how fast it ticks.
 */
#include "config.h"

#include "pwr/ticks.h"

#include <string.h>

#include "pwr/env.h"

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
        uint64_t ns = pwr_clock_ns(CLOCK_MONOTONIC);
        uint64_t took = pwr_ticks_counter() - before;
        if (took < shortest) {
            shortest = took;
            best = (moment_t){.ns = ns, .ticks = before + took / 2};
        }
    }
    return best;
}

pwr_ticks_t pwr_ticks_open(const char *root)
{
    enum { MEASURED_NS = 1000000 };
    const pwr_ticks_t kernels = {.counter = false, .ns_per_tick = 1.0};
    if (!is_kernels_clock(root)) {
        return kernels;
    }
    const moment_t begin = moment_now();
    const struct timespec while_measured = pwr_timespec(MEASURED_NS);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &while_measured, NULL);
    const moment_t end = moment_now();
    if (end.ns < begin.ns + MEASURED_NS / 2 || end.ticks <= begin.ticks) {
        return kernels; /* a signal came in between */
    }
    return (pwr_ticks_t){.counter = true,
                         .ns_per_tick =
                             (double)(end.ns - begin.ns) / (double)(end.ticks - begin.ticks)};
}
