/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample, run as a user runs it, on a machine made of files.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void put_zone(fixture_t *fixture)
{
    static const char zone[] = "/sys/class/powercap/intel-rapl:0/";
    static const char *const files[][2] = {
        {"name", "package-0\n"}, {"max_energy_range_uj", "1000000\n"}, {"energy_uj", "5000\n"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", zone, files[i][0]);
        fixture_put(fixture, path, files[i][1]);
    }
}

/* Starts the tool with its standard error in <root>/stderr. */
static pid_t start(const fixture_t *fixture, const char *const arguments[])
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char name[300];
        snprintf(name, sizeof name, "%s/stderr", fixture->root);
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO && chdir(fixture->root) == 0) {
            execv(FIXTURE_SAMPLE_PROGRAM, (char *const *)arguments);
        }
        _exit(126);
    }
    return pid;
}

static int finish(pid_t pid)
{
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static pid_t start_sampling(const fixture_t *fixture, const char *interval_ms)
{
    const char *const arguments[] = {
        "poweraware-sample", "--interval-ms", interval_ms,   "--output",
        "out.jsonl",         "--root",        fixture->root, NULL};
    return start(fixture, arguments);
}

/* Room for more samples than a test that is starved of CPU time can let pile up. */
static char text[1 << 20];

static unsigned count_lines(const fixture_t *fixture)
{
    char name[300];
    unsigned lines = 0;
    snprintf(name, sizeof name, "%s/out.jsonl", fixture->root);
    if (access(name, R_OK) != 0) {
        return 0;
    }
    fixture_get(fixture, "/out.jsonl", text, sizeof text);
    for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n')) {
        lines++;
    }
    return lines;
}

static bool has_first_sample(const fixture_t *fixture)
{
    return count_lines(fixture) >= 2;
}

static bool has_five_samples(const fixture_t *fixture)
{
    return count_lines(fixture) >= 6;
}

static void test_samples_until_told_to_stop(void **state)
{
    fixture_t *fixture = *state;
    char expected[600];
    char host[256] = "";
    put_zone(fixture);
    pid_t pid = start_sampling(fixture, "20");
    assert_true(fixture_eventually(has_five_samples, fixture));
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(finish(pid), 0);
    fixture_get(fixture, "/out.jsonl", text, sizeof text);
    gethostname(host, sizeof host - 1);
    snprintf(expected, sizeof expected,
             "{\"source\":\"powercap\",\"host\":\"%s\",\"domains\":[\"package-0\"],"
             "\"kinds\":[\"package\"],\"sources\":[\"powercap\"],\"provenance\":[\"measured\"],"
             "\"resolution_uj\":[1.0],\"update_us\":[1000]}\n",
             host);
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    uint64_t before = 0;
    for (const char *line = strchr(text, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        uint64_t t_ns, energy_uj, uncertainty_uj;
        int used = 0;
        assert_int_equal(sscanf(line,
                                "{\"t_ns\":%" SCNu64 ",\"energy_uj\":[%" SCNu64
                                "],\"uncertainty_uj\":[%" SCNu64 "]}%n",
                                &t_ns, &energy_uj, &uncertainty_uj, &used),
                         3);
        assert_true(uncertainty_uj > 0);
        assert_int_equal(line[used], '\n');
        assert_true(t_ns > before);
        assert_int_equal(energy_uj, 0);
        before = t_ns;
    }
}

/* The interval is an hour: the sample that a stop adds is the only one with the new energy. */
static void test_last_sample_is_taken_on_the_stop(void **state)
{
    static const int stops[] = {SIGTERM, SIGINT};
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        put_zone(fixture);
        pid_t pid = start_sampling(fixture, "3600000");
        assert_true(fixture_eventually(has_first_sample, fixture));
        fixture_put(fixture, "/sys/class/powercap/intel-rapl:0/energy_uj", "7500\n");
        assert_int_equal(kill(pid, stops[i]), 0);
        assert_int_equal(finish(pid), 0);
        assert_int_equal(count_lines(fixture), 3);
        fixture_get(fixture, "/out.jsonl", text, sizeof text);
        assert_non_null(strstr(text, "\"energy_uj\":[2500],"));
        fixture_remove(fixture, "/out.jsonl");
    }
}

static bool has_null(const fixture_t *fixture)
{
    return count_lines(fixture) >= 2 && strstr(text, "\"energy_uj\":[null],") != NULL;
}

