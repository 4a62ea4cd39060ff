/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which monitor a processor has, and resting by it.
 */
#include "config.h"

#include "wait/monitor.h"

#include <stddef.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

static const uint64_t ns_per_ms = 1000000;
static const uint64_t longest_rest_ns = 1000000000;

const pwr_monitor_t *const pwr_monitors[] = {
#if defined(__x86_64__)
    &pwr_monitor_umwait,
    &pwr_monitor_mwaitx,
#elif defined(__aarch64__)
    &pwr_monitor_wfet,
    &pwr_monitor_wfe,
#endif
    NULL,
};

static void read_cpu(pwr_monitor_cpu_t *cpu)
{
    *cpu = (pwr_monitor_cpu_t){0};
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        cpu->leaf_7_ecx = ecx;
    }
    if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) {
        cpu->leaf_80000001_ecx = ecx;
    }
#elif defined(__aarch64__)
    cpu->hwcap = getauxval(AT_HWCAP);
    cpu->hwcap2 = getauxval(AT_HWCAP2);
#endif
}

const pwr_monitor_t *pwr_monitor_choose(const pwr_monitor_cpu_t *cpu)
{
    const pwr_monitor_t *const *next = pwr_monitors;
    while (*next && !(*next)->probe(cpu)) {
        next++;
    }
    return *next;
}

const pwr_monitor_t *pwr_monitor_find(void)
{
    pwr_monitor_cpu_t cpu;
    read_cpu(&cpu);
    const pwr_monitor_t *found = pwr_monitor_choose(&cpu);
    if (found) {
        found->ticks_per_ms(); /* may have to be measured: not in a wait */
    }
    return found;
}

const char *pwr_monitor_name(const pwr_monitor_t *monitor)
{
    return monitor->name;
}

/* Never 0, which for mwaitx is no limit. */
static uint64_t to_ticks(uint64_t ns, uint64_t ticks_per_ms)
{
    uint64_t kept_ns = ns < longest_rest_ns ? ns : longest_rest_ns; /* so that nothing overflows */
    uint64_t ticks = kept_ns * ticks_per_ms / ns_per_ms;
    return ticks > 0 ? ticks : 1;
}

void pwr_monitor_wait(const pwr_monitor_t *monitor, const _Atomic uint32_t *word, uint32_t seen,
                      uint64_t longest_ns)
{
    uint64_t ticks = to_ticks(longest_ns, monitor->ticks_per_ms());
    monitor->arm(word);                                             /* 1 */
    if (atomic_load_explicit(word, memory_order_acquire) == seen) { /* 2 */
        monitor->rest(ticks);                                       /* 3 */
    }
}
