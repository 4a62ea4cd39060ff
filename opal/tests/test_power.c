/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade: when levers are on, when they are off, and what failures do.
 */
#include "config.h"

#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "power_private.h"
#include "topo/cpulist.h"

enum { CLOCK_MODULATION = 0x19a };

static const pwr_power_config_t both_levers = {
    .use = {[PWR_LEVER_PSTATE] = true, [PWR_LEVER_TSTATE] = true}, .run_directory = "/run"};

/* The kernel, as far as the facade asks it: its clock, our binding, other threads' CPU time. */
static struct {
    uint64_t ahead_ns; /* the time: stands still but where a test lets some pass */
    pwr_cpuset_t binding;
    uint64_t process_ns;
} kernel;

static uint64_t clock_ns(void *arg)
{
    (void)arg;
    return 1000000000 + kernel.ahead_ns;
}

static uint64_t process_cpu_ns(void *arg)
{
    (void)arg;
    return kernel.process_ns;
}

static uint64_t thread_cpu_ns(void *arg)
{
    (void)arg;
    return 0;
}

static bool affinity(void *arg, pwr_cpuset_t *set)
{
    (void)arg;
    *set = kernel.binding;
    return true;
}

static const pwr_watch_kernel_t fake_kernel = {
    .process_cpu_ns = process_cpu_ns, .thread_cpu_ns = thread_cpu_ns, .affinity = affinity};

static void bind(const char *cpulist)
{
    assert_int_equal(pwr_cpulist_parse(cpulist, strlen(cpulist), &kernel.binding), PWR_OK);
}

static pwr_power_t *open_power(fixture_t *fixture, const pwr_power_config_t *config,
                               const char *cpulist)
{
    pwr_power_t *power;
    kernel.ahead_ns = kernel.process_ns = 0;
    bind(cpulist);
    fixture->env.now_ns = clock_ns;
    assert_int_equal(pwr_power_open_on(&fixture->env, config, fixture_topo(fixture, NULL, cpulist),
                                       &fake_kernel, &power),
                     PWR_OK);
    return power;
}

static pwr_power_t *open_and_arm(fixture_t *fixture, const char *cpulist)
{
    pwr_power_t *power = open_power(fixture, &both_levers, cpulist);
    pwr_power_arm(power);
    return power;
}

/* /proc as under an emulator: it knows nothing of our binding, so nobody is judged. */
static void put_proc(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
}

static void put_hardware(fixture_t *fixture)
{
    put_proc(fixture);
    static const char *const cpus[] = {"0\n", "1\n", "2\n", "3\n", "4\n", "5\n", "6\n", "7\n"};
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        fixture_put_cpufreq(fixture, cpu, cpus[cpu]);
        fixture_put_msr(fixture, cpu, "msr", CLOCK_MODULATION, 0);
    }
}

static bool is_untouched(const fixture_t *fixture)
{
    bool same = true;
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        same = same && fixture_get_msr(fixture, cpu, "msr", CLOCK_MODULATION) == 0 &&
               fixture_get_khz(fixture, cpu, "scaling_min_freq") == FIXTURE_FLOOR_KHZ &&
               fixture_get_khz(fixture, cpu, "scaling_max_freq") == FIXTURE_CEILING_KHZ;
    }
    return same;
}

static const pwr_lever_counts_t *counts(const pwr_power_t *power, pwr_lever_id_t lever)
{
    static pwr_power_counters_t counters;
    counters = pwr_power_counters(power);
    return &counters.lever[lever];
}

/* All verbs are harmless and counted where the lever was asked for, the reason is said. */
static void expect_off(fixture_t *fixture, pwr_power_t *power, const char *reason)
{
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_non_null(strstr(pwr_power_why_off(power), reason));
    const pwr_power_counters_t before = pwr_power_counters(power);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        assert_int_equal(counts(power, id)->skipped,
                         before.lever[id].skipped + (power->levers[id].use ? 1 : 0));
    }
    assert_int_equal(pwr_power_level(power), 0);
    (void)fixture;
}

