/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy through the kernel's power PMU: its files, refusals and their remedies, and counting, with
 * a kernel made of pipes and with the real one.
 *
 * The tree is what Linux shows on a machine with two packages (arch/x86/events/rapl.c).
 */
#include "config.h"

#include "meter_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PMU_TYPE = 23, MOST_EVENTS = 16 };

static const char scale[] = "2.3283064365386962890625e-10\n"; /* 2^-32 J */
static const uint64_t counts_per_j = UINT64_C(1) << 32;

static void put_pmu(fixture_t *fixture, const char *file, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/power/%s", file);
    fixture_put(fixture, path, text);
}

static void put_event(fixture_t *fixture, const char *name, const char *config)
{
    char file[80];
    snprintf(file, sizeof file, "events/%s", name);
    put_pmu(fixture, file, config);
    snprintf(file, sizeof file, "events/%s.unit", name);
    put_pmu(fixture, file, "Joules\n");
    snprintf(file, sizeof file, "events/%s.scale", name);
    put_pmu(fixture, file, scale);
}

static void put_power(fixture_t *fixture)
{
    put_pmu(fixture, "type", "23\n");
    put_pmu(fixture, "format/event", "config:0-7\n");
    put_pmu(fixture, "cpumask", "0,4\n");
    put_event(fixture, "energy-pkg", "event=0x02\n");
}

/* ---- a kernel made of pipes ---- */

static struct {
    struct perf_event_attr attr;
    unsigned cpu;
    int write_fd;
} events[MOST_EVENTS];
static unsigned num_events;
static int refusal;                     /* errno of every open, or 0 */
static uint64_t refused = ~UINT64_C(0); /* this config is not known */

static void count(unsigned event, uint64_t value)
{
    assert_int_equal(write(events[event].write_fd, &value, sizeof value), sizeof value);
}

static int open_event(struct perf_event_attr *attr, unsigned cpu)
{
    int ends[2];
    if (refusal != 0 || attr->config == refused) {
        errno = refusal != 0 ? refusal : EINVAL;
        return -1;
    }
    assert_true(num_events < MOST_EVENTS);
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    events[num_events].attr = *attr;
    events[num_events].cpu = cpu;
    events[num_events].write_fd = ends[1];
    count(num_events, 1000);
    num_events++;
    return ends[0];
}

static const pwr_meter_outside_t pipes = {.perf_event_open = open_event};

static void close_events(opened_t *opened)
{
    meter_close(opened);
    for (unsigned i = 0; i < num_events; i++) {
        close(events[i].write_fd);
    }
    num_events = 0;
}

static void test_one_event_per_package(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    put_event(fixture, "energy-ram", "event=0x03\n");
    put_event(fixture, "energy-cores", "event=0x01\n");
    put_event(fixture, "energy-gpu", "event=0x04\n");
    put_event(fixture, "energy-psys", "event=0x05\n");
    opened_t opened = meter_open(fixture, &pipes);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "perf_event");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 7);
    meter_expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 1, "package-1", PWR_DOMAIN_PACKAGE, 1);
    meter_expect_domain(opened.meter, 2, "core-0", PWR_DOMAIN_CORE, 0);
    meter_expect_domain(opened.meter, 5, "dram-1", PWR_DOMAIN_DRAM, 1);
    meter_expect_domain(opened.meter, 6, "platform", PWR_DOMAIN_PLATFORM, 0);
    assert_int_equal(pwr_meter_domain(opened.meter, 0)->range_uj, 0);
    assert_true(pwr_meter_domain(opened.meter, 0)->resolution_uj == 1e6 / 16384);
    assert_int_equal(events[1].cpu, 4);
    assert_int_equal(events[1].attr.type, PMU_TYPE);
    assert_int_equal(events[1].attr.config, 2);
    assert_int_equal(events[1].attr.size, sizeof(struct perf_event_attr));
    assert_int_equal(events[1].attr.disabled, 0);
    assert_int_equal(events[6].attr.config, 5);
    close_events(&opened);
}

static void test_counts_are_scaled(void **state)
{
    fixture_t *fixture = *state;
    meter_freeze(fixture);
    put_power(fixture);
    opened_t opened = meter_open(fixture, &pipes);
    meter_pass_us(1000000);
    count(0, 1000 + 3 * counts_per_j);
    count(1, 1000 + counts_per_j / 2);
    pwr_meter_reading_t readings[2];
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[0].energy_uj, 3000000);
    assert_int_equal(readings[1].energy_uj, 500000);
    close_events(&opened);
}

