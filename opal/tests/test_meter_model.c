/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Modelled energy: the formula with exact figures, and what is read for it.
 */
#include "config.h"

#include "meter_fixture.h"

#include "meter/model_power.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NUM_CPUS = 8, PER_PACKAGE = 4 };

/* ---- the formula ---- */

static void expect_energy_j(double tdp_w, unsigned cores, double passed_s, double busy_s,
                            double weighted_s, double expected_j)
{
    const pwr_model_activity_t activity = {passed_s, busy_s, weighted_s};
    assert_true(fabs(pwr_model_energy_uj(tdp_w, cores, &activity) - expected_j * 1e6) < 1.0);
}

static void test_energy(void **state)
{
    (void)state;
    expect_energy_j(100, 4, 1, 0, 0, 33);  /* idle: a third of TDP */
    expect_energy_j(100, 4, 1, 4, 4, 100); /* all cores at full speed: TDP */
    expect_energy_j(100, 4, 2, 8, 8, 200);
    expect_energy_j(100, 4, 1, 2, 2, 66.5); /* half of the cores */
    expect_energy_j(100, 4, 1, 8, 8, 100);  /* second threads add nothing */
    expect_energy_j(100, 4, 1, 4, 2, 66.5); /* all cores at a speed that halves their power */
    expect_energy_j(100, 4, 1, 8, 4, 66.5);
    expect_energy_j(100, 4, 0, 0, 0, 0);
}

static void test_frequency_weight(void **state)
{
    (void)state;
    assert_true(pwr_model_frequency_weight(2400000, 2400000) == 1.0);
    assert_true(pwr_model_frequency_weight(3600000, 2400000) == 1.0);
    assert_true(pwr_model_frequency_weight(0, 2400000) == 1.0);
    assert_true(pwr_model_frequency_weight(2400000, 0) == 1.0);
    /* ICPP 2010: 14.9 W at 2.4 GHz, 7.1 W at 1.6 GHz */
    assert_true(fabs(pwr_model_frequency_weight(1600000, 2400000) - 7.1 / 14.9) < 0.001);
}

static void test_rows(void **state)
{
    const pwr_cpu_model_t rome = {.vendor = "AuthenticAMD", .family = 23, .model = 49};
    const pwr_cpu_model_t not_rome = {.vendor = "GenuineIntel", .family = 23, .model = 49};
    (void)state;
    assert_string_equal(pwr_model_row_of(&rome)->source, "EPYC 7742");
    assert_true(pwr_model_row_of(&rome)->core_tdp_w == 225.0 / 64);
    assert_ptr_equal(pwr_model_row_of(&not_rome), pwr_model_row_of(NULL));
    assert_true(pwr_model_row_of(NULL)->core_tdp_w == 6);
}

static void test_stat_lines(void **state)
{
    static const char *const others[] = {"cpu  1 2 3 4 5 6 7 8 9 10\n",
                                         "cpu1 1 2 3\n",
                                         "cpuidle 1 2 3 4 5 6 7\n",
                                         "intr 1\n",
                                         "",
                                         "\n"};
    unsigned cpu = 0;
    uint64_t busy_ticks = 0;
    (void)state;
    /* All but idle, iowait and steal; guest is in user already. */
    assert_true(pwr_model_parse_stat_line("cpu12 1 20 300 4000 50000 600000 7000000 8 9 10\n", &cpu,
                                          &busy_ticks));
    assert_int_equal(cpu, 12);
    assert_int_equal(busy_ticks, 7600321);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(pwr_model_parse_stat_line(others[i], &cpu, &busy_ticks));
    }
    assert_int_equal(busy_ticks, 7600321);
}

/* ---- a machine of files: two packages of four cores ---- */

static unsigned long busy[NUM_CPUS]; /* clock ticks */
static bool offline[NUM_CPUS];

