/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-calibrate, run as a user runs it on the machine at hand, with whatever rights there
 * are.  (On emulated hardware: test_calibrate_on_machines.py.)
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/monitor.h"
#include "pwr/policy.h"

static char text[1 << 18];
static char home[PATH_MAX];

/* Runs the tool in <root> with HOME=<root>/home, output in <root>/stdout and stderr.  With limit no
   file may grow beyond so many bytes. */
static int run(fixture_t *fixture, const char *const *arguments, uint64_t limit)
{
    int result;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        snprintf(home, sizeof home, "%s/home", fixture->root);
        setenv("HOME", home, 1);
        unsetenv("XDG_CONFIG_HOME");
        int out = -1, err = -1;
        if (chdir(fixture->root) == 0) {
            out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0644);
            err = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        }
        if (limit > 0) {
            fixture_limit_writes(limit);
        }
        if (out >= 0 && err >= 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
            execv(PWR_TEST_TOOLS "/poweraware-calibrate", (char *const *)arguments);
        }
        _exit(126);
    }
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "poweraware-calibrate", "--helper-dir", PWR_TEST_TOOLS, __VA_ARGS__, NULL                  \
    }

static void expect_table(fixture_t *fixture, const char *path)
{
    char why[300] = "";
    pwr_policy_table_t table, here = {0};
    fixture_get(fixture, path, text, sizeof text);
    if (pwr_policy_parse(text, strlen(text), why, sizeof why, &table) != PWR_OK) {
        fail_msg("%s: %s", path, why);
    }
    assert_int_equal(pwr_policy_identify(&pwr_env_real, &here), PWR_OK);
    assert_string_equal(table.kernel, here.kernel);
    assert_string_equal(table.cpu.vendor, here.cpu.vendor);
    assert_int_equal(table.cpu.model, here.cpu.model);
    assert_string_equal(table.tool, "poweraware-calibrate " PACKAGE_VERSION);
    /* The rungs that one CPU is enough for; nothing is built in. */
    assert_int_equal(table.rows[PWR_POLICY_FUTEX_SAME_CPU].origin, PWR_POLICY_MEASURED);
    assert_int_equal(table.rows[PWR_POLICY_YIELD].origin, PWR_POLICY_MEASURED);
    if (!pwr_monitor_find()) {
        assert_int_equal(table.rows[PWR_POLICY_MONITOR].origin, PWR_POLICY_ABSENT);
    }
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        const pwr_policy_row_t *row = &table.rows[id];
        assert_int_not_equal(row->origin, PWR_POLICY_BUILTIN);
        assert_true(row->origin == PWR_POLICY_ABSENT || row->samples >= 5);
        assert_true(row->origin == PWR_POLICY_ABSENT || row->exit_ns > 0);
    }
}

static void skip_unless_identified(void)
{
    pwr_policy_table_t here;
    if (pwr_policy_identify(&pwr_env_real, &here) != PWR_OK) {
        print_message("skipped: /proc/cpuinfo does not name this processor\n");
        skip();
    }
}

static void test_json_on_standard_output(void **state)
{
    fixture_t *fixture = *state;
    struct stat info;
    char name[PATH_MAX];
    skip_unless_identified();
    assert_int_equal(run(fixture, ARGUMENTS("--quick", "--json"), 0), 0);
    expect_table(fixture, "/stdout");
    snprintf(name, sizeof name, "%s/home", fixture->root);
    assert_int_not_equal(stat(name, &info), 0); /* no file without --output */
}

static void test_user_table_is_found_again(void **state)
{
    fixture_t *fixture = *state;
    pwr_policy_t *policy;
    skip_unless_identified();
    assert_int_equal(run(fixture, ARGUMENTS("--quick"), 0), 0);
    expect_table(fixture, "/home/.config/poweraware/calibration.json");
    fixture_get(fixture, "/stdout", text, sizeof text);
    assert_non_null(strstr(text, "futex_same_cpu"));
    assert_int_equal(strstr(text, "neither umwait, mwaitx nor WFE") != NULL, !pwr_monitor_find());
    assert_non_null(strstr(text, "written to "));
    snprintf(home, sizeof home, "%s/home", fixture->root);
    setenv("HOME", home, 1);
    unsetenv("XDG_CONFIG_HOME");
    assert_int_equal(pwr_policy_load(&pwr_env_real, NULL, &policy), PWR_OK);
    assert_non_null(strstr(policy->source, fixture->root));
    assert_string_equal(policy->why, "");
    free(policy);
}

