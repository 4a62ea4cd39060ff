/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade: when levers are on, and why they are off.
 */
#include "config.h"

#include "power_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_nothing_happens_before_arming(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open(fixture, &power_both_levers, "0");
    power_expect_off(power, "");
    assert_string_equal(pwr_power_why_off(power), "");
    assert_true(power_is_untouched(fixture));
    pwr_power_close(power);
}

static void test_not_bound(void **state)
{
    power_put_hardware(*state);
    pwr_power_t *power = power_open_and_arm(*state, "0-7");
    power_expect_off(power, "P-states, T-states off: this process is not bound");
    assert_false(pwr_power_is_allowed(power));
    assert_true(power_is_untouched(*state));
    pwr_power_close(power);
}

/* A binding alone would win nothing. */
static void test_not_bound_and_no_hardware(void **state)
{
    pwr_power_t *power = power_open_and_arm(*state, "0-7");
    assert_null(strstr(pwr_power_why_off(power), "bound"));
    assert_non_null(strstr(pwr_power_why_off(power), "T-states off: "));
    assert_false(pwr_power_is_allowed(power));
    pwr_power_close(power);
}

/* Claims without ever arming. */
static bool claim_a_cpu(fixture_t *fixture)
{
    return power_open(fixture, &power_both_levers, "3-4") != NULL;
}

static void test_shared_with_another_process(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    pid_t other = fixture_start(fixture, claim_a_cpu);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    power_expect_off(power, "CPU 3");
    assert_false(pwr_power_is_allowed(power));
    assert_true(power_is_untouched(fixture));
    pwr_power_close(power);
    fixture_kill(other);
    power = power_open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    pwr_power_close(power);
}

static void test_nobody_knows_who_else_is_there(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    fixture_remove(fixture, "/proc/thread-self/status");
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    power_expect_off(power, "/proc does not tell who else is bound to these CPUs");
    pwr_power_close(power);
}

/* Not a rank of ours: another user's program, bound to one of our CPUs. */
static void test_a_neighbour_on_our_cpu(void **state)
{
    fixture_t *fixture = *state;
    power_put_hardware(fixture);
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t2-3\n");
    fixture_put(fixture, "/proc/1/status",
                "Name:\tinit\nTgid:\t1\nPid:\t1\nPPid:\t0\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
    fixture_put(fixture, "/proc/77/status",
                "Name:\tother\nTgid:\t77\nPid:\t77\nPPid:\t1\nUid:\t5\t5\t5\t5\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t3-4\n");
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    power_expect_off(power, "process 77 (other, user 5) is bound to CPU 3");
    assert_true(power_is_untouched(fixture));
    pwr_power_close(power);
}

static void test_no_registry_of_claims(void **state)
{
    pwr_power_config_t config = power_both_levers;
    config.run_directory = "/none/run";
    power_put_hardware(*state);
    pwr_power_t *power = power_open(*state, &config, "2-3");
    pwr_power_arm(power);
    power_expect_off(power, "registry");
    pwr_power_close(power);
}

static void test_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    fixture->env.helper_dir = "/none/run";
    power_put_hardware(fixture);
    pwr_power_t *power = power_open(fixture, &power_both_levers, "2-3");
    pwr_power_arm(power);
    power_expect_off(power, "no guardian");
    assert_false(pwr_power_is_allowed(power));
    assert_true(power_is_untouched(*state));
    pwr_power_close(power);
}

static void test_no_hardware(void **state)
{
    fixture_t *fixture = *state;
    power_put_proc(fixture);
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    power_expect_off(power, "P-states off: ");
    assert_true(pwr_power_is_allowed(power)); /* it is only the hardware */
    assert_non_null(strstr(pwr_power_why_off(power), "; T-states off: "));
    pwr_power_arm(power); /* decides once, says it once */
    char *first = strstr(fixture->log, "P-states stay off");
    assert_non_null(first);
    assert_null(strstr(first + 1, "P-states stay off"));
    pwr_power_close(power);
}

