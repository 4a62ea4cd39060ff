/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The parts of poweraware-inspect: timing, gathering without harm.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/claim.h"
#include "pwr/lever.h"
#include "pwr/monitor.h"
#include "tools/inspect/inspect.h"
#include "topo/topo_private.h"

enum { CLOCK_MODULATION = 0x19a };

/* ---- reading a report ---- */

static json_t *report;

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key)
{
    assert_true(json_is_real(json_object_get(object, key)));
    return json_real_value(json_object_get(object, key));
}

static const json_t *binding(const char *key)
{
    return json_object_get(json_object_get(report, "binding"), key);
}

static const json_t *lever(pwr_lever_id_t id)
{
    return json_array_get(json_object_get(report, "levers"), id);
}

static const json_t *cost_of(pwr_lever_id_t id)
{
    return json_object_get(lever(id), "cost");
}

static const json_t *backend_of(pwr_lever_id_t id, const char *name)
{
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(lever(id), "backends"), i, each)
    {
        if (strcmp(text_of(each, "name"), name) == 0) {
            return each;
        }
    }
    fail_msg("no back end %s", name);
    return NULL;
}

static void expect_state(pwr_lever_id_t id, const char *name, const char *state)
{
    assert_string_equal(text_of(backend_of(id, name), "state"), state);
}

/* ---- timing ---- */

static void expect_spread(uint64_t *values, unsigned count, double low, double median, double high)
{
    json_t *spread = inspect_spread(values, count);
    assert_true(real_of(spread, "low") == low && real_of(spread, "median") == median &&
                real_of(spread, "high") == high);
    json_decref(spread);
}

static void test_spread(void **state)
{
    uint64_t values[] = {9000, 1000, 5000, 3000, 7000};
    (void)state;
    expect_spread(values, 5, 3, 5, 7);
    expect_spread(values, 1, 1, 1, 1);
}

typedef struct mover {
    unsigned downs, ups, fails_at;
} mover_t;

static pwr_status_t move(void *object, bool down)
{
    mover_t *mover = object;
    *(down ? &mover->downs : &mover->ups) += 1;
    return mover->fails_at > 0 && mover->downs == mover->fails_at ? PWR_ERR_IO : PWR_OK;
}

static void test_cost(void **state)
{
    fixture_t *fixture = *state;
    mover_t mover = {0};
    json_t *cost = inspect_cost(&fixture->env, move, &mover, 1);
    assert_true(number_of(cost, "rounds") > 0);
    assert_int_equal(number_of(cost, "cpus"), 1);
    assert_non_null(json_object_get(cost, "restore_us"));
    assert_int_equal(mover.downs, number_of(cost, "rounds") + 1);
    assert_int_equal(mover.ups, mover.downs);
    json_decref(cost);
    mover = (mover_t){.fails_at = 3};
    cost = inspect_cost(&fixture->env, move, &mover, 0);
    assert_int_equal(mover.downs, 3);
    assert_int_equal(json_object_size(cost), 1);
    assert_string_equal(text_of(cost, "why_not"), pwr_status_text(PWR_ERR_IO));
    json_decref(cost);
}

/* ---- gathering, on two packages of four cores ---- */

static void put_topology_file(fixture_t *fixture, unsigned cpu, const char *file, unsigned value)
{
    char path[128];
    char text[16];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
    snprintf(text, sizeof text, "%x\n", value);
    fixture_put(fixture, path, text);
}

/* /proc as under an emulator: it knows nothing of our binding, so nobody is judged. */
static void put_proc(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
}

static void put_hardware(fixture_t *fixture)
{
    fixture_put(fixture, "/sys/devices/system/cpu/online", "0-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char related[8];
        snprintf(related, sizeof related, "%u\n", cpu);
        fixture_put_cpufreq(fixture, cpu, related);
        fixture_put_msr(fixture, cpu, "msr", CLOCK_MODULATION, 0);
        put_topology_file(fixture, cpu, "core_cpus", 1u << cpu);
        put_topology_file(fixture, cpu, "package_cpus", cpu < 4 ? 0x0f : 0xf0);
        put_topology_file(fixture, cpu, "core_id", cpu % 4);
        put_topology_file(fixture, cpu, "physical_package_id", cpu / 4);
    }
    put_proc(fixture);
}

static void gather(fixture_t *fixture, const char *cpus, bool probe)
{
    const inspect_request_t request = {
        .env = fixture->env, .cpus = cpus, .run_directory = "/run", .probe = probe};
    json_decref(report);
    report = NULL;
    assert_int_equal(inspect_gather(&request, &report), PWR_OK);
    assert_int_equal(number_of(json_object_get(report, "machine"), "packages"), 2);
    assert_int_equal(number_of(json_object_get(report, "machine"), "cores"), 8);
}

/* A file that looks as if nobody had written it for ages; any write shows, also one of the value
   that was there. */
enum { AGES_AGO = 1 };

static void full_name(const fixture_t *fixture, const char *path, char name[300])
{
    snprintf(name, 300, "%s%s", fixture->root, path);
}

