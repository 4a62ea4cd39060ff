/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade: levers that are on go off when others need the CPUs, or the guardian dies.
 */
#include "config.h"

#include "power_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Half a second of work in between, so that what may have changed is asked again. */
static void pass_time(void)
{
    power_kernel.ahead_ns += 500000000;
}

static pwr_power_t *use_once(fixture_t *fixture, const char *cpulist)
{
    power_put_hardware(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, cpulist);
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
    power_expect_off(power, reason);
    assert_true(power_is_untouched(fixture));
    assert_int_equal(pwr_power_counters(power).withdrawn, 1);
    assert_int_equal(power_counts(power, PWR_LEVER_PSTATE)->errors, 0);
    assert_int_equal(power_counts(power, PWR_LEVER_TSTATE)->errors, 0);
    pwr_power_close(power);
    assert_true(power_is_untouched(fixture));
}

/* A cpuset that shrinks mid-run, or a CPU that goes offline. */
static void test_levers_are_withdrawn_when_a_cpu_is_taken(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    power_bind("3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "CPU 2 was taken from this process");
}

/* A job that shares a CPU. */
static bool claim_a_cpu(fixture_t *fixture)
{
    return power_open(fixture, &power_both_levers, "3-4") != NULL;
}

static void test_levers_are_withdrawn_when_somebody_else_comes(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_t *power = use_once(fixture, "2-3");
    pid_t other = fixture_start(fixture, claim_a_cpu);
    pass_time();
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(fixture, power, "CPU 3, ours or an SMT sibling of ours");
    fixture_kill(other);
}

static void test_levers_are_withdrawn_when_threads_compute(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    power_kernel.process_ns += 40000000;
    power_kernel.ahead_ns += 50000000;
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
    power_bind("3");
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
    power_bind("3");
    power_kernel.ahead_ns += 50000000;
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN); /* too early to ask */
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    pwr_power_full(power);
    power_kernel.ahead_ns += 60000000;
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
    assert_true(power_is_untouched(*state));
}

static void test_levers_are_withdrawn_without_a_guardian(void **state)
{
    pwr_power_t *power = use_once(*state, "2-3");
    kill_guardian(*state);
    fixture_remove(*state, "/poweraware-guard");
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    expect_withdrawn(*state, power, "the guardian died");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_levers_are_withdrawn_when_a_cpu_is_taken),
        FIXTURE_TEST(test_levers_are_withdrawn_when_somebody_else_comes),
        FIXTURE_TEST(test_levers_are_withdrawn_when_threads_compute),
        FIXTURE_TEST(test_levers_are_withdrawn_in_a_long_wait),
        FIXTURE_TEST(test_checks_are_rare),
        FIXTURE_TEST(test_a_dead_guardian_is_replaced),
        FIXTURE_TEST(test_levers_are_withdrawn_without_a_guardian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
