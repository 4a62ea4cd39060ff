/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One kind of monitor: how a core is told to watch a cache line, and to rest.
 *
 *     1. arm the monitor on the word's cache line
 *     2. compare the word: a store before 1 is seen here
 *     3. rest: a store after 1 ends it, before it has begun too
 *
 * In any other order a store between comparing and arming would be missed, and the rest would last
 * until its time is over.
 */
#ifndef PWR_MONITOR_PRIVATE_H
#define PWR_MONITOR_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/monitor.h"

/* What a processor says about itself; what it does not have stays 0. */
typedef struct pwr_monitor_cpu {
    uint32_t leaf_7_ecx;        /* x86: CPUID 7, subleaf 0 */
    uint32_t leaf_80000001_ecx; /* x86: CPUID 0x80000001 */
    unsigned long hwcap;        /* AArch64: AT_HWCAP */
    unsigned long hwcap2;       /* AArch64: AT_HWCAP2 */
} pwr_monitor_cpu_t;

struct pwr_monitor {
    const char *name;
    uint32_t grain_ns; /* a rest may last this much longer than it was to */
    bool (*probe)(const pwr_monitor_cpu_t *cpu);
    void (*arm)(const _Atomic uint32_t *word); /* step 1 */
    void (*rest)(uint64_t ticks);              /* step 3; for so long at most, not 0 */
    uint64_t (*ticks_per_ms)(void);
};

/* In the order in which they are tried, NULL behind the last. */
extern const pwr_monitor_t *const pwr_monitors[];
extern const pwr_monitor_t pwr_monitor_umwait; /* x86-64 */
extern const pwr_monitor_t pwr_monitor_mwaitx;
extern const pwr_monitor_t pwr_monitor_wfet; /* AArch64 */
extern const pwr_monitor_t pwr_monitor_wfe;

/* The first that the processor has, or NULL. */
const pwr_monitor_t *pwr_monitor_choose(const pwr_monitor_cpu_t *cpu);

/* Steps 1 to 3: returns at once when word is not seen, else when its cache line is written, when
   longest_ns are over, or for no reason at all.  Also one second is the longest. */
void pwr_monitor_wait(const pwr_monitor_t *monitor, const _Atomic uint32_t *word, uint32_t seen,
                      uint64_t longest_ns);

#endif
