/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits for what is no flag: when they poll, when they sleep and how long.
 */
#include "config.h"

#include "fixture.h"

#include <time.h>

#include "pwr/wait.h"

enum { MS = 1000000, MIN_NS = 50000, MAX_NS = 400000, KEPT = 16 };

static const pwr_wait_policy_t at_once = {.sleep_min_ns = MIN_NS, .sleep_max_ns = MAX_NS};
static const pwr_wait_policy_t alone = {
    .spin_ns = MS, .sleep_min_ns = MIN_NS, .sleep_max_ns = MAX_NS};
static const pwr_wait_policy_t poll_only = {
    .sleep_min_ns = MIN_NS, .sleep_max_ns = MAX_NS, .poll_ns = PWR_WAIT_POLL_ONLY};

/* Over after so many steps, each a look at progress; or at a time. */
typedef struct thing {
    int steps_left;
    uint64_t over_at_ns; /* 0: steps decide */
    int moves_at;        /* steps_left at which progress says that something moved */
    uint64_t began_ns;
    int num_sleeps;
    uint64_t first_sleep_after_ns;
    uint64_t slept_ns[KEPT];
} thing_t;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u * MS + (uint64_t)now.tv_nsec;
}

static bool over(void *arg)
{
    const thing_t *thing = arg;
    return thing->over_at_ns != 0 ? now_ns() >= thing->over_at_ns : thing->steps_left == 0;
}

static int step(void *arg)
{
    thing_t *thing = arg;
    return --thing->steps_left == thing->moves_at;
}

static void doze(void *arg, uint64_t longest_ns)
{
    thing_t *thing = arg;
    if (thing->num_sleeps == 0) {
        thing->first_sleep_after_ns = now_ns() - thing->began_ns;
    }
    if (thing->num_sleeps < KEPT) {
        thing->slept_ns[thing->num_sleeps] = longest_ns;
    }
    thing->num_sleeps++;
}

static pwr_status_t wait_for(thing_t *thing, bool woken, const pwr_wait_policy_t *policy,
                             uint64_t deadline_ns, pwr_wait_stats_t *stats)
{
    pwr_waitable_t waitable = {
        .over = over, .progress = step, .sleep = woken ? doze : NULL, .arg = thing};
    thing->began_ns = now_ns();
    return pwr_wait_for(&waitable, policy, deadline_ns, stats);
}

static void test_what_is_over_costs_nothing(void **state)
{
    thing_t thing = {.steps_left = 0};
    pwr_wait_stats_t stats = {0};
    (void)state;
    assert_int_equal(wait_for(&thing, true, &at_once, 1, &stats), PWR_OK);
    assert_int_equal(thing.steps_left, 0);
    assert_int_equal(stats.waits, 1);
    assert_int_equal(stats.sleeps, 0);
    assert_int_equal(wait_for(&thing, true, &at_once, 0, NULL), PWR_OK);
}

static void test_sleeps_grow_until_something_moves(void **state)
{
    static const uint64_t expected[] = {MIN_NS, 4 * MIN_NS,         MAX_NS,    MAX_NS,
                                        MAX_NS, /* moved */ MIN_NS, 4 * MIN_NS};
    enum { NUM = sizeof expected / sizeof expected[0] };
    thing_t thing = {.steps_left = NUM + 1, .moves_at = NUM + 1 - 6};
    pwr_wait_stats_t stats = {0};
    (void)state;
    assert_int_equal(wait_for(&thing, true, &at_once, 0, &stats), PWR_OK);
    assert_int_equal(thing.num_sleeps, NUM);
    assert_int_equal(stats.sleeps, NUM);
    for (int i = 0; i < NUM; i++) {
        assert_int_equal(thing.slept_ns[i], expected[i]);
    }
}

static void test_long_sleeps_are_a_part_of_the_wait(void **state)
{
    static const pwr_wait_policy_t policy = {.sleep_min_ns = MS / 10, .sleep_max_ns = 16 * MS};
    static const struct {
        uint64_t length_ns, lasted_ns, next_ns;
    } cases[] = {
        {MS / 10, 0, 4 * (MS / 10)}, {2 * MS, 2 * MS, 4 * MS},     {4 * MS, 15 * MS, 4 * MS},
        {4 * MS, 24 * MS, 6 * MS},   {6 * MS, 1000 * MS, 16 * MS},
    };
    static const pwr_wait_policy_t one_length = {.sleep_min_ns = 5 * MS, .sleep_max_ns = 5 * MS};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pwr_wait_next_sleep_ns(cases[i].length_ns, cases[i].lasted_ns, &policy),
                         cases[i].next_ns);
    }
    assert_int_equal(pwr_wait_next_sleep_ns(5 * MS, 0, &one_length), 5 * MS);
}

