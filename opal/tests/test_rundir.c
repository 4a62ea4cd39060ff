/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The run-time directory: what is made, and all that is refused.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rundir.h"

enum { SOMEBODY = 65534 };

static const char *below(const fixture_t *fixture, const char *path)
{
    static char name[PATH_MAX];
    assert_int_equal(pwr_env_path(&fixture->env, path, name, sizeof name), PWR_OK);
    return name;
}

static void make_directory(fixture_t *fixture, const char *path, mode_t mode)
{
    fixture_make_directory(fixture, path);
    assert_int_equal(chmod(below(fixture, path), mode), 0);
}

static pwr_rundir_t *open_rundir(fixture_t *fixture)
{
    pwr_rundir_t *rundir;
    assert_int_equal(pwr_rundir_open(&fixture->env, "/run", PWR_RUNDIR_CREATE, &rundir), PWR_OK);
    return rundir;
}

static void expect_refusal(fixture_t *fixture, const char *directory, pwr_status_t expected,
                           const char *reason)
{
    pwr_rundir_t *rundir = NULL;
    assert_int_equal(pwr_rundir_open(&fixture->env, directory, PWR_RUNDIR_CREATE, &rundir),
                     expected);
    assert_null(rundir);
    assert_non_null(strstr(fixture->log, reason));
    assert_ptr_equal(strchr(fixture->log, '\n'), strrchr(fixture->log, '\n')); /* one line */
    fixture->log[0] = '\0';
}

static void test_is_made_for_us_alone(void **state)
{
    fixture_t *fixture = *state;
    struct stat info;
    pwr_rundir_t *rundir = open_rundir(fixture);
    assert_int_equal(stat(below(fixture, "/run"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    assert_string_equal(pwr_rundir_name(rundir), below(fixture, "/run"));
    pwr_rundir_close(rundir);
    pwr_rundir_close(open_rundir(fixture)); /* and found the next time */
    pwr_rundir_close(NULL);
    assert_string_equal(fixture->log, "");
}

static void test_default_has_the_users_name(void **state)
{
    fixture_t *fixture = *state;
    char expected[64];
    pwr_rundir_t *rundir;
    assert_int_equal(pwr_rundir_open(&fixture->env, NULL, PWR_RUNDIR_CREATE, &rundir), PWR_OK);
    snprintf(expected, sizeof expected, "/dev/shm/poweraware.%lu", (unsigned long)geteuid());
    assert_string_equal(pwr_rundir_name(rundir), below(fixture, expected));
    pwr_rundir_close(rundir);
}

static void test_existing_only(void **state)
{
    fixture_t *fixture = *state;
    pwr_rundir_t *rundir = NULL;
    assert_int_equal(pwr_rundir_open(&fixture->env, "/run", PWR_RUNDIR_EXISTING, &rundir),
                     PWR_ERR_UNSUPPORTED);
    assert_string_equal(fixture->log, ""); /* nothing there is nothing wrong */
    assert_int_equal(access(below(fixture, "/run"), F_OK), -1);
}

static void test_no_parent_and_no_absolute_path(void **state)
{
    expect_refusal(*state, "/none/run", PWR_ERR_UNSUPPORTED, "/none/run");
    expect_refusal(*state, "run", PWR_ERR_ARG, "\"run\"");
}

static void test_what_is_no_directory_of_ours(void **state)
{
    fixture_t *fixture = *state;
    make_directory(fixture, "/real", 0700);
    fixture_link(fixture, "/run", "real");
    expect_refusal(fixture, "/run", PWR_ERR_PERM, "/run");
    expect_refusal(fixture, "/run//", PWR_ERR_PERM, "/run"); /* a slash would follow the link */
    fixture_remove(fixture, "/run");
    fixture_put(fixture, "/run", "");
    expect_refusal(fixture, "/run", PWR_ERR_PERM, "/run");
    fixture_remove(fixture, "/run");
    assert_int_equal(mkfifo(below(fixture, "/run"), 0600), 0);
    expect_refusal(fixture, "/run", PWR_ERR_PERM, "/run");
}

static void test_directory_open_to_others(void **state)
{
    static const mode_t modes[] = {0770, 0707, 0710, 0701, 01777};
    fixture_t *fixture = *state;
    make_directory(fixture, "/run", 0700);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(below(fixture, "/run"), modes[i]), 0);
        expect_refusal(fixture, "/run", PWR_ERR_PERM, "mode 700");
    }
}

static void test_directory_of_another_user(void **state)
{
    fixture_t *fixture = *state;
    if (geteuid() != 0) {
        print_message("only root can make another user's directory\n");
        skip();
    }
    make_directory(fixture, "/run", 0700);
    assert_int_equal(chown(below(fixture, "/run"), SOMEBODY, SOMEBODY), 0);
    expect_refusal(fixture, "/run", PWR_ERR_PERM, "belongs to user 65534");
}

/* ---- files ---- */

static pwr_status_t open_file(pwr_rundir_t *rundir, const char *name, int flags, char why[256],
                              int *fd)
{
    *fd = -1;
    why[0] = '\0';
    return pwr_rundir_open_file(rundir, name, flags, why, 256, fd);
}

static void expect_no_file(pwr_rundir_t *rundir, const char *name, pwr_status_t expected,
                           const char *reason)
{
    char why[256];
    int fd;
    assert_int_equal(open_file(rundir, name, O_RDWR | O_CREAT, why, &fd), expected);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(why, reason));
}

