/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sets of CPU numbers as plain bit arrays, and the one parser of CPU lists.
 */
#include "config.h"

#include "topo/cpulist.h"

#include <sched.h>

/* ---- sets ---- */

void pwr_cpuset_add(pwr_cpuset_t *set, unsigned cpu)
{
    if (cpu < PWR_CPUSET_CPUS) {
        set->words[cpu / PWR_CPUSET_WORD_BITS] |= 1ul << cpu % PWR_CPUSET_WORD_BITS;
    }
}

bool pwr_cpuset_has(const pwr_cpuset_t *set, unsigned cpu)
{
    return cpu < PWR_CPUSET_CPUS &&
           (set->words[cpu / PWR_CPUSET_WORD_BITS] >> cpu % PWR_CPUSET_WORD_BITS & 1) != 0;
}

unsigned pwr_cpuset_count(const pwr_cpuset_t *set)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PWR_CPUSET_WORDS; i++) {
        count += (unsigned)__builtin_popcountl(set->words[i]);
    }
    return count;
}

int pwr_cpuset_next(const pwr_cpuset_t *set, int after)
{
    unsigned first = (unsigned)(after + 1);
    unsigned long mask = ~0ul << first % PWR_CPUSET_WORD_BITS;
    for (unsigned i = first / PWR_CPUSET_WORD_BITS; i < PWR_CPUSET_WORDS; i++) {
        if ((set->words[i] & mask) != 0) {
            return (int)i * PWR_CPUSET_WORD_BITS + __builtin_ctzl(set->words[i] & mask);
        }
        mask = ~0ul;
    }
    return -1;
}

unsigned pwr_cpuset_at(const pwr_cpuset_t *set, unsigned index)
{
    int cpu = pwr_cpuset_next(set, -1);
    for (; index > 0; index--) {
        cpu = pwr_cpuset_next(set, cpu);
    }
    return (unsigned)cpu;
}

int pwr_cpuset_first_common(const pwr_cpuset_t *left, const pwr_cpuset_t *right)
{
    pwr_cpuset_t common = *left;
    pwr_cpuset_intersect(&common, right);
    return pwr_cpuset_next(&common, -1);
}

int pwr_cpuset_first_missing(const pwr_cpuset_t *set, const pwr_cpuset_t *part)
{
    pwr_cpuset_t missing = *part;
    pwr_cpuset_subtract(&missing, set);
    return pwr_cpuset_next(&missing, -1);
}

void pwr_cpuset_intersect(pwr_cpuset_t *set, const pwr_cpuset_t *other)
{
    for (unsigned i = 0; i < PWR_CPUSET_WORDS; i++) {
        set->words[i] &= other->words[i];
    }
}

void pwr_cpuset_subtract(pwr_cpuset_t *set, const pwr_cpuset_t *other)
{
    for (unsigned i = 0; i < PWR_CPUSET_WORDS; i++) {
        set->words[i] &= ~other->words[i];
    }
}

bool pwr_cpuset_bind(const pwr_cpuset_t *set)
{
    return sched_setaffinity(0, sizeof set->words, (const cpu_set_t *)(const void *)set->words) ==
           0;
}

/* libc's function, not the raw system call: where affinities are emulated, it is the one that
   answers, and hwloc asks it too. */
bool pwr_cpuset_bound(pwr_cpuset_t *set)
{
    *set = (pwr_cpuset_t){{0}};
    return sched_getaffinity(0, sizeof set->words, (cpu_set_t *)(void *)set->words) == 0;
}

/* ---- lists ---- */

static bool is_space(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\n';
}

static pwr_status_t read_cpu(const char **at, const char *end, unsigned *cpu)
{
    unsigned number = 0;
    if (*at == end || **at < '0' || **at > '9') {
        return PWR_ERR_PARSE;
    }
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        number = number * 10 + (unsigned)(**at - '0');
        if (number >= PWR_CPUSET_CPUS) {
            return PWR_ERR_RANGE;
        }
    }
    *cpu = number;
    return PWR_OK;
}

static pwr_status_t read_range(const char **at, const char *end, pwr_cpuset_t *set)
{
    unsigned first;
    pwr_status_t status = read_cpu(at, end, &first);
    if (status != PWR_OK) {
        return status;
    }
    unsigned last = first;
    if (*at < end && **at == '-') {
        (*at)++;
        status = read_cpu(at, end, &last);
    }
    if (status != PWR_OK) {
        return status;
    }
    if (last < first) {
        return PWR_ERR_PARSE;
    }
    for (unsigned cpu = first; cpu <= last; cpu++) {
        pwr_cpuset_add(set, cpu);
    }
    return PWR_OK;
}

/* One comma or some blanks, with something behind it. */
static bool skip_separator(const char **at, const char *end)
{
    const char *start = *at;
    if (**at == ',') {
        (*at)++;
    } else {
        while (*at < end && **at == ' ') {
            (*at)++;
        }
    }
    return *at > start && *at < end;
}

pwr_status_t pwr_cpulist_parse(const char *text, size_t size, pwr_cpuset_t *set)
{
    pwr_cpuset_t made = {{0}};
    const char *at = text;
    const char *end = text + size;
    while (end > text && is_space(end[-1])) {
        end--;
    }
    while (at < end) {
        pwr_status_t status = read_range(&at, end, &made);
        if (status != PWR_OK) {
            return status;
        }
        if (at < end && !skip_separator(&at, end)) {
            return PWR_ERR_PARSE;
        }
    }
    *set = made;
    return PWR_OK;
}
