/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The clock of calls: which one is taken, and that it keeps time.
 */
#include "config.h"

#include "fixture.h"

#include "pwr/ticks.h"

static const char clock_source[] =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

static void test_only_the_kernels_own_clock_is_taken(void **state)
{
    fixture_t *f = *state;
    fixture_put(f, clock_source, "hpet\n");
    assert_false(pwr_ticks_open(f->root).counter);
    fixture_put(f, clock_source, "tsc\n");
    assert_int_equal(pwr_ticks_open(f->root).counter, PWR_TICKS_HAVE_COUNTER);
}

static void test_without_a_word_it_is_the_kernels(void **state)
{
    fixture_t *f = *state;
    pwr_ticks_t ticks = pwr_ticks_open(f->root);
    assert_false(ticks.counter);
    assert_int_equal(pwr_ticks_ns(&ticks, 1234), 1234);
    assert_int_equal(pwr_ticks_ns(&ticks, (uint64_t)-5), 0);
}

/* Between two readings of the kernel's clock on either side, and within 2 %: that holds wherever
   the process loses its CPU. */
static void test_it_keeps_time(void **state)
{
    (void)state;
    pwr_ticks_t ticks = pwr_ticks_open("");
    const struct timespec while_measured = pwr_timespec(50 * 1000 * 1000);
    uint64_t before_begin_ns = pwr_now_ns();
    uint64_t begin = pwr_ticks_now(&ticks);
    uint64_t after_begin_ns = pwr_now_ns();
    clock_nanosleep(CLOCK_MONOTONIC, 0, &while_measured, NULL);
    uint64_t before_end_ns = pwr_now_ns();
    uint64_t end = pwr_ticks_now(&ticks);
    uint64_t after_end_ns = pwr_now_ns();
    double ns = (double)pwr_ticks_ns(&ticks, end - begin);
    assert_true(ns >= 0.98 * (double)(before_end_ns - after_begin_ns));
    assert_true(ns <= 1.02 * (double)(after_end_ns - before_begin_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_only_the_kernels_own_clock_is_taken),
        FIXTURE_TEST(test_without_a_word_it_is_the_kernels),
        cmocka_unit_test(test_it_keeps_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
