/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits for what is no flag: when they poll, when they sleep and how long.
 */
#include "config.h"

#include "fixture.h"

#include <sys/resource.h>

#include "fake_clock.h"
#include "pwr/clock.h"
#include "pwr/wait.h"

enum { MS = 1000000, MIN_NS = 50000, MAX_NS = 400000, KEPT = 16 };
/* Between what a rule says and the look at the clock that finds it. */
enum { A_FEW_LOOKS_NS = 8 * FAKE_LOOK_NS };

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

static bool over(void *arg)
{
    const thing_t *thing = arg;
    return thing->over_at_ns != 0 ? fake_clock_now_ns() >= thing->over_at_ns
                                  : thing->steps_left == 0;
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
        thing->first_sleep_after_ns = fake_clock_now_ns() - thing->began_ns;
    }
    if (thing->num_sleeps < KEPT) {
        thing->slept_ns[thing->num_sleeps] = longest_ns;
    }
    thing->num_sleeps++;
    fake_clock_pass(longest_ns);
}

static pwr_status_t wait_for(thing_t *thing, bool woken, const pwr_wait_policy_t *policy,
                             uint64_t deadline_ns, pwr_wait_stats_t *stats)
{
    pwr_waitable_t waitable = {
        .over = over, .progress = step, .sleep = woken ? doze : NULL, .arg = thing};
    thing->began_ns = fake_clock_now_ns();
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
    thing_t thing = {.over_at_ns = fake_clock_now_ns() + 18 * MS};
    assert_int_equal(wait_for(&thing, true, &policy, 0, NULL), PWR_OK);
    for (int i = 3; i <= 6; i++) { /* after 2.1, 6.1, 10.1, 14.1 ms */
        assert_int_equal(thing.slept_ns[i], PWR_WAIT_SLEEP_SHORT_NS);
    }
}

static void test_numbers_of_waits_add_up(void **state)
{
    enum { WAITS = 3 };
    pwr_wait_stats_t stats = {0};
    uint64_t sleeps = 0;
    (void)state;
    for (int i = 0; i < WAITS; i++) {
        thing_t thing = {.over_at_ns = fake_clock_now_ns() + 5 * MS};
        assert_int_equal(wait_for(&thing, true, &alone, 0, &stats), PWR_OK);
        sleeps += (uint64_t)thing.num_sleeps;
    }
    assert_int_equal(stats.waits, WAITS);
    assert_int_equal(stats.sleeps, sleeps);
    /* looks between sleeps count as spins */
    assert_between(stats.spin_ns, WAITS * MS, WAITS * MS + sleeps * A_FEW_LOOKS_NS);
    assert_between(stats.sleep_ns, WAITS * 4 * MS - sleeps * A_FEW_LOOKS_NS,
                   WAITS * (4 * MS + MAX_NS));
}

static void test_what_comes_late_is_not_spun_for(void **state)
{
    const uint32_t spin_ns = alone.spin_ns;
    uint32_t next_ns = spin_ns;
    (void)state;
    for (int i = 0; i < 20; i++) {
        uint32_t before_ns = next_ns;
        next_ns = pwr_wait_next_spin_ns(next_ns, spin_ns, &alone);
        assert_true(next_ns < before_ns || next_ns == 0);
    }
    assert_int_equal(next_ns, 0);
    assert_int_equal(pwr_wait_next_spin_ns(0, spin_ns - 1, &alone), spin_ns);
    assert_int_equal(pwr_wait_next_spin_ns(spin_ns, 0, &alone), spin_ns);
    assert_int_equal(pwr_wait_next_spin_ns(0, 0, &at_once), 0);
}

/* A message that comes in pieces: each ends a sleep, and none the wait. */
static int piece(void *arg)
{
    thing_t *thing = arg;
    bool comes = fake_clock_now_ns() >= thing->began_ns + (uint64_t)thing->moves_at * 2 * MS;
    thing->moves_at += comes;
    return comes;
}

static void doze_to_the_next_piece(void *arg, uint64_t longest_ns)
{
    thing_t *thing = arg;
    uint64_t next_ns = thing->began_ns + (uint64_t)thing->moves_at * 2 * MS;
    (void)longest_ns;
    thing->num_sleeps++;
    fake_clock_pass(next_ns - fake_clock_now_ns());
}

