/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder between threads and between processes.
 */
#include "config.h"

#include "fake_clock.h"
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr/wait.h"

enum { LONG_NS = 2000000000, ROUNDS = 300 };

static const pwr_wait_policy_t sleep_at_once = {
    .spin_ns = 0, .sleep_min_ns = LONG_NS, .sleep_max_ns = LONG_NS, .oversubscribed = true};
static const pwr_wait_policy_t spin_then_sleep = {
    .spin_ns = 20000, .sleep_min_ns = 1000, .sleep_max_ns = 1000000};
static const pwr_wait_policy_t poll_only = {.poll_ns = PWR_WAIT_POLL_ONLY};
static const pwr_wait_policy_t poll_and_yield = {.poll_ns = PWR_WAIT_POLL_ONLY,
                                                 .oversubscribed = true};

static const pwr_wait_policy_t linger_then_sleep = {.sleep_min_ns = LONG_NS,
                                                    .sleep_max_ns = LONG_NS};

/* That let others run. */
static const pwr_wait_policy_t *const policies[] = {&sleep_at_once, &linger_then_sleep,
                                                    &spin_then_sleep, &poll_and_yield};
static const pwr_wait_policy_t *const all_policies[] = {
    &sleep_at_once, &linger_then_sleep, &spin_then_sleep, &poll_and_yield, &poll_only};
enum { ALL_POLICIES = sizeof all_policies / sizeof all_policies[0] };

static pwr_flag_t *shared_flags(size_t count)
{
    pwr_flag_t *flags = mmap(NULL, count * sizeof *flags, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(flags != MAP_FAILED);
    return flags;
}

static void test_zeroed_memory_is_a_flag(void **state)
{
    pwr_flag_t flag;
    (void)state;
    memset(&flag, 0, sizeof flag);
    assert_true(pwr_flag_reached(&flag, 0));
    assert_false(pwr_flag_reached(&flag, 1));
    pwr_flag_set(&flag, 5);
    assert_true(pwr_flag_reached(&flag, 5));
    assert_true(pwr_flag_reached(&flag, 4));
    pwr_flag_arrive(&flag, 7);
    assert_true(pwr_flag_reached(&flag, 6));
    assert_false(pwr_flag_reached(&flag, 7));
}

static void test_values_wrap_around(void **state)
{
    pwr_flag_t flag = {.value = UINT32_MAX};
    (void)state;
    assert_true(pwr_flag_reached(&flag, UINT32_MAX - 1));
    assert_false(pwr_flag_reached(&flag, 0));
    for (int i = 0; i < 3; i++) {
        pwr_flag_arrive(&flag, 2);
    }
    assert_true(pwr_flag_reached(&flag, UINT32_MAX));
    assert_true(pwr_flag_reached(&flag, 2));
    assert_false(pwr_flag_reached(&flag, 3));
}

static void test_reached_flag_costs_no_rung(void **state)
{
    pwr_flag_t flag = {.value = 9};
    pwr_wait_stats_t stats = {0};
    (void)state;
    assert_int_equal(pwr_wait_until(&flag, 9, &spin_then_sleep, NULL, NULL, 1, &stats), PWR_OK);
    assert_int_equal(stats.waits, 1);
    assert_int_equal(stats.sleeps, 0);
    assert_int_equal(stats.spin_ns, 0);
    assert_int_equal(stats.sleep_ns, 0);
    assert_int_equal(pwr_wait_until(&flag, 8, &spin_then_sleep, NULL, NULL, 0, NULL), PWR_OK);
}

/* ---- how long, on the test's clock ---- */

enum { MS = 1000000 };
/* A rung is left at the first look at the clock that says so. */
enum { A_FEW_LOOKS_NS = 8 * FAKE_LOOK_NS };

/* Waits in vain, for 20 ms. */
static void wait_in_vain(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    pwr_flag_t flag = {.value = 3};
    *stats = (pwr_wait_stats_t){0};
    uint64_t deadline = fake_clock_now_ns() + 20 * MS;
    assert_int_equal(pwr_wait_until(&flag, 4, policy, NULL, NULL, deadline, stats),
                     PWR_ERR_TIMEOUT);
    assert_true(fake_clock_now_ns() >= deadline);
    assert_int_equal(flag.sleepers, 0);
}

static void test_timeouts_on_every_policy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL_POLICIES; i++) {
        pwr_flag_t flag = {.value = 3};
        pwr_wait_stats_t stats;
        uint64_t begin = fake_clock_now_ns();
        wait_in_vain(all_policies[i], &stats);
        assert_true(fake_clock_now_ns() - begin <= 20 * MS + PWR_WAIT_LINGER_NS + A_FEW_LOOKS_NS);
        assert_true((all_policies[i]->poll_ns > 0) == (stats.sleeps == 0));
        assert_true((stats.sleeps == 0) == (stats.sleep_ns == 0));
        assert_between(stats.spin_ns + stats.sleep_ns, 20 * MS - A_FEW_LOOKS_NS,
                       20 * MS + A_FEW_LOOKS_NS);
        /* Already over when it begins. */
        assert_int_equal(pwr_wait_until(&flag, 4, all_policies[i], NULL, NULL, 1, NULL),
                         PWR_ERR_TIMEOUT);
        assert_int_equal(flag.sleepers, 0);
    }
}

