/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The break-even table: which file is taken, what follows from it.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/policy.h"

#define SITE PWR_SYSCONFDIR "/poweraware/calibration.json"

static const char cpuinfo[] = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                              "model\t\t: 143\nmodel name\t: Xeon Platinum\nstepping\t: 8\n\n";

/* A machine with a home and no configuration. */
static void put_machine(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/cpuinfo", cpuinfo);
    fixture_put(fixture, "/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
    setenv("HOME", "/home/user", 1);
    unsetenv("XDG_CONFIG_HOME");
}

/* A table of that machine with one measured row of each kind. */
static pwr_policy_table_t measured_table(fixture_t *fixture)
{
    pwr_policy_table_t table = {.tool = "test", .date = "2026-01-31T12:00:00Z"};
    assert_int_equal(pwr_policy_identify(&fixture->env, &table), PWR_OK);
    table.rows[PWR_POLICY_FUTEX] = (pwr_policy_row_t){.origin = PWR_POLICY_MEASURED,
                                                      .samples = 100,
                                                      .entry_ns = 2100,
                                                      .exit_ns = 6400,
                                                      .power_w = 31.5};
    table.rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)] =
        (pwr_policy_row_t){.origin = PWR_POLICY_MEASURED,
                           .samples = 50,
                           .entry_ns = 1000,
                           .exit_ns = 2000,
                           .entry_settle_ns = 400000,
                           .exit_settle_ns = 100000,
                           .power_w = PWR_POLICY_W_UNKNOWN};
    return table;
}

static void put_table(fixture_t *fixture, const char *path, const pwr_policy_table_t *table)
{
    char *text;
    assert_int_equal(pwr_policy_format(table, &text), PWR_OK);
    fixture_put(fixture, path, text);
    free(text);
}

static pwr_policy_t *load(fixture_t *fixture, const char *path)
{
    pwr_policy_t *policy;
    assert_int_equal(pwr_policy_load(&fixture->env, path, &policy), PWR_OK);
    return policy;
}

/* Loads, checks that path is not in use and that the reason contains both words. */
static void expect_builtin(fixture_t *fixture, const char *path, const char *word,
                           const char *other)
{
    pwr_policy_t *policy = load(fixture, path);
    assert_string_equal(policy->source, "built-in");
    assert_non_null(strstr(policy->why, word));
    assert_non_null(strstr(policy->why, other));
    assert_non_null(strstr(fixture->log, word));
    free(policy);
}

static void test_without_tables(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_t *policy = load(fixture, NULL);
    assert_string_equal(policy->source, "built-in");
    assert_string_equal(policy->why, "");
    assert_string_equal(fixture->log, "");
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        const pwr_policy_row_t *row = &policy->rows[id];
        assert_int_equal(row->origin, PWR_POLICY_BUILTIN);
        assert_true(strlen(row->citation) > 10);
        assert_true(row->entry_ns > 0 && row->exit_ns > 0);
        assert_true(row->entry_settle_ns <= PWR_POLICY_NS_MAX);
        assert_true((row->entry_settle_ns > 0) == pwr_policy_row_is_lever((pwr_policy_row_id_t)id));
    }
    free(policy);
}

static void test_builtin_rows_by_processor(void **state)
{
    static const struct {
        pwr_cpu_model_t cpu;
        uint64_t settle_ns;
    } known[] = {
        {{.vendor = "GenuineIntel", .family = 6, .model = 26}, 15000},
        {{.vendor = "GenuineIntel", .family = 6, .model = 85}, 500000},
        {{.vendor = "GenuineIntel", .family = 6, .model = 143}, 600000},
        {{.vendor = "AuthenticAMD", .family = 23, .model = 49}, 900000},
        {{.vendor = "AuthenticAMD", .family = 6, .model = 85}, 900000},
        {{.vendor = "GenuineIntel", .family = 15, .model = 85}, 900000},
    };
    (void)state;
    pwr_policy_row_t row;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        pwr_policy_builtin(&known[i].cpu, PWR_POLICY_LEVER(PWR_LEVER_PSTATE), &row);
        assert_int_equal(row.entry_settle_ns, known[i].settle_ns);
        assert_int_equal(row.exit_settle_ns, known[i].settle_ns);
    }
    pwr_policy_builtin(NULL, PWR_POLICY_LEVER(PWR_LEVER_PSTATE), &row);
    assert_int_equal(row.entry_settle_ns, 900000);
}

