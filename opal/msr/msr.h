/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Model-specific registers of one CPU, by whichever access is open (private to the library).
 *
 * In the order in which back ends try them: the one that an administrator can open to users first.
 */
#ifndef PWR_MSR_H
#define PWR_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "why.h"

/* Numbers from Intel SDM volume 4. */
enum {
    PWR_MSR_PERF_CTL = 0x199,
    PWR_MSR_CLOCK_MODULATION = 0x19a,
    PWR_MSR_PLATFORM_INFO = 0xce,
    PWR_MSR_TURBO_RATIO_LIMIT = 0x1ad,
    PWR_MSR_UNCORE_RATIO_LIMIT = 0x620,
    PWR_MSR_PM_ENABLE = 0x770,
    PWR_MSR_HWP_CAPABILITIES = 0x771,
    PWR_MSR_HWP_REQUEST = 0x774
};

typedef struct pwr_msr_access pwr_msr_access_t;

/* The registers of one CPU, open. */
typedef struct pwr_msr {
    const pwr_msr_access_t *access;
    unsigned cpu;
    int fd; /* of a device, else -1 */
} pwr_msr_t;

struct pwr_msr_access {
    const char *name; /* for messages; of a device also its file: /dev/cpu/N/<name> */
    /* Errors: UNSUPPORTED (there is none), PERM; a reason with its remedy is added to why.  What is
       opened read-only may refuse writes with PERM. */
    pwr_status_t (*open)(const pwr_msr_access_t *access, const pwr_env_t *env, unsigned cpu,
                         bool writable, const pwr_why_t *why, pwr_msr_t *msr);
    /* Errors: UNSUPPORTED (the CPU has no such register, or is gone), PERM, IO. */
    pwr_status_t (*read)(const pwr_msr_t *msr, uint32_t number, uint64_t *value);
    /* As read; UNSUPPORTED also for a value with reserved bits. */
    pwr_status_t (*write)(const pwr_msr_t *msr, uint32_t number, uint64_t value);
    void (*close)(pwr_msr_t *msr);
};

extern const pwr_msr_access_t pwr_msr_access_safe;
extern const pwr_msr_access_t pwr_msr_access_device;
extern const pwr_msr_access_t pwr_msr_access_accessd;

#endif