static void put_stat(fixture_t *fixture)
{
    char text[2048] = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (unsigned i = 0; i < NUM_CPUS; i++) {
        size_t used = strlen(text);
        if (!offline[i]) {
            snprintf(text + used, sizeof text - used, "cpu%u %lu 0 0 12345 0 0 0 0 0 0\n", i,
                     busy[i]);
        }
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "intr 1 2 3\nctxt 4\n");
    fixture_put(fixture, "/proc/stat", text);
}

static opened_t open_model(fixture_t *fixture)
{
    meter_freeze(fixture);
    for (unsigned i = 0; i < NUM_CPUS; i++) {
        busy[i] = 1000000;
        offline[i] = false;
    }
    put_stat(fixture);
    opened_t opened = meter_open(fixture, NULL);
    assert_int_equal(opened.status, PWR_OK);
    return opened;
}

static void pass_s(fixture_t *fixture, unsigned seconds, unsigned busy_cpus)
{
    for (unsigned i = 0; i < busy_cpus; i++) {
        busy[i] += seconds * (unsigned long)sysconf(_SC_CLK_TCK);
    }
    put_stat(fixture);
    meter_pass_us(seconds * UINT64_C(1000000));
}

static void put_cpuinfo(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                "model name\t: Any CPU\nstepping\t: 4\n\n");
}

static void test_it_says_that_it_is_a_model(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture);
    opened_t opened = open_model(fixture);
    assert_string_equal(pwr_meter_backend(opened.meter), "model");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 2);
    meter_expect_domain(opened.meter, 1, "package-1", PWR_DOMAIN_PACKAGE, 1);
    const pwr_meter_domain_t *domain = pwr_meter_domain(opened.meter, 0);
    assert_string_equal(domain->source, "model");
    assert_int_equal(domain->provenance, PWR_METER_MODELLED);
    assert_int_equal(domain->update_us, 100000);
    assert_non_null(strstr(opened.why, "no intel-rapl zones"));
    assert_non_null(strstr(fixture->log, "energy is modelled from CPU time, +-50 %, as no counter "
                                         "can be read: /sys/class/powercap/: no intel-rapl zones"));
    meter_close(&opened);
}

static void test_counters_come_first(void **state)
{
    fixture_t *fixture = *state;
    put_stat(fixture);
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, NULL);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    assert_null(strstr(fixture->log, "model"));
    meter_close(&opened);
}

/* 7.5 W per core of a Skylake-SP, 30 W per package. */
static void test_busy_and_idle_packages(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture);
    opened_t opened = open_model(fixture);
    meter_expect_energy(opened.meter, 0, 0);
    /* At most its 30 W for the 100 ms in which the model stands still. */
    assert_int_equal(meter_read(opened.meter, 0).edge_uj, 3000001);
    meter_pass_us(99999);
    meter_expect_energy(opened.meter, 0, 0); /* it moves every 100 ms */
    pass_s(fixture, 10, PER_PACKAGE);
    meter_expect_energy(opened.meter, 0, 300989990); /* 30 W, and 9.9 W for 99.999 ms */
    pwr_meter_reading_t reading = meter_read(opened.meter, 1);
    assert_int_equal(reading.energy_uj, 99989990);
    assert_int_equal(reading.drift_uj, 49994995); /* half of it */
    meter_close(&opened);
}

static void test_tdp_of_powercap(void **state)
{
    fixture_t *fixture = *state;
    static const char file[] = "constraint_0_max_power_uw";
    put_cpuinfo(fixture);
    /* Zones whose counters cannot be read; the second package has two dies. */
    meter_put_zone_file(fixture, "0", "name", "package-0\n");
    meter_put_zone_file(fixture, "0", file, "100000000\n");
    meter_put_zone_file(fixture, "1", "name", "package-1-die-0\n");
    meter_put_zone_file(fixture, "1", file, "50000000\n");
    meter_put_zone_file(fixture, "2", "name", "package-1-die-1\n");
    meter_put_zone_file(fixture, "2", file, "60000000\n");
    opened_t opened = open_model(fixture);
    pass_s(fixture, 1, NUM_CPUS);
    meter_expect_energy(opened.meter, 0, 100000000);
    meter_expect_energy(opened.meter, 1, 110000000);
    meter_close(&opened);
    meter_put_zone_file(fixture, "0", file, "0\n"); /* locked or virtual: says nothing */
    opened = open_model(fixture);
    pass_s(fixture, 1, NUM_CPUS);
    meter_expect_energy(opened.meter, 0, 30000000);
    meter_close(&opened);
}