static void test_file_is_made_and_found(void **state)
{
    fixture_t *fixture = *state;
    char why[256];
    int fd;
    struct stat info;
    pwr_rundir_t *rundir = open_rundir(fixture);
    assert_int_equal(open_file(rundir, "f", O_RDWR, why, &fd), PWR_ERR_UNSUPPORTED);
    assert_int_equal(open_file(rundir, "f", O_RDWR | O_CREAT | O_EXCL, why, &fd), PWR_OK);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_int_equal(open_file(rundir, "f", O_RDWR | O_CREAT | O_EXCL, why, &fd), PWR_ERR_SHARED);
    assert_int_equal(open_file(rundir, "f", O_RDWR, why, &fd), PWR_OK);
    close(fd);
    pwr_rundir_close(rundir);
}

static void test_names_that_lead_elsewhere(void **state)
{
    pwr_rundir_t *rundir = open_rundir(*state);
    expect_no_file(rundir, "../f", PWR_ERR_ARG, "not the name of a file");
    expect_no_file(rundir, "", PWR_ERR_ARG, "not the name of a file");
    expect_no_file(rundir, "..", PWR_ERR_PERM, "/..");
    pwr_rundir_close(rundir);
}

static void test_what_is_no_file_of_ours(void **state)
{
    fixture_t *fixture = *state;
    pwr_rundir_t *rundir = open_rundir(fixture);
    fixture_put(fixture, "/elsewhere", "precious\n");
    assert_int_equal(chmod(below(fixture, "/elsewhere"), 0600), 0);
    fixture_link(fixture, "/run/link", "../elsewhere");
    expect_no_file(rundir, "link", PWR_ERR_PERM, "/run/link");
    make_directory(fixture, "/run/folder", 0700);
    expect_no_file(rundir, "folder", PWR_ERR_PERM, "/run/folder");
    assert_int_equal(mkfifo(below(fixture, "/run/fifo"), 0600), 0);
    expect_no_file(rundir, "fifo", PWR_ERR_PERM, "not a regular file"); /* and does not wait */
    fixture_put(fixture, "/run/open", "");
    assert_int_equal(chmod(below(fixture, "/run/open"), 0640), 0);
    expect_no_file(rundir, "open", PWR_ERR_PERM, "open to others");
    char target[PATH_MAX];
    strcpy(target, below(fixture, "/elsewhere"));
    assert_int_equal(link(target, below(fixture, "/run/hard")), 0);
    expect_no_file(rundir, "hard", PWR_ERR_PERM, "hard link");
    pwr_rundir_close(rundir);
}

static void test_file_of_another_user(void **state)
{
    fixture_t *fixture = *state;
    if (geteuid() != 0) {
        print_message("only root can make another user's file\n");
        skip();
    }
    pwr_rundir_t *rundir = open_rundir(fixture);
    fixture_put(fixture, "/run/theirs", "");
    assert_int_equal(chmod(below(fixture, "/run/theirs"), 0600), 0);
    assert_int_equal(chown(below(fixture, "/run/theirs"), SOMEBODY, SOMEBODY), 0);
    expect_no_file(rundir, "theirs", PWR_ERR_PERM, "belongs to another user");
    pwr_rundir_close(rundir);
}

/* Between check and use somebody puts another directory in the place of ours. */
static void test_a_swapped_directory_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    char why[256];
    char moved[PATH_MAX];
    int fd;
    pwr_rundir_t *rundir = open_rundir(fixture);
    strcpy(moved, below(fixture, "/moved"));
    assert_int_equal(rename(below(fixture, "/run"), moved), 0);
    make_directory(fixture, "/evil", 0777);
    fixture_link(fixture, "/run", "evil");
    assert_int_equal(open_file(rundir, "f", O_RDWR | O_CREAT, why, &fd), PWR_OK);
    assert_int_equal(access(below(fixture, "/moved/f"), F_OK), 0);
    assert_int_equal(access(below(fixture, "/evil/f"), F_OK), -1);
    close(fd);
    pwr_rundir_close(rundir);
}

static void test_removes_only_the_file_that_is_open(void **state)
{
    fixture_t *fixture = *state;
    char why[256];
    int fd, other;
    pwr_rundir_t *rundir = open_rundir(fixture);
    assert_int_equal(open_file(rundir, "f", O_RDWR | O_CREAT, why, &fd), PWR_OK);
    assert_int_equal(open_file(rundir, "g", O_RDWR | O_CREAT, why, &other), PWR_OK);
    assert_int_equal(pwr_rundir_remove(rundir, "g", fd), PWR_OK);
    assert_true(pwr_rundir_has(rundir, "g", other));
    assert_int_equal(pwr_rundir_remove(rundir, "f", fd), PWR_OK);
    assert_false(pwr_rundir_has(rundir, "f", fd));
    assert_int_equal(pwr_rundir_remove(rundir, "f", fd), PWR_OK);
    close(fd);
    close(other);
    pwr_rundir_close(rundir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_is_made_for_us_alone),
        FIXTURE_TEST(test_default_has_the_users_name),
        FIXTURE_TEST(test_existing_only),
        FIXTURE_TEST(test_no_parent_and_no_absolute_path),
        FIXTURE_TEST(test_what_is_no_directory_of_ours),
        FIXTURE_TEST(test_directory_open_to_others),
        FIXTURE_TEST(test_directory_of_another_user),
        FIXTURE_TEST(test_file_is_made_and_found),
        FIXTURE_TEST(test_names_that_lead_elsewhere),
        FIXTURE_TEST(test_what_is_no_file_of_ours),
        FIXTURE_TEST(test_file_of_another_user),
        FIXTURE_TEST(test_a_swapped_directory_changes_nothing),
        FIXTURE_TEST(test_removes_only_the_file_that_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
