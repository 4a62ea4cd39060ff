/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy over time: nothing is lost, whatever is added or merged.
 */
#include "config.h"

#include "fixture.h"

#include <string.h>

#include "pwr/series.h"

static const uint64_t s = 1000000000;
static const uint64_t now = UINT64_C(1790000000) * 1000000000; /* of the real clock */

static void test_energy_is_spread_evenly(void **state)
{
    (void)state;
    pwr_series_t series = {0};
    pwr_series_add(&series, now, now + s, 8000);
    assert_int_equal(series.width_ns, PWR_SERIES_FINEST_NS);
    assert_int_equal(series.first, now / PWR_SERIES_FINEST_NS);
    assert_int_equal(series.num, 9); /* the last one only begins */
    for (int i = 0; i < 8; i++) {
        assert_int_equal(series.uj[i], 1000);
    }
    assert_int_equal(series.uj[8], 0);
    /* From the middle of a bin to the middle of the next. */
    pwr_series_add(&series, now + s + PWR_SERIES_FINEST_NS / 2,
                   now + s + 3 * PWR_SERIES_FINEST_NS / 2, 100);
    assert_int_equal(series.uj[8], 50);
    assert_int_equal(series.uj[9], 50);
    assert_int_equal(pwr_series_sum(&series), 8100);
}

static void test_bins_widen_with_time(void **state)
{
    (void)state;
    pwr_series_t series = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        pwr_series_add(&series, now + i * s, now + (i + 1) * s, 100 * 1000000);
    }
    assert_int_equal(pwr_series_sum(&series), UINT64_C(100000) * 100 * 1000000);
    assert_true(series.num > PWR_SERIES_BINS / 2 - 1 && series.num <= PWR_SERIES_BINS);
    assert_true(pwr_series_is_sound(&series));
    for (uint64_t i = 1; i + 2 < series.num; i++) {
        double watts = (double)series.uj[i] / 1e6 / ((double)series.width_ns / 1e9);
        assert_true(watts > 99.9 && watts < 100.1);
    }
}

static void test_a_clock_that_jumps_loses_nothing(void **state)
{
    (void)state;
    pwr_series_t series = {0};
    pwr_series_add(&series, now, now + s, 10);
    pwr_series_add(&series, now + s, now - 3600 * s, 20); /* back by an hour */
    pwr_series_add(&series, now - 3600 * s, now + s, 30); /* and forth */
    pwr_series_add(&series, now, now + 40000000 * s, 40); /* a year */
    pwr_series_add(&series, 0, now, 50);                  /* the clock was not set */
    pwr_series_add(&series, now, 5, 60);
    assert_int_equal(pwr_series_sum(&series), 210);
    assert_true(pwr_series_is_sound(&series));
}

static void test_series_are_merged(void **state)
{
    (void)state;
    for (uint64_t shift = 0; shift < 500; shift += 7) {
        for (uint64_t length = 1; length < 3000; length = length * 3 + 1) {
            pwr_series_t one = {0}, other = {0}, both = {0};
            for (uint64_t i = 0; i < 100; i++) {
                pwr_series_add(&one, now + i * s, now + (i + 1) * s, 1000);
                pwr_series_add(&other, now + (shift + i * length) * s,
                               now + (shift + (i + 1) * length) * s, 500);
            }
            pwr_series_merge(&both, &one);
            pwr_series_merge(&both, &other);
            assert_int_equal(pwr_series_sum(&both), 150000);
            assert_true(pwr_series_is_sound(&both));
            pwr_series_merge(&other, &one);
            assert_int_equal(other.width_ns, both.width_ns);
            assert_int_equal(other.first, both.first);
            assert_int_equal(other.num, both.num);
            assert_memory_equal(other.uj, both.uj, both.num * sizeof both.uj[0]);
        }
    }
}

static void test_wrong_ones_are_seen(void **state)
{
    (void)state;
    pwr_series_t sound = {0};
    assert_true(pwr_series_is_sound(&sound));
    pwr_series_add(&sound, now, now + s, 10);
    pwr_series_t wrong = sound;
    wrong.num = PWR_SERIES_BINS + 1;
    assert_false(pwr_series_is_sound(&wrong));
    wrong = sound;
    wrong.width_ns = 0;
    assert_false(pwr_series_is_sound(&wrong));
    wrong.width_ns = 3 * (uint64_t)PWR_SERIES_FINEST_NS;
    assert_false(pwr_series_is_sound(&wrong));
    wrong = sound;
    wrong.first = UINT64_MAX / 2;
    assert_false(pwr_series_is_sound(&wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_is_spread_evenly),
        cmocka_unit_test(test_bins_widen_with_time),
        cmocka_unit_test(test_a_clock_that_jumps_loses_nothing),
        cmocka_unit_test(test_series_are_merged),
        cmocka_unit_test(test_wrong_ones_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
