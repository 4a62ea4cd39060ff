/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states on cpufreq files.
 */
#include "config.h"

#include "fixture.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pwr/lever.h"

typedef struct opened {
    pwr_topo_t *topo;
    pwr_guard_t *guard;
    pwr_lever_t *pstate; /* NULL: did not open */
    pwr_status_t status;
    char why[1024];
} opened_t;

static opened_t open_pstates(fixture_t *fixture, const char *cpulist)
{
    opened_t opened = {.topo = fixture_topo(fixture, NULL, cpulist)};
    opened.guard = fixture_guard(fixture);
    opened.status = pwr_lever_open(PWR_LEVER_PSTATE, &fixture->env, opened.topo, opened.guard,
                                   opened.why, sizeof opened.why, &opened.pstate);
    return opened;
}

static void close_pstates(opened_t *opened)
{
    pwr_lever_close(opened->pstate);
    pwr_guard_stop(opened->guard);
    pwr_topo_close(opened->topo);
}

static void expect_refusal(fixture_t *fixture, pwr_status_t status, const char *why)
{
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(opened.status, status);
    assert_null(opened.pstate);
    assert_non_null(strstr(opened.why, why));
    close_pstates(&opened);
}

static void put_two_cpus(fixture_t *fixture)
{
    fixture_put_cpufreq(fixture, 0, "0\n");
    fixture_put_cpufreq(fixture, 1, "1\n");
}

static void expect_bounds(const fixture_t *fixture, unsigned cpu, unsigned long floor_khz,
                          unsigned long ceiling_khz)
{
    assert_int_equal(fixture_get_khz(fixture, cpu, "scaling_min_freq"), floor_khz);
    assert_int_equal(fixture_get_khz(fixture, cpu, "scaling_max_freq"), ceiling_khz);
}

static void expect_originals(const fixture_t *fixture, unsigned cpu)
{
    expect_bounds(fixture, cpu, FIXTURE_FLOOR_KHZ, FIXTURE_CEILING_KHZ);
}

static void test_limits_come_from_hardware_and_ceiling(void **state)
{
    put_two_cpus(*state);
    opened_t opened = open_pstates(*state, "0-1");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.pstate), "cpufreq");
    assert_int_equal(pwr_lever_lowest(opened.pstate), FIXTURE_LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.pstate), FIXTURE_CEILING_KHZ);
    assert_int_equal(pwr_lever_set(opened.pstate, FIXTURE_LOWEST_KHZ - 1), PWR_ERR_RANGE);
    assert_int_equal(pwr_lever_set(opened.pstate, FIXTURE_CEILING_KHZ + 1), PWR_ERR_RANGE);
    expect_originals(*state, 0);
    close_pstates(&opened);
}

static void test_set_lowers_the_floor_with_the_ceiling(void **state)
{
    put_two_cpus(*state);
    opened_t opened = open_pstates(*state, "0-1");
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    expect_bounds(*state, 0, 1200000, 1200000);
    expect_bounds(*state, 1, 1200000, 1200000);
    /* Back up part of the way: the floor goes no higher than it was found. */
    assert_int_equal(pwr_lever_set(opened.pstate, 2000000), PWR_OK);
    expect_bounds(*state, 0, FIXTURE_FLOOR_KHZ, 2000000);
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_OK);
    expect_originals(*state, 0);
    expect_originals(*state, 1);
    close_pstates(&opened);
}

/* The fast path writes no file twice and none that has its value already. */
static void test_unchanged_floor_is_not_written(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_cpufreq(fixture, 0, "0\n");
    opened_t opened = open_pstates(fixture, "0");
    fixture_put_cpufreq_file(fixture, 0, "scaling_min_freq", "1300000\n");
    assert_int_equal(pwr_lever_set(opened.pstate, 2000000), PWR_OK);
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_OK);
    expect_bounds(fixture, 0, 1300000, FIXTURE_CEILING_KHZ);
    close_pstates(&opened);
}