static void test_both_levers_on_own_cpus(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_string_equal(pwr_power_why_off(power), "");
    assert_int_equal(pwr_topo_num_packages(pwr_power_topo(power)), 2);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 4, PWR_POWER_LENGTH_UNKNOWN);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 3, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 1, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_int_equal(fixture_get_msr(fixture, 3, "msr", CLOCK_MODULATION), 0x18);
    assert_int_equal(fixture_get_msr(fixture, 4, "msr", CLOCK_MODULATION), 0);
    assert_int_equal(pwr_power_level(power), 4);
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    assert_int_equal(pwr_power_level(power), 0);
    assert_true(is_untouched(fixture));
    pwr_power_close(power);
}

static void test_verbs_are_idempotent_and_counted(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "0");
    for (int i = 0; i < 3; i++) {
        pwr_power_full(power); /* nothing to do */
    }
    for (int i = 0; i < 3; i++) {
        pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
        pwr_power_throttle(power, 9, PWR_POWER_LENGTH_UNKNOWN); /* the deepest */
    }
    assert_int_equal(pwr_power_level(power), 7);
    kernel.ahead_ns += 5000000;
    pwr_power_throttle(power, 4, PWR_POWER_LENGTH_UNKNOWN); /* goes on being throttled */
    kernel.ahead_ns += 2000000;
    pwr_power_throttle(power, 0, PWR_POWER_LENGTH_UNKNOWN);
    kernel.ahead_ns += 1000000;
    pwr_power_full(power);
    kernel.ahead_ns += 900000000000;
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
    put_hardware(fixture);
    assert_int_equal(pwr_policy_load(&fixture->env, NULL, &policy), PWR_OK); /* built in */
    const uint64_t low_ns = pwr_policy_break_even_ns(policy, PWR_LEVER_PSTATE);
    const uint64_t throttle_ns = pwr_policy_break_even_ns(policy, PWR_LEVER_TSTATE);
    pwr_power_config_t config = both_levers;
    config.policy = policy;
    pwr_power_t *power = open_power(fixture, &config, "2");
    free(policy);
    pwr_power_arm(power);
    assert_true(throttle_ns < low_ns);
    pwr_power_low(power, low_ns - 1);
    pwr_power_throttle(power, 7, throttle_ns - 1);
    assert_true(is_untouched(fixture));
    pwr_power_full(power);
    pwr_power_unthrottle(power);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        assert_int_equal(counts(power, id)->skipped, power->levers[id].use ? 1 : 0);
        assert_int_equal(counts(power, id)->writes, 0);
    }
    pwr_power_low(power, low_ns);
    pwr_power_throttle(power, 4, throttle_ns);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(pwr_power_level(power), 4);
    pwr_power_low(power, 1);
    pwr_power_throttle(power, 7, 1);
    assert_int_equal(pwr_power_level(power), 7);
    assert_int_equal(counts(power, PWR_LEVER_PSTATE)->skipped, 1);
    pwr_power_close(power);
    assert_true(is_untouched(fixture));
}

static pwr_power_t *open_all(fixture_t *fixture, const char *cpulist)
{
    const pwr_power_config_t config = pwr_power_config_all("/run");
    put_hardware(fixture);
    fixture_put_uncore(fixture, 0, 0, 3);
    pwr_power_t *power = open_power(fixture, &config, cpulist);
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
    assert_int_equal(counts(power, PWR_LEVER_UNCORE)->skipped, 1);
    pwr_power_full(power);
    pwr_power_low(power, 1000000000);
    assert_int_equal(fixture_get_uncore_khz(fixture, 0, "max_freq_khz"), 1200000);
    pwr_power_throttle(power, 7, 1000000000);
    pwr_power_unthrottle(power);
    assert_int_equal(counts(power, PWR_LEVER_UNCORE)->writes, 1);
    pwr_power_full(power);
    assert_int_equal(fixture_get_uncore_khz(fixture, 0, "max_freq_khz"), 2400000);
    assert_int_equal(counts(power, PWR_LEVER_UNCORE)->writes, 2);
    assert_true(is_untouched(fixture));
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
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "0-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_close(power);
    assert_true(is_untouched(fixture));
    pwr_power_close(NULL);
}

static void test_nothing_happens_before_arming(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_power(fixture, &both_levers, "0");
    expect_off(fixture, power, "");
    assert_string_equal(pwr_power_why_off(power), "");
    assert_true(is_untouched(fixture));
    pwr_power_close(power);
}

