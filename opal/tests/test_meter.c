/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters on MSR files, and the order in which back ends are tried.
 */
#include "config.h"

#include "meter_fixture.h"

#include <stdio.h>
#include <string.h>

enum {
    MSR_RAPL_UNIT = 0x606,
    MSR_PACKAGE = 0x611,
    MSR_DRAM = 0x619,
    MSR_CORE = 0x639,
    MSR_PLATFORM = 0x64d
};

static void put_cpuinfo(fixture_t *fixture, const char *vendor, unsigned family, unsigned model)
{
    char text[256];
    snprintf(text, sizeof text,
             "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
             "model name\t: Any CPU @ 2.40GHz\nstepping\t: 4\n\nprocessor\t: 1\n",
             vendor, family, model);
    fixture_put(fixture, "/proc/cpuinfo", text);
}

static void put_rapl(fixture_t *fixture, unsigned cpu, const char *device)
{
    fixture_put_msr(fixture, cpu, device, MSR_RAPL_UNIT, 0xa0e03); /* energy in 2^-14 J */
    fixture_put_msr(fixture, cpu, device, MSR_PACKAGE, 1 << 14);
    fixture_put_msr(fixture, cpu, device, MSR_DRAM, 10);
    fixture_put_msr(fixture, cpu, device, MSR_CORE, 0);
    fixture_put_msr(fixture, cpu, device, MSR_PLATFORM, 7);
}

static void put_intel(fixture_t *fixture, unsigned model)
{
    put_cpuinfo(fixture, "GenuineIntel", 6, model);
    put_rapl(fixture, 0, "msr");
    put_rapl(fixture, 4, "msr");
}

static void test_msr_domains_and_units(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    opened_t opened = meter_open(fixture, NULL);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "msr");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 5);
    meter_expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 1, "dram-0", PWR_DOMAIN_DRAM,
                        0); /* core reads 0: not there */
    meter_expect_domain(opened.meter, 2, "platform", PWR_DOMAIN_PLATFORM, 0);
    meter_expect_domain(opened.meter, 3, "package-1", PWR_DOMAIN_PACKAGE, 1);
    meter_expect_domain(opened.meter, 4, "dram-1", PWR_DOMAIN_DRAM, 1);
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 3 << 14);
    fixture_put_msr(fixture, 4, "msr", MSR_DRAM, 1010);
    meter_expect_energy(opened.meter, 0, 2000000);
    meter_expect_energy(opened.meter, 4, 15300); /* 1000 counts of 15.3 uJ on Skylake-X */
    meter_close(&opened);
}

static void test_special_units_by_model(void **state)
{
    static const struct {
        unsigned model;
        double dram_uj, platform_uj;
    } cases[] = {
        {63, 15.3, 1e6 / 16384},       {79, 15.3, 1e6 / 16384},
        {85, 15.3, 1e6 / 16384},       {106, 15.3, 1e6 / 16384},
        {108, 15.3, 1e6 / 16384},      {158, 1e6 / 16384, 1e6 / 16384},
        {143, 1e6 / 16384, 1000000.0}, {207, 1e6 / 16384, 1000000.0},
    };
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_intel(fixture, cases[i].model);
        opened_t opened = meter_open(fixture, NULL);
        assert_true(pwr_meter_domain(opened.meter, 1)->resolution_uj == cases[i].dram_uj);
        assert_true(pwr_meter_domain(opened.meter, 2)->resolution_uj == cases[i].platform_uj);
        meter_close(&opened);
    }
}

static void test_msr_counters_wrap_at_32_bits(void **state)
{
    enum { SECONDS_PER_WRAP = 1000 }; /* 262 W */
    fixture_t *fixture = *state;
    meter_freeze(fixture);
    put_intel(fixture, 85);
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xffffffff);
    opened_t opened = meter_open(fixture, NULL);
    /* The upper half of the register is reserved. */
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xdead000000000000u + (1 << 14) - 1);
    meter_expect_energy(opened.meter, 0, 1000000);
    for (int wrap = 0; wrap < 3; wrap++) { /* beyond 32 bits in all */
        meter_pass_us(SECONDS_PER_WRAP * UINT64_C(1000000));
        fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xffffffff);
        meter_read(opened.meter, 0);
        fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, (1 << 14) - 1);
        meter_read(opened.meter, 0);
    }
    meter_expect_energy(opened.meter, 0, 1000000 + 3 * (UINT64_C(1) << 18) * 1000000);
    meter_close(&opened);
}

static void test_msr_safe_comes_before_msr_and_powercap_before_both(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    put_rapl(fixture, 0, "msr_safe");
    put_rapl(fixture, 4, "msr_safe");
    opened_t opened = meter_open(fixture, NULL);
    assert_string_equal(pwr_meter_backend(opened.meter), "msr_safe");
    meter_close(&opened);
    meter_put_zone(fixture, "0", "package-0\n");
    opened = meter_open(fixture, NULL);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    meter_close(&opened);
}