static void test_only_own_cpus_are_touched(void **state)
{
    put_two_cpus(*state);
    opened_t opened = open_pstates(*state, "1");
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    expect_originals(*state, 0);
    close_pstates(&opened);
    expect_originals(*state, 1);
}

static void test_unequal_cpus_clip_to_their_own_range(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    fixture_put_cpufreq_file(fixture, 1, "cpuinfo_min_freq", "1400000\n");
    fixture_put_cpufreq_file(fixture, 1, "scaling_max_freq", "2000000\n");
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(pwr_lever_lowest(opened.pstate), 1200000);
    assert_int_equal(pwr_lever_full(opened.pstate), 3000000);
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    expect_bounds(fixture, 1, 1400000, 1400000);
    assert_int_equal(pwr_lever_set(opened.pstate, 2600000), PWR_OK);
    expect_bounds(fixture, 0, FIXTURE_FLOOR_KHZ, 2600000);
    expect_bounds(fixture, 1, FIXTURE_FLOOR_KHZ, 2000000); /* never above what was found */
    close_pstates(&opened);
}

/* A policy of several own CPUs is driven through the lowest; the other folder stays untouched
   (on a real machine both are the same files). */
static void test_shared_policy_is_written_once(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_cpufreq(fixture, 0, "0 1\n");
    fixture_put_cpufreq(fixture, 1, "0-1\n");
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    expect_bounds(fixture, 0, 1200000, 1200000);
    expect_originals(fixture, 1);
    close_pstates(&opened);
}

static void test_policy_with_foreign_cpus_is_refused(void **state)
{
    fixture_put_cpufreq(*state, 0, "0 1 2 3\n");
    fixture_put_cpufreq(*state, 1, "0 1 2 3\n");
    expect_refusal(*state, PWR_ERR_SHARED, "CPU 2, which is not in this process's binding");
}

static void test_userspace_governor(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_cpufreq(fixture, 0, "0\n");
    fixture_put_cpufreq_file(fixture, 0, "scaling_governor", "userspace\n");
    fixture_put_cpufreq_file(fixture, 0, "scaling_setspeed", "2400000\n");
    opened_t opened = open_pstates(fixture, "0");
    assert_string_equal(pwr_lever_backend(opened.pstate), "cpufreq-setspeed");
    assert_int_equal(pwr_lever_full(opened.pstate), 2400000);
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_setspeed"), 1200000);
    expect_originals(fixture, 0); /* one write is enough */
    assert_int_equal(pwr_lever_set(opened.pstate, 2300000), PWR_OK);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_setspeed"), 2300000);
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    close_pstates(&opened);
    expect_originals(fixture, 0);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_setspeed"), 2400000);
}

static void test_setspeed_needs_no_ceiling(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_cpufreq(fixture, 0, "0\n");
    fixture_put_cpufreq_file(fixture, 0, "scaling_governor", "userspace\n");
    fixture_put_cpufreq_file(fixture, 0, "scaling_setspeed", "2400000\n");
    fixture_link(fixture, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "/dev/full");
    opened_t opened = open_pstates(fixture, "0");
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_lever_full(opened.pstate), 2400000);
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_setspeed"), 1200000);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_min_freq"), FIXTURE_FLOOR_KHZ);
    close_pstates(&opened);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_setspeed"), 2400000);
}

enum { PERF_CTL = 0x199, PLATFORM_INFO = 0xce, TURBO_RATIO_LIMIT = 0x1ad };

static void put_ratios(fixture_t *fixture, unsigned cpu, const char *device)
{
    fixture_put_msr(fixture, cpu, device, PLATFORM_INFO, 0x80000001800u); /* lowest 8, base 24 */
    fixture_put_msr(fixture, cpu, device, TURBO_RATIO_LIMIT, 0x1a1b1c1e); /* one core: 30 */
    fixture_put_msr(fixture, cpu, device, PERF_CTL, 0x100001c00);         /* 28, turbo off */
}

