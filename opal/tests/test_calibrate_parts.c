/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The arithmetic of poweraware-calibrate: medians, spreads, and when a lever was in force.
 */
#include "config.h"

#include "fixture.h"

#include "tools/calibrate/calibrate.h"

static void expect(const uint64_t *values, unsigned count, uint64_t median, uint64_t spread)
{
    calibrate_series_t series;
    assert_true(calibrate_series_init(&series, count + 1));
    for (unsigned i = 0; i < count; i++) {
        calibrate_series_add(&series, values[i]);
    }
    assert_int_equal(calibrate_series_median(&series), median);
    assert_int_equal(calibrate_series_spread(&series), spread);
    calibrate_series_free(&series);
}

static void test_median_and_spread(void **state)
{
    static const uint64_t values[] = {7, 1, 3, 5, 1000000};
    static const uint64_t eight[] = {80, 10, 70, 20, 60, 30, 50, 40};
    (void)state;
    expect(values, 0, 0, 0);
    expect(values, 1, 7, 0);
    expect(values, 2, 1, 6);
    expect(values, 3, 3, 6);
    expect(values, 5, 5, 4); /* 1 3 5 7 10^6: ranks 2, 3 and 4 */
    expect(eight, 8, 40, 40);
}

static void test_full_series_drops(void **state)
{
    calibrate_series_t series;
    (void)state;
    assert_true(calibrate_series_init(&series, 2));
    for (unsigned i = 1; i <= 5; i++) {
        calibrate_series_add(&series, i);
    }
    assert_int_equal(series.count, 2);
    assert_int_equal(calibrate_series_median(&series), 1);
    calibrate_series_free(&series);
}

/* ---- settling ---- */

enum { COUNT = 40, MOVED_NS = 5000 };

typedef struct run {
    calibrate_block_t blocks[COUNT];
    calibrate_series_t scratch;
} run_t;

/* Blocks without gaps: old ns each up to block change, then new ns. */
static void fill(run_t *run, unsigned change, uint64_t old, uint64_t new)
{
    uint64_t now = MOVED_NS;
    for (unsigned i = 0; i < COUNT; i++) {
        run->blocks[i] = (calibrate_block_t){now, i < change ? old : new};
        now += run->blocks[i].took_ns;
    }
}

static bool settling(run_t *run, uint64_t before, uint64_t *settle_ns)
{
    assert_true(calibrate_series_init(&run->scratch, COUNT));
    bool seen = calibrate_settling(run->blocks, COUNT, before, MOVED_NS, &run->scratch, settle_ns);
    calibrate_series_free(&run->scratch);
    return seen;
}

static void test_settling_down_and_up(void **state)
{
    static const struct {
        unsigned change;
        uint64_t old, new, settle_ns;
    } steps[] = {
        {0, 20000, 60000, 0},      {10, 20000, 60000, 200000}, {25, 20000, 160000, 500000},
        {7, 60000, 20000, 420000}, {1, 20000, 23000, 20000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        run_t run = {0};
        uint64_t settle_ns = 0;
        fill(&run, steps[i].change, steps[i].old, steps[i].new);
        assert_true(settling(&run, steps[i].old, &settle_ns));
        assert_int_equal(settle_ns, steps[i].settle_ns);
    }
}

static void test_interruptions_are_no_settling(void **state)
{
    run_t run = {0};
    uint64_t settle_ns = 77;
    (void)state;
    fill(&run, COUNT, 20000, 0);
    run.blocks[3].took_ns = 900000;
    run.blocks[4].took_ns = 900000;
    run.blocks[35].took_ns = 900000;
    assert_false(settling(&run, 20000, &settle_ns));
    assert_int_equal(settle_ns, 77);
    /* Before the real change they do not count either. */
    fill(&run, 20, 20000, 60000);
    run.blocks[3].took_ns = 900000;
    run.blocks[4].took_ns = 900000;
    assert_true(settling(&run, 20000, &settle_ns));
    assert_int_equal(settle_ns, run.blocks[20].begin_ns - MOVED_NS);
}

static void test_small_drift_is_not_seen(void **state)
{
    run_t run = {0};
    uint64_t settle_ns;
    (void)state;
    fill(&run, 10, 20000, 22000);
    assert_false(settling(&run, 20000, &settle_ns));
    fill(&run, 10, 22000, 20000);
    assert_false(settling(&run, 22000, &settle_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_and_spread),
        cmocka_unit_test(test_full_series_drops),
        cmocka_unit_test(test_settling_down_and_up),
        cmocka_unit_test(test_interruptions_are_no_settling),
        cmocka_unit_test(test_small_drift_is_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