static void test_not_bound(void **state)
{
    put_hardware(*state);
    pwr_power_t *power = open_and_arm(*state, "0-7");
    expect_off(*state, power, "P-states, T-states off: this process is not bound");
    assert_false(pwr_power_is_allowed(power));
    assert_true(is_untouched(*state));
    pwr_power_close(power);
}

/* A binding alone would win nothing. */
static void test_not_bound_and_no_hardware(void **state)
{
    pwr_power_t *power = open_and_arm(*state, "0-7");
    assert_null(strstr(pwr_power_why_off(power), "bound"));
    assert_non_null(strstr(pwr_power_why_off(power), "T-states off: "));
    assert_false(pwr_power_is_allowed(power));
    pwr_power_close(power);
}

static void test_shared_with_another_process(void **state)
{
    fixture_t *fixture = *state;
    int ready[2];
    char byte;
    put_hardware(fixture);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_power(fixture, &both_levers, "3-4"); /* claims without ever arming */
        _exit(write(ready[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    expect_off(fixture, power, "CPU 3");
    assert_false(pwr_power_is_allowed(power));
    assert_true(is_untouched(fixture));
    pwr_power_close(power);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    power = open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    pwr_power_close(power);
    close(ready[0]);
    close(ready[1]);
}

static void test_nobody_knows_who_else_is_there(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture_remove(fixture, "/proc/thread-self/status");
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    expect_off(fixture, power, "/proc does not tell who else is bound to these CPUs");
    pwr_power_close(power);
}

/* Not a rank of ours: another user's program, bound to one of our CPUs. */
static void test_a_neighbour_on_our_cpu(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t2-3\n");
    fixture_put(fixture, "/proc/1/status",
                "Name:\tinit\nTgid:\t1\nPid:\t1\nPPid:\t0\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
    fixture_put(fixture, "/proc/77/status",
                "Name:\tother\nTgid:\t77\nPid:\t77\nPPid:\t1\nUid:\t5\t5\t5\t5\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t3-4\n");
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    expect_off(fixture, power, "process 77 (other, user 5) is bound to CPU 3");
    assert_true(is_untouched(fixture));
    pwr_power_close(power);
}

static void test_no_registry_of_claims(void **state)
{
    pwr_power_config_t config = both_levers;
    config.run_directory = "/none/run";
    put_hardware(*state);
    pwr_power_t *power = open_power(*state, &config, "2-3");
    pwr_power_arm(power);
    expect_off(*state, power, "registry");
    pwr_power_close(power);
}

static void test_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    fixture->env.helper_dir = "/none/run";
    put_hardware(fixture);
    pwr_power_t *power = open_power(fixture, &both_levers, "2-3");
    pwr_power_arm(power);
    expect_off(*state, power, "no guardian");
    assert_false(pwr_power_is_allowed(power));
    assert_true(is_untouched(*state));
    pwr_power_close(power);
}

static void test_no_hardware(void **state)
{
    fixture_t *fixture = *state;
    put_proc(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    expect_off(fixture, power, "P-states off: ");
    assert_true(pwr_power_is_allowed(power)); /* it is only the hardware */
    assert_non_null(strstr(pwr_power_why_off(power), "; T-states off: "));
    pwr_power_arm(power); /* decides once, says it once */
    char *first = strstr(fixture->log, "P-states stay off");
    assert_non_null(first);
    assert_null(strstr(first + 1, "P-states stay off"));
    pwr_power_close(power);
}

static int arm_without_rights(fixture_t *fixture)
{
    pwr_power_config_t config = both_levers;
    config.run_directory = "/open/run";
    pwr_power_t *power = open_power(fixture, &config, "2-3");
    pwr_power_arm(power);
    bool good = !pwr_power_has(power, PWR_LEVER_PSTATE) &&
                !pwr_power_has(power, PWR_LEVER_TSTATE) &&
                strstr(pwr_power_why_off(power), "scaling_max_freq: no permission") &&
                strstr(pwr_power_why_off(power), "msr: no permission");
    pwr_power_close(power);
    return good ? 0 : 1;
}

static void test_no_rights(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    put_hardware(fixture);
    if (geteuid() != 0) {
        print_message("only root can make files that this user may not write\n");
        skip();
    }
    fixture_make_directory(fixture, "/open");
    snprintf(name, sizeof name, "%s/open", fixture->root);
    assert_int_equal(chmod(name, 01777), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, arm_without_rights), 0);
}

static void test_one_lever_alone(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_config_t config = both_levers;
    config.use[PWR_LEVER_TSTATE] = false;
    put_hardware(fixture);
    pwr_power_t *power = open_power(fixture, &config, "2");
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_string_equal(pwr_power_why_off(power), ""); /* nobody asked for the other */
    pwr_power_close(power);
    config.use[PWR_LEVER_PSTATE] = false;
    power = open_power(fixture, &config, "2");
    pwr_power_arm(power);
    expect_off(fixture, power, "");
    assert_string_equal(pwr_power_why_off(power), "");
    pwr_power_close(power);
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
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(0);
    pwr_power_throttle(power, 3, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(RLIM_INFINITY);
    assert_true(fixture_eventually(is_untouched, fixture));
    assert_int_equal(counts(power, PWR_LEVER_TSTATE)->errors, 1);
    expect_off(fixture, power, "T-states off: given up: a write failed");
    assert_non_null(strstr(pwr_power_why_off(power), "left to the guardian"));
    assert_int_equal(count_lines(fixture->log, "given up"), 1);
    pwr_power_close(power);
}

static void test_close_leaves_what_it_cannot_restore_to_the_guardian(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(0);
    pwr_power_close(power);
    fixture_limit_writes(RLIM_INFINITY);
    assert_true(fixture_eventually(is_untouched, fixture));
}

/* Only the MSR files refuse (the limit is below their offset and above cpufreq's), and nothing
   was throttled yet; the originals are 0, so that restoring them fails as well. */
static void test_failing_t_states_put_p_states_back(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    fixture_limit_writes(CLOCK_MODULATION);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    fixture_limit_writes(RLIM_INFINITY);
    pwr_power_close(power);
    assert_true(fixture_eventually(is_untouched, fixture));
}

/* EAR, GEOPM or an administrator takes a CPU over: it is theirs, our other CPU is as it was, and
   the other lever goes on. */
static void test_a_foreign_write_is_yielded_to(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    fixture_put_cpufreq_file(fixture, 2, "scaling_max_freq", "2000000\n");
    pwr_power_full(power);
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
    assert_int_equal(fixture_get_khz(fixture, 3, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_non_null(
        strstr(pwr_power_why_off(power), "P-states off: yielded for the rest of the job"));
    assert_int_equal(counts(power, PWR_LEVER_PSTATE)->yielded, 1);
    assert_int_equal(counts(power, PWR_LEVER_PSTATE)->errors, 0);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0x12);
    pwr_power_close(power);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
}

static void test_a_new_ceiling_between_uses_is_kept(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, "2");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_full(power);
    fixture_put_cpufreq_file(fixture, 2, "scaling_max_freq", "2000000\n");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_full(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_int_equal(counts(power, PWR_LEVER_PSTATE)->adopted, 1);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
    pwr_power_close(power);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), 2000000);
}

/* Half a second of work in between, so that what may have changed is asked again. */
static void pass_time(void)
{
    kernel.ahead_ns += 500000000;
}

static pwr_power_t *use_once(fixture_t *fixture, const char *cpulist)
{
    put_hardware(fixture);
    pwr_power_t *power = open_and_arm(fixture, cpulist);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    assert_int_equal(pwr_power_counters(power).withdrawn, 0);
    pass_time();
    return power;
}

static void expect_withdrawn(fixture_t *fixture, pwr_power_t *power, const char *reason)
{
    expect_off(fixture, power, reason);
    assert_true(is_untouched(fixture));
    assert_int_equal(pwr_power_counters(power).withdrawn, 1);
    assert_int_equal(counts(power, PWR_LEVER_PSTATE)->errors, 0);
    assert_int_equal(counts(power, PWR_LEVER_TSTATE)->errors, 0);
    pwr_power_close(power);
    assert_true(is_untouched(fixture));
}

/* A cpuset that shrinks mid-run, or a CPU that goes offline. */
static void test_levers_are_withdrawn_when_a_cpu_is_taken(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    bind("3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "CPU 2 was taken from this process");
}

static void test_levers_are_withdrawn_when_somebody_else_comes(void **state)
{
    fixture_t *fixture = *state;
    int ready[2];
    char byte;
    pwr_power_t *power = use_once(fixture, "2-3");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_power(fixture, &both_levers, "3"); /* a job that shares a CPU, started later */
        _exit(write(ready[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pass_time();
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(fixture, power, "CPU 3, ours or an SMT sibling of ours");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
}

static void test_levers_are_withdrawn_when_threads_compute(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    kernel.process_ns += 40000000;
    kernel.ahead_ns += 50000000;
    pwr_power_unthrottle(power); /* still low */
    assert_int_equal(pwr_power_counters(power).withdrawn, 0);
    pwr_power_full(power);
    expect_withdrawn(*state, power, "other threads of this process compute");
}

/* A rank that waits for minutes moves its T-state now and then, and stays low all the time. */
static void test_levers_are_withdrawn_in_a_long_wait(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    bind("3");
    pass_time();
    pwr_power_unthrottle(power);
    assert_int_equal(pwr_power_counters(power).withdrawn, 0);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "CPU 2 was taken from this process");
}

static void test_checks_are_rare(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_full(power);
    bind("3");
    kernel.ahead_ns += 50000000;
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN); /* too early to ask */
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    pwr_power_full(power);
    kernel.ahead_ns += 60000000;
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "CPU 2 was taken");
}

/* The process that runs this fixture's guardian program; 0 when there is none. */
static pid_t guardian_of(const fixture_t *fixture)
{
    char program[300], link[300], found[300];
    pid_t pid = 0;
    snprintf(program, sizeof program, "%s/poweraware-guard", fixture->root);
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    for (struct dirent *entry; pid == 0 && (entry = readdir(processes)) != NULL;) {
        snprintf(link, sizeof link, "/proc/%.20s/exe", entry->d_name);
        ssize_t length = readlink(link, found, sizeof found - 1);
        found[length > 0 ? length : 0] = '\0';
        pid = strcmp(found, program) == 0 ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
    }
    closedir(processes);
    return pid;
}

static bool has_no_guardian(const fixture_t *fixture)
{
    return guardian_of(fixture) == 0;
}

static pid_t killed;

/* A process that is being ended loses its program first and closes its files only then: it is over
   when it is a zombie. */
static bool is_over(const fixture_t *fixture)
{
    char path[64], line[256] = "";
    (void)fixture;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)killed);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return true;
    }
    size_t length = fread(line, 1, sizeof line - 1, file);
    line[length] = '\0';
    fclose(file);
    const char *name_end = strrchr(line, ')');
    return name_end == NULL || name_end[2] == 'Z' || name_end[2] == 'X';
}

static void kill_guardian(fixture_t *fixture)
{
    killed = guardian_of(fixture);
    assert_true(killed > 0);
    assert_int_equal(kill(killed, SIGKILL), 0);
    assert_true(fixture_eventually(is_over, fixture));
    assert_true(has_no_guardian(fixture));
}

static void test_a_dead_guardian_is_replaced(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    kill_guardian(*state);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    assert_true(guardian_of(*state) > 0);
    assert_int_equal(pwr_power_counters(power).withdrawn, 0);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE) && pwr_power_has(power, PWR_LEVER_TSTATE));
    pwr_power_close(power);
    assert_true(has_no_guardian(*state));
    assert_true(is_untouched(*state));
}