static void test_order_of_search(void **state)
{
    fixture_t *fixture = *state;
    static const char *const paths[] = {SITE, "/home/user/.config/poweraware/calibration.json",
                                        "/xdg/poweraware/calibration.json"};
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (i == 2) {
            setenv("XDG_CONFIG_HOME", "/xdg", 1);
        }
        table.rows[PWR_POLICY_FUTEX].exit_ns = 1000 * i;
        put_table(fixture, paths[i], &table);
        pwr_policy_t *policy = load(fixture, NULL);
        assert_string_equal(policy->source, paths[i]);
        assert_int_equal(pwr_policy_spin_ns(policy), i == 0 ? 2100 : 5000 * i);
        free(policy);
    }
    /* A name that was asked for is the only one. */
    pwr_policy_t *policy = load(fixture, SITE);
    assert_string_equal(policy->source, SITE);
    free(policy);
    expect_builtin(fixture, "/none.json", "/none.json", "no such file");
    /* A relative XDG_CONFIG_HOME does not count, as its specification says. */
    setenv("XDG_CONFIG_HOME", "xdg", 1);
    policy = load(fixture, NULL);
    assert_string_equal(policy->source, paths[1]);
    free(policy);
}

static void test_user_path(void **state)
{
    char path[64];
    (void)state;
    setenv("HOME", "/home/user", 1);
    unsetenv("XDG_CONFIG_HOME");
    assert_int_equal(pwr_policy_user_path(path, 8), PWR_ERR_RANGE);
    assert_int_equal(pwr_policy_user_path(path, sizeof path), PWR_OK);
    assert_string_equal(path, "/home/user/.config/poweraware/calibration.json");
    unsetenv("HOME");
    assert_int_equal(pwr_policy_user_path(path, sizeof path), PWR_ERR_UNSUPPORTED);
}

static void test_broken_user_table_leaves_the_sites(void **state)
{
    fixture_t *fixture = *state;
    static const char user[] = "/home/user/.config/poweraware/calibration.json";
    char text[64];
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    put_table(fixture, SITE, &table);
    fixture_put(fixture, user, "{\n\"rows\": [,]}");
    pwr_policy_t *policy = load(fixture, NULL);
    assert_string_equal(policy->source, SITE);
    assert_non_null(strstr(policy->why, user));
    assert_non_null(strstr(policy->why, "line 2"));
    free(policy);
    fixture_get(fixture, user, text, sizeof text);
    assert_string_equal(text, "{\n\"rows\": [,]}");
}

static void test_tables_of_other_machines(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    table.cpu.model = 85;
    put_table(fixture, "/model.json", &table);
    expect_builtin(fixture, "/model.json", "model 85", "model 143");
    table = measured_table(fixture);
    table.cpu.family = 7;
    put_table(fixture, "/family.json", &table);
    expect_builtin(fixture, "/family.json", "family 7", "family 6");
    table = measured_table(fixture);
    snprintf(table.cpu.vendor, sizeof table.cpu.vendor, "AuthenticAMD");
    put_table(fixture, "/vendor.json", &table);
    expect_builtin(fixture, "/vendor.json", "AuthenticAMD", "GenuineIntel");
    table = measured_table(fixture);
    snprintf(table.cpu.name, sizeof table.cpu.name, "Xeon Gold");
    put_table(fixture, "/name.json", &table);
    expect_builtin(fixture, "/name.json", "(Xeon Gold)", "(Xeon Platinum)");
    table = measured_table(fixture);
    snprintf(table.kernel, sizeof table.kernel, "6.1.0-14-amd64");
    put_table(fixture, "/kernel.json", &table);
    expect_builtin(fixture, "/kernel.json", "Linux 6.1.0-14-amd64", "this is 6.1.0-13-amd64");
    /* Another host with the same processor and kernel is fine: nodes are bought in hundreds. */
    table = measured_table(fixture);
    snprintf(table.host, sizeof table.host, "elsewhere");
    put_table(fixture, "/host.json", &table);
    pwr_policy_t *policy = load(fixture, "/host.json");
    assert_string_equal(policy->source, "/host.json");
    assert_string_equal(policy->why, "");
    free(policy);
}

static void test_files_that_cannot_be_read(void **state)
{
    fixture_t *fixture = *state;
    char name[400];
    put_machine(fixture);
    fixture_make_directory(fixture, "/folder");
    expect_builtin(fixture, "/folder", "/folder", "not a file");
    snprintf(name, sizeof name, "%s/fifo", fixture->root);
    assert_int_equal(mkfifo(name, 0600), 0);
    expect_builtin(fixture, "/fifo", "/fifo", "not a file");
    expect_builtin(fixture, "relative.json", "relative.json", "absolute");
    expect_builtin(fixture, "", "", "absolute");
    fixture_put(fixture, "/large.json", "{");
    snprintf(name, sizeof name, "%s/large.json", fixture->root);
    assert_int_equal(truncate(name, 256 * 1024 + 1), 0);
    expect_builtin(fixture, "/large.json", "/large.json", "larger");
    fixture_put(fixture, "/empty.json", "");
    expect_builtin(fixture, "/empty.json", "/empty.json", "line 1");
}

