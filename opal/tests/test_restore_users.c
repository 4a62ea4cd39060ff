/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore as root: never more than the journals' owners could do themselves.
 */
#include "config.h"

#include "leftover.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOMEBODY = 65534, NOT_ROOT = 77 };

static const char *const all[] = {"--all", NULL};

static const char *below(const fixture_t *fixture, const char *path)
{
    static char name[PATH_MAX];
    assert_int_equal(pwr_env_path(&fixture->env, path, name, sizeof name), PWR_OK);
    return name;
}

static const char *lever_path(unsigned cpu)
{
    static char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_max_freq", cpu);
    return path;
}

/* What user uid has lowered, with a journal and nobody alive. */
static void leave(fixture_t *fixture, uid_t uid, unsigned cpu)
{
    leftover_put_ceiling(fixture, cpu, LEFTOVER_FOUND);
    assert_int_equal(chmod(below(fixture, lever_path(cpu)), 0666), 0);
    leftover_make(fixture, uid, "12", cpu);
    assert_int_equal(leftover_ceiling(fixture, cpu), LEFTOVER_LOWER);
}

static void expect(const fixture_t *fixture, const char *const options[], int status,
                   const char *word)
{
    leftover_run_t run;
    leftover_restore(fixture, options, &run);
    if (run.status != status || !strstr(run.output, word)) {
        print_error("status %d, \"%s\" not in:\n%s", run.status, word, run.output);
        fail();
    }
}

static void test_every_user(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, 0, 1);
    leave(fixture, SOMEBODY, 2);
    leave(fixture, SOMEBODY - 1, 3); /* without an account, as on a node behind a directory */
    expect(fixture, all, 0, "restored CPU 2 ceiling");
    for (unsigned cpu = 1; cpu <= 3; cpu++) {
        assert_int_equal(leftover_ceiling(fixture, cpu), LEFTOVER_FOUND);
    }
    assert_int_equal(leftover_journals(fixture, SOMEBODY, NULL), 0);
}

/* Root could write it; the journal's owner cannot (any more), so it stays. */
static void test_a_journal_gives_its_author_no_rights(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, SOMEBODY, 2);
    assert_int_equal(chmod(below(fixture, lever_path(2)), 0644), 0);
    expect(fixture, all, 1, "scaling_max_freq: no permission");
    assert_int_equal(leftover_ceiling(fixture, 2), LEFTOVER_LOWER);
    assert_int_equal(leftover_journals(fixture, SOMEBODY, NULL), 1);
    assert_int_equal(chmod(below(fixture, lever_path(2)), 0666), 0);
    expect(fixture, all, 0, "restored CPU 2 ceiling");
}

/* root's own directory, in the name of another user, and the other way round. */
static void test_directories_in_the_wrong_name(void **state)
{
    fixture_t *fixture = *state;
    char from[PATH_MAX];
    leave(fixture, 0, 1);
    snprintf(from, sizeof from, "%s", below(fixture, leftover_directory(0)));
    assert_int_equal(rename(from, below(fixture, leftover_directory(SOMEBODY))), 0);
    expect(fixture, all, 1, "poweraware.65534");
    assert_int_equal(leftover_ceiling(fixture, 1), LEFTOVER_LOWER);
    leave(fixture, SOMEBODY - 1, 2);
    snprintf(from, sizeof from, "%s", below(fixture, leftover_directory(SOMEBODY - 1)));
    assert_int_equal(rename(from, below(fixture, leftover_directory(0))), 0);
    expect(fixture, all, 1, "poweraware.0 belongs to user 65533");
    assert_int_equal(leftover_ceiling(fixture, 2), LEFTOVER_LOWER);
}

static void test_a_link_is_no_directory(void **state)
{
    fixture_t *fixture = *state;
    char from[PATH_MAX];
    leave(fixture, SOMEBODY, 2);
    snprintf(from, sizeof from, "%s", below(fixture, leftover_directory(SOMEBODY)));
    assert_int_equal(rename(from, below(fixture, "/dev/shm/moved")), 0);
    fixture_link(fixture, leftover_directory(SOMEBODY), "moved");
    expect(fixture, all, 1, "poweraware.65534");
    assert_int_equal(leftover_ceiling(fixture, 2), LEFTOVER_LOWER);
}

static void test_other_names_are_not_looked_at(void **state)
{
    fixture_t *fixture = *state;
    leftover_run_t run;
    fixture_put(fixture, "/dev/shm/poweraware.0.segment", "");
    fixture_put(fixture, "/dev/shm/poweraware.007", "");
    fixture_put(fixture, "/dev/shm/poweraware.4294967295", "");
    fixture_put(fixture, "/dev/shm/poweraware.99999999999999999999", "");
    fixture_put(fixture, "/dev/shm/poweraware.", "");
    fixture_put(fixture, "/dev/shm/poweraware.-1", "");
    leftover_restore(fixture, all, &run);
    assert_int_equal(run.status, 0);
    assert_string_equal(run.output, "");
}

/* Without --all, but on a directory that is somebody else's. */
static void test_named_directory(void **state)
{
    fixture_t *fixture = *state;
    char directory[64];
    snprintf(directory, sizeof directory, "%s", leftover_directory(SOMEBODY));
    const char *const options[] = {"--run-dir", directory, NULL};
    leave(fixture, SOMEBODY, 2);
    assert_int_equal(chmod(below(fixture, lever_path(2)), 0644), 0);
    expect(fixture, options, 1, "scaling_max_freq: no permission");
    assert_int_equal(leftover_ceiling(fixture, 2), LEFTOVER_LOWER);
    assert_int_equal(chmod(below(fixture, lever_path(2)), 0666), 0);
    expect(fixture, options, 0, "restored CPU 2");
}

static int ask_for_all(fixture_t *fixture)
{
    leftover_run_t run;
    leftover_restore(fixture, all, &run);
    return run.status == 2 && strstr(run.output, "needs root") ? 0 : 1;
}

static void test_all_is_for_root(void **state)
{
    assert_int_equal(fixture_run_unprivileged(*state, ask_for_all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEFTOVER_TEST(test_every_user),
        LEFTOVER_TEST(test_a_journal_gives_its_author_no_rights),
        LEFTOVER_TEST(test_directories_in_the_wrong_name),
        LEFTOVER_TEST(test_a_link_is_no_directory),
        LEFTOVER_TEST(test_other_names_are_not_looked_at),
        LEFTOVER_TEST(test_named_directory),
        LEFTOVER_TEST(test_all_is_for_root),
    };
    if (geteuid() != 0) {
        printf("only root can become other users\n");
        return NOT_ROOT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
