/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters on powercap files: names, units, wraps, failures, and what garbage does.
 */
#include "config.h"

#include "meter_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_powercap_zones(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-0\n");
    meter_put_zone(fixture, "0:0", "core\n");
    meter_put_zone(fixture, "0:1", "uncore\n");
    meter_put_zone(fixture, "0:2", "dram\n");
    meter_put_zone(fixture, "2", "package-1\n"); /* numbers may have gaps */
    meter_put_zone(fixture, "2:0", "dram\n");
    meter_put_zone(fixture, "3", "psys\n");
    opened_t opened = meter_open(fixture, NULL);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 6);
    meter_expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 1, "core-0", PWR_DOMAIN_CORE, 0);
    meter_expect_domain(opened.meter, 2, "dram-0", PWR_DOMAIN_DRAM, 0);
    meter_expect_domain(opened.meter, 3, "package-1", PWR_DOMAIN_PACKAGE, 1);
    meter_expect_domain(opened.meter, 4, "dram-1", PWR_DOMAIN_DRAM, 1);
    meter_expect_domain(opened.meter, 5, "platform", PWR_DOMAIN_PLATFORM, 0);
    assert_null(pwr_meter_domain(opened.meter, 6));
    assert_int_equal(pwr_meter_domain(opened.meter, 0)->range_uj, meter_zone_range_uj);
    double resolution = pwr_meter_domain(opened.meter, 0)->resolution_uj;
    assert_true(resolution > 61.0 && resolution < 61.1);
    meter_close(&opened);
}

static void test_packages_of_several_dies(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-1-die-3\n");
    meter_put_zone(fixture, "0:0", "dram\n");
    opened_t opened = meter_open(fixture, NULL);
    meter_expect_domain(opened.meter, 0, "package-1-die-3", PWR_DOMAIN_PACKAGE, 1);
    meter_expect_domain(opened.meter, 1, "dram-1-die-3", PWR_DOMAIN_DRAM, 1);
    meter_close(&opened);
}

static void test_powercap_counts_from_open_and_over_wraps(void **state)
{
    fixture_t *fixture = *state;
    meter_freeze(fixture);
    meter_put_zone(fixture, "0", "package-0\n");
    meter_put_zone_energy(fixture, "0", meter_zone_range_uj - 100);
    opened_t opened = meter_open(fixture, NULL);
    meter_expect_energy(opened.meter, 0, 0);
    meter_put_zone_energy(fixture, "0", meter_zone_range_uj);
    meter_expect_energy(opened.meter, 0, 100);
    meter_put_zone_energy(fixture, "0", 50);
    meter_expect_energy(opened.meter, 0, 151); /* the count after the largest is 0 */
    meter_expect_energy(opened.meter, 0, 151);
    meter_pass_us(UINT64_C(900000000)); /* 291 W */
    meter_put_zone_energy(fixture, "0", 49);
    meter_expect_energy(opened.meter, 0, 151 + meter_zone_range_uj);
    meter_close(&opened);
}

static void test_garbage_read_later_is_an_error_and_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    /* Without its newline a number has been cut. */
    static const char *const garbage[] = {"", "12a\n", "15", "1500 uJ\n", "-1\n"};
    pwr_meter_reading_t reading = {.energy_uj = 42};
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, NULL);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        meter_put_zone_file(fixture, "0", "energy_uj", garbage[i]);
        assert_int_equal(pwr_meter_read(opened.meter, &reading), PWR_ERR_PARSE);
    }
    meter_put_zone_energy(fixture, "0", meter_zone_range_uj + 1);
    assert_int_equal(pwr_meter_read(opened.meter, &reading), PWR_ERR_RANGE);
    assert_int_equal(reading.energy_uj, 42);
    meter_put_zone_energy(fixture, "0", 1500);
    meter_expect_energy(opened.meter, 0, 500);
    meter_close(&opened);
}

/* Our descriptor of a file below the root, or -1. */
static int find_descriptor(const fixture_t *fixture, const char *path)
{
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%s%s", fixture->root, path);
    for (int fd = 3; fd < 256; fd++) {
        char link[64];
        char name[300] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof name - 1) > 0 && strcmp(name, wanted) == 0) {
            return fd;
        }
    }
    return -1;
}

/* What a driver answers when the hardware does not: reading address 0 of a process fails alike. */
static void make_it_fail(int fd)
{
    char byte;
    int failing = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    assert_true(failing >= 0);
    assert_int_equal(dup2(failing, fd), fd);
    close(failing);
    assert_int_equal(pread(fd, &byte, 1, 0), -1);
    assert_int_equal(errno, EIO);
}

static void test_a_domain_that_fails_does_not_stop_the_others(void **state)
{
    fixture_t *fixture = *state;
    pwr_meter_reading_t readings[METER_MOST_DOMAINS];
    meter_put_zone(fixture, "0", "package-0\n");
    meter_put_zone(fixture, "0:0", "dram\n");
    opened_t opened = meter_open(fixture, NULL);
    meter_put_zone_energy(fixture, "0:0", 1200);
    meter_expect_energy(opened.meter, 1, 200);

    int fd = find_descriptor(fixture, "/sys/class/powercap/intel-rapl:0:0/energy_uj");
    int kept = dup(fd);
    assert_true(fd >= 0 && kept >= 0);
    make_it_fail(fd);
    meter_put_zone_energy(fixture, "0", 1700);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
        assert_int_equal(readings[0].status, PWR_OK);
        assert_int_equal(readings[0].energy_uj, 700);
        assert_int_equal(readings[1].status, PWR_ERR_IO);
        assert_int_equal(readings[1].energy_uj, 200); /* known last */
    }
    char *said = strstr(fixture->log, "energy of dram-0 cannot be read any more");
    assert_non_null(said);
    assert_null(strstr(said + 1, "energy of dram-0")); /* once */

    assert_int_equal(dup2(kept, fd), fd);
    close(kept);
    meter_put_zone_energy(fixture, "0:0", 1900);
    meter_expect_energy(opened.meter, 1, 900); /* the counter went on meanwhile */
    meter_close(&opened);
}

