/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How long transfers will take (pwr/transfer.h): latency and bandwidth are found again, also among
 * noise, and nothing is promised that was not seen.
 */
#include "config.h"

#include "fixture.h"

#include "pwr/transfer.h"

enum { LATENCY_NS = 20000, PER_KIB_NS = 900, KIB = 1024 };

static uint64_t took_ns(uint64_t bytes)
{
    return LATENCY_NS + bytes * PER_KIB_NS / KIB;
}

static uint64_t sizes[] = {8, 4 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void assert_near(uint64_t found, uint64_t wanted, unsigned percent)
{
    uint64_t off = found > wanted ? found - wanted : wanted - found;
    if (off * 100 > wanted * percent) {
        fail_msg("%llu ns, not %llu", (unsigned long long)found, (unsigned long long)wanted);
    }
}

static void assert_between(uint64_t found, uint64_t least, uint64_t most)
{
    assert_true(found >= least);
    assert_true(found <= most);
}

static pwr_transfer_costs_t learnt(unsigned rounds)
{
    pwr_transfer_costs_t costs = {0};
    for (unsigned i = 0; i < rounds * SIZES; i++) {
        pwr_transfer_took(&costs, sizes[i % SIZES], took_ns(sizes[i % SIZES]));
    }
    return costs;
}

static void test_nothing_known(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = {0};
    assert_int_equal(pwr_transfer_expected_ns(&costs, 0), 0);
    assert_int_equal(pwr_transfer_expected_ns(&costs, UINT64_MAX), 0);
    assert_int_equal(pwr_transfer_remaining_ns(&costs, KIB, 0), 0);
}

static void test_line(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = learnt(3);
    for (unsigned i = 0; i < SIZES; i++) {
        assert_near(pwr_transfer_expected_ns(&costs, sizes[i]), took_ns(sizes[i]), 1);
    }
    assert_near(pwr_transfer_expected_ns(&costs, 16 * KIB), took_ns(16 * KIB), 1);
    assert_near(pwr_transfer_expected_ns(&costs, 8192 * KIB), took_ns(8192 * KIB), 1);
}

static void test_remaining(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = learnt(3);
    uint64_t whole_ns = pwr_transfer_expected_ns(&costs, 256 * KIB);
    assert_int_equal(pwr_transfer_remaining_ns(&costs, 256 * KIB, 0), whole_ns);
    assert_int_equal(pwr_transfer_remaining_ns(&costs, 256 * KIB, 50000), whole_ns - 50000);
    assert_int_equal(pwr_transfer_remaining_ns(&costs, 256 * KIB, whole_ns), 0);
    assert_int_equal(pwr_transfer_remaining_ns(&costs, 256 * KIB, UINT64_MAX), 0);
}

/* One size tells nothing about bandwidth. */
static void test_one_size(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = {0};
    for (unsigned i = 0; i < 20; i++) {
        pwr_transfer_took(&costs, 64 * KIB, took_ns(64 * KIB));
    }
    assert_near(pwr_transfer_expected_ns(&costs, 64 * KIB), took_ns(64 * KIB), 1);
    assert_near(pwr_transfer_expected_ns(&costs, 1024 * KIB), took_ns(64 * KIB), 1);
    pwr_transfer_costs_t none = {0};
    pwr_transfer_took(&none, 0, 5000);
    pwr_transfer_took(&none, 0, 5000);
    assert_int_equal(pwr_transfer_expected_ns(&none, 0), 5000);
    assert_int_equal(pwr_transfer_expected_ns(&none, KIB), 5000);
}

/* A tenth up or down, in an order that repeats. */
static void test_noise(void **state)
{
    (void)state;
    static const unsigned percents[] = {90, 110, 104, 97, 109, 91, 99};
    pwr_transfer_costs_t costs = {0};
    for (unsigned i = 0; i < 35 * SIZES; i++) {
        uint64_t bytes = sizes[i % SIZES];
        pwr_transfer_took(&costs, bytes, took_ns(bytes) * percents[i % 7] / 100);
    }
    assert_near(pwr_transfer_expected_ns(&costs, 1024 * KIB), took_ns(1024 * KIB), 10);
    assert_near(pwr_transfer_expected_ns(&costs, 256 * KIB), took_ns(256 * KIB), 20);
}

/* A target that comes a second late once is forgotten soon, and never believed. */
static void test_late_target(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = learnt(10);
    pwr_transfer_took(&costs, 64 * KIB, 1000000000);
    assert_between(pwr_transfer_expected_ns(&costs, 64 * KIB), 1, 2 * took_ns(64 * KIB));
    for (unsigned i = 0; i < 20 * SIZES; i++) {
        pwr_transfer_took(&costs, sizes[i % SIZES], took_ns(sizes[i % SIZES]));
    }
    assert_near(pwr_transfer_expected_ns(&costs, 64 * KIB), took_ns(64 * KIB), 5);
}

/* A network that is ten times as slow from now on is known after some transfers. */
static void test_change(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = learnt(10);
    for (unsigned i = 0; i < 30 * SIZES; i++) {
        pwr_transfer_took(&costs, sizes[i % SIZES], 10 * took_ns(sizes[i % SIZES]));
    }
    assert_near(pwr_transfer_expected_ns(&costs, 256 * KIB), 10 * took_ns(256 * KIB), 5);
}

/* Larger ones that are faster (another protocol) give no negative bandwidth, a steep line no
   negative latency. */
static void test_no_line(void **state)
{
    (void)state;
    pwr_transfer_costs_t falling = {0}, steep = {0};
    for (unsigned i = 0; i < 20; i++) {
        pwr_transfer_took(&falling, i % 2 ? 64 * KIB : 8, i % 2 ? 10000 : 30000);
        pwr_transfer_took(&steep, i % 2 ? 64 * KIB : 32 * KIB, i % 2 ? 100000 : 10000);
    }
    assert_between(pwr_transfer_expected_ns(&falling, 1024 * KIB), 10000, 30000);
    assert_between(pwr_transfer_expected_ns(&steep, 8), 0, 10000);
    assert_true(pwr_transfer_expected_ns(&steep, 64 * KIB) >
                pwr_transfer_expected_ns(&steep, 32 * KIB));
}

static void test_extremes(void **state)
{
    (void)state;
    pwr_transfer_costs_t costs = {0};
    for (unsigned i = 0; i < 10; i++) {
        pwr_transfer_took(&costs, UINT64_MAX, UINT64_MAX);
        pwr_transfer_took(&costs, 0, 0);
    }
    assert_true(pwr_transfer_expected_ns(&costs, UINT64_MAX) <= 1000000000000000u);
    assert_true(pwr_transfer_expected_ns(&costs, 8) <= 1000000000000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_line),
        cmocka_unit_test(test_remaining),     cmocka_unit_test(test_one_size),
        cmocka_unit_test(test_noise),         cmocka_unit_test(test_late_target),
        cmocka_unit_test(test_change),        cmocka_unit_test(test_no_line),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
