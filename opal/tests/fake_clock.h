/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A clock of the test's own for code that has none injected: waits look at CLOCK_MONOTONIC and
 * sleep by themselves.
 *
 * A program that has fake_clock.c in it calls that file's clock_gettime, nanosleep and
 * syscall(futex) instead of libc's, which are the kernel's in most tests.  In a FAKE_CLOCK_TEST
 * each look at CLOCK_MONOTONIC takes FAKE_LOOK_NS, each sleep as long as it was asked for, and
 * nothing else any time; nobody is there to wake a sleeper.  In an ENDLESS_TEST sleeps on a futex
 * have no time-out: a wake-up that is lost is a hang, however fast or slow the machine is.
 */
#ifndef PWR_TEST_FAKE_CLOCK_H
#define PWR_TEST_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { FAKE_LOOK_NS = 100 };

static inline bool is_between(uint64_t value, uint64_t least, uint64_t most)
{
    return least <= value && value <= most;
}
/* cmocka's own assert_in_range is deprecated from 2.0 on, what takes its place is not in 1.1. */
#define assert_between(value, least, most) assert_true(is_between(value, least, most))

/* A row of a test table, without a fixture. */
#define FAKE_CLOCK_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, fake_clock_setup, fake_clock_teardown)
int fake_clock_setup(void **state);
#define ENDLESS_TEST(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, fake_clock_endless_setup, fake_clock_teardown)
int fake_clock_endless_setup(void **state);
int fake_clock_teardown(void **state);

/* What time it is; a look that takes none. */
uint64_t fake_clock_now_ns(void);
void fake_clock_pass(uint64_t ns);
/* So long after the look after so many others: the machine stands still there. */
void fake_clock_stand_still(unsigned looks, uint64_t ns);

#endif
