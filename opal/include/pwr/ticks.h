/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A cheap clock for how long calls take: the processor's own counter where Linux itself keeps time
 * by it, CLOCK_MONOTONIC elsewhere.
 *
 * A counter that Linux takes for its clock ticks steadily and alike on all CPUs; to read it takes a
 * third of the time of clock_gettime.
 */
#ifndef PWR_TICKS_H
#define PWR_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/clock.h"

typedef struct pwr_ticks {
    bool counter; /* else ticks are nanoseconds */
    double ns_per_tick;
} pwr_ticks_t;

/* How fast the processor's counter ticks; 1,000,000 where that is not known.  Measured once in a
   process, which takes a millisecond.  (CPUID 0x15 would tell x86's at once, but many processors
   leave the crystal's frequency out, and hypervisors that scale the counter the whole leaf.) */
uint64_t pwr_ticks_counter_per_ms(void);

/* Takes as long where the counter is the kernel's clock.  root: as pwr_env_t's, of the
   machine whose clock this process has. */
pwr_ticks_t pwr_ticks_open(const char *root);

#if defined(__x86_64__)
enum { PWR_TICKS_HAVE_COUNTER = 1 };
static inline uint64_t pwr_ticks_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
enum { PWR_TICKS_HAVE_COUNTER = 1 };
static inline uint64_t pwr_ticks_counter(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#else
enum { PWR_TICKS_HAVE_COUNTER = 0 };
static inline uint64_t pwr_ticks_counter(void)
{
    return 0;
}
#endif

static inline uint64_t pwr_ticks_now(const pwr_ticks_t *ticks)
{
    return ticks->counter ? pwr_ticks_counter() : pwr_now_ns();
}

/* Nanoseconds of an interval, the difference of two pwr_ticks_now.  A thread that moved between
   CPUs whose counters are a few ticks apart may see a negative one, which is 0. */
static inline uint64_t pwr_ticks_ns(const pwr_ticks_t *ticks, uint64_t interval)
{
    int64_t passed = (int64_t)interval;
    return passed <= 0 ? 0 : (uint64_t)((double)passed * ticks->ns_per_tick);
}

#endif