static int load_unreadable(fixture_t *fixture)
{
    pwr_policy_t *policy;
    if (pwr_policy_load(&fixture->env, "/secret.json", &policy) != PWR_OK) {
        return 1;
    }
    bool good = strstr(policy->why, "/secret.json: no permission") != NULL;
    free(policy);
    return good ? 0 : 2;
}

static void test_file_without_the_right_to_read(void **state)
{
    fixture_t *fixture = *state;
    char name[400];
    put_machine(fixture);
    fixture_put(fixture, "/secret.json", "{}");
    snprintf(name, sizeof name, "%s/secret.json", fixture->root);
    assert_int_equal(chmod(name, 0), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, load_unreadable), 0);
}

static void test_unknown_machine(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    put_table(fixture, "/table.json", &table);
    fixture_put(fixture, "/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
    expect_builtin(fixture, "/table.json", "/table.json", "not supported");
    pwr_policy_t *policy = load(fixture, NULL);
    assert_string_equal(policy->why, "");
    free(policy);
}

/* ---- what follows ---- */

static void test_arithmetic(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    put_table(fixture, "/table.json", &table);
    pwr_policy_t *policy = load(fixture, "/table.json");
    /* Spin for five times of what it takes to wake up. */
    assert_int_equal(pwr_policy_spin_ns(policy), 5 * 6400);
    /* Half of the power is saved: 1000 + 400000 + 2 * (1000 + 2000 + 100000) */
    assert_int_equal(pwr_policy_break_even(policy, PWR_LEVER_PSTATE).ns, 607000);
    /* The row that the table lacks is built in (ICPP 2010): 3 + 15 + 4 / 3 * (3 + 3 + 15) us. */
    assert_int_equal(policy->rows[PWR_POLICY_LEVER(PWR_LEVER_TSTATE)].origin, PWR_POLICY_BUILTIN);
    assert_int_equal(pwr_policy_break_even(policy, PWR_LEVER_TSTATE).ns, 46000);
    assert_int_equal(policy->rows[PWR_POLICY_FUTEX].origin, PWR_POLICY_MEASURED);
    assert_true(policy->rows[PWR_POLICY_FUTEX].power_w == 31.5);
    free(policy);
}

static void test_unobserved_settling_is_built_in(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    table.rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)].entry_settle_ns = PWR_POLICY_NS_UNKNOWN;
    put_table(fixture, "/table.json", &table);
    pwr_policy_t *policy = load(fixture, "/table.json");
    const pwr_policy_row_t *row = &policy->rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)];
    assert_int_equal(row->entry_settle_ns, 600000); /* Sapphire Rapids */
    assert_int_equal(row->exit_settle_ns, 100000);
    assert_int_equal(row->entry_ns, 1000);
    assert_int_equal(pwr_policy_break_even(policy, PWR_LEVER_PSTATE).ns, 807000);
    free(policy);
}

/* The break-even of P-states with these watts: 401 us until they are in force, 103 us lost. */
static uint64_t break_even_ns(fixture_t *fixture, double pause_w, double low_w)
{
    pwr_policy_table_t table = measured_table(fixture);
    pwr_policy_row_t *row = &table.rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)];
    table.rows[PWR_POLICY_PAUSE] = *row;
    table.rows[PWR_POLICY_PAUSE].entry_settle_ns = table.rows[PWR_POLICY_PAUSE].exit_settle_ns = 0;
    table.rows[PWR_POLICY_PAUSE].power_w = pause_w;
    row->power_w = low_w;
    put_table(fixture, "/table.json", &table);
    pwr_policy_t *policy = load(fixture, "/table.json");
    uint64_t ns = pwr_policy_break_even(policy, PWR_LEVER_PSTATE).ns;
    free(policy);
    return ns;
}

static void test_break_even_follows_the_watts(void **state)
{
    put_machine(*state);
    assert_int_equal(break_even_ns(*state, 100.0, 90.0), 401000 + 10 * 103000);
    assert_int_equal(break_even_ns(*state, 100.0, 25.0), 401000 + 103000 * 4 / 3);
    assert_int_equal(break_even_ns(*state, 100.0, PWR_POLICY_W_UNKNOWN), 607000);
    assert_int_equal(break_even_ns(*state, PWR_POLICY_W_UNKNOWN, 50.0), 607000);
    assert_true(break_even_ns(*state, 50.0, 50.0) == PWR_BREAK_EVEN_NEVER);
    assert_true(break_even_ns(*state, 50.0, 60.0) == PWR_BREAK_EVEN_NEVER);
}

