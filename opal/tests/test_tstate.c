/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states on MSR files.
 */
#include "config.h"

#include "fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pwr/lever.h"

enum { CLOCK_MODULATION = 0x19a, FULL_DUTY = 16, PER_TSTATE = 2, DEEPEST = 7 };

typedef struct opened {
    pwr_topo_t *topo;
    pwr_guard_t *guard;
    pwr_lever_t *tstate; /* NULL: did not open */
    pwr_status_t status;
    char why[512];
} opened_t;

static opened_t open_tstates(fixture_t *fixture, const char *cpulist)
{
    opened_t opened = {.topo = fixture_topo(fixture, NULL, cpulist)};
    opened.guard = fixture_guard(fixture);
    opened.status = pwr_lever_open(PWR_LEVER_TSTATE, &fixture->env, opened.topo, opened.guard,
                                   opened.why, sizeof opened.why, &opened.tstate);
    return opened;
}

static void close_tstates(opened_t *opened)
{
    pwr_lever_close(opened->tstate);
    pwr_guard_stop(opened->guard);
    pwr_topo_close(opened->topo);
}

static pwr_status_t set_level(opened_t *opened, unsigned level)
{
    return pwr_lever_set(opened->tstate, FULL_DUTY - PER_TSTATE * level);
}

static void expect_refusal(fixture_t *fixture, pwr_status_t status, const char *why)
{
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(opened.status, status);
    assert_null(opened.tstate);
    assert_non_null(strstr(opened.why, why));
    close_tstates(&opened);
}

static void put_both(fixture_t *fixture, const char *device, uint64_t value)
{
    fixture_put_msr(fixture, 2, device, CLOCK_MODULATION, value);
    fixture_put_msr(fixture, 3, device, CLOCK_MODULATION, value);
}

static void test_levels_are_eighths_of_the_clock(void **state)
{
    static const uint64_t expected[] = {0x0, 0x1e, 0x1c, 0x1a, 0x18, 0x16, 0x14, 0x12};
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.tstate), "msr");
    for (unsigned level = 0; level <= DEEPEST; level++) {
        assert_int_equal(set_level(&opened, level), PWR_OK);
        assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), expected[level]);
        assert_int_equal(fixture_get_msr(fixture, 3, "msr", CLOCK_MODULATION), expected[level]);
    }
    assert_int_equal(pwr_lever_set(opened.tstate, 0), PWR_ERR_RANGE);
    assert_int_equal(pwr_lever_set(opened.tstate, 3), PWR_ERR_RANGE); /* eighths only */
    assert_int_equal(pwr_lever_set(opened.tstate, 17), PWR_ERR_RANGE);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), expected[7]);
    assert_int_equal(pwr_lever_set(opened.tstate, FULL_DUTY), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
    close_tstates(&opened);
}

static void test_other_bits_are_kept_and_originals_come_back(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    fixture_put_msr(fixture, 2, "msr", CLOCK_MODULATION, 0xabcdef000000e00fu);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(set_level(&opened, 7), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0xabcdef000000e012u);
    assert_int_equal(pwr_lever_restore(opened.tstate), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0xabcdef000000e00fu);
    assert_int_equal(fixture_get_msr(fixture, 3, "msr", CLOCK_MODULATION), 0);
    close_tstates(&opened);
}

/* Thermal or site control may already throttle; we never make such a CPU faster. */
static void test_deeper_throttling_of_others_stays(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0x15); /* enabled, 5/16 */
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(set_level(&opened, 4), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x15);
    assert_int_equal(set_level(&opened, 7), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x12);
    close_tstates(&opened);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x15);
}

static void test_only_own_cpus_are_touched(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    fixture_put_msr(fixture, 1, "msr", CLOCK_MODULATION, 0x5);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(set_level(&opened, 7), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 1, "msr", CLOCK_MODULATION), 0x5);
    close_tstates(&opened);
}

static void test_msr_safe_comes_first(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    put_both(fixture, "msr_safe", 0);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_string_equal(pwr_lever_backend(opened.tstate), "msr_safe");
    assert_int_equal(set_level(&opened, 1), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr_safe", CLOCK_MODULATION), 0x1e);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
    close_tstates(&opened);
}

/* One CPU that refuses is enough to take the next back end for all of them. */
static void test_all_cpus_use_the_same_back_end(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    fixture_put_msr(fixture, 2, "msr_safe", CLOCK_MODULATION, 0);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_string_equal(pwr_lever_backend(opened.tstate), "msr");
    close_tstates(&opened);
}

/* What poweraware-inspect asks: each back end by itself. */
static void test_back_ends_one_by_one(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "2-3");
    pwr_guard_t *guard = fixture_guard(fixture);
    unsigned nth = 0, works = 0;
    for (; pwr_lever_backend_name(PWR_LEVER_TSTATE, nth); nth++) {
        char why[512];
        pwr_lever_t *tstate = NULL;
        pwr_status_t status = pwr_lever_open_nth(PWR_LEVER_TSTATE, &fixture->env, topo, guard, nth,
                                                 why, sizeof why, &tstate);
        bool is_msr = strcmp(pwr_lever_backend_name(PWR_LEVER_TSTATE, nth), "msr") == 0;
        assert_int_equal(status == PWR_OK, is_msr);
        assert_true(is_msr || strlen(why) > 0);
        works += is_msr;
        pwr_lever_close(tstate);
    }
    assert_int_equal(works, 1);
    pwr_lever_t *none = NULL;
    assert_int_equal(
        pwr_lever_open_nth(PWR_LEVER_TSTATE, &fixture->env, topo, guard, nth, NULL, 0, &none),
        PWR_ERR_RANGE);
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
}