static void test_pieces_that_come_slowly_are_slept_for(void **state)
{
    enum { PIECES = 100 };
    pwr_wait_stats_t stats = {0};
    thing_t thing = {.moves_at = 1, .began_ns = fake_clock_now_ns()};
    thing.over_at_ns = thing.began_ns + (uint64_t)PIECES * 2 * MS;
    const pwr_waitable_t waitable = {
        .over = over, .progress = piece, .sleep = doze_to_the_next_piece, .arg = &thing};
    (void)state;
    assert_int_equal(pwr_wait_for(&waitable, &alone, 0, &stats), PWR_OK);
    assert_between(thing.num_sleeps, PIECES - 1, PIECES + 1);
    assert_true(stats.spin_ns < 4 * MS); /* one and a half full spins, not a hundred */
}

static void test_a_cpu_of_its_own_polls_first(void **state)
{
    thing_t thing = {.steps_left = 0, .over_at_ns = fake_clock_now_ns() + 200 * MS};
    (void)state;
    assert_int_equal(wait_for(&thing, true, &alone, 0, NULL), PWR_OK);
    assert_true(thing.num_sleeps > 0);
    assert_between(thing.first_sleep_after_ns, alone.spin_ns, alone.spin_ns + A_FEW_LOOKS_NS);
}

static void test_polling_never_sleeps(void **state)
{
    pwr_wait_stats_t stats = {0};
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        thing_t thing = {.over_at_ns = fake_clock_now_ns() + 10 * MS};
        assert_int_equal(wait_for(&thing, woken != 0, &poll_only, 0, &stats), PWR_OK);
        assert_int_equal(thing.num_sleeps, 0);
    }
    assert_int_equal(stats.sleeps, 0);
    assert_between(stats.spin_ns, 2 * 10 * MS - A_FEW_LOOKS_NS, 2 * 10 * MS + A_FEW_LOOKS_NS);
}

static void test_polls_first_and_sleeps_then(void **state)
{
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        pwr_wait_policy_t policy = at_once;
        policy.poll_ns = 5 * MS;
        thing_t thing = {.over_at_ns = fake_clock_now_ns() + 400 * MS};
        pwr_wait_stats_t stats = {0};
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 0, &stats), PWR_OK);
        assert_true(stats.sleeps > 0);
        assert_between(stats.spin_ns, 5 * MS, 5 * MS + 2 * A_FEW_LOOKS_NS * stats.sleeps);
        assert_true(0 == woken || thing.first_sleep_after_ns >= 5 * MS);
    }
}

static void test_deadline(void **state)
{
    const pwr_wait_policy_t *all[] = {&at_once, &alone, &poll_only};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int woken = 0; woken < 2; woken++) {
            thing_t thing = {.steps_left = -1};
            uint64_t deadline = fake_clock_now_ns() + 5 * MS;
            assert_int_equal(wait_for(&thing, woken != 0, all[i], deadline, NULL), PWR_ERR_TIMEOUT);
            /* no sleep goes past it */
            assert_between(fake_clock_now_ns(), deadline, deadline + A_FEW_LOOKS_NS);
        }
    }
}

/* The machine stands still for longer than the wait may last, after any look at the clock. */
static void test_machine_that_stands_still(void **state)
{
    enum { LOOKS = 30 };
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        for (unsigned look = 0; look < LOOKS; look++) {
            thing_t thing = {.steps_left = -1};
            fake_clock_stand_still(look, 300 * MS);
            uint64_t deadline = fake_clock_now_ns() + 20 * MS;
            assert_int_equal(wait_for(&thing, woken != 0, &at_once, deadline, NULL),
                             PWR_ERR_TIMEOUT);
            assert_true(fake_clock_now_ns() >= deadline);
        }
    }
}

static void test_longest_length(void **state)
{
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        thing_t thing = {.steps_left = -1};
        pwr_wait_policy_t policy = at_once;
        policy.longest_ns = 5 * MS;
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 0, NULL), PWR_ERR_TIMEOUT);
        assert_between(fake_clock_now_ns() - thing.began_ns, 5 * MS, 5 * MS + A_FEW_LOOKS_NS);
        policy.longest_ns = UINT64_MAX;
        assert_int_equal(wait_for(&thing, woken != 0, &policy, 1, NULL), PWR_ERR_TIMEOUT);
    }
}

