/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade: what its verbs do, and what failures do.
 */
#include "config.h"

#include "power_fixture.h"

#include <string.h>
#include <sys/resource.h>

static void test_both_levers_on_own_cpus(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_string_equal(pwr_power_why_off(power), "");
    assert_int_equal(pwr_topo_num_packages(pwr_power_topo(power)), 2);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 4, PWR_POWER_LENGTH_UNKNOWN);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 3, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 1, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_int_equal(fixture_get_msr(fixture, 3, "msr", POWER_CLOCK_MODULATION), 0x18);
    assert_int_equal(fixture_get_msr(fixture, 4, "msr", POWER_CLOCK_MODULATION), 0);
    assert_int_equal(pwr_power_level(power), 4);
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    assert_int_equal(pwr_power_level(power), 0);
    assert_true(power_is_untouched(fixture));
    pwr_power_close(power);
}

static void test_verbs_are_idempotent_and_counted(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "0");
    for (int i = 0; i < 3; i++) {
        pwr_power_full(power); /* nothing to do */
    }
    for (int i = 0; i < 3; i++) {
        pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
        pwr_power_throttle(power, 9, PWR_POWER_LENGTH_UNKNOWN); /* the deepest */
    }
    assert_int_equal(pwr_power_level(power), 7);
    power_kernel.ahead_ns += 5000000;
    pwr_power_throttle(power, 4, PWR_POWER_LENGTH_UNKNOWN); /* goes on being throttled */
    power_kernel.ahead_ns += 2000000;
    pwr_power_throttle(power, 0, PWR_POWER_LENGTH_UNKNOWN);
    power_kernel.ahead_ns += 1000000;
    pwr_power_full(power);
    power_kernel.ahead_ns += 900000000000;
    const pwr_power_counters_t counters = pwr_power_counters(power);
    const pwr_lever_counts_t *low = &counters.lever[PWR_LEVER_PSTATE];
    const pwr_lever_counts_t *throttled = &counters.lever[PWR_LEVER_TSTATE];
    assert_int_equal(low->writes, 2);
    assert_int_equal(throttled->writes, 3);
    assert_int_equal(low->skipped + throttled->skipped, 0);
    assert_int_equal(low->errors + throttled->errors, 0);
    assert_true(throttled->held_ns >= 7000000 && low->held_ns >= throttled->held_ns + 1000000);
    assert_true(low->held_ns < 900000000000);
    pwr_power_close(power);
}

/* Only phases that last as long as a transition costs; who is low already goes lower for any. */
static void test_short_phases_are_skipped(void **state)
{
    fixture_t *fixture = *state;
    pwr_policy_t *policy;
    power_put_hardware(fixture);
    assert_int_equal(pwr_policy_load(&fixture->env, NULL, &policy), PWR_OK); /* built in */
    const uint64_t low_ns = pwr_policy_break_even(policy, PWR_LEVER_PSTATE).ns;
    const uint64_t throttle_ns = pwr_policy_break_even(policy, PWR_LEVER_TSTATE).ns;
    pwr_power_config_t config = power_both_levers;
    config.policy = policy;
    pwr_power_t *power = power_open(fixture, &config, "2");
    free(policy);
    pwr_power_arm(power);
    assert_true(throttle_ns < low_ns);
    pwr_power_low(power, low_ns - 1);
    pwr_power_throttle(power, 7, throttle_ns - 1);
    assert_true(power_is_untouched(fixture));
    pwr_power_full(power);
    pwr_power_unthrottle(power);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        assert_int_equal(power_counts(power, id)->skipped, power->levers[id].use ? 1 : 0);
        assert_int_equal(power_counts(power, id)->writes, 0);
    }
    pwr_power_low(power, low_ns);
    pwr_power_throttle(power, 4, throttle_ns);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(pwr_power_level(power), 4);
    pwr_power_low(power, 1);
    pwr_power_throttle(power, 7, 1);
    assert_int_equal(pwr_power_level(power), 7);
    assert_int_equal(power_counts(power, PWR_LEVER_PSTATE)->skipped, 1);
    pwr_power_close(power);
    assert_true(power_is_untouched(fixture));
}

