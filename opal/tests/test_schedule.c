/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The schedule of experiments.
 */
#include "config.h"

#include "fixture.h"

#include "pwr/schedule.h"

enum { CALLS = 100000 };

/* Whoever goes to a call finds what those find who made all calls before it. */
static void test_jump_and_step(void **state)
{
    pwr_schedule_t stepped = {0};
    (void)state;
    pwr_schedule_at(&stepped, 0);
    for (uint64_t call = 0; call < CALLS; call++) {
        if (call < 5000 || call % 97 == 0) {
            pwr_schedule_t jumped;
            pwr_schedule_at(&jumped, call);
            assert_int_equal(jumped.call, stepped.call);
            assert_int_equal(jumped.block, stepped.block);
            assert_int_equal(jumped.stretch, stepped.stretch);
            assert_int_equal(jumped.left, stepped.left);
        }
        pwr_schedule_next(&stepped);
    }
}

/* The table in the header. */
static void test_blocks(void **state)
{
    static const struct {
        uint32_t block, length;
        uint64_t begin;
    } known[] = {
        {0, 2, 0},      {5, 2, 160},    {6, 4, 192},     {9, 4, 384},     {10, 8, 448},
        {14, 16, 960},  {17, 16, 1728}, {18, 32, 1984},  {19, 32, 2496},  {20, 32, 3520},
        {21, 32, 5568}, {22, 32, 9664}, {23, 32, 17856}, {24, 32, 34240}, {25, 32, 50624},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        pwr_schedule_t at;
        pwr_schedule_at(&at, known[i].begin);
        assert_int_equal(at.block, known[i].block);
        assert_int_equal(at.stretch, 0);
        assert_int_equal(pwr_schedule_length(known[i].block), known[i].length);
        if (known[i].begin > 0) {
            pwr_schedule_at(&at, known[i].begin - 1);
            assert_int_equal(at.block, known[i].block - 1);
            assert_int_equal(at.stretch, PWR_SCHEDULE_STRETCHES - 1);
            assert_int_equal(at.left, 1);
        }
    }
}

/* From any call to the first one of the next stretch, or block. */
static void test_ends(void **state)
{
    (void)state;
    for (uint64_t call = 0; call < 5000; call++) {
        pwr_schedule_t at, next;
        pwr_schedule_at(&at, call);
        next = at;
        pwr_schedule_end_stretch(&next);
        assert_int_equal(next.call, call + at.left);
        assert_int_equal(next.stretch, (at.stretch + 1) % PWR_SCHEDULE_STRETCHES);
        next = at;
        pwr_schedule_end_block(&next);
        assert_int_equal(next.stretch, 0);
        assert_int_equal(next.block, at.block + 1);
        pwr_schedule_at(&at, next.call);
        assert_int_equal(next.left, at.left);
        assert_int_equal(next.block, at.block);
    }
}

/* Beyond any number of calls, and until each stretch. */
static void test_skip(void **state)
{
    (void)state;
    for (uint64_t call = 0; call < 5000; call += 7) {
        pwr_schedule_t at, jumped;
        pwr_schedule_at(&at, call);
        for (unsigned stretch = at.stretch + 1u; stretch <= PWR_SCHEDULE_STRETCHES; stretch++) {
            pwr_schedule_t next = at;
            pwr_schedule_skip(&next, pwr_schedule_until(&at, stretch));
            assert_int_equal(next.stretch, stretch % PWR_SCHEDULE_STRETCHES);
            pwr_schedule_at(&jumped, next.call);
            assert_int_equal(next.left, jumped.left);
            pwr_schedule_skip(&next, next.left - 1);
            assert_int_equal(next.left, 1);
            pwr_schedule_at(&jumped, next.call);
            assert_int_equal(jumped.left, 1);
            assert_int_equal(next.block, jumped.block);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jump_and_step),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