/* What nothing wakes sleeps for a part of what it has waited. */
static void test_blind_sleeps_are_short(void **state)
{
    static const pwr_wait_policy_t unlimited = {
        .sleep_min_ns = MIN_NS, .sleep_max_ns = UINT32_MAX, .oversubscribed = true};
    enum { TOO_SHORT_NS = MIN_NS * PWR_WAIT_BLIND_PART - MIN_NS, LONG_NS = 100 * MS };
    pwr_wait_stats_t stats = {0};
    (void)state;
    thing_t brief = {.over_at_ns = fake_clock_now_ns() + TOO_SHORT_NS};
    assert_int_equal(wait_for(&brief, false, &unlimited, 0, &stats), PWR_OK);
    assert_int_equal(stats.sleeps, 0);

    /* lengths grow by 1/32 each: to get from 1.6 ms to 100 ms takes ln(62)/ln(33/32) = 134 sleeps,
       a few less by what the looks in between take */
    thing_t lasting = {.over_at_ns = fake_clock_now_ns() + LONG_NS};
    assert_int_equal(wait_for(&lasting, false, &unlimited, 0, &stats), PWR_OK);
    assert_between(stats.sleeps, 130, 135);
    assert_true(stats.sleep_ns >= LONG_NS - 2 * MS);
    assert_true(fake_clock_now_ns() - lasting.began_ns <= LONG_NS + LONG_NS / PWR_WAIT_BLIND_PART);
}

/* As short as those that nothing ends. */
static void test_what_may_end_sleeps_makes_them_no_longer(void **state)
{
    enum { LONG_NS = 100 * MS };
    static const pwr_wait_policy_t unlimited = {.sleep_min_ns = MIN_NS, .sleep_max_ns = UINT32_MAX};
    pwr_wait_stats_t stats = {0};
    thing_t thing = {.over_at_ns = fake_clock_now_ns() + LONG_NS};
    const pwr_waitable_t waitable = {
        .over = over, .progress = step, .sleep = doze, .blind = true, .arg = &thing};
    (void)state;
    assert_int_equal(pwr_wait_for(&waitable, &unlimited, 0, &stats), PWR_OK);
    assert_int_equal(thing.num_sleeps, stats.sleeps);
    assert_between(stats.sleeps, 130, 135);
    assert_between(thing.slept_ns[0], MIN_NS, 2 * MIN_NS);
}

/* ---- on the kernel's clock ---- */

static long given_up(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_nvcsw;
}

static bool has_slept(void *arg)
{
    const long *before = arg;
    return given_up() >= *before + 10;
}

static int no_progress(void *arg)
{
    (void)arg;
    return 0;
}

/* Over when this thread has given up its CPU ten times by itself: who only polls waits for ever. */
static void test_sleeping_gives_the_cpu_back(void **state)
{
    const pwr_wait_policy_t policy = {.sleep_min_ns = MIN_NS, .sleep_max_ns = MAX_NS};
    pwr_wait_stats_t stats = {0};
    long before = given_up();
    const pwr_waitable_t waitable = {.over = has_slept, .progress = no_progress, .arg = &before};
    (void)state;
    uint64_t begin = pwr_now_ns();
    assert_int_equal(pwr_wait_for(&waitable, &policy, 0, &stats), PWR_OK);
    uint64_t lasted = pwr_now_ns() - begin;
    assert_between(stats.sleeps, 1, 10);
    assert_true(stats.sleep_ns >= stats.sleeps * MIN_NS);
    assert_true(stats.sleep_ns + stats.spin_ns <= lasted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_CLOCK_TEST(test_what_is_over_costs_nothing),
        FAKE_CLOCK_TEST(test_sleeps_grow_until_something_moves),
        FAKE_CLOCK_TEST(test_long_sleeps_are_a_part_of_the_wait),
        FAKE_CLOCK_TEST(test_a_cpu_of_its_own_polls_first),
        FAKE_CLOCK_TEST(test_numbers_of_waits_add_up),
        FAKE_CLOCK_TEST(test_what_comes_late_is_not_spun_for),
        FAKE_CLOCK_TEST(test_pieces_that_come_slowly_are_slept_for),
        FAKE_CLOCK_TEST(test_polling_never_sleeps),
        FAKE_CLOCK_TEST(test_polls_first_and_sleeps_then),
        FAKE_CLOCK_TEST(test_deadline),
        FAKE_CLOCK_TEST(test_machine_that_stands_still),
        FAKE_CLOCK_TEST(test_longest_length),
        FAKE_CLOCK_TEST(test_blind_sleeps_are_short),
        FAKE_CLOCK_TEST(test_what_may_end_sleeps_makes_them_no_longer),
        FIXTURE_TEST(test_sleeping_gives_the_cpu_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
