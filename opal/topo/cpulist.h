/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sets of CPU numbers, and Linux' way of writing them (private to the library).
 */
#ifndef PWR_CPULIST_H
#define PWR_CPULIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "pwr/status.h"

enum {
    PWR_CPUSET_CPUS = 8192, /* as many as Linux can be configured for (x86, MAXSMP) */
    PWR_CPUSET_WORD_BITS = (int)(sizeof(unsigned long) * CHAR_BIT),
    PWR_CPUSET_WORDS = PWR_CPUSET_CPUS / PWR_CPUSET_WORD_BITS,
};

/* CPU numbers below PWR_CPUSET_CPUS.  1 KiB, no allocation; laid out like the kernel's affinity
   masks.  { { 0 } } is the empty set. */
typedef struct pwr_cpuset {
    unsigned long words[PWR_CPUSET_WORDS];
} pwr_cpuset_t;

/* A CPU that does not fit is ignored, and not in any set. */
void pwr_cpuset_add(pwr_cpuset_t *set, unsigned cpu);
bool pwr_cpuset_has(const pwr_cpuset_t *set, unsigned cpu);
unsigned pwr_cpuset_count(const pwr_cpuset_t *set);
/* The lowest member above after (-1: of all), or -1. */
int pwr_cpuset_next(const pwr_cpuset_t *set, int after);
/* Of all members in ascending order the one at index, which is below their count. */
unsigned pwr_cpuset_at(const pwr_cpuset_t *set, unsigned index);
/* The lowest CPU that is in both, or -1. */
int pwr_cpuset_first_common(const pwr_cpuset_t *left, const pwr_cpuset_t *right);
/* The lowest CPU of part that is not in set, or -1. */
int pwr_cpuset_first_missing(const pwr_cpuset_t *set, const pwr_cpuset_t *part);
static inline bool pwr_cpuset_includes(const pwr_cpuset_t *set, const pwr_cpuset_t *part)
{
    return pwr_cpuset_first_missing(set, part) < 0;
}
/* Binds the calling thread to these CPUs, of which the kernel keeps what the cgroup allows; false
   and errno when that is none. */
bool pwr_cpuset_bind(const pwr_cpuset_t *set);
/* The CPUs that the calling thread may run on; false and errno when nothing tells. */
bool pwr_cpuset_bound(pwr_cpuset_t *set);
/* Keeps in set what is also in other, or what is not. */
void pwr_cpuset_intersect(pwr_cpuset_t *set, const pwr_cpuset_t *other);
void pwr_cpuset_subtract(pwr_cpuset_t *set, const pwr_cpuset_t *other);

/* Parses text[size], which need not end in NUL: numbers and ranges (first-last) with one comma or
   any number of blanks between them, and white space at the end.  That is what Linux writes into
   sysfs, cgroup and /proc files ("0-3,8\n") and into cpufreq's ("0 1 2\n").  Nothing at all is the
   empty set.  Order does not matter, repetition neither.

   The form "0-6:2/3", which Linux reads but never writes, is refused like everything else: PARSE.
   RANGE when a CPU number is PWR_CPUSET_CPUS or more. */
pwr_status_t pwr_cpulist_parse(const char *text, size_t size, pwr_cpuset_t *set);

#endif