/* The machine stands still for longer than the wait may last, after any look at the clock. */
static void test_machine_that_stands_still(void **state)
{
    enum { LOOKS = 30 };
    (void)state;
    for (size_t i = 0; i < ALL_POLICIES; i++) {
        for (unsigned look = 0; look < LOOKS; look++) {
            pwr_wait_stats_t stats;
            fake_clock_stand_still(look, 300 * MS);
            wait_in_vain(all_policies[i], &stats);
        }
    }
}

/* Whether CPUs are shared or not. */
static void test_polls_first_and_sleeps_then(void **state)
{
    enum { POLL_NS = 5 * MS };
    (void)state;
    for (int crowded = 0; crowded < 2; crowded++) {
        const pwr_wait_policy_t policy = {.poll_ns = POLL_NS, .oversubscribed = crowded != 0};
        pwr_wait_stats_t stats;
        wait_in_vain(&policy, &stats);
        assert_true(stats.sleeps > 0);
        assert_between(stats.spin_ns, POLL_NS, POLL_NS + A_FEW_LOOKS_NS);
    }
}

/* The caller looks at no clock. */
static void test_waits_of_a_longest_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL_POLICIES; i++) {
        pwr_flag_t flag = {.value = 3};
        pwr_wait_policy_t policy = *all_policies[i];
        policy.longest_ns = 20 * MS;
        uint64_t begin = fake_clock_now_ns();
        assert_int_equal(pwr_wait_until(&flag, 4, &policy, NULL, NULL, 0, NULL), PWR_ERR_TIMEOUT);
        assert_between(fake_clock_now_ns() - begin, 20 * MS,
                       20 * MS + PWR_WAIT_LINGER_NS + A_FEW_LOOKS_NS);
        assert_int_equal(flag.sleepers, 0);
        /* A deadline may come first. */
        policy.longest_ns = UINT64_MAX;
        assert_int_equal(pwr_wait_until(&flag, 4, &policy, NULL, NULL, 1, NULL), PWR_ERR_TIMEOUT);
        assert_int_equal(pwr_wait_until(&flag, 3, &policy, NULL, NULL, 0, NULL), PWR_OK);
    }
}

/* ---- progress ---- */

typedef struct mover {
    pwr_flag_t *flag;
    unsigned calls;
    unsigned moves_at; /* the call that publishes */
} mover_t;

static int move(void *arg)
{
    mover_t *mover = arg;
    if (++mover->calls == mover->moves_at) {
        pwr_flag_set(mover->flag, 1);
    }
    return 1;
}

/* Nobody else is there: only progress can end these waits. */
static void test_progress_runs_on_every_rung(void **state)
{
    static const pwr_wait_policy_t short_sleeps = {
        .sleep_min_ns = 1000, .sleep_max_ns = 2000, .oversubscribed = true};
    const pwr_wait_policy_t *all[] = {&short_sleeps, &spin_then_sleep, &poll_only, &poll_and_yield};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pwr_flag_t flag = {.value = 0};
        mover_t mover = {.flag = &flag, .moves_at = 50};
        assert_int_equal(pwr_wait_until(&flag, 1, all[i], move, &mover, 0, NULL), PWR_OK);
        assert_int_equal(mover.calls, 50);
    }
}

/* ---- lost wake-ups ---- */

/* In one step or in two; with policies that linger, also without a fence. */
static void set_somehow(pwr_flag_t *flag, uint32_t round, bool lingers)
{
    if (round % 3 == 0) {
        pwr_flag_set(flag, round);
        return;
    }
    pwr_flag_publish(flag, round);
    if (!lingers || round % 3 == 1) {
        pwr_fence();
    }
    pwr_flag_wake(flag);
}

/* Two parties count each other's flag up in turn; a wake-up that is lost ends the test by its
 * alarm. */
static int ping_pong(pwr_flag_t *mine, pwr_flag_t *yours, const pwr_wait_policy_t *policy,
                     uint32_t first)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (first) {
            set_somehow(yours, round, !policy->oversubscribed);
        }
        if (pwr_wait_until(mine, round, policy, NULL, NULL, 0, NULL) != PWR_OK) {
            return 1;
        }
        if (!first) {
            set_somehow(yours, round, !policy->oversubscribed);
        }
    }
    return 0;
}

