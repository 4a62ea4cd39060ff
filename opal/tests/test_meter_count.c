/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From counts to energy, with exact figures: wraps, resets, gaps and uncertainty.
 */
#include "config.h"

#include "fixture.h"

#include "meter/meter_backend.h"

enum { S_TO_NS = 1000000000, MS_TO_NS = 1000000 };

/* A package whose counts are microjoules and which moves every millisecond. */
static pwr_meter_counter_t start(uint64_t modulus, double unit_uj, uint64_t count)
{
    pwr_meter_counter_t counter = {
        .domain = {.kind = PWR_DOMAIN_PACKAGE, .resolution_uj = unit_uj, .update_us = 1000},
        .unit_uj = unit_uj,
        .modulus = modulus,
        .last = count,
    };
    pwr_meter_count_begin(&counter, 0);
    return counter;
}

static uint64_t energy_after(pwr_meter_counter_t *counter, uint64_t count, uint64_t now_ns)
{
    assert_int_equal(pwr_meter_count_advance(counter, count, now_ns, now_ns), PWR_OK);
    return pwr_meter_count_reading(counter).energy_uj;
}

static void test_wraps_at_odd_moduli(void **state)
{
    static const uint64_t moduli[] = {
        2, 3, 1000003, (UINT64_C(1) << 32) - 5, UINT64_C(1) << 32, 262143328851, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof moduli / sizeof moduli[0]; i++) {
        pwr_meter_counter_t counter = start(moduli[i], 1.0, moduli[i] - 1);
        assert_int_equal(energy_after(&counter, 0, 1), 1); /* the largest count is followed by 0 */
        assert_int_equal(energy_after(&counter, 0, 2), 1);
        assert_int_equal(energy_after(&counter, 1, 3), 2);
        assert_int_equal(pwr_meter_count_advance(&counter, moduli[i], 4, 4), PWR_ERR_RANGE);
        assert_int_equal(energy_after(&counter, 1, 5), 2); /* the refusal changed nothing */
        assert_int_equal(counter.resets, 0);
    }
}

static void test_units(void **state)
{
    static const double units[] = {15.3, 1e6 / 16384, 1e6 / 65536, 0.00023283064365386963,
                                   1000, 1e6};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        pwr_meter_counter_t counter = start(0, units[i], 77);
        uint64_t counts = (uint64_t)(100e6 / units[i]);
        assert_int_equal(energy_after(&counter, 77 + counts, S_TO_NS),
                         (uint64_t)((double)counts * units[i]));
    }
}

/* 2000 W is the most for a package: a second later a wrap of 2000 J is one, and of more is none.
   10 ms more count, because a counter can be late. */
static void test_a_step_back_is_a_wrap_if_power_explains_it(void **state)
{
    const uint64_t modulus = UINT64_C(262143328851);
    (void)state;
    pwr_meter_counter_t counter = start(modulus, 1.0, modulus - 1000000000);
    assert_int_equal(energy_after(&counter, 1000000000, S_TO_NS), 2000000000);
    assert_int_equal(counter.resets, 0);
    counter = start(modulus, 1.0, modulus - 1000000000);
    assert_int_equal(energy_after(&counter, 1020000002, S_TO_NS), 0);
    assert_int_equal(counter.resets, 1);
    /* By a single count, as some counters do: not a whole wrap. */
    counter = start(modulus, 1.0, 500);
    assert_int_equal(energy_after(&counter, 499, S_TO_NS), 0);
    assert_int_equal(energy_after(&counter, 600, 2ull * S_TO_NS), 101);
}

/* What happened up to ten update intervals ago may show only now, at full power. */
static void test_a_late_counter_is_no_reset(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(UINT64_C(1) << 32, 1.0, 0);
    assert_int_equal(energy_after(&counter, 9 * 1000 * 2000, 1), 9 * 1000 * 2000);
    assert_int_equal(counter.resets, 0);
}

static void test_the_most_may_be_known_better(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(UINT64_C(1) << 32, 1.0, 1000);
    counter.most_w = 30;
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 30 * 1000);
    assert_int_equal(energy_after(&counter, 1000 + 40000000, S_TO_NS), 0); /* 40 W */
    assert_int_equal(counter.resets, 1);
}

static void test_a_jump_forward_that_no_power_explains(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(UINT64_C(1) << 32, 1.0, 5);
    assert_int_equal(energy_after(&counter, 4000000000, MS_TO_NS), 0);
    assert_int_equal(counter.resets, 1);
    assert_int_equal(energy_after(&counter, 4000000010, 2 * MS_TO_NS), 10);
}

static void test_a_counter_that_never_wraps_can_be_reset(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(0, 1.0, 5000);
    assert_int_equal(energy_after(&counter, 6000, S_TO_NS), 1000);
    assert_int_equal(energy_after(&counter, 10, 2ull * S_TO_NS), 1000);
    assert_int_equal(counter.resets, 1);
    assert_int_equal(energy_after(&counter, 20, 3ull * S_TO_NS), 1010);
    /* Even after a month, in which a package could use what 64 bits of perf_event hold. */
    counter = start(0, 1e6 / 4294967296.0, 5000);
    assert_int_equal(energy_after(&counter, 4000, 30 * 86400ull * S_TO_NS), 0);
    assert_int_equal(counter.resets, 1);
}

