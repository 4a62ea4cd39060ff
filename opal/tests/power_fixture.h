/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade on a machine made of files, and on a kernel that says what the test wants.
 */
#ifndef PWR_TEST_POWER_FIXTURE_H
#define PWR_TEST_POWER_FIXTURE_H

#include "fixture.h"

#include "power_private.h"

enum { POWER_CLOCK_MODULATION = 0x19a };

/* P-states and T-states. */
extern const pwr_power_config_t power_both_levers;

/* The kernel, as far as the facade asks it: its clock, our binding, other threads' CPU time. */
typedef struct power_kernel {
    uint64_t ahead_ns; /* the time: stands still but where a test lets some pass */
    uint64_t tick_ns;  /* what passes whenever it is asked for */
    pwr_cpuset_t binding;
    uint64_t process_ns;
} power_kernel_t;
extern power_kernel_t power_kernel;
extern const pwr_watch_kernel_t power_fake_kernel;
void power_bind(const char *cpulist);

/* Of a process that is bound to cpulist. */
pwr_power_t *power_open(fixture_t *fixture, const pwr_power_config_t *config, const char *cpulist);
/* With both levers. */
pwr_power_t *power_open_and_arm(fixture_t *fixture, const char *cpulist);

/* /proc as under an emulator: it knows nothing of our binding, so nobody is judged. */
void power_put_proc(fixture_t *fixture);
/* That, and both levers of eight CPUs. */
void power_put_hardware(fixture_t *fixture);
bool power_is_untouched(const fixture_t *fixture);

/* Until the next call. */
const pwr_lever_counts_t *power_counts(const pwr_power_t *power, pwr_lever_id_t lever);
/* All verbs are harmless and counted where the lever was asked for, the reason is said. */
void power_expect_off(pwr_power_t *power, const char *reason);

#endif