static unsigned count_files(const fixture_t *fixture, const char *folder)
{
    char command[PATH_MAX + 32];
    char line[32] = "";
    snprintf(command, sizeof command, "ls -A '%s%s' | wc -l", fixture->root, folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return (unsigned)strtoul(line, NULL, 10);
}

static void test_full_disk_leaves_the_old_table(void **state)
{
    fixture_t *fixture = *state;
    skip_unless_identified();
    fixture_put(fixture, "/out/table.json", "old");
    assert_int_equal(run(fixture, ARGUMENTS("--quick", "--output", "out/table.json"), 500), 1);
    fixture_get(fixture, "/out/table.json", text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(count_files(fixture, "/out"), 1);
    fixture_get(fixture, "/stderr", text, sizeof text);
    assert_non_null(strstr(text, "table.json: File too large"));
}

static void test_replaces_what_a_link_names(void **state)
{
    fixture_t *fixture = *state;
    struct stat info;
    char name[PATH_MAX];
    skip_unless_identified();
    fixture_put(fixture, "/out/table.json", "old");
    fixture_link(fixture, "/link.json", "out/table.json");
    assert_int_equal(run(fixture, ARGUMENTS("--quick", "--output", "link.json"), 0), 0);
    expect_table(fixture, "/out/table.json");
    assert_int_equal(count_files(fixture, "/out"), 1);
    snprintf(name, sizeof name, "%s/link.json", fixture->root);
    assert_int_equal(lstat(name, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0644);
}

static void expect_refusal(fixture_t *fixture, const char *const *arguments, int status,
                           const char *message)
{
    assert_int_equal(run(fixture, arguments, 0), status);
    fixture_get(fixture, "/stderr", text, sizeof text);
    if (!strstr(text, message)) {
        fail_msg("\"%s\" is not in \"%s\"", message, text);
    }
}

static void test_impossible_options(void **state)
{
    fixture_t *fixture = *state;
    static const char *const cpus[] = {"", "-1", "1x", "x", "65536", "99999999999999999999"};
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        expect_refusal(fixture, ARGUMENTS("--cpu", cpus[i]), 2,
                       "not a whole number from 0 to 65535");
    }
    expect_refusal(fixture, ARGUMENTS("--json", "more"), 2, "unexpected argument \"more\"");
    expect_refusal(fixture, ARGUMENTS("--fast"), 2, "--help lists");
    expect_refusal(fixture, ARGUMENTS("--json", "--cpu", "65535"), 1, "may run on");
}

static void test_places_that_cannot_be_written(void **state)
{
    fixture_t *fixture = *state;
    struct stat info;
    char name[PATH_MAX];
    fixture_make_directory(fixture, "/folder");
    fixture_put(fixture, "/file", "content");
    fixture_link(fixture, "/nowhere", "none");
    expect_refusal(fixture, ARGUMENTS("-o", "folder"), 1, "folder: not a regular file");
    expect_refusal(fixture, ARGUMENTS("-o", "file/table"), 1, "file/table: Not a directory");
    expect_refusal(fixture, ARGUMENTS("-o", "nowhere"), 1, "leads nowhere");
    snprintf(name, sizeof name, "%s/fifo", fixture->root);
    assert_int_equal(mkfifo(name, 0600), 0);
    expect_refusal(fixture, ARGUMENTS("-o", "fifo"), 1, "fifo: not a regular file");
    assert_int_equal(stat(name, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    fixture_get(fixture, "/file", text, sizeof text);
    assert_string_equal(text, "content");
}

static void test_help(void **state)
{
    fixture_t *fixture = *state;
    assert_int_equal(run(fixture, ARGUMENTS("--help"), 0), 0);
    fixture_get(fixture, "/stdout", text, sizeof text);
    assert_non_null(strstr(text, "--quick"));
    assert_non_null(strstr(text, "--output FILE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_json_on_standard_output),
        FIXTURE_TEST(test_user_table_is_found_again),
        FIXTURE_TEST(test_full_disk_leaves_the_old_table),
        FIXTURE_TEST(test_replaces_what_a_link_names),
        FIXTURE_TEST(test_impossible_options),
        FIXTURE_TEST(test_places_that_cannot_be_written),
        FIXTURE_TEST(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
