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
    assert_int_equal(pwr_topo_next_in_package(topo, 1, -1), 4);
    assert_int_equal(pwr_topo_next_in_package(topo, 2, -1), -1);
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
    assert_int_equal(pwr_topo_next_in_package(topo, 1, -1), 1);
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
    assert_int_equal(pwr_cpuset_count(&pwr_topo_sets(topo)->reached), 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pwr_cpuset_at(&pwr_topo_sets(topo)->reached, i), 2 + i);
    }
    pwr_topo_close(topo);
}

static void test_cpus_of_a_core(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)", "2");
    assert_int_equal(pwr_cpuset_count(&pwr_topo_sets(topo)->reached), 2);
    assert_int_equal(pwr_cpuset_at(&pwr_topo_sets(topo)->reached, 0), 2);
    assert_int_equal(pwr_cpuset_at(&pwr_topo_sets(topo)->reached, 1), 6);
    assert_true(pwr_cpuset_has(&pwr_topo_sets(topo)->mine, 2));
    assert_false(pwr_cpuset_has(&pwr_topo_sets(topo)->mine, 6));
    assert_false(pwr_topo_has_whole_cores(topo));
    pwr_topo_close(topo);
    topo = fixture_topo(*state, "package:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)", "2,6");
    assert_true(pwr_topo_has_whole_cores(topo));
    assert_false(pwr_topo_has_whole_packages(topo));
    pwr_topo_close(topo);
}

static bool is_allowed(const pwr_topo_t *topo, unsigned cpu)
{
    return pwr_cpuset_has(&pwr_topo_sets(topo)->allowed, cpu);
}

static void test_cpus_of_four_packages(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:4 core:2 pu:1", "4-5");
    assert_int_equal(pwr_topo_num_packages(topo), 4);
    assert_int_equal(pwr_topo_next_in_package(topo, 3, -1), 6);
    assert_int_equal(pwr_topo_next_in_package(topo, 3, 6), 7);
    assert_int_equal(pwr_topo_next_in_package(topo, 3, 7), -1);
    assert_int_equal(pwr_topo_next_in_package(topo, 4, -1), -1);
    assert_true(pwr_topo_has_whole_packages(topo));
    assert_true(is_allowed(topo, 0));
    pwr_topo_close(topo);
    topo = fixture_topo(*state, "package:4 core:2 pu:1", "3-5");
    assert_true(pwr_topo_has_whole_cores(topo));
    assert_false(pwr_topo_has_whole_packages(topo));
    pwr_topo_close(topo);
}

static void test_one_core(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:1 core:1 pu:1", "0");
    assert_int_equal(pwr_topo_num_cores(topo), 1);
    assert_true(pwr_topo_has_whole_cores(topo));
    assert_true(pwr_topo_has_whole_packages(topo));
    pwr_topo_close(topo);
}

static void test_machine_without_core_objects(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "numa:2 pu:2", "3");
    assert_int_equal(pwr_topo_num_cores(topo), 4);
    assert_int_equal(pwr_topo_package_of(topo, 3), 0);
    assert_int_equal(pwr_cpuset_count(&pwr_topo_sets(topo)->reached), 1);
    pwr_topo_close(topo);
}

static void test_holes_in_the_numbering(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "package:2 core:2 pu:1(indexes=0,2,8,9)", "8");
    assert_int_equal(pwr_topo_num_cpus(topo), 4);
    assert_int_equal(pwr_topo_package_of(topo, 1), -1);
    assert_int_equal(pwr_topo_next_in_package(topo, 0, 0), 2);
    assert_int_equal(pwr_topo_next_in_package(topo, 1, -1), 8);
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
    assert_int_equal(pwr_topo_open_with_binding(&env, "one", &topo), PWR_ERR_ARG);
    unsetenv("HWLOC_SYNTHETIC");
    assert_null(topo);
}

/* A machine in the form of Linux' sysfs: masks[cpu] are the CPUs of its core (hexadecimal), and
   each core is a package. */