/* For tools that explain them all: one that would not be reached is opened all the same. */
static void test_each_back_end_by_itself(void **state)
{
    static const struct {
        const char *name;
        pwr_status_t status;
    } expected[] = {{"powercap", PWR_OK},
                    {"msr_safe", PWR_ERR_UNSUPPORTED},
                    {"msr", PWR_OK},
                    {"perf_event", PWR_ERR_UNSUPPORTED}};
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    meter_put_zone(fixture, "0", "package-0\n");
    pwr_topo_t *topo = fixture_topo(fixture, NULL, NULL);
    unsigned seen = 0;
    unsigned nth = 0;
    for (; pwr_meter_backend_name(nth); nth++) {
        char why[256] = "";
        pwr_meter_t *meter = NULL;
        pwr_status_t status = pwr_meter_open_nth(&fixture->env, topo, nth, why, sizeof why, &meter);
        assert_true((status == PWR_OK) == (meter != NULL));
        assert_true((status == PWR_OK) == (why[0] == '\0'));
        if (meter) {
            assert_string_equal(pwr_meter_backend(meter), pwr_meter_backend_name(nth));
        }
        if (seen < sizeof expected / sizeof expected[0] &&
            strcmp(pwr_meter_backend_name(nth), expected[seen].name) == 0) {
            assert_int_equal(status, expected[seen].status);
            seen++;
        }
        pwr_meter_close(meter);
    }
    assert_int_equal(seen, sizeof expected / sizeof expected[0]); /* in this order */
    assert_string_equal(pwr_meter_backend_name(nth - 1), "nvml"); /* that of the GPUs is the last */
    assert_int_equal(pwr_meter_open_nth(&fixture->env, topo, nth, NULL, 0, NULL), PWR_ERR_RANGE);
    pwr_topo_close(topo);
}

static void test_amd_has_packages_only(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture, "AuthenticAMD", 25, 17);
    for (unsigned cpu = 0; cpu <= 4; cpu += 4) {
        fixture_put_msr(fixture, cpu, "msr", 0xc0010299, 0xa1003); /* 2^-16 J */
        fixture_put_msr(fixture, cpu, "msr", 0xc001029b, 0);
    }
    opened_t opened = meter_open(fixture, NULL);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 2);
    fixture_put_msr(fixture, 4, "msr", 0xc001029b, 1 << 16);
    meter_expect_energy(opened.meter, 1, 1000000);
    meter_close(&opened);
}

static void test_unknown_and_garbled_cpus(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    put_cpuinfo(fixture, "CentaurHauls", 7, 59);
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
    put_cpuinfo(fixture, "GenuineIntel", 5, 4);
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
    fixture_put(fixture, "/proc/cpuinfo", "model name\t: nothing else\n");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
    fixture_remove(fixture, "/proc/cpuinfo");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
}

static void test_missing_registers(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    fixture_put(fixture, "/dev/cpu/4/msr", "short");
    /* A device that ends is none; real ones fail reads of registers that the CPU has not. */
    meter_expect_refusal(fixture, NULL, PWR_ERR_IO, "msr: CPU 4: reading RAPL registers");
    fixture_remove(fixture, "/dev/cpu/4/msr");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "/dev/cpu/4/msr: not supported");
}

static void test_registers_that_vanish(void **state)
{
    fixture_t *fixture = *state;
    pwr_meter_reading_t readings[METER_MOST_DOMAINS];
    put_intel(fixture, 85);
    opened_t opened = meter_open(fixture, NULL);
    fixture_put(fixture, "/dev/cpu/4/msr", "short");
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 2 << 14);
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[0].status, PWR_OK);
    assert_int_equal(readings[0].energy_uj, 1000000);
    assert_int_equal(readings[3].status, PWR_ERR_IO);
    assert_non_null(strstr(fixture->log, "energy of package-1 cannot be read any more"));
    fixture_put(fixture, "/dev/cpu/0/msr", "short");
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_ERR_IO);
    assert_int_equal(readings[0].energy_uj, 1000000);
    meter_close(&opened);
    pwr_meter_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_msr_domains_and_units),
        FIXTURE_TEST(test_special_units_by_model),
        FIXTURE_TEST(test_msr_counters_wrap_at_32_bits),
        FIXTURE_TEST(test_msr_safe_comes_before_msr_and_powercap_before_both),
        FIXTURE_TEST(test_each_back_end_by_itself),
        FIXTURE_TEST(test_amd_has_packages_only),
        FIXTURE_TEST(test_unknown_and_garbled_cpus),
        FIXTURE_TEST(test_missing_registers),
        FIXTURE_TEST(test_registers_that_vanish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