static void test_a_cpu_of_its_own_polls_first(void **state)
{
    thing_t thing = {.steps_left = 0, .over_at_ns = now_ns() + 200 * MS};
    (void)state;
    assert_int_equal(wait_for(&thing, true, &alone, 0, NULL), PWR_OK);
    assert_true(thing.num_sleeps > 0);
    assert_true(thing.first_sleep_after_ns >= alone.spin_ns);
}

static void test_polling_never_sleeps(void **state)
{
    pwr_wait_stats_t stats = {0};
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        thing_t thing = {.over_at_ns = now_ns() + 10 * MS};
        assert_int_equal(wait_for(&thing, woken != 0, &poll_only, 0, &stats), PWR_OK);
        assert_int_equal(thing.num_sleeps, 0);
    }
    assert_int_equal(stats.sleeps, 0);
    assert_true(stats.spin_ns >= 2 * 9 * MS);
}

static void test_polls_first_and_sleeps_then(void **state)
{
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        pwr_wait_policy_t policy = at_once;
        policy.poll_ns = 5 * MS;
        thing_t thing = {.over_at_ns = now_ns() + 400 * MS};
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 0, NULL), PWR_OK);
        assert_true(0 == woken || (thing.num_sleeps > 0 && thing.first_sleep_after_ns >= 5 * MS));
    }
}

static void test_deadline(void **state)
{
    const pwr_wait_policy_t *all[] = {&at_once, &alone, &poll_only};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int woken = 0; woken < 2; woken++) {
            thing_t thing = {.steps_left = -1};
            uint64_t deadline = now_ns() + 5 * MS;
            assert_int_equal(wait_for(&thing, woken != 0, all[i], deadline, NULL), PWR_ERR_TIMEOUT);
            assert_true(now_ns() >= deadline);
        }
    }
    /* no sleep goes past it */
    thing_t thing = {.steps_left = -1};
    wait_for(&thing, true, &at_once, now_ns() + MIN_NS / 2, NULL);
    assert_true(thing.num_sleeps == 0 || thing.slept_ns[0] <= MIN_NS / 2);
}

static void test_longest_length(void **state)
{
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        thing_t thing = {.steps_left = -1};
        pwr_wait_policy_t policy = at_once;
        policy.longest_ns = 5 * MS;
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 0, NULL), PWR_ERR_TIMEOUT);
        assert_true(now_ns() - thing.began_ns >= 5 * MS);
        policy.longest_ns = UINT64_MAX;
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 1, NULL), PWR_ERR_TIMEOUT);
    }
}

/* What nothing wakes sleeps for a part of what it has waited. */
static void test_blind_sleeps_are_short(void **state)
{
    static const pwr_wait_policy_t unlimited = {
        .sleep_min_ns = MIN_NS, .sleep_max_ns = UINT32_MAX, .oversubscribed = true};
    enum { TOO_SHORT_NS = MIN_NS * PWR_WAIT_BLIND_PART / 2, LONG_NS = 100 * MS };
    pwr_wait_stats_t stats = {0};
    (void)state;
    thing_t brief = {.over_at_ns = now_ns() + TOO_SHORT_NS};
    assert_int_equal(wait_for(&brief, false, &unlimited, 0, &stats), PWR_OK);
    uint64_t brief_ns = now_ns() - brief.began_ns;
    assert_true(stats.sleeps == 0 || brief_ns >= MIN_NS * PWR_WAIT_BLIND_PART);

    /* lengths grow by 1/32 each: to get from 1.6 ms to 100 ms takes ln(62)/ln(33/32) = 134 sleeps,
       fewer when they last longer than asked, and not more than their shortest allows; a machine
       that stands still for a while makes one of them long, but hardly in every attempt */
    for (int attempt = 0; attempt < 5; attempt++) {
        stats = (pwr_wait_stats_t){0};
        thing_t lasting = {.over_at_ns = now_ns() + LONG_NS};
        assert_int_equal(wait_for(&lasting, false, &unlimited, 0, &stats), PWR_OK);
        assert_true(stats.sleeps <= LONG_NS / MIN_NS);
        if (stats.sleeps > 20 && stats.sleep_ns > LONG_NS / 2) {
            return;
        }
    }
    fail_msg("%llu sleeps, %llu us together", (unsigned long long)stats.sleeps,
             (unsigned long long)stats.sleep_ns / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_over_costs_nothing),
        cmocka_unit_test(test_sleeps_grow_until_something_moves),
        cmocka_unit_test(test_long_sleeps_are_a_part_of_the_wait),
        cmocka_unit_test(test_a_cpu_of_its_own_polls_first),
        cmocka_unit_test(test_polling_never_sleeps),
        cmocka_unit_test(test_polls_first_and_sleeps_then),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_longest_length),
        cmocka_unit_test(test_blind_sleeps_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
