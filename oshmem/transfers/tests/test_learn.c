/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which pattern is chosen, and how many trials that takes.
 */
#include "config.h"

#include "fixture.h"

#include "learn.h"

enum { FIRST = 1, SECOND = 2, BOTH = FIRST | SECOND, ALL = 7 };

/* Trials until there is a choice, of patterns that take so long each time. */
static int learn_all(pwr_learn_t *learn, unsigned allowed, const uint64_t *ns, int *trials)
{
    for (int i = 0; i < 100 && pwr_learn_choice(learn) < 0; i++) {
        int pattern = pwr_learn_next(learn, allowed);
        assert_true(allowed >> pattern & 1);
        trials[pattern]++;
        pwr_learn_record(learn, allowed, pattern, ns[pattern]);
    }
    return pwr_learn_choice(learn);
}

static void the_fastest_is_chosen_and_stays(void **test)
{
    (void)test;
    for (int fastest = 0; fastest < PWR_LEARN_PATTERNS; fastest++) {
        pwr_learn_t learn = {0};
        uint64_t ns[] = {1200, 1200, 1200};
        int trials[PWR_LEARN_PATTERNS] = {0};
        ns[fastest] = 1000;
        assert_int_equal(learn_all(&learn, ALL, ns, trials), fastest);
        assert_int_equal(pwr_learn_choice(&learn), fastest);
    }
}

static void each_is_tried_equally_and_no_more(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    learn_all(&learn, BOTH, (uint64_t[]){1000, 1100, 0}, trials);
    assert_int_equal(trials[0], PWR_LEARN_KEPT + 1);
    assert_int_equal(trials[1], PWR_LEARN_KEPT + 1);
    assert_int_equal(trials[2], 0);
}

static void what_is_hopeless_is_dropped(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    assert_int_equal(learn_all(&learn, BOTH, (uint64_t[]){50000, 1000, 0}, trials), 1);
    assert_int_equal(trials[0], 3);
}

static void the_first_trial_does_not_count(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    pwr_learn_record(&learn, BOTH, 0, 1000000);
    assert_int_equal(learn_all(&learn, BOTH, (uint64_t[]){1000, 1100, 0}, trials), 0);
}

/* A trial that was disturbed, of seven. */
static void an_outlier_changes_nothing(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    pwr_learn_record(&learn, BOTH, 0, 1000);
    pwr_learn_record(&learn, BOTH, 0, 9000000);
    pwr_learn_record(&learn, BOTH, 0, 1000);
    assert_int_equal(learn_all(&learn, BOTH, (uint64_t[]){1000, 1100, 0}, trials), 0);
}

static void durations_beyond_four_seconds_are_kept_in_order(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    assert_int_equal(learn_all(&learn, BOTH, (uint64_t[]){UINT64_MAX, 1000, 0}, trials), 1);
}

static void what_comes_after_the_last_trial_is_left_out(void **test)
{
    pwr_learn_t learn = {0};
    int trials[PWR_LEARN_PATTERNS] = {0};
    (void)test;
    learn_all(&learn, BOTH, (uint64_t[]){1000, 1100, 0}, trials);
    for (int i = 0; i < 20; i++) {
        pwr_learn_record(&learn, BOTH, 0, 9000);
    }
    assert_int_equal(pwr_learn_choice(&learn), 0);
    assert_int_equal(learn.trials[0], PWR_LEARN_KEPT + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_is_chosen_and_stays),
        cmocka_unit_test(each_is_tried_equally_and_no_more),
        cmocka_unit_test(what_is_hopeless_is_dropped),
        cmocka_unit_test(the_first_trial_does_not_count),
        cmocka_unit_test(an_outlier_changes_nothing),
        cmocka_unit_test(durations_beyond_four_seconds_are_kept_in_order),
        cmocka_unit_test(what_comes_after_the_last_trial_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