static void test_levers_are_withdrawn_without_a_guardian(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    kill_guardian(*state);
    fixture_remove(*state, "/poweraware-guard");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "the guardian died");
}

/* Old processors throttle a core only when all of its threads ask for it. */
static void test_t_states_need_whole_cores_where_the_highest_duty_wins(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_t *power;
    put_hardware(fixture);
    fixture_put(fixture, "/proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\n"
                "model name\t: Nehalem\nstepping\t: 5\n\n");
    assert_int_equal(pwr_power_open_on(&fixture->env, &both_levers,
                                       fixture_topo(fixture, "package:1 core:4 pu:2", "2-3"),
                                       &fake_kernel, &power),
                     PWR_OK);
    bind("2-3");
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    pwr_power_close(power);
    assert_int_equal(pwr_power_open_on(&fixture->env, &both_levers,
                                       fixture_topo(fixture, "package:1 core:4 pu:2", "2"),
                                       &fake_kernel, &power),
                     PWR_OK);
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_non_null(strstr(pwr_power_why_off(power), "highest duty"));
    pwr_power_close(power);
}

/* A processor that no table knows: assume the worst. */
static void test_t_states_of_unknown_processors_need_whole_packages(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture_put(fixture, "/proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 19\nmodel\t\t: 1\n"
                "model name\t: Future\nstepping\t: 1\n\n");
    pwr_power_t *power = open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_non_null(strstr(pwr_power_why_off(power), "may slow down whole packages"));
    pwr_power_close(power);
    power = open_and_arm(fixture, "0-3");
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    pwr_power_close(power);
    assert_true(is_untouched(fixture));
}