static void test_dies(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    put_pmu(fixture, "cpumask", "0,2,4\n");
    opened_t opened = meter_open(fixture, &pipes);
    meter_expect_domain(opened.meter, 0, "package-0-die-0", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 1, "package-0-die-1", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 2, "package-1", PWR_DOMAIN_PACKAGE, 1);
    close_events(&opened);
}

static void test_garbled_files(void **state)
{
    static const char *const garbled[][2] = {
        {"type", "\n"},
        {"type", "power\n"},
        {"type", "-1\n"},
        {"type", "4294967296\n"},
        {"format/event", "config:0-15\n"},
        {"cpumask", "\n"},
        {"cpumask", "0-\n"},
        {"cpumask", "all\n"},
        {"events/energy-pkg", "event=\n"},
        {"events/energy-pkg", "event=0x1ff\n"},
        {"events/energy-pkg", "event=0x02,umask=0x1\n"},
        {"events/energy-pkg", "config=2\n"},
        {"events/energy-pkg.unit", "Watts\n"},
        {"events/energy-pkg.scale", "\n"},
        {"events/energy-pkg.scale", "nan\n"},
        {"events/energy-pkg.scale", "inf\n"},
        {"events/energy-pkg.scale", "-1e-9\n"},
        {"events/energy-pkg.scale", "0\n"},
        {"events/energy-pkg.scale", "1e-9 J\n"},
        {"events/energy-pkg.scale", "1e400\n"},
    };
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof garbled / sizeof garbled[0]; i++) {
        char why[120];
        put_power(fixture);
        put_pmu(fixture, garbled[i][0], garbled[i][1]);
        snprintf(why, sizeof why, "devices/power/%s: not in the documented form", garbled[i][0]);
        meter_expect_refusal(fixture, &pipes, PWR_ERR_PARSE, why);
    }
    assert_int_equal(num_events, 0);
}

static void test_missing_files(void **state)
{
    fixture_t *fixture = *state;
    meter_expect_refusal(fixture, &pipes, PWR_ERR_UNSUPPORTED,
                         "devices/power: the kernel has no energy events");
    put_power(fixture);
    fixture_remove(fixture, "/sys/bus/event_source/devices/power/events/energy-pkg");
    put_event(fixture, "energy-ram", "event=0x03\n");
    meter_expect_refusal(fixture, &pipes, PWR_ERR_UNSUPPORTED,
                         "devices/power: no energy-pkg event");
}

static void test_refusals_name_the_remedy(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    refusal = EACCES;
    fixture_put(fixture, "/proc/sys/kernel/perf_event_paranoid", "2\n");
    meter_expect_refusal(fixture, &pipes, PWR_ERR_PERM,
                         "/proc/sys/kernel/perf_event_paranoid is 2: needs 0 or less, by \"sysctl "
                         "kernel.perf_event_paranoid=0\", or CAP_PERFMON, by \"setcap "
                         "cap_perfmon+ep PROGRAM\"");
    refusal = EPERM;
    fixture_put(fixture, "/proc/sys/kernel/perf_event_paranoid", "-1\n");
    meter_expect_refusal(fixture, &pipes, PWR_ERR_PERM, "is -1: a seccomp filter");
    fixture_remove(fixture, "/proc/sys/kernel/perf_event_paranoid");
    meter_expect_refusal(fixture, &pipes, PWR_ERR_PERM, "is not readable: a seccomp filter");
    refusal = ENODEV; /* the CPU went offline */
    meter_expect_refusal(fixture, &pipes, PWR_ERR_UNSUPPORTED, "events/energy-pkg on cpu 0");
    refusal = 0;
}

/* A domain that cannot be opened on all packages is left out, and its descriptors are closed. */
static void test_an_optional_event_may_fail(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    put_event(fixture, "energy-ram", "event=0x03\n");
    refused = 3;
    opened_t opened = meter_open(fixture, &pipes);
    refused = ~UINT64_C(0);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 2);
    assert_non_null(strstr(fixture->log, "energy-ram is left out"));
    close_events(&opened);
}