/* No cpufreq at all, as under some hypervisors and with the driver switched off. */
static void test_ratios_by_register(void **state)
{
    fixture_t *fixture = *state;
    put_ratios(fixture, 0, "msr");
    put_ratios(fixture, 1, "msr");
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.pstate), "perf_ctl-msr");
    assert_int_equal(pwr_lever_lowest(opened.pstate), 800000);
    assert_int_equal(pwr_lever_full(opened.pstate), 2800000);
    assert_int_equal(pwr_lever_set(opened.pstate, 800000), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", PERF_CTL), 0x100000800);
    assert_int_equal(fixture_get_msr(fixture, 1, "msr", PERF_CTL), 0x100000800);
    assert_int_equal(pwr_lever_set(opened.pstate, 1999999), PWR_OK); /* down to a ratio */
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", PERF_CTL), 0x100001300);
    close_pstates(&opened);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", PERF_CTL), 0x100001c00);
    assert_int_equal(fixture_get_msr(fixture, 1, "msr", PERF_CTL), 0x100001c00);
}

static void test_registers_without_ratios(void **state)
{
    fixture_t *fixture = *state;
    put_ratios(fixture, 0, "msr");
    put_ratios(fixture, 1, "msr");
    fixture_put_msr(fixture, 1, "msr", PLATFORM_INFO, 0x1800);
    /* IO is how a plain file says that it ends before HWP's registers. */
    expect_refusal(fixture, PWR_ERR_IO, "msr: CPU 1: lowest ratio 0, highest 30");
}

static void test_a_lowered_ceiling_is_adopted(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    opened_t opened = open_pstates(fixture, "0-1");
    fixture_put_cpufreq_file(fixture, 1, "scaling_max_freq", "2000000\n");
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    pwr_lever_counts_t counts = {0};
    pwr_lever_count(opened.pstate, &counts);
    assert_int_equal(counts.adopted, 1);
    close_pstates(&opened);
    expect_originals(fixture, 0);
    expect_bounds(fixture, 1, FIXTURE_FLOOR_KHZ, 2000000);
}

static void test_no_cpufreq(void **state)
{
    expect_refusal(*state, PWR_ERR_UNSUPPORTED, "cpu0/cpufreq/related_cpus: not supported");
}

static void test_second_cpu_without_cpufreq(void **state)
{
    fixture_put_cpufreq(*state, 0, "0\n");
    expect_refusal(*state, PWR_ERR_UNSUPPORTED, "cpu1/cpufreq");
}

static void test_garbled_files(void **state)
{
    static const char *const garbled[][2] = {
        {"cpuinfo_min_freq", "fast\n"},
        {"cpuinfo_min_freq", "0\n"},
        {"cpuinfo_min_freq", "99999999999\n"},
        {"cpuinfo_max_freq", "1000\n"},
        {"scaling_max_freq", ""},
        {"scaling_max_freq", "-5\n"},
        {"scaling_min_freq", "12x\n"},
        {"scaling_min_freq", "1200000 but this text is too long to be kept\n"},
        {"related_cpus", ""},
        {"related_cpus", "0 x\n"},
        {"related_cpus", "3-0\n"},
    };
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof garbled / sizeof garbled[0]; i++) {
        put_two_cpus(fixture);
        fixture_put_cpufreq_file(fixture, 0, garbled[i][0], garbled[i][1]);
        opened_t opened = open_pstates(fixture, "0-1");
        assert_int_equal(opened.status, PWR_ERR_PARSE);
        close_pstates(&opened);
    }
}

