/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is under way to the targets of a window, and what is left of it.
 */
#include "config.h"

#include "fixture.h"

#include "transfers.h"

enum { US = 1000, KIB = 1024, LATENCY_US = 20 };

typedef osc_poweraware_transfers_t transfers_t;

static uint64_t clock_us = 1;

/* One KiB takes a microsecond. */
static void put(transfers_t *t, int target, uint64_t kib)
{
    osc_poweraware_transfer_begins(t, target, kib * KIB, clock_us * US);
}

static osc_poweraware_rest_t rest(const transfers_t *t, int target)
{
    return osc_poweraware_transfers_rest(t, target, clock_us * US);
}

static void complete(transfers_t *t, int target, uint64_t kib)
{
    clock_us += LATENCY_US + kib;
    osc_poweraware_transfers_end(t, target, true, clock_us * US);
}

static void learn(transfers_t *t, int target, int completed)
{
    for (uint64_t kib = 1; kib <= 1024; kib *= 2) {
        put(t, target, kib);
        complete(t, completed, kib);
    }
}

static void assert_about(uint64_t ns, uint64_t us)
{
    assert_true(ns >= us * US * 98 / 100 && ns <= us * US * 102 / 100);
}

static void test_nothing(void **state)
{
    (void)state;
    transfers_t t = {0};
    assert_int_equal(rest(&t, 3).ns, 0);
    osc_poweraware_transfers_end(&t, 3, true, 5);
    osc_poweraware_transfers_end(&t, OSC_POWERAWARE_ALL_TARGETS, true, 5);
    put(&t, 3, 8);
    assert_int_equal(rest(&t, 3).bytes, 8 * KIB);
    assert_int_equal(rest(&t, 3).ns, 0); /* not known */
}

static void test_one_target(void **state)
{
    (void)state;
    transfers_t t = {0};
    learn(&t, 3, 3);
    put(&t, 3, 64);
    put(&t, 3, 64);
    assert_int_equal(rest(&t, 3).bytes, 128 * KIB);
    assert_about(rest(&t, 3).ns, LATENCY_US + 128);
    clock_us += 100; /* computes */
    assert_about(rest(&t, 3).ns, LATENCY_US + 28);
    clock_us += 100;
    assert_int_equal(rest(&t, 3).ns, 1); /* should be over */
    osc_poweraware_transfers_end(&t, 3, true, clock_us * US);
    assert_int_equal(rest(&t, 3).bytes, 0);
}

/* Each of them is known apart; those far away share. */
static void test_several_targets(void **state)
{
    (void)state;
    transfers_t t = {0};
    learn(&t, 3, 3);
    put(&t, 4, 64);
    assert_int_equal(rest(&t, 4).ns, 0);
    put(&t, 3 + OSC_POWERAWARE_TARGETS, 64);
    assert_about(rest(&t, 3 + OSC_POWERAWARE_TARGETS).ns, LATENCY_US + 64);
}

static void test_all_targets(void **state)
{
    (void)state;
    transfers_t t = {0};
    learn(&t, 7, OSC_POWERAWARE_ALL_TARGETS);
    put(&t, 1, 100);
    put(&t, 2, 200);
    assert_int_equal(rest(&t, OSC_POWERAWARE_ALL_TARGETS).bytes, 300 * KIB);
    assert_about(rest(&t, OSC_POWERAWARE_ALL_TARGETS).ns, LATENCY_US + 300);
    osc_poweraware_transfers_end(&t, 1, true, clock_us * US);
    assert_int_equal(rest(&t, OSC_POWERAWARE_ALL_TARGETS).bytes, 200 * KIB);
    osc_poweraware_transfers_end(&t, OSC_POWERAWARE_ALL_TARGETS, false, clock_us * US);
    assert_int_equal(rest(&t, 2).bytes, 0);
    assert_int_equal(rest(&t, OSC_POWERAWARE_ALL_TARGETS).ns, 0);
}

/* A call that waits for others, too, says nothing about the network. */
static void test_late_target(void **state)
{
    (void)state;
    transfers_t t = {0};
    learn(&t, 3, 3);
    for (int i = 0; i < 20; i++) {
        put(&t, 3, 64);
        clock_us += 100000;
        osc_poweraware_transfers_end(&t, 3, false, clock_us * US);
    }
    put(&t, 3, 64);
    assert_about(rest(&t, 3).ns, LATENCY_US + 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_one_target),
        cmocka_unit_test(test_several_targets), cmocka_unit_test(test_all_targets),
        cmocka_unit_test(test_late_target),
    };
    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