static void test_no_wake_up_is_lost_between_processes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        int result;
        pwr_flag_t *flags = shared_flags(2);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(ping_pong(&flags[1], &flags[0], policies[i], 0));
        }
        assert_int_equal(ping_pong(&flags[0], &flags[1], policies[i], 1), 0);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        assert_int_equal(flags[0].sleepers, 0);
        assert_int_equal(flags[1].sleepers, 0);
        munmap(flags, 2 * sizeof *flags);
    }
}

enum { PARTIES = 4 };

typedef struct party {
    pwr_flag_t *arrivals;
    const pwr_wait_policy_t *policy;
    uint32_t start;
    unsigned *rounds_behind; /* plain memory, ordered by the flag alone */
    bool good;
} party_t;

/* A barrier: everybody arrives and waits for all.  Sequence numbers wrap on the way. */
static void *meet(void *arg)
{
    party_t *party = arg;
    party->good = true;
    for (uint32_t round = 1; round <= ROUNDS / PARTIES; round++) {
        *party->rounds_behind = round;
        uint32_t all_are_here = party->start + round * PARTIES;
        pwr_flag_arrive(party->arrivals, all_are_here);
        if (pwr_wait_until(party->arrivals, all_are_here, party->policy, NULL, NULL, 0, NULL) !=
            PWR_OK) {
            party->good = false;
        }
    }
    return NULL;
}

static void test_no_wake_up_is_lost_between_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        pwr_flag_t arrivals = {.value = UINT32_MAX - 100};
        party_t parties[PARTIES];
        pthread_t threads[PARTIES];
        unsigned rounds[PARTIES] = {0};
        for (int p = 0; p < PARTIES; p++) {
            parties[p] = (party_t){.arrivals = &arrivals,
                                   .policy = policies[i],
                                   .start = UINT32_MAX - 100,
                                   .rounds_behind = &rounds[p]};
            assert_int_equal(pthread_create(&threads[p], NULL, meet, &parties[p]), 0);
        }
        for (int p = 0; p < PARTIES; p++) {
            assert_int_equal(pthread_join(threads[p], NULL), 0);
            assert_true(parties[p].good);
            assert_int_equal(rounds[p], ROUNDS / PARTIES);
        }
        assert_int_equal(arrivals.sleepers, 0);
    }
}

typedef struct sleeper {
    pwr_flag_t *flag;
    uint32_t target;
    pwr_status_t status;
} sleeper_t;

static void *sleep_for_target(void *arg)
{
    sleeper_t *sleeper = arg;
    sleeper->status =
        pwr_wait_until(sleeper->flag, sleeper->target, &sleep_at_once, NULL, NULL, 0, NULL);
    return NULL;
}

/* All of them sleep on one flag; each set has to reach the right ones. */
static void test_sleepers_with_different_targets(void **state)
{
    pwr_flag_t flag = {.value = 0};
    sleeper_t sleepers[3];
    pthread_t threads[3];
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        sleepers[i] = (sleeper_t){.flag = &flag, .target = i + 1, .status = PWR_ERR_IO};
        assert_int_equal(pthread_create(&threads[i], NULL, sleep_for_target, &sleepers[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        pwr_flag_set(&flag, i + 1);
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(sleepers[i].status, PWR_OK);
    }
    assert_int_equal(flag.sleepers, 0);
}

/* A waiter that is killed in its sleep must not disturb those that come later. */
static void test_killed_sleeper_costs_only_a_system_call(void **state)
{
    pwr_flag_t *flag = shared_flags(1);
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pwr_wait_until(flag, 1, &sleep_at_once, NULL, NULL, 0, NULL);
        _exit(0);
    }
    while (atomic_load(&flag->sleepers) == 0) {
        usleep(1000);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(flag->sleepers, 1);
    pwr_flag_set(flag, 1);
    assert_int_equal(pwr_wait_until(flag, 1, &sleep_at_once, NULL, NULL, 0, NULL), PWR_OK);
    uint64_t deadline = pwr_now_ns() + 5 * MS;
    assert_int_equal(pwr_wait_until(flag, 2, &sleep_at_once, NULL, NULL, deadline, NULL),
                     PWR_ERR_TIMEOUT);
    assert_true(pwr_now_ns() >= deadline);
    munmap(flag, sizeof *flag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_zeroed_memory_is_a_flag),
        FIXTURE_TEST(test_values_wrap_around),
        FIXTURE_TEST(test_reached_flag_costs_no_rung),
        FAKE_CLOCK_TEST(test_timeouts_on_every_policy),
        FAKE_CLOCK_TEST(test_machine_that_stands_still),
        FAKE_CLOCK_TEST(test_polls_first_and_sleeps_then),
        FAKE_CLOCK_TEST(test_waits_of_a_longest_length),
        FIXTURE_TEST(test_progress_runs_on_every_rung),
        ENDLESS_TEST(test_no_wake_up_is_lost_between_processes),
        ENDLESS_TEST(test_no_wake_up_is_lost_between_threads),
        ENDLESS_TEST(test_sleepers_with_different_targets),
        FIXTURE_TEST(test_killed_sleeper_costs_only_a_system_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