/* Before any power is known, the most a package draws within 1 ms; then the power seen lately. */
static void test_edges(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(0, 1.0, 0);
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 2000 * 1000);
    energy_after(&counter, 100, MS_TO_NS); /* too short to tell the power */
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 2000 * 1000);
    energy_after(&counter, 99900000 - 1, S_TO_NS); /* (99.9 J - 1 uJ + 1 count) / 999 ms: 100 W */
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 100 * 1000);
    energy_after(&counter, 99900000 - 1 + 199799999, 2ull * S_TO_NS); /* 200 W */
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 200 * 1000);
    energy_after(&counter, 99900000 - 1 + 199799999 + 49949999, 3ull * S_TO_NS);
    /* 50 W now, but the interval began at 100 W. */
    assert_int_equal(pwr_meter_count_reading(&counter).edge_uj, 1 + 100 * 1000);
    assert_int_equal(pwr_meter_count_reading(&counter).drift_uj, 0);
}

static void test_uncertainty_covers_what_the_counter_hides(void **state)
{
    (void)state;
    /* 137 W, shown in whole counts of 61 uJ up to 1 ms late, read at awkward moments. */
    const double unit_uj = 1e6 / 16384;
    const double watts = 137;
    pwr_meter_counter_t counter = start(0, unit_uj, 0);
    for (uint64_t now_ns = 0; now_ns < 2ull * S_TO_NS; now_ns += 7777777) {
        double shown_us = (double)(now_ns / MS_TO_NS * MS_TO_NS) / 1000.0;
        uint64_t energy_uj = energy_after(&counter, (uint64_t)(watts * shown_us / unit_uj), now_ns);
        double off_uj = watts * (double)now_ns / 1000.0 - (double)energy_uj;
        assert_true(off_uj >= 0);
        assert_true(off_uj <= (double)pwr_meter_count_reading(&counter).uncertainty_uj);
    }
    /* And it is no more than it has to be: not much more than a millisecond's worth. */
    const uint64_t uncertainty_uj = pwr_meter_count_reading(&counter).uncertainty_uj;
    assert_true(uncertainty_uj >= 137000 && uncertainty_uj <= 200000);
}

static void test_drift_of_a_share(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(0, 1.0, 0);
    counter.drift_share = 0.25;
    energy_after(&counter, 1000000, S_TO_NS);
    pwr_meter_reading_t first = pwr_meter_count_reading(&counter);
    assert_int_equal(first.drift_uj, 250000);
    energy_after(&counter, 3000000, 2ull * S_TO_NS);
    pwr_meter_reading_t second = pwr_meter_count_reading(&counter);
    assert_int_equal(second.drift_uj, 750000);
    assert_int_equal(second.uncertainty_uj, second.edge_uj + 750000);

    pwr_meter_reading_t between = pwr_meter_between(&first, &second);
    assert_int_equal(between.energy_uj, 2000000);
    assert_int_equal(between.drift_uj, 500000);
    assert_int_equal(between.edge_uj, second.edge_uj);
    assert_int_equal(between.uncertainty_uj, second.edge_uj + 500000);
    assert_int_equal(between.status, PWR_OK);
    first.status = PWR_ERR_IO;
    assert_int_equal(pwr_meter_between(&first, &second).status, PWR_ERR_IO);
    first.status = PWR_OK;
    second.status = PWR_ERR_PERM;
    assert_int_equal(pwr_meter_between(&first, &second).status, PWR_ERR_PERM);
}

/* What is not known at the beginning is not taken for the most that such a domain can draw. */
static void test_edges_of_an_interval(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(0, 1.0, 0);
    pwr_meter_reading_t first = pwr_meter_count_reading(&counter);
    assert_true(first.unseen && first.edge_uj > 1000 * 1000);
    energy_after(&counter, 99900000 - 1, S_TO_NS);
    pwr_meter_reading_t second = pwr_meter_count_reading(&counter);
    assert_int_equal(pwr_meter_between(&first, &second).edge_uj, 1 + 100 * 1000);
    energy_after(&counter, 99900000 - 1 + 199799999, 2ull * S_TO_NS);
    pwr_meter_reading_t third = pwr_meter_count_reading(&counter);
    assert_int_equal(pwr_meter_between(&first, &third).edge_uj, 1 + 200 * 1000);
    third.edge_uj = 7;
    assert_int_equal(pwr_meter_between(&second, &third).edge_uj, 1 + 100 * 1000);
}

/* At 1 kW a range of 1 MJ wraps in 1000 s: after 2500 s nobody knows how often. */
static void test_wraps_that_nobody_saw(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(1000000000, 1.0, 0);
    energy_after(&counter, 999000000, S_TO_NS);
    assert_int_equal(pwr_meter_count_reading(&counter).drift_uj, 0);
    energy_after(&counter, 499000000, (uint64_t)S_TO_NS + 2500u * (uint64_t)MS_TO_NS);
    assert_int_equal(counter.resets, 0);
    assert_int_equal(pwr_meter_count_reading(&counter).drift_uj, 2000000000);
}

static void test_a_clock_that_goes_back_does_no_harm(void **state)
{
    (void)state;
    pwr_meter_counter_t counter = start(0, 1.0, 0);
    assert_int_equal(energy_after(&counter, 1000, S_TO_NS), 1000);
    assert_int_equal(energy_after(&counter, 2000, S_TO_NS / 2), 2000);
    assert_int_equal(energy_after(&counter, 3000, 3ull * S_TO_NS), 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wraps_at_odd_moduli),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_a_step_back_is_a_wrap_if_power_explains_it),
        cmocka_unit_test(test_a_late_counter_is_no_reset),
        cmocka_unit_test(test_the_most_may_be_known_better),
        cmocka_unit_test(test_a_jump_forward_that_no_power_explains),
        cmocka_unit_test(test_a_counter_that_never_wraps_can_be_reset),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_uncertainty_covers_what_the_counter_hides),
        cmocka_unit_test(test_drift_of_a_share),
        cmocka_unit_test(test_edges_of_an_interval),
        cmocka_unit_test(test_wraps_that_nobody_saw),
        cmocka_unit_test(test_a_clock_that_goes_back_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
