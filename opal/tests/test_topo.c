/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packages, cores, CPUs and binding, on synthetic machines, a tree of files and this machine.
 */
#include "config.h"

#include "fixture.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "topo/topo_private.h"

static void test_two_packages(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, NULL, "4-5");
    assert_int_equal(pwr_topo_num_packages(topo), 2);
    assert_int_equal(pwr_topo_num_cores(topo), 8);
    assert_int_equal(pwr_topo_num_cpus(topo), 8);
    assert_int_equal(pwr_topo_package_of(topo, 3), 0);
    assert_int_equal(pwr_topo_package_of(topo, 4), 1);
    assert_int_equal(pwr_topo_package_of(topo, 8), -1);
    assert_int_equal(pwr_topo_first_cpu(topo, 1), 4);
    assert_int_equal(pwr_topo_first_cpu(topo, 2), -1);
    assert_int_equal(pwr_topo_num_my_cpus(topo), 2);
    assert_int_equal(pwr_topo_my_cpu(topo, 0), 4);
    assert_int_equal(pwr_topo_my_cpu(topo, 1), 5);
    assert_int_equal(pwr_topo_my_package(topo), 1);
    assert_true(pwr_topo_is_bound(topo));
    pwr_topo_close(topo);
}

/* Real machines often number package by package only every second CPU. */
static void test_numbers_that_alternate_between_packages(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:2 core:2 pu:1(indexes=0,2,1,3)", "1,3");
    assert_int_equal(pwr_topo_package_of(topo, 0), 0);
    assert_int_equal(pwr_topo_package_of(topo, 1), 1);
    assert_int_equal(pwr_topo_package_of(topo, 2), 0);
    assert_int_equal(pwr_topo_first_cpu(topo, 1), 1);
    assert_int_equal(pwr_topo_my_package(topo), 1);
    pwr_topo_close(topo);
}

static void test_binding_over_both_packages(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, NULL, "3-4");
    assert_int_equal(pwr_topo_my_package(topo), -1);
    assert_true(pwr_topo_is_bound(topo));
    pwr_topo_close(topo);
}

static void test_all_cpus_is_not_bound(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, NULL, "0-7");
    assert_false(pwr_topo_is_bound(topo));
    pwr_topo_close(topo);
    topo = fixture_topo(*state, "package:1 core:1 pu:1", "0");
    assert_true(pwr_topo_is_bound(topo));
    pwr_topo_close(topo);
}

static void test_smt_siblings_are_reached(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:1 core:4 pu:2", "2,5");
    assert_int_equal(pwr_topo_num_cores(topo), 4);
    assert_int_equal(pwr_topo_num_my_cpus(topo), 2);
    assert_int_equal(pwr_topo_num_reached_cpus(topo), 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pwr_topo_reached_cpu(topo, i), 2 + i);
    }
    pwr_topo_close(topo);
}

static void test_impossible_bindings(void **state)
{
    fixture_t *fixture = *state;
    pwr_topo_t *topo = NULL;
    pwr_env_t env = fixture->env;
    env.root = "";
    setenv("HWLOC_SYNTHETIC", "package:2 core:4 pu:1", 1);
    assert_int_equal(pwr_topo_open_with_binding(&env, "99", &topo), PWR_ERR_ARG);
    assert_int_equal(pwr_topo_open_with_binding(&env, "", &topo), PWR_ERR_ARG);
    unsetenv("HWLOC_SYNTHETIC");
    assert_null(topo);
}

/* Two packages of one core in the form of Linux' sysfs. */
static void put_sysfs(fixture_t *fixture)
{
    static const char *const masks[] = {"1\n", "2\n"};
    fixture_put(fixture, "/sys/devices/system/cpu/online", "0-1\n");
    fixture_put(fixture, "/sys/devices/system/cpu/possible", "0-1\n");
    fixture_put(fixture, "/sys/devices/system/cpu/present", "0-1\n");
    fixture_put(fixture, "/proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n\n");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        const char *const files[][2] = {
            {"core_id", "0\n"},           {"physical_package_id", cpu ? "1\n" : "0\n"},
            {"core_cpus", masks[cpu]},    {"thread_siblings", masks[cpu]},
            {"package_cpus", masks[cpu]}, {"core_siblings", masks[cpu]},
        };
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            char path[128];
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
                     files[i][0]);
            fixture_put(fixture, path, files[i][1]);
        }
    }
}

static void test_another_root(void **state)
{
    fixture_t *fixture = *state;
    pwr_topo_t *topo;
    put_sysfs(fixture);
    setenv("HWLOC_FSROOT", "/kept", 1);
    assert_int_equal(pwr_topo_open(&fixture->env, &topo), PWR_OK);
    assert_string_equal(getenv("HWLOC_FSROOT"), "/kept");
    unsetenv("HWLOC_FSROOT");
    assert_int_equal(pwr_topo_num_packages(topo), 2);
    assert_int_equal(pwr_topo_num_cpus(topo), 2);
    assert_int_equal(pwr_topo_package_of(topo, 1), 1);
    assert_false(pwr_topo_is_bound(topo)); /* nobody knows: safe */
    pwr_topo_close(topo);
    assert_int_equal(pwr_topo_open(&fixture->env, &topo), PWR_OK);
    assert_null(getenv("HWLOC_FSROOT"));
    pwr_topo_close(topo);
}

static void test_this_machine_and_its_real_binding(void **state)
{
    cpu_set_t before, one;
    pwr_topo_t *topo;
    int cpu = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pwr_topo_open(&pwr_env_real, &topo), PWR_OK);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(pwr_topo_num_my_cpus(topo), 1);
    assert_int_equal(pwr_topo_my_cpu(topo, 0), cpu);
    assert_true(pwr_topo_is_bound(topo));
    assert_int_equal(pwr_topo_my_package(topo), pwr_topo_package_of(topo, (unsigned)cpu));
    pwr_topo_close(topo);
    pwr_topo_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_two_packages),
        FIXTURE_TEST(test_numbers_that_alternate_between_packages),
        FIXTURE_TEST(test_binding_over_both_packages),
        FIXTURE_TEST(test_all_cpus_is_not_bound),
        FIXTURE_TEST(test_smt_siblings_are_reached),
        FIXTURE_TEST(test_impossible_bindings),
        FIXTURE_TEST(test_another_root),
        FIXTURE_TEST(test_this_machine_and_its_real_binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