static void age(const fixture_t *fixture, const char *path)
{
    char name[300];
    const struct timespec times[2] = {{.tv_sec = AGES_AGO}, {.tv_sec = AGES_AGO}};
    full_name(fixture, path, name);
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static bool was_written(const fixture_t *fixture, const char *path)
{
    char name[300];
    struct stat info;
    full_name(fixture, path, name);
    assert_int_equal(stat(name, &info), 0);
    return info.st_mtim.tv_sec != AGES_AGO;
}

static const char ceiling_file[] = "/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq";
static const char msr_file[] = "/dev/cpu/2/msr";

static void test_bound_and_alone(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    age(fixture, ceiling_file);
    age(fixture, msr_file);
    gather(fixture, "2", true);
    assert_true(was_written(fixture, ceiling_file) && was_written(fixture, msr_file));
    assert_string_equal(json_string_value(binding("own_cpus")), "2");
    assert_true(json_is_true(binding("levers_allowed")));
    assert_true(json_is_true(binding("exclusive")));
    const json_t *cpufreq = backend_of(PWR_LEVER_PSTATE, "cpufreq");
    assert_string_equal(text_of(cpufreq, "state"), "used");
    assert_int_equal(number_of(cpufreq, "lowest"), FIXTURE_LOWEST_KHZ);
    assert_int_equal(number_of(cpufreq, "full"), FIXTURE_CEILING_KHZ);
    expect_state(PWR_LEVER_TSTATE, "msr", "used");
    assert_int_equal(number_of(backend_of(PWR_LEVER_TSTATE, "msr"), "lowest"), 2);
    expect_state(PWR_LEVER_UNCORE, "intel_uncore_frequency", "refused"); /* it has none */
    expect_state(PWR_LEVER_UNCORE, "msr", "refused");
    assert_true(json_is_null(cost_of(PWR_LEVER_UNCORE)));
    for (pwr_lever_id_t id = PWR_LEVER_PSTATE; id <= PWR_LEVER_TSTATE; id++) {
        assert_true(number_of(cost_of(id), "rounds") > 0);
        assert_int_equal(number_of(cost_of(id), "cpus"), 1);
    }
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_min_freq"), FIXTURE_FLOOR_KHZ);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
}

static void expect_only_looked_at(fixture_t *fixture, const char *cpus, bool probe,
                                  const char *why_off)
{
    age(fixture, ceiling_file);
    age(fixture, msr_file);
    gather(fixture, cpus, probe);
    assert_true(json_is_false(binding("levers_allowed")));
    assert_non_null(strstr(json_string_value(binding("why_off")), why_off));
    expect_state(PWR_LEVER_PSTATE, "cpufreq", "looks usable");
    expect_state(PWR_LEVER_TSTATE, "msr", "looks usable");
    assert_string_equal(text_of(cost_of(PWR_LEVER_PSTATE), "why_not"), "that needs writes");
    assert_false(was_written(fixture, ceiling_file));
    assert_false(was_written(fixture, msr_file));
}

static void expect_no_claims(const fixture_t *fixture)
{
    char name[300];
    full_name(fixture, "/run", name);
    assert_int_equal(access(name, F_OK), -1); /* not even the folder for them was made */
}

static void test_not_bound_only_looks(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    expect_only_looked_at(fixture, NULL, true, "not bound");
    assert_true(json_is_null(binding("exclusive")));
    expect_no_claims(fixture);
}

static void test_no_probe_only_looks(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    expect_only_looked_at(fixture, "2", false, "--no-probe");
    assert_true(json_is_null(binding("exclusive")));
    expect_no_claims(fixture);
}

static void test_cpus_of_others_are_only_looked_at(void **state)
{
    fixture_t *fixture = *state;
    pwr_claim_t *claim;
    put_hardware(fixture);
    pwr_topo_t *theirs = fixture_topo(fixture, NULL, "1-2");
    assert_int_equal(pwr_claim_take(&fixture->env, theirs, "/run", &claim), PWR_OK);
    expect_only_looked_at(fixture, "2-3", true, "CPU 2");
    assert_true(json_is_false(binding("exclusive")));
    assert_int_equal(json_integer_value(binding("shared_cpu")), 2);
    pwr_claim_release(claim);
    pwr_topo_close(theirs);
}

static void test_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture->env.helper_dir = "/none";
    expect_only_looked_at(fixture, "2", true, "no guardian");
    assert_true(json_is_true(binding("exclusive")));
}

/* What could be timed on one CPU only where its frequency is its own. */
static void test_shared_frequency(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture_put_cpufreq(fixture, 2, "2 3\n");
    fixture_put_cpufreq(fixture, 3, "2 3\n");
    gather(fixture, "2-3", true);
    expect_state(PWR_LEVER_PSTATE, "cpufreq", "used");
    assert_int_equal(number_of(cost_of(PWR_LEVER_PSTATE), "cpus"), 2);
    gather(fixture, "2", true);
    expect_state(PWR_LEVER_PSTATE, "cpufreq", "refused");
    assert_string_equal(text_of(backend_of(PWR_LEVER_PSTATE, "cpufreq"), "refusal"),
                        pwr_status_text(PWR_ERR_SHARED));
}

static void test_machine_and_cpu_lists(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    gather(fixture, "0-2,5,7", false);
    assert_string_equal(json_string_value(binding("own_cpus")), "0-2,5,7");
    const json_t *monitor = json_object_get(json_object_get(report, "machine"), "wait_monitor");
    const pwr_monitor_t *own = pwr_monitor_find();
    assert_true(own ? strcmp(json_string_value(monitor), pwr_monitor_name(own)) == 0
                    : json_is_null(monitor));
}

static int forget_report(void **state)
{
    (void)state;
    json_decref(report);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread),
        FIXTURE_TEST(test_cost),
        FIXTURE_TEST(test_bound_and_alone),
        FIXTURE_TEST(test_not_bound_only_looks),
        FIXTURE_TEST(test_no_probe_only_looks),
        FIXTURE_TEST(test_cpus_of_others_are_only_looked_at),
        FIXTURE_TEST(test_no_guardian),
        FIXTURE_TEST(test_shared_frequency),
        FIXTURE_TEST(test_machine_and_cpu_lists),
    };
    return cmocka_run_group_tests(tests, NULL, forget_report);
}