static void put_sysfs(fixture_t *fixture, const char *online, const char *const masks[],
                      unsigned cpus)
{
    fixture_put(fixture, "/sys/devices/system/cpu/online", online);
    fixture_put(fixture, "/sys/devices/system/cpu/possible", "0-3\n");
    fixture_put(fixture, "/sys/devices/system/cpu/present", "0-3\n");
    fixture_put(fixture, "/proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n\n");
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        char package[16];
        char path[128];
        snprintf(package, sizeof package, "%u\n", cpu);
        for (unsigned lower = cpu; lower-- > 0;) {
            if (strcmp(masks[lower], masks[cpu]) == 0) {
                snprintf(package, sizeof package, "%u\n", lower);
            }
        }
        const char *const files[][2] = {
            {"core_id", "0\n"},           {"physical_package_id", package},
            {"core_cpus", masks[cpu]},    {"thread_siblings", masks[cpu]},
            {"package_cpus", masks[cpu]}, {"core_siblings", masks[cpu]},
        };
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
                     files[i][0]);
            fixture_put(fixture, path, files[i][1]);
        }
    }
}

static void check_groups(const pwr_topo_t *topo, pwr_topo_level_t level, const int *wanted,
                         unsigned cpus)
{
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        assert_int_equal(pwr_topo_group_of(topo, level, cpu), wanted[cpu]);
    }
    assert_int_equal(pwr_topo_group_of(topo, level, cpus), -1);
}

/* Two packages with two NUMA nodes each, of which each has two caches. */
static void test_groups_of_cpus(void **state)
{
    static const int packages[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int nodes[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    static const int caches[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    static const char machine[] = "package:2 group:2 [numa] l3:2 core:2 pu:1";
    pwr_topo_t *topo = fixture_topo(*state, machine, "12-13");
    check_groups(topo, PWR_TOPO_PACKAGE, packages, 16);
    check_groups(topo, PWR_TOPO_NUMA, nodes, 16);
    check_groups(topo, PWR_TOPO_L3, caches, 16);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_PACKAGE), 1);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_NUMA), 3);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_L3), 6);
    pwr_topo_close(topo);
    topo = fixture_topo(*state, machine, "13-14");
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_NUMA), 3);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_L3), -1);
    pwr_topo_close(topo);
}

static void test_no_third_level_cache(void **state)
{
    static const int packages[] = {0, 0, 1, 1};
    pwr_topo_t *topo = fixture_topo(*state, "package:2 core:2 pu:1", "2");
    check_groups(topo, PWR_TOPO_L3, packages, 4);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_L3), 1);
    pwr_topo_close(topo);
}

/* Memory of the whole machine beside each package's own, of which there are two kinds. */
static void test_kinds_of_memory(void **state)
{
    pwr_topo_t *topo = fixture_topo(*state, "[numa] package:2 [numa] [numa] core:2 pu:1", "0-1");
    int first = pwr_topo_group_of(topo, PWR_TOPO_NUMA, 0);
    int second = pwr_topo_group_of(topo, PWR_TOPO_NUMA, 2);
    assert_true(first >= 0 && second >= 0 && first != second);
    assert_int_equal(pwr_topo_group_of(topo, PWR_TOPO_NUMA, 1), first);
    assert_int_equal(pwr_topo_group_of(topo, PWR_TOPO_NUMA, 3), second);
    assert_int_equal(pwr_topo_my_group(topo, PWR_TOPO_NUMA), first);
    pwr_topo_close(topo);
}

/* Node 0 is memory without CPUs (CXL), node 1 has two of the four. */
static void test_memory_without_cpus(void **state)
{
    static const char *const masks[] = {"1\n", "2\n", "4\n", "8\n"};
    static const char *const cpumaps[] = {"0\n", "3\n", "c\n"};
    fixture_t *fixture = *state;
    pwr_topo_t *topo;
    put_sysfs(fixture, "0-3\n", masks, 4);
    fixture_put(fixture, "/sys/devices/system/node/online", "0-2\n");
    fixture_put(fixture, "/sys/devices/system/node/possible", "0-2\n");
    for (unsigned node = 0; node < 3; node++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpumap", node);
        fixture_put(fixture, path, cpumaps[node]);
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo", node);
        fixture_put(fixture, path, "Node 0 MemTotal: 1048576 kB\n");
    }
    assert_int_equal(pwr_topo_open_with_binding(&fixture->env, "0-1", &topo), PWR_OK);
    int group = pwr_topo_my_group(topo, PWR_TOPO_NUMA);
    assert_true(group >= 0);
    assert_int_not_equal(pwr_topo_group_of(topo, PWR_TOPO_NUMA, 2), group);
    assert_int_equal(pwr_topo_group_of(topo, PWR_TOPO_NUMA, 3),
                     pwr_topo_group_of(topo, PWR_TOPO_NUMA, 2));
    pwr_topo_close(topo);
}