static void test_killed_process_is_restored(void **state)
{
    fixture_t *fixture = *state;
    int ready[2];
    char byte;
    put_hardware(fixture);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pwr_power_t *power = open_and_arm(fixture, "2-3");
        pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
        pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
        bool good = pwr_power_level(power) == 7 && write(ready[1], "x", 1) == 1;
        _exit(good ? pause() : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_false(is_untouched(fixture));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(fixture_eventually(is_untouched, fixture));
    close(ready[0]);
    close(ready[1]);
}

/* Whatever this machine is: opening, arming and closing works, and leaves nothing behind. */
static void test_this_machine(void **state)
{
    fixture_t *fixture = *state;
    pwr_env_t env = fixture->env;
    pwr_power_config_t config = both_levers;
    pwr_power_t *power;
    char directory[sizeof fixture->root + sizeof "/run"];
    env.root = "";
    snprintf(directory, sizeof directory, "%s/run", fixture->root);
    config.run_directory = directory;
    assert_int_equal(pwr_power_open(&env, &config, &power), PWR_OK);
    assert_true(pwr_topo_num_my_cpus(pwr_power_topo(power)) > 0);
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE) ||
                strstr(pwr_power_why_off(power), "P-states"));
    pwr_power_close(power);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_both_levers_on_own_cpus),
        FIXTURE_TEST(test_verbs_are_idempotent_and_counted),
        FIXTURE_TEST(test_short_phases_are_skipped),
        FIXTURE_TEST(test_uncore_moves_in_long_phases),
        FIXTURE_TEST(test_uncore_stays_where_a_cpu_is_nobodys),
        FIXTURE_TEST(test_close_restores),
        FIXTURE_TEST(test_nothing_happens_before_arming),
        FIXTURE_TEST(test_not_bound),
        FIXTURE_TEST(test_not_bound_and_no_hardware),
        FIXTURE_TEST(test_shared_with_another_process),
        FIXTURE_TEST(test_nobody_knows_who_else_is_there),
        FIXTURE_TEST(test_a_neighbour_on_our_cpu),
        FIXTURE_TEST(test_no_registry_of_claims),
        FIXTURE_TEST(test_no_guardian),
        FIXTURE_TEST(test_no_hardware),
        FIXTURE_TEST(test_no_rights),
        FIXTURE_TEST(test_one_lever_alone),
        FIXTURE_TEST(test_failing_writes_leave_everything_to_the_guardian),
        FIXTURE_TEST(test_close_leaves_what_it_cannot_restore_to_the_guardian),
        FIXTURE_TEST(test_failing_t_states_put_p_states_back),
        FIXTURE_TEST(test_a_foreign_write_is_yielded_to),
        FIXTURE_TEST(test_a_new_ceiling_between_uses_is_kept),
        FIXTURE_TEST(test_levers_are_withdrawn_when_a_cpu_is_taken),
        FIXTURE_TEST(test_levers_are_withdrawn_when_somebody_else_comes),
        FIXTURE_TEST(test_levers_are_withdrawn_when_threads_compute),
        FIXTURE_TEST(test_levers_are_withdrawn_in_a_long_wait),
        FIXTURE_TEST(test_a_dead_guardian_is_replaced),
        FIXTURE_TEST(test_levers_are_withdrawn_without_a_guardian),
        FIXTURE_TEST(test_checks_are_rare),
        FIXTURE_TEST(test_t_states_need_whole_cores_where_the_highest_duty_wins),
        FIXTURE_TEST(test_t_states_of_unknown_processors_need_whole_packages),
        FIXTURE_TEST(test_killed_process_is_restored),
        FIXTURE_TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
