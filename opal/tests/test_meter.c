/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters on powercap and MSR files: names, units, wraps, and what garbage does.
 */
#include "config.h"

#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/meter.h"

enum {
    MSR_RAPL_UNIT = 0x606,
    MSR_PACKAGE = 0x611,
    MSR_DRAM = 0x619,
    MSR_CORE = 0x639,
    MSR_PLATFORM = 0x64d
};

static const uint64_t range_uj = 262143328850;

typedef struct opened {
    pwr_topo_t *topo;
    pwr_meter_t *meter; /* NULL: did not open */
    pwr_status_t status;
    char why[512];
} opened_t;

static opened_t open_meter(fixture_t *fixture)
{
    opened_t opened = {.topo = fixture_topo(fixture, NULL, "0")};
    opened.status =
        pwr_meter_open(&fixture->env, opened.topo, opened.why, sizeof opened.why, &opened.meter);
    return opened;
}

static void close_meter(opened_t *opened)
{
    pwr_meter_close(opened->meter);
    pwr_topo_close(opened->topo);
}

static void expect_refusal(fixture_t *fixture, pwr_status_t status, const char *why)
{
    opened_t opened = open_meter(fixture);
    assert_int_equal(opened.status, status);
    assert_null(opened.meter);
    assert_non_null(strstr(opened.why, why));
    close_meter(&opened);
}

static void expect_energy(pwr_meter_t *meter, unsigned domain, uint64_t expected_uj)
{
    uint64_t energy_uj[16];
    assert_true(pwr_meter_num_domains(meter) <= 16);
    assert_int_equal(pwr_meter_read(meter, energy_uj), PWR_OK);
    assert_int_equal(energy_uj[domain], expected_uj);
}

static void expect_domain(const pwr_meter_t *meter, unsigned index, const char *name,
                          pwr_meter_domain_kind_t kind, unsigned package)
{
    const pwr_meter_domain_t *domain = pwr_meter_domain(meter, index);
    assert_non_null(domain);
    assert_string_equal(domain->name, name);
    assert_int_equal(domain->kind, kind);
    assert_int_equal(domain->package, package);
}

/* ---- powercap ---- */

static void put_zone_file(fixture_t *fixture, const char *zone, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%s/%s", zone, file);
    fixture_put(fixture, path, text);
}

static void put_energy(fixture_t *fixture, const char *zone, uint64_t energy_uj)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 "\n", energy_uj);
    put_zone_file(fixture, zone, "energy_uj", text);
}

static void put_zone(fixture_t *fixture, const char *zone, const char *name)
{
    put_zone_file(fixture, zone, "name", name);
    put_zone_file(fixture, zone, "max_energy_range_uj", "262143328850\n");
    put_energy(fixture, zone, 1000);
}

static void test_powercap_zones(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture, "0", "package-0\n");
    put_zone(fixture, "0:0", "core\n");
    put_zone(fixture, "0:1", "uncore\n");
    put_zone(fixture, "0:2", "dram\n");
    put_zone(fixture, "2", "package-1\n"); /* numbers may have gaps */
    put_zone(fixture, "2:0", "dram\n");
    put_zone(fixture, "3", "psys\n");
    opened_t opened = open_meter(fixture);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 6);
    expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    expect_domain(opened.meter, 1, "core-0", PWR_DOMAIN_CORE, 0);
    expect_domain(opened.meter, 2, "dram-0", PWR_DOMAIN_DRAM, 0);
    expect_domain(opened.meter, 3, "package-1", PWR_DOMAIN_PACKAGE, 1);
    expect_domain(opened.meter, 4, "dram-1", PWR_DOMAIN_DRAM, 1);
    expect_domain(opened.meter, 5, "platform", PWR_DOMAIN_PLATFORM, 0);
    assert_null(pwr_meter_domain(opened.meter, 6));
    assert_int_equal(pwr_meter_domain(opened.meter, 0)->range_uj, range_uj);
    double resolution = pwr_meter_domain(opened.meter, 0)->resolution_uj;
    assert_true(resolution > 61.0 && resolution < 61.1);
    close_meter(&opened);
}

static void test_packages_of_several_dies(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture, "0", "package-1-die-3\n");
    put_zone(fixture, "0:0", "dram\n");
    opened_t opened = open_meter(fixture);
    expect_domain(opened.meter, 0, "package-1-die-3", PWR_DOMAIN_PACKAGE, 1);
    expect_domain(opened.meter, 1, "dram-1-die-3", PWR_DOMAIN_DRAM, 1);
    close_meter(&opened);
}

