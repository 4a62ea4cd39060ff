/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Classes that take turns with their experiments, in programs whose costs are known: a loop of one
 * call of each class, in which an algorithm may make the calls behind it shorter or longer.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "choose/turns.h"

enum { US = 1000, MOST = 12, CANDIDATES = 3 };

/* Candidate by candidate: us of its call, and by how much the next call is longer. */
typedef struct costs {
    int own[CANDIDATES], next[CANDIDATES];
} costs_t;

typedef struct program {
    coll_poweraware_turns_t turns;
    coll_poweraware_trials_t trials[MOST];
    costs_t costs[MOST];
    int moved; /* by the latest call into the next one, us */
    uint64_t us;
    uint64_t taken[MOST][CANDIDATES];
    uint64_t random;
} program_t;

static const costs_t alike = {{10, 20, 30}, {0, 0, 0}};

/* Class 0 may be one of long calls. */
static void start_with(program_t *p, int classes, const costs_t *costs, bool long_calls)
{
    static const int algorithms[CANDIDATES] = {10, 11, 12};
    *p = (program_t){.random = 1};
    for (int c = 0; c < classes; c++) {
        p->costs[c] = *costs;
        coll_poweraware_trials_init(&p->trials[c], algorithms, CANDIDATES, 10000,
                                    long_calls && 0 == c, (uint64_t)c);
    }
}

static void start(program_t *p, int classes, const costs_t *costs)
{
    start_with(p, classes, costs, false);
}

/* Two classes: one of these costs, and one that moves nothing. */
static void start_beside_alike(program_t *p, const costs_t *costs)
{
    start(p, 2, costs);
    p->costs[1] = alike;
}

static bool may(void *arg, int candidate)
{
    (void)arg;
    (void)candidate;
    return true;
}

/* Up to 3 % longer, by chance. */
static uint64_t noisy_ns(program_t *p, int us)
{
    p->random = pwr_schedule_scrambled(p->random);
    return (uint64_t)us * US + p->random % ((uint64_t)us * US / 32 + 1);
}

/* On one rank: its sums are those of all. */
static void add_up(coll_poweraware_trials_t *t)
{
    int64_t sums[COLL_POWERAWARE_TRIALS_SUMS];
    if (coll_poweraware_trials_have(t, sums)) {
        coll_poweraware_trials_agree(t, sums);
    }
}

/* As choose/learn.c does. */
static void call(program_t *p, int class)
{
    coll_poweraware_trials_t *t = &p->trials[class];
    bool waits = false;
    if (coll_poweraware_trials_meet(t)) {
        add_up(t);
        coll_poweraware_turns_end(&p->turns, t);
    }
    if (coll_poweraware_trials_begin(t)) {
        assert_true(t != p->turns.of);
        waits = coll_poweraware_turns_wait(&p->turns, t);
        if (!waits) {
            add_up(t);
            coll_poweraware_trials_find_rival(t, may, NULL);
        }
    }
    int candidate = waits ? t->best : coll_poweraware_trials_candidate(t);
    assert_true(candidate == t->best || t == p->turns.of);
    int us = p->costs[class].own[candidate] + p->moved;
    p->moved = p->costs[class].next[candidate];
    p->us += (uint64_t)us;
    p->taken[class][candidate]++;
    coll_poweraware_turns_over(&p->turns, waits ? NULL : t, noisy_ns(p, us));
    if (!waits) {
        coll_poweraware_trials_over(t);
    }
}

static void loop(program_t *p, int classes, int times)
{
    for (int i = 0; i < times; i++) {
        for (int c = 0; c < classes; c++) {
            call(p, c);
        }
    }
}

/* Each has experiments with each of its rivals, and one at a time (assert in call). */
static void test_all_have_turns(void **state)
{
    (void)state;
    for (int classes = 1; classes <= MOST; classes++) {
        program_t p;
        start(&p, classes, &alike);
        loop(&p, classes, 60 * classes);
        for (int c = 0; c < classes; c++) {
            assert_true(p.taken[c][1] > 0 && p.taken[c][2] > 0);
            assert_int_equal(p.trials[c].best, 0);
        }
    }
}

/* A rival that is promising for long does not keep the other class from its turns. */
static void test_the_busy_let_others_go(void **state)
{
    static const costs_t promising = {{100, 88, 200}, {0, 0, 0}};
    program_t p;
    (void)state;
    start_beside_alike(&p, &promising);
    loop(&p, 2, 30);
    assert_true(p.taken[1][1] + p.taken[1][2] > 0);
    loop(&p, 2, 2000);
    assert_int_equal(p.trials[0].best, 1);
}

