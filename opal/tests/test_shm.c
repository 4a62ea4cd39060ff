/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Names of shared memory: what living processes have stays, what dead ones have left goes.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/shm.h"

static const char *name_of(const char *what)
{
    static char name[64];
    snprintf(name, sizeof name, "/poweraware.%s.%ld", what, (long)getpid());
    return name;
}

static bool is_there(const char *name)
{
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static void test_a_held_name_stays(void **state)
{
    (void)state;
    int fd, another;
    struct stat info;
    const char *name = name_of("test_shm");
    assert_int_equal(pwr_shm_create(name, &fd), PWR_OK);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(pwr_shm_create(name, &another), pwr_status_from_errno(EEXIST));
    assert_true(is_there(name));
    pwr_shm_remove(name, fd);
    assert_false(is_there(name));
}

static void test_what_a_dead_process_has_left_is_replaced(void **state)
{
    (void)state;
    int fd;
    struct stat left, made;
    const char *name = name_of("test_shm");
    int dead = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(dead >= 0);
    assert_int_equal(fstat(dead, &left), 0);
    assert_int_equal(pwr_shm_create(name, &fd), PWR_OK);
    assert_int_equal(fstat(fd, &made), 0);
    assert_int_not_equal(left.st_ino, made.st_ino);
    close(dead);
    pwr_shm_remove(name, fd);
}

static bool exists(const fixture_t *fixture, const char *file)
{
    char name[PATH_MAX];
    struct stat info;
    assert_int_equal(pwr_env_path(&fixture->env, file, name, sizeof name), PWR_OK);
    return lstat(name, &info) == 0;
}

static const char *ours(const char *rest)
{
    static char name[128];
    snprintf(name, sizeof name, "/dev/shm/poweraware.%lu%s", (unsigned long)geteuid(), rest);
    return name;
}

/* The journal's folder has the name without a second dot; others' names are others'. */
static void test_sweeps_what_nobody_holds(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    fixture_make_directory(fixture, ours(""));
    fixture_make_directory(fixture, ours(".7.0.1"));
    fixture_put(fixture, ours(".4242.0.0"), "left");
    fixture_put(fixture, ours(".4242.0.1"), "held");
    fixture_put(fixture, "/dev/shm/poweraware.99999.1.0.0", "another user's");
    fixture_put(fixture, "/dev/shm/elsewhere", "");
    fixture_link(fixture, ours(".8.0.0"), "elsewhere");
    assert_int_equal(pwr_env_path(&fixture->env, ours(".4242.0.1"), name, sizeof name), PWR_OK);
    int held = open(name, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_SH | LOCK_NB), 0);
    pwr_shm_sweep(&fixture->env);
    assert_false(exists(fixture, ours(".4242.0.0")));
    assert_true(exists(fixture, ours(".4242.0.1")));
    assert_true(exists(fixture, ours("")));
    assert_true(exists(fixture, ours(".7.0.1")));
    assert_true(exists(fixture, ours(".8.0.0")));
    assert_true(exists(fixture, "/dev/shm/poweraware.99999.1.0.0"));
    close(held);
    pwr_shm_sweep(&fixture->env);
    assert_false(exists(fixture, ours(".4242.0.1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_held_name_stays),
        FIXTURE_TEST(test_what_a_dead_process_has_left_is_replaced),
        FIXTURE_TEST(test_sweeps_what_nobody_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
