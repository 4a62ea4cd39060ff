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

/* Within 2 %: the 50 ms below may be longer for one clock than for the other by what the process
   loses its CPU for between two readings, so the best of some attempts counts. */
static void test_it_keeps_time(void **state)
{
    (void)state;
    pwr_ticks_t ticks = pwr_ticks_open("");
    const struct timespec while_measured = pwr_timespec(50 * 1000 * 1000);
    double best = 1.0;
    for (int attempt = 0; attempt < 10 && best > 0.02; attempt++) {
        uint64_t begin_ns = pwr_clock_ns(CLOCK_MONOTONIC);
        uint64_t begin = pwr_ticks_now(&ticks);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &while_measured, NULL);
        uint64_t ns = pwr_ticks_ns(&ticks, pwr_ticks_now(&ticks) - begin);
        double passed = (double)(pwr_clock_ns(CLOCK_MONOTONIC) - begin_ns);
        double error = ((double)ns - passed) / passed;
        best = error < 0 ? (-error < best ? -error : best) : (error < best ? error : best);
    }
    assert_true(best <= 0.02);
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