/* Where writes take long, phases must be longer; and it is tried again whether they still do. */
static void test_slow_writes_keep_a_lever_up(void **state)
{
    enum { PHASE_NS = 5000000, WRITE_NS = 2000000 };
    fixture_t *fixture = *state;
    pwr_policy_t *policy;
    power_put_hardware(fixture);
    assert_int_equal(pwr_policy_load(&fixture->env, NULL, &policy), PWR_OK);
    pwr_power_config_t config = power_both_levers;
    config.policy = policy;
    pwr_power_t *power = power_open(fixture, &config, "2");
    free(policy);
    pwr_power_arm(power);
    power_kernel.tick_ns = WRITE_NS;
    for (unsigned phase = 0; phase < 10; phase++) {
        pwr_power_low(power, PHASE_NS);
        pwr_power_full(power);
    }
    fixture_assert_between(power_counts(power, PWR_LEVER_PSTATE)->writes, 2, 10);
    fixture_assert_between(power_counts(power, PWR_LEVER_PSTATE)->skipped, 5, 9);
    pwr_power_low(power, 20 * PHASE_NS);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    pwr_power_full(power);
    power_kernel.tick_ns = 0;
    const uint64_t before = power_counts(power, PWR_LEVER_PSTATE)->writes;
    for (unsigned phase = 0; phase < 4000; phase++) {
        pwr_power_low(power, PHASE_NS);
        pwr_power_full(power);
    }
    fixture_assert_between(power_counts(power, PWR_LEVER_PSTATE)->writes, before + 2 * 2000,
                           before + 2 * 4000);
    pwr_power_close(power);
}

static pwr_power_t *open_all(fixture_t *fixture, const char *cpulist)
{
    const pwr_power_config_t config = pwr_power_config_all("/run");
    power_put_hardware(fixture);
    fixture_put_uncore(fixture, 0, 0, 3);
    pwr_power_t *power = power_open(fixture, &config, cpulist);
    pwr_power_arm(power);
    return power;
}

/* Its break-even is long, so it moves only in phases whose length is expected. */
static void test_uncore_moves_in_long_phases(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_t *power = open_all(fixture, "0-3");
    pwr_lever_use_t uses[PWR_NUM_LEVERS];
    pwr_power_levers(power, uses);
    assert_string_equal(uses[PWR_LEVER_UNCORE].backend, "intel_uncore_frequency");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(fixture_get_uncore_khz(fixture, 0, "max_freq_khz"), 2400000);
    assert_int_equal(power_counts(power, PWR_LEVER_UNCORE)->skipped, 1);
    pwr_power_full(power);
    pwr_power_low(power, 1000000000);
    assert_int_equal(fixture_get_uncore_khz(fixture, 0, "max_freq_khz"), 1200000);
    pwr_power_throttle(power, 7, 1000000000);
    pwr_power_unthrottle(power);
    assert_int_equal(power_counts(power, PWR_LEVER_UNCORE)->writes, 1);
    pwr_power_full(power);
    assert_int_equal(fixture_get_uncore_khz(fixture, 0, "max_freq_khz"), 2400000);
    assert_int_equal(power_counts(power, PWR_LEVER_UNCORE)->writes, 2);
    assert_true(power_is_untouched(fixture));
    pwr_power_close(power);
}

/* Others may compute on the package: the other levers work, and the reason names it. */
static void test_uncore_stays_where_a_cpu_is_nobodys(void **state)
{
    pwr_power_t *power = open_all(*state, "0-2");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE) && pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_UNCORE));
    assert_non_null(strstr(pwr_power_why_off(power), "uncore frequencies off: "));
    pwr_lever_use_t uses[PWR_NUM_LEVERS];
    pwr_power_levers(power, uses);
    assert_string_equal(uses[PWR_LEVER_PSTATE].backend, "cpufreq");
    assert_string_equal(uses[PWR_LEVER_PSTATE].why_off, "");
    assert_string_equal(uses[PWR_LEVER_UNCORE].backend, "");
    assert_non_null(strstr(uses[PWR_LEVER_UNCORE].why_off, "CPU 3 has the same control"));
    pwr_power_close(power);
}