static void test_directory_in_place_of_a_file(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_min_freq");
    fixture_make_directory(fixture, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_min_freq");
    expect_refusal(fixture, PWR_ERR_IO, "cpu1/cpufreq/scaling_min_freq");
}

static int open_without_rights(fixture_t *fixture)
{
    opened_t opened = open_pstates(fixture, "0-1");
    bool good = opened.status == PWR_ERR_PERM && strstr(opened.why, "scaling_max_freq") &&
                strstr(opened.why, "udev");
    close_pstates(&opened);
    return good ? 0 : 1;
}

static void test_missing_rights_and_their_remedy(void **state)
{
    put_two_cpus(*state);
    if (geteuid() != 0) {
        print_message("only root can make files that this user may not write\n");
        skip();
    }
    assert_int_equal(fixture_run_unprivileged(*state, open_without_rights), 0);
}

static bool is_restored(const fixture_t *fixture)
{
    return fixture_get_khz(fixture, 0, "scaling_min_freq") == FIXTURE_FLOOR_KHZ &&
           fixture_get_khz(fixture, 0, "scaling_max_freq") == FIXTURE_CEILING_KHZ &&
           fixture_get_khz(fixture, 1, "scaling_min_freq") == FIXTURE_FLOOR_KHZ &&
           fixture_get_khz(fixture, 1, "scaling_max_freq") == FIXTURE_CEILING_KHZ;
}

static bool lower(fixture_t *fixture)
{
    opened_t opened = open_pstates(fixture, "0-1");
    return opened.status == PWR_OK && pwr_lever_set(opened.pstate, 1200000) == PWR_OK;
}

static void test_guardian_knows_every_original(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    pid_t client = fixture_start(fixture, lower);
    assert_false(is_restored(fixture));
    fixture_kill(client);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_failed_writes_are_reported_and_restored_later(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(pwr_lever_set(opened.pstate, 1200000), PWR_OK);
    fixture_limit_writes(0);
    assert_int_equal(pwr_lever_set(opened.pstate, 2000000), PWR_ERR_IO);
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_ERR_IO);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_OK);
    assert_true(is_restored(fixture));
    close_pstates(&opened);
}

/* A new ceiling that an administrator sets while we hold nothing is theirs. */
static void test_one_cpu_that_is_lost_does_not_keep_the_other(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    opened_t opened = open_pstates(fixture, "0-1");
    assert_int_equal(pwr_lever_set(opened.pstate, FIXTURE_LOWEST_KHZ), PWR_OK);
    fixture_put_cpufreq_file(fixture, 0, "scaling_max_freq", "2000000\n");
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_ERR_FOREIGN);
    expect_originals(fixture, 1);
    expect_bounds(fixture, 0, FIXTURE_FLOOR_KHZ, 2000000);
    close_pstates(&opened);
}

static void test_restore_without_a_change_writes_nothing(void **state)
{
    fixture_t *fixture = *state;
    put_two_cpus(fixture);
    opened_t opened = open_pstates(fixture, "0-1");
    fixture_put_cpufreq_file(fixture, 0, "scaling_max_freq", "1800000\n");
    assert_int_equal(pwr_lever_restore(opened.pstate), PWR_OK);
    close_pstates(&opened);
    assert_int_equal(fixture_get_khz(fixture, 0, "scaling_max_freq"), 1800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_limits_come_from_hardware_and_ceiling),
        FIXTURE_TEST(test_set_lowers_the_floor_with_the_ceiling),
        FIXTURE_TEST(test_unchanged_floor_is_not_written),
        FIXTURE_TEST(test_only_own_cpus_are_touched),
        FIXTURE_TEST(test_unequal_cpus_clip_to_their_own_range),
        FIXTURE_TEST(test_shared_policy_is_written_once),
        FIXTURE_TEST(test_policy_with_foreign_cpus_is_refused),
        FIXTURE_TEST(test_userspace_governor),
        FIXTURE_TEST(test_setspeed_needs_no_ceiling),
        FIXTURE_TEST(test_ratios_by_register),
        FIXTURE_TEST(test_registers_without_ratios),
        FIXTURE_TEST(test_a_lowered_ceiling_is_adopted),
        FIXTURE_TEST(test_no_cpufreq),
        FIXTURE_TEST(test_second_cpu_without_cpufreq),
        FIXTURE_TEST(test_garbled_files),
        FIXTURE_TEST(test_directory_in_place_of_a_file),
        FIXTURE_TEST(test_missing_rights_and_their_remedy),
        FIXTURE_TEST(test_guardian_knows_every_original),
        FIXTURE_TEST(test_failed_writes_are_reported_and_restored_later),
        FIXTURE_TEST(test_one_cpu_that_is_lost_does_not_keep_the_other),
        FIXTURE_TEST(test_restore_without_a_change_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