static void test_extreme_rows(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_table_t table = measured_table(fixture);
    table.rows[PWR_POLICY_FUTEX].entry_ns = PWR_POLICY_NS_MAX;
    table.rows[PWR_POLICY_FUTEX].exit_ns = PWR_POLICY_NS_MAX;
    pwr_policy_row_t *lever = &table.rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)];
    lever->entry_ns = lever->exit_ns = PWR_POLICY_NS_MAX;
    lever->entry_settle_ns = lever->exit_settle_ns = PWR_POLICY_NS_MAX;
    put_table(fixture, "/table.json", &table);
    pwr_policy_t *policy = load(fixture, "/table.json");
    assert_int_equal(pwr_policy_spin_ns(policy), 1000000000); /* not 20 s, and not modulo 2^32 */
    assert_int_equal(pwr_policy_monitor_ns(policy), 1000000000);
    assert_true(pwr_policy_break_even(policy, PWR_LEVER_PSTATE).ns == 8 * PWR_POLICY_NS_MAX);
    free(policy);
}

/* Where the table has a row for resting on a cache line, with these times and watts. */
static uint32_t monitor_ns(fixture_t *fixture, uint64_t exit_ns, double pause_w, double monitor_w)
{
    pwr_policy_table_t table = measured_table(fixture);
    table.rows[PWR_POLICY_PAUSE] = (pwr_policy_row_t){
        .origin = PWR_POLICY_MEASURED, .samples = 5, .exit_ns = 100, .power_w = pause_w};
    table.rows[PWR_POLICY_MONITOR] = (pwr_policy_row_t){.origin = PWR_POLICY_MEASURED,
                                                        .samples = 5,
                                                        .entry_ns = 100,
                                                        .exit_ns = exit_ns,
                                                        .power_w = monitor_w};
    put_table(fixture, "/table.json", &table);
    pwr_policy_t *policy = load(fixture, "/table.json");
    uint32_t result = pwr_policy_monitor_ns(policy);
    free(policy);
    return result;
}

/* Entering and leaving the futex rung takes 8.5 us, and 31.5 W are drawn while it sleeps. */
static void test_resting_costs_what_sleeping_would(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    pwr_policy_t *policy = load(fixture, NULL);
    assert_int_equal(pwr_policy_monitor_ns(policy), pwr_policy_spin_ns(policy)); /* built in */
    free(policy);
    assert_int_equal(monitor_ns(fixture, 900, PWR_POLICY_W_UNKNOWN, 33.5), 32000);
    assert_int_equal(monitor_ns(fixture, 900, 37.5, PWR_POLICY_W_UNKNOWN), 32000);
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 35.5), 48000); /* 6 W to 4 W */
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 33.0), 128000);
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 32.5), 128000); /* 4 times at most */
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 31.5), 128000);
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 20.0), 128000);
}

static void test_resting_that_is_no_use(void **state)
{
    fixture_t *fixture = *state;
    put_machine(fixture);
    assert_int_equal(monitor_ns(fixture, 900, 37.5, 37.5), 0);
    assert_int_equal(monitor_ns(fixture, 900, 30.0, 30.5), 0);
    assert_int_equal(monitor_ns(fixture, 8399, PWR_POLICY_W_UNKNOWN, 33.5), 32000);
    assert_int_equal(monitor_ns(fixture, 8400, PWR_POLICY_W_UNKNOWN, 33.5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_without_tables),
        FIXTURE_TEST(test_builtin_rows_by_processor),
        FIXTURE_TEST(test_order_of_search),
        FIXTURE_TEST(test_user_path),
        FIXTURE_TEST(test_broken_user_table_leaves_the_sites),
        FIXTURE_TEST(test_tables_of_other_machines),
        FIXTURE_TEST(test_files_that_cannot_be_read),
        FIXTURE_TEST(test_file_without_the_right_to_read),
        FIXTURE_TEST(test_unknown_machine),
        FIXTURE_TEST(test_arithmetic),
        FIXTURE_TEST(test_unobserved_settling_is_built_in),
        FIXTURE_TEST(test_break_even_follows_the_watts),
        FIXTURE_TEST(test_extreme_rows),
        FIXTURE_TEST(test_resting_costs_what_sleeping_would),
        FIXTURE_TEST(test_resting_that_is_no_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