/* A counter that fails gives no number, and ends nothing: it may be back. */
static void test_a_failing_counter_is_null(void **state)
{
    fixture_t *fixture = *state;
    put_zone(fixture);
    pid_t pid = start_sampling(fixture, "20");
    assert_true(fixture_eventually(has_first_sample, fixture));
    fixture_put(fixture, "/sys/class/powercap/intel-rapl:0/energy_uj", "\n");
    assert_true(fixture_eventually(has_null, fixture));
    fixture_put(fixture, "/sys/class/powercap/intel-rapl:0/energy_uj", "7500\n");
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(finish(pid), 0);
    count_lines(fixture);
    assert_non_null(strstr(strstr(text, "null"), "\"energy_uj\":[2500],"));
    fixture_get(fixture, "/stderr", text, sizeof text);
    assert_non_null(strstr(text, "energy of package-0 cannot be read any more"));
}

static void expect_exit(fixture_t *fixture, const char *const arguments[], int status,
                        const char *message)
{
    assert_int_equal(finish(start(fixture, arguments)), status);
    fixture_get(fixture, "/stderr", text, sizeof text);
    assert_non_null(strstr(text, message));
}

static void test_impossible_options(void **state)
{
    static const char *const intervals[] = {"0", "-5", "0.5", "10x", "", "99999999999"};
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        const char *const arguments[] = {"poweraware-sample", "--interval-ms", intervals[i],
                                         "--output",          "out",           NULL};
        expect_exit(fixture, arguments, 2, "not a whole number from 1");
    }
    const char *const no_output[] = {"poweraware-sample", "--interval-ms", "5", NULL};
    expect_exit(fixture, no_output, 2, "--output are needed");
    const char *const no_interval[] = {"poweraware-sample", "--output", "out", NULL};
    expect_exit(fixture, no_interval, 2, "--interval-ms and");
    const char *const list_and_more[] = {"poweraware-sample", "--list", "-i", "5", NULL};
    expect_exit(fixture, list_and_more, 2, "--list, and nothing else");
    const char *const unknown[] = {"poweraware-sample", "--frequency", NULL};
    expect_exit(fixture, unknown, 2, "--help");
    const char *const extra[] = {"poweraware-sample", "-i", "5", "-o", "out", "more", NULL};
    expect_exit(fixture, extra, 2, "nothing else");
    const char *const no_root[] = {
        "poweraware-sample", "-i", "5", "-o", "out", "-r", "/none", NULL};
    expect_exit(fixture, no_root, 2, "--root /none: No such file");
}

static void test_list(void **state)
{
    fixture_t *fixture = *state;
    char command[600];
    put_zone(fixture);
    snprintf(command, sizeof command,
             FIXTURE_SAMPLE_PROGRAM " --list --root %s | grep -q -x -e "
                                    "'package-0 *package *powercap *measured *1 *1000 *1'",
             fixture->root);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, FIXTURE_SAMPLE_PROGRAM " --list --root %s >/dev/full",
             fixture->root);
    assert_int_not_equal(system(command), 0);
}

/* Whatever this machine has, some meter works: the model does wherever there is Linux. */
static void test_list_of_this_machine(void **state)
{
    (void)state;
    assert_int_equal(system(FIXTURE_SAMPLE_PROGRAM " --list"), 0);
}

static void test_no_meter_says_why(void **state)
{
    fixture_t *fixture = *state;
    const char *const arguments[] = {"poweraware-sample", "-i", "5", "-o", "out", "-r",
                                     fixture->root,       NULL};
    /* A tree with a CPU, so that hwloc has a machine, and without any meter. */
    fixture_put(fixture, "/sys/devices/system/cpu/online", "0\n");
    fixture_put(fixture, "/sys/devices/system/cpu/cpu0/topology/core_cpus", "1\n");
    expect_exit(fixture, arguments, 1, "no energy meter: /sys/class/powercap/");
}

static void test_output_that_cannot_be_written(void **state)
{
    fixture_t *fixture = *state;
    const char *const full[] = {"poweraware-sample", "-i", "5",           "-o",
                                "/dev/full",         "-r", fixture->root, NULL};
    const char *const absent[] = {"poweraware-sample", "-i", "5",           "-o",
                                  "/none/out",         "-r", fixture->root, NULL};
    put_zone(fixture);
    expect_exit(fixture, full, 1, "No space left");
    expect_exit(fixture, absent, 1, "--output /none/out: No such file");
}

static void test_help(void **state)
{
    (void)state;
    assert_int_equal(system(FIXTURE_SAMPLE_PROGRAM " --help | grep -q -e --interval-ms"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_samples_until_told_to_stop),
        FIXTURE_TEST(test_last_sample_is_taken_on_the_stop),
        FIXTURE_TEST(test_a_failing_counter_is_null),
        FIXTURE_TEST(test_list),
        FIXTURE_TEST(test_list_of_this_machine),
        FIXTURE_TEST(test_impossible_options),
        FIXTURE_TEST(test_no_meter_says_why),
        FIXTURE_TEST(test_output_that_cannot_be_written),
        FIXTURE_TEST(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