static void test_no_driver(void **state)
{
    expect_refusal(*state, PWR_ERR_UNSUPPORTED, "/dev/cpu/2/msr: not supported");
}

/* The driver fails reads of a register that the CPU does not have; a directory, too. */
static void test_no_such_register(void **state)
{
    fixture_t *fixture = *state;
    fixture_put(fixture, "/dev/cpu/2/msr", "short");
    fixture_put(fixture, "/dev/cpu/3/msr", "short");
    expect_refusal(fixture, PWR_ERR_IO, "MSR 0x19a: reading: ");
}

/* /dev/full reads as zeros and refuses every write, as msr-safe does outside its allow list. */
static void test_register_that_cannot_be_written(void **state)
{
    fixture_t *fixture = *state;
    fixture_link(fixture, "/dev/cpu/2/msr", "/dev/full");
    fixture_link(fixture, "/dev/cpu/3/msr", "/dev/full");
    expect_refusal(fixture, PWR_ERR_IO, "MSR 0x19a: writing back: ");
}

static int open_without_rights(fixture_t *fixture)
{
    opened_t opened = open_tstates(fixture, "2-3");
    bool good = opened.status == PWR_ERR_PERM && strstr(opened.why, "/dev/cpu/2/msr") &&
                strstr(opened.why, "root");
    close_tstates(&opened);
    return good ? 0 : 1;
}

static void test_missing_rights_and_their_remedy(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    if (geteuid() != 0) {
        print_message("only root can make files that this user may not write\n");
        skip();
    }
    assert_int_equal(fixture_run_unprivileged(fixture, open_without_rights), 0);
}

static void test_dead_guardian_means_no_lever(void **state)
{
    fixture_t *fixture = *state;
    char why[256];
    pwr_lever_t *tstate = NULL;
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "2-3");
    pwr_guard_t *guard = fixture_guard(fixture);
    put_both(fixture, "msr", 0);
    kill(pwr_guard_pid(guard), SIGKILL);
    assert_int_equal(
        pwr_lever_open(PWR_LEVER_TSTATE, &fixture->env, topo, guard, why, sizeof why, &tstate),
        PWR_ERR_IO);
    assert_null(tstate);
    assert_non_null(strstr(why, "guardian"));
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
}

static bool is_restored(const fixture_t *fixture)
{
    return fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION) == 0x5 &&
           fixture_get_msr(fixture, 3, "msr", CLOCK_MODULATION) == 0x5;
}

static bool throttle(fixture_t *fixture)
{
    opened_t opened = open_tstates(fixture, "2-3");
    return opened.status == PWR_OK && set_level(&opened, 7) == PWR_OK;
}

static void test_guardian_knows_every_original(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0x5);
    pid_t client = fixture_start(fixture, throttle);
    assert_false(is_restored(fixture));
    fixture_kill(client);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_failed_writes_are_reported_and_restored_later(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(set_level(&opened, 7), PWR_OK);
    fixture_limit_writes(CLOCK_MODULATION);
    assert_int_equal(set_level(&opened, 3), PWR_ERR_IO);
    assert_int_equal(pwr_lever_restore(opened.tstate), PWR_ERR_IO);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(pwr_lever_restore(opened.tstate), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
    close_tstates(&opened);
}

/* What others write while we hold no level is theirs. */
static uint64_t ahead_ns;

static uint64_t clock_ns(void *arg)
{
    return pwr_env_real.now_ns(arg) + ahead_ns;
}

static void test_one_cpu_that_is_lost_does_not_keep_the_other(void **state)
{
    fixture_t *fixture = *state;
    fixture->env.now_ns = clock_ns;
    put_both(fixture, "msr", 0);
    opened_t opened = open_tstates(fixture, "2-3");
    assert_int_equal(set_level(&opened, 7), PWR_OK);
    fixture_put_msr(fixture, 2, "msr", CLOCK_MODULATION, 0x18);
    ahead_ns += 1000000000; /* it is looked at again */
    assert_int_equal(pwr_lever_restore(opened.tstate), PWR_ERR_FOREIGN);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x18);
    assert_int_equal(fixture_get_msr(fixture, 3, "msr", CLOCK_MODULATION), 0);
    close_tstates(&opened);
}

static void test_restore_without_a_change_writes_nothing(void **state)
{
    fixture_t *fixture = *state;
    put_both(fixture, "msr", 0);
    opened_t opened = open_tstates(fixture, "2-3");
    fixture_put_msr(fixture, 2, "msr", CLOCK_MODULATION, 0x18);
    assert_int_equal(pwr_lever_restore(opened.tstate), PWR_OK);
    close_tstates(&opened);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_levels_are_eighths_of_the_clock),
        FIXTURE_TEST(test_other_bits_are_kept_and_originals_come_back),
        FIXTURE_TEST(test_deeper_throttling_of_others_stays),
        FIXTURE_TEST(test_only_own_cpus_are_touched),
        FIXTURE_TEST(test_msr_safe_comes_first),
        FIXTURE_TEST(test_all_cpus_use_the_same_back_end),
        FIXTURE_TEST(test_back_ends_one_by_one),
        FIXTURE_TEST(test_no_driver),
        FIXTURE_TEST(test_no_such_register),
        FIXTURE_TEST(test_register_that_cannot_be_written),
        FIXTURE_TEST(test_missing_rights_and_their_remedy),
        FIXTURE_TEST(test_dead_guardian_means_no_lever),
        FIXTURE_TEST(test_guardian_knows_every_original),
        FIXTURE_TEST(test_failed_writes_are_reported_and_restored_later),
        FIXTURE_TEST(test_one_cpu_that_is_lost_does_not_keep_the_other),
        FIXTURE_TEST(test_restore_without_a_change_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
