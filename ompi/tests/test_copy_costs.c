/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which way a root takes when copies cost so much: played with invented costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pwr_ompi/copy_costs.h"

enum { MOST = 4, CLASS = 1, BYTES = 32 * 1024, EXPLORED = 4, SETTLED = 5 * EXPLORED + 2 };

typedef struct world {
    pwr_copy_costs_t costs[MOST];
    pwr_copier_t rank[MOST];
    int num;
    uint64_t ns[PWR_COPY_WAYS]; /* what a copy takes */
    uint64_t root_ns;           /* what the root's takes, through */
} world_t;

static void make(world_t *w, int num, uint64_t through_ns, uint64_t lent_ns)
{
    memset(w, 0, sizeof *w);
    w->num = num;
    w->ns[PWR_COPY_SHARED] = w->root_ns = through_ns;
    w->ns[PWR_COPY_SINGLE] = lent_ns;
    for (int i = 0; i < num; ++i) {
        pwr_copier_enter(&w->rank[i], w->costs, num, i);
    }
}

/* Rank 0 is the root of some messages.  Returns how many were lent. */
static int run(world_t *w, int messages)
{
    int lent = 0;
    for (int m = 0; m < messages; ++m) {
        pwr_copy_way_t way = pwr_copier_choose(&w->rank[0], CLASS);
        if (PWR_COPY_SHARED == way) {
            pwr_copier_took(&w->rank[0], CLASS, way, BYTES, w->root_ns);
        }
        for (int i = 1; i < w->num; ++i) {
            pwr_copier_took(&w->rank[i], CLASS, way, BYTES, w->ns[way]);
        }
        lent += PWR_COPY_SINGLE == way;
    }
    return lent;
}

static void assert_between(int value, int least, int most)
{
    assert_true(least <= value && value <= most);
}

static bool lends(const world_t *w)
{
    return PWR_COPY_SINGLE == w->rank[0].choices[CLASS].way;
}

static void test_the_cheaper_way_is_found_at_once(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 3000);
    run(&w, SETTLED);
    assert_false(lends(&w));
    make(&w, 2, 3000, 1000);
    run(&w, SETTLED);
    assert_true(lends(&w));
}

static void test_a_change_is_noticed(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 3000);
    run(&w, 5000);
    w.ns[PWR_COPY_SHARED] = 12000; /* in use: seen with every message */
    run(&w, 32);
    assert_true(lends(&w));
    run(&w, 5000);
    w.ns[PWR_COPY_SHARED] = 1000; /* not in use: seen when it is tried */
    run(&w, 2 * EXPLORED * 100 * 11);
    assert_false(lends(&w));
}

static void test_to_try_the_dearer_way_costs_a_hundredth(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 1500);
    run(&w, SETTLED);
    assert_between(run(&w, 100000), 1800, 2000);
    make(&w, 2, 1000, 11000);
    run(&w, SETTLED);
    assert_between(run(&w, 100000), 90, 100);
}

static void test_one_bad_copy_changes_nothing(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 3000);
    run(&w, 100);
    pwr_copier_took(&w.rank[1], CLASS, PWR_COPY_SHARED, BYTES, 50 * 1000 * 1000);
    for (int i = 0; i < 100; ++i) {
        run(&w, 1);
        assert_false(lends(&w));
    }
}

/* The first copy of each way touches memory for the first time. */
static void test_first_copies_do_not_decide(void **state)
{
    (void)state;
    static const uint64_t first_ns[][PWR_COPY_WAYS] = {{90000, 1000}, {3000, 90000}, {90000, 90000}};
    for (size_t i = 0; i < sizeof first_ns / sizeof first_ns[0]; ++i) {
        world_t w;
        make(&w, 2, 3000, 1000);
        pwr_copier_took(&w.rank[1], CLASS, PWR_COPY_SHARED, BYTES, first_ns[i][PWR_COPY_SHARED]);
        pwr_copier_took(&w.rank[1], CLASS, PWR_COPY_SINGLE, BYTES, first_ns[i][PWR_COPY_SINGLE]);
        run(&w, SETTLED);
        assert_true(lends(&w));
        assert_between(run(&w, 1000), 960, 1000);
    }
}

static void test_small_differences_do_not_matter(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 960, 1000);
    run(&w, 1000);
    assert_true(lends(&w));
}

static void test_the_slowest_copy_counts(void **state)
{
    (void)state;
    world_t w;
    make(&w, 4, 500, 1000);
    run(&w, SETTLED);
    assert_false(lends(&w));
    make(&w, 4, 500, 1000);
    w.root_ns = 2000;
    run(&w, SETTLED);
    assert_true(lends(&w));
}

static void test_classes_are_apart(void **state)
{
    (void)state;
    assert_int_equal(pwr_copy_class(0, 1), 0);
    assert_int_equal(pwr_copy_class(0, 64 * 1024), 0);
    assert_int_equal(pwr_copy_class(0, 64 * 1024 + 1), 1);
    assert_int_equal(pwr_copy_class(0, 512 * 1024 + 1), 2);
    assert_int_equal(pwr_copy_class(0, SIZE_MAX), PWR_COPY_SIZES - 1);
    assert_int_equal(pwr_copy_class(1, 1), PWR_COPY_SIZES);
    assert_int_equal(pwr_copy_class(PWR_COPY_KINDS - 1, SIZE_MAX), PWR_COPY_CLASSES - 1);
    world_t w;
    make(&w, 2, 1000, 3000);
    run(&w, 100);
    assert_false(lends(&w));
    assert_true(PWR_COPY_SINGLE == w.rank[0].choices[CLASS + 1].way);
}

static void test_what_explores_is_measured(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 3000);
    int measured = 0;
    for (int m = 0; m < 1000; ++m) {
        pwr_copy_way_t way = pwr_copier_choose(&w.rank[0], CLASS);
        bool measures = pwr_copier_measures(&w.rank[0], CLASS);
        assert_true(measures || way == w.rank[0].choices[CLASS].way);
        measured += measures;
    }
    assert_between(measured, 250, 320);
}

static void test_extreme_costs(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 0, UINT64_MAX);
    run(&w, 200);
    assert_false(lends(&w));
    make(&w, 2, UINT64_MAX, 0);
    run(&w, 200);
    assert_true(lends(&w));
}

static void test_numbers_of_messages_wrap(void **state)
{
    (void)state;
    world_t w;
    make(&w, 2, 1000, 3000);
    run(&w, 100);
    w.rank[0].choices[CLASS].messages = w.rank[0].choices[CLASS].explore_at = UINT32_MAX - 1;
    run(&w, 5000);
    w.ns[PWR_COPY_SINGLE] = 100;
    run(&w, 2 * EXPLORED * 1024);
    assert_true(lends(&w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cheaper_way_is_found_at_once),
        cmocka_unit_test(test_a_change_is_noticed),
        cmocka_unit_test(test_to_try_the_dearer_way_costs_a_hundredth),
        cmocka_unit_test(test_one_bad_copy_changes_nothing),
        cmocka_unit_test(test_first_copies_do_not_decide),
        cmocka_unit_test(test_small_differences_do_not_matter),
        cmocka_unit_test(test_the_slowest_copy_counts),
        cmocka_unit_test(test_classes_are_apart),
        cmocka_unit_test(test_what_explores_is_measured),
        cmocka_unit_test(test_extreme_costs),
        cmocka_unit_test(test_numbers_of_messages_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
