/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From which length of a phase on a lever pays, as its calls are seen to take.
 */
#include "config.h"

#include "fixture.h"

#include "pwr/break_even.h"

enum { BY_TABLE_NS = 3000 + 45000 + 2 * 6000 };

/* Half of the power is saved; calls take 3 us, settling 15 us. */
static pwr_break_even_t by_table(void)
{
    return pwr_break_even(2.0, 15000.0 + 2.0 * 15000.0, 3000.0, 3000.0);
}

static void saw(pwr_break_even_t *b, unsigned times, uint64_t ns)
{
    for (unsigned i = 0; i < times; i++) {
        pwr_break_even_saw(b, PWR_LEVER_ENTRY, ns);
        pwr_break_even_saw(b, PWR_LEVER_EXIT, ns);
    }
}

static void test_nothing_is_known(void **state)
{
    pwr_break_even_t b = {0};
    (void)state;
    saw(&b, 9, 1000000);
    assert_true(pwr_break_even_pays(&b, 1));
}

static void test_nothing_is_saved(void **state)
{
    pwr_break_even_t b = pwr_break_even(-1.0, 45000.0, 3000.0, 3000.0);
    (void)state;
    saw(&b, 1, 1);
    assert_true(b.ns == PWR_BREAK_EVEN_NEVER);
    for (unsigned i = 0; i < 1000; i++) {
        assert_false(pwr_break_even_pays(&b, 1000000000));
    }
}

static void test_follows_what_calls_take(void **state)
{
    pwr_break_even_t b = by_table();
    (void)state;
    assert_int_equal(b.ns, BY_TABLE_NS);
    assert_true(pwr_break_even_pays(&b, BY_TABLE_NS));
    assert_false(pwr_break_even_pays(&b, BY_TABLE_NS - 1));
    saw(&b, 8, 2000000); /* 2000 + 45 + 2 * 4000 us */
    fixture_assert_between(b.ns, 9000000, 10045000);
    saw(&b, 80, 1000);
    fixture_assert_between(b.ns, 1000 + 45000 + 2 * 2000, 52000);
}

static void test_one_slow_call_is_not_believed(void **state)
{
    pwr_break_even_t b = by_table();
    (void)state;
    pwr_break_even_saw(&b, PWR_LEVER_ENTRY, 1000000000); /* (3 + 48) / 2 us */
    fixture_assert_between(b.ns, BY_TABLE_NS, 25500 + 45000 + 2 * 28500);
    saw(&b, 40, 3000);
    fixture_assert_between(b.ns, BY_TABLE_NS, BY_TABLE_NS * 11 / 10);
}

/* A program whose phases are all alike, and too short for what calls really take: what part of its
   time they take, after the first times, in which that is learnt. */
static double lost_part(double call_ns, double phase_ns)
{
    enum { PHASES = 20000, LEARNING = 10 };
    pwr_break_even_t b = by_table();
    double lost_ns = 0.0;
    unsigned tries = 0;
    for (unsigned i = 0; i < PHASES; i++) {
        if (pwr_break_even_pays(&b, (uint64_t)phase_ns)) {
            saw(&b, 1, (uint64_t)call_ns);
            lost_ns += ++tries <= LEARNING ? 0.0 : 2.0 * call_ns;
        }
    }
    return lost_ns / (PHASES * phase_ns);
}

static void test_trying_again_is_cheap(void **state)
{
    (void)state;
    for (double call_ns = 30e3; call_ns < 1e9; call_ns *= 3.0) {
        for (double phase_ns = 1.1 * BY_TABLE_NS; phase_ns < 4.0 * call_ns; phase_ns *= 1.7) {
            double lost = lost_part(call_ns, phase_ns);
            if (lost > 1.05 / PWR_BREAK_EVEN_TRIES) {
                fail_msg("calls of %.0f ns, phases of %.0f ns: %.4f is lost", call_ns, phase_ns,
                         lost);
            }
        }
    }
}

static void test_it_is_tried_again(void **state)
{
    pwr_break_even_t b = by_table();
    unsigned skipped = 0;
    (void)state;
    saw(&b, 10, 2000000);
    while (!pwr_break_even_pays(&b, 1000000)) {
        skipped++;
    }
    fixture_assert_between(skipped, 300, 400); /* 400 ms */
    saw(&b, 60, 3000);
    assert_true(pwr_break_even_pays(&b, 1000000));
    saw(&b, 10, 2000000);
    for (unsigned i = 0; i < 1000000; i++) { /* never in phases that are too short by the table */
        assert_false(pwr_break_even_pays(&b, BY_TABLE_NS - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_nothing_is_saved),
        cmocka_unit_test(test_follows_what_calls_take),
        cmocka_unit_test(test_one_slow_call_is_not_believed),
        cmocka_unit_test(test_trying_again_is_cheap),
        cmocka_unit_test(test_it_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