static void test_powercap_counts_from_open_and_over_wraps(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture, "0", "package-0\n");
    put_energy(fixture, "0", range_uj - 100);
    opened_t opened = open_meter(fixture);
    expect_energy(opened.meter, 0, 0);
    put_energy(fixture, "0", range_uj);
    expect_energy(opened.meter, 0, 100);
    put_energy(fixture, "0", 50);
    expect_energy(opened.meter, 0, 151); /* the count after the largest is 0 */
    expect_energy(opened.meter, 0, 151);
    put_energy(fixture, "0", 49);
    expect_energy(opened.meter, 0, 151 + range_uj);
    close_meter(&opened);
}

static void test_garbage_read_later_is_an_error_and_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    uint64_t energy_uj = 42;
    put_zone(fixture, "0", "package-0\n");
    opened_t opened = open_meter(fixture);
    put_zone_file(fixture, "0", "energy_uj", "");
    assert_int_equal(pwr_meter_read(opened.meter, &energy_uj), PWR_ERR_PARSE);
    put_zone_file(fixture, "0", "energy_uj", "12a\n");
    assert_int_equal(pwr_meter_read(opened.meter, &energy_uj), PWR_ERR_PARSE);
    put_energy(fixture, "0", range_uj + 1);
    assert_int_equal(pwr_meter_read(opened.meter, &energy_uj), PWR_ERR_RANGE);
    assert_int_equal(energy_uj, 42);
    put_energy(fixture, "0", 1500);
    expect_energy(opened.meter, 0, 500);
    close_meter(&opened);
}

static void test_garbage_at_open(void **state)
{
    static const char *const garbled[][2] = {
        {"name", "package\n"},
        {"name", "package-x\n"},
        {"energy_uj", "\n"},
        {"energy_uj", "99999999999999999999999\n"},
        {"max_energy_range_uj", "0\n"},
        {"max_energy_range_uj", "a lot\n"},
        {"energy_uj", "262143328851\n"},
    };
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof garbled / sizeof garbled[0]; i++) {
        put_zone(fixture, "0", "package-0\n");
        put_zone_file(fixture, "0", garbled[i][0], garbled[i][1]);
        expect_refusal(fixture, PWR_ERR_PARSE, "/sys/class/powercap/");
    }
}

static void test_unreadable_part_is_left_out(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture, "0", "package-0\n");
    put_zone(fixture, "0:0", "dram\n");
    put_zone_file(fixture, "0:0", "energy_uj", "?\n");
    opened_t opened = open_meter(fixture);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 1);
    assert_non_null(strstr(fixture->log, "dram-0 is left out"));
    close_meter(&opened);
}

/* One package of two must not be taken for the node. */
static void test_unreadable_package_refuses_all(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture, "0", "package-0\n");
    put_zone(fixture, "1", "package-1\n");
    fixture_remove(fixture, "/sys/class/powercap/intel-rapl:1/energy_uj");
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "intel-rapl:1/energy_uj");
}

static int open_without_rights(fixture_t *fixture)
{
    opened_t opened = open_meter(fixture);
    bool good = opened.status == PWR_ERR_PERM && strstr(opened.why, "energy_uj: no permission");
    close_meter(&opened);
    return good ? 0 : 1;
}

static void test_missing_rights_and_their_remedy(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    put_zone(fixture, "0", "package-0\n");
    snprintf(name, sizeof name, "%s/sys/class/powercap/intel-rapl:0/energy_uj", fixture->root);
    assert_int_equal(chmod(name, 0400), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, open_without_rights),
                     geteuid() == 0 ? 0 : 1);
}

static void test_no_meter_at_all(void **state)
{
    expect_refusal(*state, PWR_ERR_UNSUPPORTED, "no intel-rapl zones");
}

/* ---- MSR ---- */

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
    opened_t opened = open_meter(fixture);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "msr");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 5);
    expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    expect_domain(opened.meter, 1, "dram-0", PWR_DOMAIN_DRAM, 0); /* core reads 0: not there */
    expect_domain(opened.meter, 2, "platform", PWR_DOMAIN_PLATFORM, 0);
    expect_domain(opened.meter, 3, "package-1", PWR_DOMAIN_PACKAGE, 1);
    expect_domain(opened.meter, 4, "dram-1", PWR_DOMAIN_DRAM, 1);
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 3 << 14);
    fixture_put_msr(fixture, 4, "msr", MSR_DRAM, 1010);
    expect_energy(opened.meter, 0, 2000000);
    expect_energy(opened.meter, 4, 15300); /* 1000 counts of 15.3 uJ on Skylake-X */
    close_meter(&opened);
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
        opened_t opened = open_meter(fixture);
        assert_true(pwr_meter_domain(opened.meter, 1)->resolution_uj == cases[i].dram_uj);
        assert_true(pwr_meter_domain(opened.meter, 2)->resolution_uj == cases[i].platform_uj);
        close_meter(&opened);
    }
}

