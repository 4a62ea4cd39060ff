/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies on the kernel's files and MSR files, of packages that are one process's.
 */
#include "config.h"

#include "uncore_fixture.h"

#include <stdio.h>
#include <string.h>

static void expect_refusal(fixture_t *fixture, const char *cpulist, pwr_status_t status,
                           const char *why)
{
    uncore_t opened = uncore_open(fixture, cpulist);
    assert_int_equal(opened.status, status);
    assert_null(opened.lever);
    assert_non_null(strstr(opened.why, why));
    uncore_close(&opened);
}

static void test_a_package_that_is_ours(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    uncore_t opened = uncore_open(fixture, "4-7");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "intel_uncore_frequency");
    assert_int_equal(pwr_lever_lowest(opened.lever), UNCORE_LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), UNCORE_FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    uncore_expect(fixture, 1, UNCORE_LOWEST_KHZ, UNCORE_LOWEST_KHZ);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    uncore_expect(fixture, 1, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
    uncore_close(&opened);
}

static void test_both_packages(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    uncore_t opened = uncore_open(fixture, "0-7");
    assert_int_equal(pwr_lever_set(opened.lever, 1500000), PWR_OK);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 1500000);
    uncore_expect(fixture, 1, UNCORE_LOWEST_KHZ, 1500000);
    uncore_close(&opened);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
    uncore_expect(fixture, 1, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
}

/* A floor that a site has raised comes down with the ceiling, and goes back up. */
static void test_a_raised_floor_comes_back(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    fixture_put_uncore_file(fixture, 0, "min_freq_khz", "2000000\n");
    uncore_t opened = uncore_open(fixture, "0-3");
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_LOWEST_KHZ);
    uncore_close(&opened);
    uncore_expect(fixture, 0, 2000000, UNCORE_FULL_KHZ);
}

static void test_cpus_that_nobody_claims_are_refused(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    expect_refusal(fixture, "4-6", PWR_ERR_SHARED,
                   "CPU 7 has the same control as ours, and no process of this user has claimed "
                   "it");
    expect_refusal(fixture, "0-4", PWR_ERR_SHARED, "CPU 5 has the same control");
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
    uncore_expect(fixture, 1, UNCORE_LOWEST_KHZ, UNCORE_FULL_KHZ);
}

/* Two dies of one package are two controls, and each is written once. */
static void test_dies(void **state)
{
    fixture_t *fixture = *state;
    char path[128];
    uncore_put_packages(fixture);
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
    uncore_t opened = {.topo = fixture_topo(fixture, "package:1 core:8 pu:1", "0-7")};
    uncore_open_lever(fixture, &opened);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    char text[32];
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "1200000\n");
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_LOWEST_KHZ);
    uncore_close(&opened);
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "2200000\n");
}

static void test_the_register(void **state)
{
    fixture_t *fixture = *state;
    /* 1.2 to 2.4 GHz, and other bits */
    fixture_put_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT, 0xab0c18);
    uncore_t opened = uncore_open(fixture, "0-3");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "msr");
    assert_int_equal(pwr_lever_lowest(opened.lever), UNCORE_LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), UNCORE_FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT), 0xab0c0c);
    uncore_close(&opened);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT), 0xab0c18);
}

static void test_a_register_of_cpus_that_nobody_claims_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT, 0x0c18);
    expect_refusal(fixture, "0-1", PWR_ERR_SHARED, "CPU 2 has the same control");
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT), 0x0c18);
}

static void test_a_register_that_limits_nothing(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT, 0);
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
    uncore_put_packages(fixture);
    uncore_t opened = uncore_open(fixture, "0-3");
    fixture_put_uncore_file(fixture, 0, "max_freq_khz", "2000000\n");
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    assert_int_equal(uncore_counts(&opened).adopted, 1);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 2000000);
    assert_int_equal(pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ), PWR_OK);
    fixture_put_uncore_file(fixture, 0, "max_freq_khz", "1800000\n");
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_ERR_FOREIGN);
    uncore_close(&opened);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 1800000);
}

static bool lower(fixture_t *fixture)
{
    uncore_t opened = uncore_open(fixture, "0-3");
    return pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ) == PWR_OK;
}

static bool is_restored(const fixture_t *fixture)
{
    return fixture_get_uncore_khz(fixture, 0, "max_freq_khz") == UNCORE_FULL_KHZ &&
           fixture_get_uncore_khz(fixture, 0, "min_freq_khz") == 1500000;
}

/* What the guardian knows is enough for it to find the files by the CPU alone. */
static void test_a_killed_process_is_restored(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    fixture_put_uncore_file(fixture, 0, "min_freq_khz", "1500000\n");
    pid_t process = fixture_start(fixture, lower);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, UNCORE_LOWEST_KHZ);
    fixture_kill(process);
    assert_true(fixture_eventually(is_restored, fixture));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_package_that_is_ours),
        FIXTURE_TEST(test_both_packages),
        FIXTURE_TEST(test_a_raised_floor_comes_back),
        FIXTURE_TEST(test_cpus_that_nobody_claims_are_refused),
        FIXTURE_TEST(test_dies),
        FIXTURE_TEST(test_the_register),
        FIXTURE_TEST(test_a_register_of_cpus_that_nobody_claims_is_refused),
        FIXTURE_TEST(test_a_register_that_limits_nothing),
        FIXTURE_TEST(test_no_hardware),
        FIXTURE_TEST(test_foreign_writers_are_respected),
        FIXTURE_TEST(test_a_killed_process_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
