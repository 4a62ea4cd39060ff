/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies on the kernel's files and MSR files.
 */
#include "config.h"

#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/lever.h"

enum { RATIO_LIMIT = 0x620, LOWEST_KHZ = 1200000, FULL_KHZ = 2400000 };

typedef struct opened {
    pwr_topo_t *topo;
    pwr_guard_t *guard;
    pwr_lever_t *lever; /* NULL: did not open */
    pwr_status_t status;
    char why[1024];
} opened_t;

/* CPUs 0-3 and 4-7 are packages. */
static opened_t open_uncore(fixture_t *fixture, const char *cpulist)
{
    opened_t opened = {.topo = fixture_topo(fixture, NULL, cpulist)};
    opened.guard = fixture_guard(fixture);
    opened.status = pwr_lever_open(PWR_LEVER_UNCORE, &fixture->env, opened.topo, opened.guard,
                                   opened.why, sizeof opened.why, &opened.lever);
    return opened;
}

static void close_uncore(opened_t *opened)
{
    pwr_lever_close(opened->lever);
    pwr_guard_stop(opened->guard);
    pwr_topo_close(opened->topo);
}

static void expect_refusal(fixture_t *fixture, const char *cpulist, pwr_status_t status,
                           const char *why)
{
    opened_t opened = open_uncore(fixture, cpulist);
    assert_int_equal(opened.status, status);
    assert_null(opened.lever);
    assert_non_null(strstr(opened.why, why));
    close_uncore(&opened);
}

static void put_packages(fixture_t *fixture)
{
    fixture_put_uncore(fixture, 0, 0, 3);
    fixture_put_uncore(fixture, 1, 4, 7);
}

static void expect_limits(const fixture_t *fixture, unsigned package, unsigned long floor_khz,
                          unsigned long ceiling_khz)
{
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "min_freq_khz"), floor_khz);
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "max_freq_khz"), ceiling_khz);
}

static void test_a_package_that_is_ours(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "4-7");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "intel_uncore_frequency");
    assert_int_equal(pwr_lever_lowest(opened.lever), LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    expect_limits(fixture, 1, LOWEST_KHZ, LOWEST_KHZ);
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
    close_uncore(&opened);
}

static void test_both_packages(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "0-7");
    assert_int_equal(pwr_lever_set(opened.lever, 1500000), PWR_OK);
    expect_limits(fixture, 0, LOWEST_KHZ, 1500000);
    expect_limits(fixture, 1, LOWEST_KHZ, 1500000);
    close_uncore(&opened);
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
}

/* A floor that a site has raised comes down with the ceiling, and goes back up. */
static void test_a_raised_floor_comes_back(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz";
    put_packages(fixture);
    fixture_put(fixture, path, "2000000\n");
    opened_t opened = open_uncore(fixture, "0-3");
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    close_uncore(&opened);
    expect_limits(fixture, 0, 2000000, FULL_KHZ);
}

static void test_a_shared_package_is_refused(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    expect_refusal(fixture, "4-6", PWR_ERR_SHARED,
                   "package 1 has one uncore frequency, and its "
                   "CPU 7 is not in this process's binding");
    expect_refusal(fixture, "0-4", PWR_ERR_SHARED, "package 1 has one uncore frequency");
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
}

/* Two dies of one package are two controls, and each is written once. */
static void test_dies(void **state)
{
    fixture_t *fixture = *state;
    char path[128];
    put_packages(fixture);
    for (unsigned cpu = 4; cpu < 8; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                 cpu);
        fixture_put(fixture, path, "0\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/die_id", cpu);
        fixture_put(fixture, path, "1\n");
    }
    static const char *const files[] = {"max_freq_khz", "min_freq_khz", "initial_min_freq_khz"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/%s", files[i]);
        fixture_put(fixture, path, i == 0 ? "2200000\n" : "1200000\n");
    }
    opened_t opened = {.topo = fixture_topo(fixture, "package:1 core:8 pu:1", "0-7")};
    opened.guard = fixture_guard(fixture);
    opened.status = pwr_lever_open(PWR_LEVER_UNCORE, &fixture->env, opened.topo, opened.guard,
                                   opened.why, sizeof opened.why, &opened.lever);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    char text[32];
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "1200000\n");
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    close_uncore(&opened);
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "2200000\n");
}

static void test_the_register(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0xab0c18); /* 1.2 to 2.4 GHz, and other bits */
    opened_t opened = open_uncore(fixture, "0-3");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "msr");
    assert_int_equal(pwr_lever_lowest(opened.lever), LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0xab0c0c);
    close_uncore(&opened);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0xab0c18);
}

static void test_the_register_of_a_shared_package_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0x0c18);
    expect_refusal(fixture, "0-1", PWR_ERR_SHARED, "its CPU 2");
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0x0c18);
}

static void test_a_register_that_limits_nothing(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0);
    expect_refusal(fixture, "0-3", PWR_ERR_UNSUPPORTED, "CPU 0, MSR 0x620: not supported");
}

static void test_no_hardware(void **state)
{
    expect_refusal(*state, "0-3", PWR_ERR_UNSUPPORTED, "physical_package_id");
}

/* A power manager that writes while we hold it keeps its value; between our uses its is adopted. */
static void test_foreign_writers_are_respected(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz";
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "0-3");
    fixture_put(fixture, path, "2000000\n");
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    assert_int_equal(pwr_lever_num_adopted(opened.lever), 1);
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    fixture_put(fixture, path, "1800000\n");
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_ERR_FOREIGN);
    close_uncore(&opened);
    expect_limits(fixture, 0, LOWEST_KHZ, 1800000);
}

static bool is_restored(const fixture_t *fixture)
{
    return fixture_get_uncore_khz(fixture, 0, "max_freq_khz") == FULL_KHZ &&
           fixture_get_uncore_khz(fixture, 0, "min_freq_khz") == 1500000;
}

/* What the guardian knows is enough for it to find the files by the CPU alone. */
static void test_a_killed_process_is_restored(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz";
    put_packages(fixture);
    fixture_put(fixture, path, "1500000\n");
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        opened_t opened = open_uncore(fixture, "0-3");
        bool good = pwr_lever_set(opened.lever, LOWEST_KHZ) == PWR_OK;
        _exit(good && write(ready[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(fixture_eventually(is_restored, fixture));
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_package_that_is_ours),
        FIXTURE_TEST(test_both_packages),
        FIXTURE_TEST(test_a_raised_floor_comes_back),
        FIXTURE_TEST(test_a_shared_package_is_refused),
        FIXTURE_TEST(test_dies),
        FIXTURE_TEST(test_the_register),
        FIXTURE_TEST(test_the_register_of_a_shared_package_is_refused),
        FIXTURE_TEST(test_a_register_that_limits_nothing),
        FIXTURE_TEST(test_no_hardware),
        FIXTURE_TEST(test_foreign_writers_are_respected),
        FIXTURE_TEST(test_a_killed_process_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