static void test_frequency_counts(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture);
    for (unsigned i = 0; i < NUM_CPUS; i++) {
        fixture_put_cpufreq_file(fixture, i, "cpuinfo_max_freq", "3600000\n");
        fixture_put_cpufreq_file(fixture, i, "scaling_cur_freq", "1600000\n");
    }
    for (unsigned i = 0; i < PER_PACKAGE; i++) {
        fixture_put_cpufreq_file(fixture, i, "base_frequency", "2400000\n");
    }
    opened_t opened = open_model(fixture);
    pass_s(fixture, 1, NUM_CPUS);
    uint64_t base = meter_read(opened.meter, 0).energy_uj;
    uint64_t highest = meter_read(opened.meter, 1).energy_uj;
    assert_true(base >= 19450000 && base <= 19500000);       /* 9.9 + 20.1 (2/3)^1.83 */
    assert_true(highest >= 14400000 && highest <= 14600000); /* 9.9 + 20.1 (4/9)^1.83 */
    meter_close(&opened);
}

static void test_unknown_processor(void **state)
{
    fixture_t *fixture = *state;
    opened_t opened = open_model(fixture); /* no /proc/cpuinfo at all */
    pass_s(fixture, 1, NUM_CPUS);
    meter_expect_energy(opened.meter, 0, 24000000); /* 6 W per core */
    meter_close(&opened);
}

static void test_cpus_that_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture);
    opened_t opened = open_model(fixture);
    offline[1] = offline[2] = offline[3] = true;
    pass_s(fixture, 1, 1);
    meter_expect_energy(opened.meter, 0, 14925000); /* 9.9 + 20.1 / 4 */
    offline[1] = offline[2] = offline[3] = false;
    busy[1] = 5000000; /* what it did before it was back is nobody's second */
    busy[2] = 3;       /* starts again from 0 */
    pass_s(fixture, 1, 1);
    meter_expect_energy(opened.meter, 0, 29850000);
    pass_s(fixture, 1, 4);
    meter_expect_energy(opened.meter, 0, 59850000);
    meter_close(&opened);
}

static void test_stat_that_fails(void **state)
{
    fixture_t *fixture = *state;
    pwr_meter_reading_t readings[2];
    put_cpuinfo(fixture);
    opened_t opened = open_model(fixture);
    pass_s(fixture, 1, 4);
    fixture_remove(fixture, "/proc/stat");
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_ERR_UNSUPPORTED);
    fixture_put(fixture, "/proc/stat", "cpu0 1 2 3"); /* cut */
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_ERR_IO);
    fixture_link(fixture, "/proc/stat", "/proc/self/mem");
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_ERR_IO);
    fixture_remove(fixture, "/proc/stat");
    put_stat(fixture);
    meter_expect_energy(opened.meter, 0, 30000000); /* it was there all the time */
    meter_close(&opened);

    fixture_put(fixture, "/proc/stat", "intr 1\n");
    meter_expect_refusal(fixture, NULL, PWR_ERR_PARSE, "model: /proc/stat: ");
    fixture_remove(fixture, "/proc/stat");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "model: /proc/stat: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_frequency_weight),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_stat_lines),
        FIXTURE_TEST(test_it_says_that_it_is_a_model),
        FIXTURE_TEST(test_counters_come_first),
        FIXTURE_TEST(test_busy_and_idle_packages),
        FIXTURE_TEST(test_tdp_of_powercap),
        FIXTURE_TEST(test_frequency_counts),
        FIXTURE_TEST(test_unknown_processor),
        FIXTURE_TEST(test_cpus_that_come_and_go),
        FIXTURE_TEST(test_stat_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