static void test_msr_counters_wrap_at_32_bits(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xffffffff);
    opened_t opened = open_meter(fixture);
    /* The upper half of the register is reserved. */
    fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xdead000000000000u + (1 << 14) - 1);
    expect_energy(opened.meter, 0, 1000000);
    for (int wrap = 0; wrap < 3; wrap++) { /* beyond 32 bits in all */
        fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, 0xffffffff);
        assert_int_equal(pwr_meter_read(opened.meter, (uint64_t[16]){0}), PWR_OK);
        fixture_put_msr(fixture, 0, "msr", MSR_PACKAGE, (1 << 14) - 1);
        assert_int_equal(pwr_meter_read(opened.meter, (uint64_t[16]){0}), PWR_OK);
    }
    expect_energy(opened.meter, 0, 1000000 + 3 * (UINT64_C(1) << 18) * 1000000);
    close_meter(&opened);
}

static void test_msr_safe_comes_before_msr_and_powercap_before_both(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    put_rapl(fixture, 0, "msr_safe");
    put_rapl(fixture, 4, "msr_safe");
    opened_t opened = open_meter(fixture);
    assert_string_equal(pwr_meter_backend(opened.meter), "msr_safe");
    close_meter(&opened);
    put_zone(fixture, "0", "package-0\n");
    opened = open_meter(fixture);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    close_meter(&opened);
}

static void test_amd_has_packages_only(void **state)
{
    fixture_t *fixture = *state;
    put_cpuinfo(fixture, "AuthenticAMD", 25, 17);
    for (unsigned cpu = 0; cpu <= 4; cpu += 4) {
        fixture_put_msr(fixture, cpu, "msr", 0xc0010299, 0xa1003); /* 2^-16 J */
        fixture_put_msr(fixture, cpu, "msr", 0xc001029b, 0);
    }
    opened_t opened = open_meter(fixture);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 2);
    fixture_put_msr(fixture, 4, "msr", 0xc001029b, 1 << 16);
    expect_energy(opened.meter, 1, 1000000);
    close_meter(&opened);
}

static void test_unknown_and_garbled_cpus(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    put_cpuinfo(fixture, "CentaurHauls", 7, 59);
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
    put_cpuinfo(fixture, "GenuineIntel", 5, 4);
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
    fixture_put(fixture, "/proc/cpuinfo", "model name\t: nothing else\n");
    expect_refusal(fixture, PWR_ERR_PARSE, "no RAPL registers known");
    fixture_remove(fixture, "/proc/cpuinfo");
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "no RAPL registers known");
}

static void test_missing_registers(void **state)
{
    fixture_t *fixture = *state;
    put_intel(fixture, 85);
    fixture_put(fixture, "/dev/cpu/4/msr", "short");
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "/dev/cpu/4/msr: reading RAPL registers");
    fixture_remove(fixture, "/dev/cpu/4/msr");
    expect_refusal(fixture, PWR_ERR_UNSUPPORTED, "/dev/cpu/4/msr: not supported");
}

static void test_registers_that_vanish(void **state)
{
    fixture_t *fixture = *state;
    uint64_t energy_uj[16];
    put_intel(fixture, 85);
    opened_t opened = open_meter(fixture);
    fixture_put(fixture, "/dev/cpu/4/msr", "short");
    assert_int_equal(pwr_meter_read(opened.meter, energy_uj), PWR_ERR_UNSUPPORTED);
    close_meter(&opened);
    pwr_meter_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_powercap_zones),
        FIXTURE_TEST(test_packages_of_several_dies),
        FIXTURE_TEST(test_powercap_counts_from_open_and_over_wraps),
        FIXTURE_TEST(test_garbage_read_later_is_an_error_and_changes_nothing),
        FIXTURE_TEST(test_garbage_at_open),
        FIXTURE_TEST(test_unreadable_part_is_left_out),
        FIXTURE_TEST(test_unreadable_package_refuses_all),
        FIXTURE_TEST(test_missing_rights_and_their_remedy),
        FIXTURE_TEST(test_no_meter_at_all),
        FIXTURE_TEST(test_msr_domains_and_units),
        FIXTURE_TEST(test_special_units_by_model),
        FIXTURE_TEST(test_msr_counters_wrap_at_32_bits),
        FIXTURE_TEST(test_msr_safe_comes_before_msr_and_powercap_before_both),
        FIXTURE_TEST(test_amd_has_packages_only),
        FIXTURE_TEST(test_unknown_and_garbled_cpus),
        FIXTURE_TEST(test_missing_registers),
        FIXTURE_TEST(test_registers_that_vanish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