/* Where stretches are long, too, and there are many calls of others in them. */
static void test_long_experiments(void **state)
{
    program_t p;
    (void)state;
    start(&p, MOST, &alike);
    loop(&p, MOST, 10000);
    uint64_t pairs = p.trials[0].pairs;
    assert_int_equal(pwr_schedule_length(p.trials[0].at.block), PWR_SCHEDULE_LONGEST);
    loop(&p, MOST, 20000);
    assert_true(p.trials[0].pairs > pairs);
}

/* Both take less time by themselves, and cost the next call of another class more than that. */
static void test_cost_that_is_moved(void **state)
{
    static const costs_t moves = {{20, 10, 15}, {0, 15, 10}};
    program_t p;
    (void)state;
    start_beside_alike(&p, &moves);
    loop(&p, 2, 20000);
    assert_int_equal(p.trials[0].best, 0);
    assert_int_equal(p.trials[0].take_overs, 0);
    assert_int_equal(p.trials[1].best, 0);
}

/* It takes longer by itself, and saves the next call more than that. */
static void test_cost_that_is_saved(void **state)
{
    static const costs_t saves = {{20, 23, 30}, {0, -9, 0}};
    program_t p;
    (void)state;
    start_beside_alike(&p, &saves);
    loop(&p, 2, 20000);
    assert_int_equal(p.trials[0].best, 1);
    assert_int_equal(p.trials[1].best, 0);
}

/* Two classes that hinder each other: whatever they come to, the loop takes as long as the best
   pair of choices, or nearly. */
static void test_both_matter(void **state)
{
    static const costs_t selfish = {{20, 14, 30}, {0, 8, 0}};
    program_t p;
    (void)state;
    start(&p, 2, &selfish);
    loop(&p, 2, 2000);
    p.us = 0;
    loop(&p, 2, 20000);
    assert_true((double)p.us <= 1.01 * 40.0 * 20000);
}

/* They have their turns as if nobody else were there, and the others theirs behind them; or when
   the program goes on without long calls. */
static void test_long_calls_first(void **state)
{
    program_t alone, p, other;
    (void)state;
    start_with(&alone, 1, &alike, true);
    loop(&alone, 1, 40);
    start_with(&p, 3, &alike, true);
    loop(&p, 3, 40);
    assert_memory_equal(alone.taken[0], p.taken[0], sizeof p.taken[0]);
    assert_true(p.taken[0][1] > 0 && p.taken[0][2] > 0);
    assert_int_equal(p.taken[1][1] + p.taken[1][2] + p.taken[2][1] + p.taken[2][2], 0);
    loop(&p, 3, 500);
    assert_true(p.taken[1][1] > 0 && p.taken[2][1] > 0);
    start_with(&other, 2, &alike, true);
    loop(&other, 2, 40);
    for (int i = 0; i < 2 * COLL_POWERAWARE_TURNS_OTHERS + 100; i++) {
        call(&other, 1);
    }
    assert_true(other.taken[1][1] > 0);
}

/* The program goes on without a class in the middle of its experiment. */
static void test_given_up(void **state)
{
    program_t p;
    (void)state;
    start(&p, 2, &alike);
    while (p.turns.of != &p.trials[0] || p.taken[0][1] + p.taken[0][2] == 0) {
        call(&p, 0);
    }
    for (int i = 0; i < COLL_POWERAWARE_TURNS_OTHERS; i++) {
        call(&p, 1);
    }
    assert_ptr_equal(p.turns.of, &p.trials[0]);
    for (int i = 0; i < 100; i++) {
        call(&p, 1);
    }
    assert_true(p.taken[1][1] > 0 && p.taken[1][2] > 0);
    uint64_t tried = p.taken[0][1] + p.taken[0][2];
    assert_int_equal(p.trials[0].pairs, 0);
    loop(&p, 2, 200);
    assert_true(p.taken[0][1] + p.taken[0][2] > tried);
    assert_true(p.trials[0].pairs > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_have_turns),     cmocka_unit_test(test_the_busy_let_others_go),
        cmocka_unit_test(test_cost_that_is_moved), cmocka_unit_test(test_cost_that_is_saved),
        cmocka_unit_test(test_both_matter),        cmocka_unit_test(test_long_calls_first),
        cmocka_unit_test(test_given_up),           cmocka_unit_test(test_long_experiments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
