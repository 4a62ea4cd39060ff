/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's clocks in nanoseconds, for what cannot have one injected (env.h).
 */
#ifndef PWR_CLOCK_H
#define PWR_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

enum { PWR_NS_PER_S = 1000000000 };

static inline uint64_t pwr_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * PWR_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t pwr_now_ns(void)
{
    return pwr_clock_ns(CLOCK_MONOTONIC);
}

static inline struct timespec pwr_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / PWR_NS_PER_S),
                             .tv_nsec = (long)(ns % PWR_NS_PER_S)};
}

/* Signals do not shorten it. */
static inline void pwr_sleep_ns(uint64_t ns)
{
    struct timespec left = pwr_timespec(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

#endif
