/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is concluded from how long waits lasted.
 */
#include "config.h"

#include "fixture.h"

#include "pwr/history.h"

enum { US = 1000, MS = 1000000, SPIN_NS = 100 * US };

static pwr_wait_policy_t after(const pwr_history_t *history)
{
    pwr_wait_policy_t policy = {.spin_ns = SPIN_NS, .monitor_ns = SPIN_NS};
    pwr_history_apply(history, &policy);
    return policy;
}

static void add(pwr_history_t *history, int times, uint64_t ns)
{
    for (int i = 0; i < times; i++) {
        pwr_history_add(history, ns);
    }
}

static void test_nothing_known(void **state)
{
    pwr_history_t history = {0};
    (void)state;
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
    assert_int_equal(after(&history).monitor_ns, SPIN_NS);
}

static void test_always_long(void **state)
{
    pwr_history_t history = {0};
    (void)state;
    add(&history, 1, 10 * MS);
    assert_int_equal(after(&history).spin_ns, SPIN_NS); /* one says little */
    add(&history, 5, 10 * MS);
    assert_int_equal(after(&history).spin_ns, 0);
    assert_int_equal(after(&history).monitor_ns, 0);
    add(&history, 50, 10 * MS);
    assert_int_equal(after(&history).spin_ns, 0);
    /* one that was brief: the next one may be, too */
    add(&history, 1, 2 * US);
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
    assert_int_equal(after(&history).monitor_ns, SPIN_NS);
    add(&history, 5, 10 * MS);
    assert_int_equal(after(&history).spin_ns, 0);
}

static void test_just_too_long(void **state)
{
    pwr_history_t history = {0};
    (void)state;
    add(&history, 20, 200 * US);
    assert_int_equal(after(&history).spin_ns, 250 * US);
    assert_int_equal(after(&history).monitor_ns, 250 * US);
    /* a long one among them is no reason to spin for as long, nor to sleep at once */
    add(&history, 1, 500 * MS);
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
    add(&history, 1, 200 * US);
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
    pwr_wait_policy_t resting_is_no_use = {.spin_ns = SPIN_NS};
    pwr_history_t usual = {0};
    add(&usual, 20, 200 * US);
    pwr_history_apply(&usual, &resting_is_no_use);
    assert_int_equal(resting_is_no_use.monitor_ns, 0);
}

static void test_always_short(void **state)
{
    pwr_history_t history = {0};
    (void)state;
    add(&history, 20, 3 * US);
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
    add(&history, 20, 0);
    assert_int_equal(after(&history).spin_ns, SPIN_NS);
}

static void test_extremes(void **state)
{
    pwr_history_t history = {0};
    (void)state;
    add(&history, 100, UINT64_MAX);
    assert_int_equal(after(&history).spin_ns, 0);
    assert_int_equal(history.high_ns, UINT32_MAX);
    pwr_wait_policy_t longest = {.spin_ns = 1000000000};
    pwr_history_apply(&history, &longest);
    assert_true(longest.spin_ns == 0 || longest.spin_ns == 1000000000);
    pwr_wait_policy_t at_once = {0};
    pwr_history_apply(&history, &at_once);
    assert_int_equal(at_once.spin_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_always_long),
        cmocka_unit_test(test_just_too_long), cmocka_unit_test(test_always_short),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