static void test_short_and_failing_reads(void **state)
{
    fixture_t *fixture = *state;
    pwr_meter_reading_t readings[2];
    meter_freeze(fixture);
    put_power(fixture);
    opened_t opened = meter_open(fixture, &pipes);
    meter_pass_us(1000000);
    count(0, 1000 + counts_per_j);
    assert_int_equal(write(events[1].write_fd, "four", 4), 4);
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[0].status, PWR_OK);
    assert_int_equal(readings[1].status, PWR_ERR_IO);
    assert_int_equal(readings[1].energy_uj, 0);
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_ERR_IO); /* nothing to read */
    assert_int_equal(readings[0].energy_uj, 1000000);
    close_events(&opened);
}

static void test_another_root_is_another_machine(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED,
                         "perf_event: counts on this machine, not on the one below");
}

static void test_powercap_comes_first(void **state)
{
    fixture_t *fixture = *state;
    put_power(fixture);
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, &pipes);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    assert_int_equal(num_events, 0);
    meter_close(&opened);
}

/* ---- the real kernel ---- */

/* Its CPU clock (counted in ns per CPU, with the rights that a power PMU needs) plays a package
   that draws 1 W. */
static void put_cpu_clock(fixture_t *fixture)
{
    put_power(fixture);
    put_pmu(fixture, "type", "1\n"); /* PERF_TYPE_SOFTWARE */
    put_pmu(fixture, "cpumask", "0\n");
    put_event(fixture, "energy-pkg", "event=0x00\n"); /* PERF_COUNT_SW_CPU_CLOCK */
    put_pmu(fixture, "events/energy-pkg.scale", "1e-9\n");
}

static void test_real_kernel_counts(void **state)
{
    fixture_t *fixture = *state;
    const pwr_meter_outside_t kernel = {.perf_event_open = pwr_meter_outside_real.perf_event_open};
    put_cpu_clock(fixture);
    opened_t opened = meter_open(fixture, &kernel);
    if (opened.status != PWR_OK) {
        print_message("skipped: this kernel counts nothing for us: %s\n", opened.why);
        meter_close(&opened);
        skip();
    }
    uint64_t before = meter_read(opened.meter, 0).energy_uj;
    uint64_t after = before;
    while (after < before + 1000) { /* a millisecond of CPU clock; a standstill is a time-out */
        after = meter_read(opened.meter, 0).energy_uj;
    }
    assert_int_equal(meter_read(opened.meter, 0).status, PWR_OK);
    meter_close(&opened);
}

static int open_without_rights(fixture_t *fixture)
{
    const pwr_meter_outside_t kernel = {.perf_event_open = pwr_meter_outside_real.perf_event_open};
    opened_t opened = meter_open(fixture, &kernel);
    bool good = opened.status == PWR_ERR_PERM &&
                strstr(opened.why, "sysctl kernel.perf_event_paranoid=0") != NULL;
    meter_close(&opened);
    return good ? 0 : 1;
}

static void test_real_kernel_refuses(void **state)
{
    fixture_t *fixture = *state;
    char text[32] = "";
    put_cpu_clock(fixture);
    if (pwr_env_read_text(&pwr_env_real, "/proc/sys/kernel/perf_event_paranoid", text,
                          sizeof text) != PWR_OK ||
        strtol(text, NULL, 10) <= 0) {
        print_message("skipped: perf_event_paranoid is \"%s\", nobody is refused\n", text);
        skip();
    }
    fixture_put(fixture, "/proc/sys/kernel/perf_event_paranoid", text);
    assert_int_equal(fixture_run_unprivileged(fixture, open_without_rights), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_one_event_per_package),
        FIXTURE_TEST(test_counts_are_scaled),
        FIXTURE_TEST(test_dies),
        FIXTURE_TEST(test_garbled_files),
        FIXTURE_TEST(test_missing_files),
        FIXTURE_TEST(test_refusals_name_the_remedy),
        FIXTURE_TEST(test_an_optional_event_may_fail),
        FIXTURE_TEST(test_short_and_failing_reads),
        FIXTURE_TEST(test_another_root_is_another_machine),
        FIXTURE_TEST(test_powercap_comes_first),
        FIXTURE_TEST(test_real_kernel_counts),
        FIXTURE_TEST(test_real_kernel_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
