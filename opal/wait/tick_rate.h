/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How fast a counter of the processor ticks: measured between two moments that the process passes
 * anyway, at least 10 ms apart, so that nobody ever waits for it.
 *
 * Until then a tick is taken for a nanosecond: counters are faster, so rests end too early, which
 * costs a look at the word, not too late.  CPUID 0x15 would tell the rate of x86's counter at once,
 * but many processors leave the crystal's frequency out, and hypervisors that scale the counter the
 * whole leaf.  A process that is preempted between the two clocks measures a rate that is wrong by
 * the share of that in the 10 ms and more: good enough for the length of a rest.
 */
#ifndef PWR_TICK_RATE_H
#define PWR_TICK_RATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Zeroed: nothing is known. */
typedef struct pwr_tick_rate {
    uint64_t first_ns; /* 0: not known */
    uint64_t first_ticks;
    _Atomic uint64_t per_ms; /* 0: not measured */
} pwr_tick_rate_t;

/* Ticks per millisecond, given what both clocks say now.  The first call (pwr_monitor_find) comes
   before those of any other thread. */
uint64_t pwr_tick_rate_per_ms(pwr_tick_rate_t *rate, uint64_t now_ns, uint64_t ticks);

/* x86-64: the rate of the time stamp counter (pwr_ticks_counter). */
uint64_t pwr_tsc_per_ms(void);

#endif
