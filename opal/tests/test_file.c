/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Files that may not grow, and names of what is no file.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/file.h"

static volatile sig_atomic_t caught;

static void catch (int signal)
{
    (void)signal;
    caught++;
}

static void limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static bool is_pending(void)
{
    sigset_t pending;
    assert_int_equal(sigpending(&pending), 0);
    return sigismember(&pending, SIGXFSZ) == 1;
}

static int grow(int (*way)(int fd, size_t bytes), size_t bytes)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    int error = way(fd, bytes);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_true(error != 0 || info.st_size == (off_t)bytes);
    close(fd);
    return error;
}

static int allocate(size_t bytes)
{
    return grow(pwr_file_allocate, bytes);
}

/* By default the signal ends the process. */
static void test_growth_does_not_kill(void **state)
{
    (void)state;
    limit(4096);
    assert_int_equal(allocate(3 * 1024 * 1024 + 1), EFBIG);
    assert_int_equal(allocate(4096), 0);
    assert_int_equal(grow(pwr_file_extend, 4097), EFBIG);
    assert_int_equal(grow(pwr_file_extend, 4096), 0);
    limit(RLIM_INFINITY);
    assert_int_equal(allocate(3 * 1024 * 1024 + 1), 0);
    assert_int_equal(grow(pwr_file_extend, 3 * 1024 * 1024 + 1), 0);
}

static void test_the_handler_of_the_application_sees_its_own_only(void **state)
{
    (void)state;
    struct sigaction before;
    const struct sigaction ours = {.sa_handler = catch};
    assert_int_equal(sigaction(SIGXFSZ, &ours, &before), 0);
    caught = 0;
    limit(4096);
    assert_int_equal(allocate(8192), EFBIG);
    limit(RLIM_INFINITY);
    assert_int_equal(caught, 0);
    assert_int_equal(raise(SIGXFSZ), 0); /* not blocked any more */
    assert_int_equal(caught, 1);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
}

static void test_what_was_pending_stays_pending(void **state)
{
    (void)state;
    sigset_t set, before;
    const struct timespec at_once = {0};
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    assert_int_equal(sigprocmask(SIG_BLOCK, &set, &before), 0);
    limit(4096);
    assert_int_equal(allocate(8192), EFBIG);
    assert_false(is_pending());
    assert_int_equal(raise(SIGXFSZ), 0);
    assert_int_equal(allocate(8192), EFBIG);
    limit(RLIM_INFINITY);
    assert_true(is_pending());
    assert_int_equal(sigtimedwait(&set, NULL, &at_once), SIGXFSZ);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static bool fill(FILE *file, const void *text)
{
    return fputs(text, file) != EOF;
}

static void in_root(fixture_t *fixture, const char *name, char path[PATH_MAX])
{
    assert_int_equal(pwr_env_path(&fixture->env, name, path, PATH_MAX), PWR_OK);
}

static void test_a_file_is_written_anew(void **state)
{
    char path[PATH_MAX], text[16];
    in_root(*state, "/text", path);
    assert_int_equal(pwr_file_write(path, fill, "a long text"), 0);
    assert_int_equal(pwr_file_write(path, fill, "short"), 0);
    fixture_t *fixture = *state;
    assert_int_equal(pwr_env_read_text(&fixture->env, "/text", text, sizeof text), PWR_OK);
    assert_string_equal(text, "short");
    limit(3);
    assert_int_equal(pwr_file_write(path, fill, "short"), EFBIG);
    limit(RLIM_INFINITY);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Opening these would wait for ever. */
static void test_what_is_no_file_is_refused(void **state)
{
    char path[PATH_MAX], text[16];
    fixture_t *fixture = *state;
    in_root(fixture, "/fifo", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int error = pwr_file_write(path, fill, "text");
    assert_string_equal(pwr_file_why(error), "not a regular file");
    FILE *reader = fopen(path, "r+");
    assert_non_null(reader);
    error = pwr_file_write(path, fill, "text");
    assert_string_equal(pwr_file_why(error), "not a regular file");
    fclose(reader);
    assert_int_equal(pwr_env_read_text(&fixture->env, "/fifo", text, sizeof text), PWR_OK);
    assert_string_equal(text, "");
    in_root(fixture, "/nowhere/text", path);
    assert_int_equal(pwr_file_write(path, fill, "text"), ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_does_not_kill),
        cmocka_unit_test(test_the_handler_of_the_application_sees_its_own_only),
        cmocka_unit_test(test_what_was_pending_stays_pending),
        FIXTURE_TEST(test_a_file_is_written_anew),
        FIXTURE_TEST(test_what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