/* The neighbour and the guardian that is missing are not even found. */
static void test_hardware_first(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_config_t config = power_both_levers;
    config.hardware_first = true;
    fixture->env.helper_dir = "/none/run";
    pwr_power_t *power = power_open(fixture, &config, "2-3");
    pwr_power_arm(power);
    power_expect_off(power, "P-states off: ");
    assert_non_null(strstr(pwr_power_why_off(power), "; T-states off: "));
    assert_null(strstr(pwr_power_why_off(power), "guardian"));
    assert_null(strstr(pwr_power_why_off(power), "/proc does not tell"));
    assert_non_null(strstr(fixture->log, "P-states stay off"));
    pwr_power_close(power);
    power_put_hardware(fixture);
    power = power_open(fixture, &config, "2-3");
    pwr_power_arm(power);
    power_expect_off(power, "no guardian");
    pwr_power_close(power);
}

static int arm_without_rights(fixture_t *fixture)
{
    pwr_power_config_t config = power_both_levers;
    config.run_directory = "/open/run";
    pwr_power_t *power = power_open(fixture, &config, "2-3");
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
    power_put_hardware(fixture);
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
    pwr_power_config_t config = power_both_levers;
    config.use[PWR_LEVER_TSTATE] = false;
    power_put_hardware(fixture);
    pwr_power_t *power = power_open(fixture, &config, "2");
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_string_equal(pwr_power_why_off(power), ""); /* nobody asked for the other */
    pwr_power_close(power);
    config.use[PWR_LEVER_PSTATE] = false;
    power = power_open(fixture, &config, "2");
    pwr_power_arm(power);
    power_expect_off(power, "");
    assert_string_equal(pwr_power_why_off(power), "");
    pwr_power_close(power);
}

/* Old processors throttle a core only when all of its threads ask for it. */
static void test_t_states_need_whole_cores_where_the_highest_duty_wins(void **state)
{
    fixture_t *fixture = *state;
    pwr_power_t *power;
    power_put_hardware(fixture);
    fixture_put(fixture, "/proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\n"
                "model name\t: Nehalem\nstepping\t: 5\n\n");
    assert_int_equal(pwr_power_open_on(&fixture->env, &power_both_levers,
                                       fixture_topo(fixture, "package:1 core:4 pu:2", "2-3"),
                                       &power_fake_kernel, &power),
                     PWR_OK);
    power_bind("2-3");
    pwr_power_arm(power);
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    pwr_power_close(power);
    assert_int_equal(pwr_power_open_on(&fixture->env, &power_both_levers,
                                       fixture_topo(fixture, "package:1 core:4 pu:2", "2"),
                                       &power_fake_kernel, &power),
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
    power_put_hardware(fixture);
    fixture_put(fixture, "/proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 19\nmodel\t\t: 1\n"
                "model name\t: Future\nstepping\t: 1\n\n");
    pwr_power_t *power = power_open_and_arm(fixture, "2-3");
    assert_true(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_non_null(strstr(pwr_power_why_off(power), "may slow down whole packages"));
    pwr_power_close(power);
    power = power_open_and_arm(fixture, "0-3");
    assert_true(pwr_power_has(power, PWR_LEVER_TSTATE));
    pwr_power_close(power);
    assert_true(power_is_untouched(fixture));
}

/* Whatever this machine is: opening, arming and closing works, and leaves nothing behind. */
static void test_this_machine(void **state)
{
    fixture_t *fixture = *state;
    pwr_env_t env = fixture->env;
    pwr_power_config_t config = power_both_levers;
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
        FIXTURE_TEST(test_nothing_happens_before_arming),
        FIXTURE_TEST(test_not_bound),
        FIXTURE_TEST(test_not_bound_and_no_hardware),
        FIXTURE_TEST(test_shared_with_another_process),
        FIXTURE_TEST(test_nobody_knows_who_else_is_there),
        FIXTURE_TEST(test_a_neighbour_on_our_cpu),
        FIXTURE_TEST(test_no_registry_of_claims),
        FIXTURE_TEST(test_no_guardian),
        FIXTURE_TEST(test_no_hardware),
        FIXTURE_TEST(test_hardware_first),
        FIXTURE_TEST(test_no_rights),
        FIXTURE_TEST(test_one_lever_alone),
        FIXTURE_TEST(test_t_states_need_whole_cores_where_the_highest_duty_wins),
        FIXTURE_TEST(test_t_states_of_unknown_processors_need_whole_packages),
        FIXTURE_TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