/* As Linux has it: an offline CPU keeps its folder, loses its topology files, and its siblings'
   masks no longer name it. */
static void test_offline_sibling(void **state)
{
    static const char *const masks[] = {"1\n", "1\n", "c\n", "c\n"};
    fixture_t *fixture = *state;
    pwr_topo_t *topo;
    put_sysfs(fixture, "0,2-3\n", masks, 4);
    fixture_put(fixture, "/sys/devices/system/cpu/cpu1/online", "0\n");
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu1/topology/core_id");
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu1/topology/core_cpus");
    assert_int_equal(pwr_topo_open_with_binding(&fixture->env, "0-1", &topo), PWR_OK);
    assert_int_equal(pwr_topo_num_cpus(topo), 3);
    assert_int_equal(pwr_topo_num_my_cpus(topo), 1);
    assert_int_equal(pwr_topo_package_of(topo, 1), -1);
    assert_false(pwr_cpuset_has(&pwr_topo_sets(topo)->mine, 1));
    assert_true(pwr_topo_has_whole_cores(topo));
    pwr_topo_close(topo);
    assert_int_equal(pwr_topo_open_with_binding(&fixture->env, "2", &topo), PWR_OK);
    assert_int_equal(pwr_cpuset_count(&pwr_topo_sets(topo)->reached), 2);
    assert_int_equal(pwr_cpuset_at(&pwr_topo_sets(topo)->reached, 1), 3);
    pwr_topo_close(topo);
}

static void test_cgroup_cpuset(void **state)
{
    static const char *const masks[] = {"1\n", "2\n", "4\n", "8\n"};
    fixture_t *fixture = *state;
    pwr_topo_t *topo;
    put_sysfs(fixture, "0-3\n", masks, 4);
    fixture_put(fixture, "/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
    fixture_put(fixture, "/proc/self/cgroup", "0::/job\n");
    fixture_put(fixture, "/sys/fs/cgroup/cgroup.controllers", "cpuset\n");
    fixture_put(fixture, "/sys/fs/cgroup/job/cgroup.controllers", "cpuset\n");
    fixture_put(fixture, "/sys/fs/cgroup/job/cpuset.cpus.effective", "1-2\n");
    assert_int_equal(pwr_topo_open_with_binding(&fixture->env, "1", &topo), PWR_OK);
    assert_int_equal(pwr_topo_num_cpus(topo), 4);
    assert_false(is_allowed(topo, 0));
    assert_true(is_allowed(topo, 1));
    assert_true(is_allowed(topo, 2));
    assert_false(is_allowed(topo, 3));
    assert_false(is_allowed(topo, 4));
    pwr_topo_close(topo);
}

static void test_another_root(void **state)
{
    fixture_t *fixture = *state;
    pwr_topo_t *topo;
    static const char *const masks[] = {"1\n", "2\n"};
    put_sysfs(fixture, "0-1\n", masks, 2);
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
        FIXTURE_TEST(test_cpus_of_a_core),
        FIXTURE_TEST(test_cpus_of_four_packages),
        FIXTURE_TEST(test_one_core),
        FIXTURE_TEST(test_machine_without_core_objects),
        FIXTURE_TEST(test_holes_in_the_numbering),
        FIXTURE_TEST(test_groups_of_cpus),
        FIXTURE_TEST(test_no_third_level_cache),
        FIXTURE_TEST(test_kinds_of_memory),
        FIXTURE_TEST(test_memory_without_cpus),
        FIXTURE_TEST(test_offline_sibling),
        FIXTURE_TEST(test_cgroup_cpuset),
        FIXTURE_TEST(test_impossible_bindings),
        FIXTURE_TEST(test_another_root),
        FIXTURE_TEST(test_this_machine_and_its_real_binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