static void test_close_restores(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "0-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_close(power);
    assert_true(power_is_untouched(fixture));
    pwr_power_close(NULL);
}

static unsigned count_lines(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

/* The write of a T-state fails, its restore too: everything is left to the guardian, which can
   write because the limit is ours alone. */
static void test_failing_writes_leave_everything_to_the_guardian(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(0);
    pwr_power_throttle(power, 3, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(RLIM_INFINITY);
    assert_true(fixture_eventually(power_is_untouched, fixture));
    assert_int_equal(power_counts(power, PWR_LEVER_TSTATE)->errors, 1);
    power_expect_off(power, "T-states off: given up: a write failed");
    assert_non_null(strstr(pwr_power_why_off(power), "left to the guardian"));
    assert_int_equal(count_lines(fixture->log, "given up"), 1);
    pwr_power_close(power);
}

static void test_close_leaves_what_it_cannot_restore_to_the_guardian(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(0);
    pwr_power_close(power);
    fixture_limit_writes(RLIM_INFINITY);
    assert_true(fixture_eventually(power_is_untouched, fixture));
}

/* Only the MSR files refuse (the limit is below their offset and above cpufreq's), and nothing
   was throttled yet; the originals are 0, so that restoring them fails as well. */
static void test_failing_t_states_put_p_states_back(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(POWER_CLOCK_MODULATION);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    fixture_limit_writes(RLIM_INFINITY);
    pwr_power_close(power);
    assert_true(fixture_eventually(power_is_untouched, fixture));
}

/* EAR, GEOPM or an administrator takes a CPU over: it is theirs, our other CPU is as it was, and
   the other lever goes on. */
static void test_a_foreign_write_is_yielded_to(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    fixture_put_cpufreq_file(fixture, 2, "scaling_max_freq", "2000000\n");
    pwr_power_full(power);
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
    assert_int_equal(fixture_get_khz(fixture, 3, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_non_null(
        strstr(pwr_power_why_off(power), "P-states off: yielded for the rest of the job"));
    assert_int_equal(power_counts(power, PWR_LEVER_PSTATE)->yielded, 1);
    assert_int_equal(power_counts(power, PWR_LEVER_PSTATE)->errors, 0);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", POWER_CLOCK_MODULATION), 0x12);
    pwr_power_close(power);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", POWER_CLOCK_MODULATION), 0);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
}

static void test_a_new_ceiling_between_uses_is_kept(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_full(power);
    fixture_put_cpufreq_file(fixture, 2, "scaling_max_freq", "2000000\n");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_full(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_int_equal(power_counts(power, PWR_LEVER_PSTATE)->adopted, 1);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
    pwr_power_close(power);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
}

static bool throttle(fixture_t *fixture)
{
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    return pwr_power_level(power) == 7;
}

static void test_killed_process_is_restored(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pid_t process = fixture_start(fixture, throttle);
    assert_false(power_is_untouched(fixture));
    fixture_kill(process);
    assert_true(fixture_eventually(power_is_untouched, fixture));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_both_levers_on_own_cpus),
        FIXTURE_TEST(test_verbs_are_idempotent_and_counted),
        FIXTURE_TEST(test_short_phases_are_skipped),
        FIXTURE_TEST(test_slow_writes_keep_a_lever_up),
        FIXTURE_TEST(test_uncore_moves_in_long_phases),
        FIXTURE_TEST(test_uncore_stays_where_a_cpu_is_nobodys),
        FIXTURE_TEST(test_close_restores),
        FIXTURE_TEST(test_failing_writes_leave_everything_to_the_guardian),
        FIXTURE_TEST(test_close_leaves_what_it_cannot_restore_to_the_guardian),
        FIXTURE_TEST(test_failing_t_states_put_p_states_back),
        FIXTURE_TEST(test_a_foreign_write_is_yielded_to),
        FIXTURE_TEST(test_a_new_ceiling_between_uses_is_kept),
        FIXTURE_TEST(test_killed_process_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