static void test_a_counter_that_cannot_be_read_at_open(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-0\n");
    fixture_link(fixture, "/sys/class/powercap/intel-rapl:0/energy_uj", "/proc/self/mem");
    meter_expect_refusal(fixture, NULL, PWR_ERR_IO, "intel-rapl:0/energy_uj");
}

/* A driver that was loaded again starts from 0: that is no 262 kJ within a second. */
static void test_a_reset_counter_is_not_a_wrap(void **state)
{
    fixture_t *fixture = *state;
    meter_freeze(fixture);
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, NULL);
    meter_pass_us(1000000);
    meter_put_zone_energy(fixture, "0", METER_ZONE_START_UJ + 100000000); /* 100 W */
    meter_expect_energy(opened.meter, 0, 100000000);
    meter_pass_us(1000000);
    meter_put_zone_energy(fixture, "0", 7);
    pwr_meter_reading_t reading = meter_read(opened.meter, 0);
    assert_int_equal(reading.status, PWR_OK);
    assert_int_equal(reading.energy_uj, 100000000);
    /* The second around it is unknown: 100 J, and a little for the end of the first. */
    assert_true(reading.drift_uj >= 100000000 && reading.drift_uj <= 100200000);
    assert_non_null(strstr(fixture->log, "package-0 (powercap) jumped: it was reset"));
    meter_pass_us(1000000);
    meter_put_zone_energy(fixture, "0", 50000007);
    meter_expect_energy(opened.meter, 0, 150000000);
    meter_close(&opened);
}

static void test_what_a_domain_declares(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, NULL);
    const pwr_meter_domain_t *domain = pwr_meter_domain(opened.meter, 0);
    assert_string_equal(domain->source, "powercap");
    assert_int_equal(domain->provenance, PWR_METER_MEASURED);
    assert_int_equal(domain->update_us, 1000);
    assert_string_equal(pwr_meter_kind_text(domain->kind), "package");
    assert_string_equal(pwr_meter_kind_text(PWR_DOMAIN_GPU), "gpu");
    assert_string_equal(pwr_meter_provenance_text(domain->provenance), "measured");
    assert_string_equal(pwr_meter_provenance_text(PWR_METER_MODELLED), "modelled");
    meter_close(&opened);
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
        meter_put_zone(fixture, "0", "package-0\n");
        meter_put_zone_file(fixture, "0", garbled[i][0], garbled[i][1]);
        meter_expect_refusal(fixture, NULL, PWR_ERR_PARSE, "/sys/class/powercap/");
    }
}

static void test_unreadable_part_is_left_out(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-0\n");
    meter_put_zone(fixture, "0:0", "dram\n");
    meter_put_zone_file(fixture, "0:0", "energy_uj", "?\n");
    opened_t opened = meter_open(fixture, NULL);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 1);
    assert_non_null(strstr(fixture->log, "dram-0 is left out"));
    meter_close(&opened);
}

/* One package of two must not be taken for the node. */
static void test_unreadable_package_refuses_all(void **state)
{
    fixture_t *fixture = *state;
    meter_put_zone(fixture, "0", "package-0\n");
    meter_put_zone(fixture, "1", "package-1\n");
    fixture_remove(fixture, "/sys/class/powercap/intel-rapl:1/energy_uj");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "intel-rapl:1/energy_uj");
}

static int open_without_rights(fixture_t *fixture)
{
    opened_t opened = meter_open(fixture, NULL);
    bool good = opened.status == PWR_ERR_PERM && strstr(opened.why, "energy_uj: no permission");
    meter_close(&opened);
    return good ? 0 : 1;
}

static void test_missing_rights_and_their_remedy(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    meter_put_zone(fixture, "0", "package-0\n");
    snprintf(name, sizeof name, "%s/sys/class/powercap/intel-rapl:0/energy_uj", fixture->root);
    assert_int_equal(chmod(name, 0400), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, open_without_rights),
                     geteuid() == 0 ? 0 : 1);
}

static void test_no_meter_at_all(void **state)
{
    meter_expect_refusal(*state, NULL, PWR_ERR_UNSUPPORTED, "no intel-rapl zones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_powercap_zones),
        FIXTURE_TEST(test_packages_of_several_dies),
        FIXTURE_TEST(test_powercap_counts_from_open_and_over_wraps),
        FIXTURE_TEST(test_garbage_read_later_is_an_error_and_changes_nothing),
        FIXTURE_TEST(test_a_domain_that_fails_does_not_stop_the_others),
        FIXTURE_TEST(test_a_counter_that_cannot_be_read_at_open),
        FIXTURE_TEST(test_a_reset_counter_is_not_a_wrap),
        FIXTURE_TEST(test_what_a_domain_declares),
        FIXTURE_TEST(test_garbage_at_open),
        FIXTURE_TEST(test_unreadable_part_is_left_out),
        FIXTURE_TEST(test_unreadable_package_refuses_all),
        FIXTURE_TEST(test_missing_rights_and_their_remedy),
        FIXTURE_TEST(test_no_meter_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
