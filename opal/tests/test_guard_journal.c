/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is on disk while a guardian serves, and what becomes of it when one is killed.
 */
#include "config.h"

#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard/journal.h"

enum { FOUND = 3000000, LOWER = 1200000, TEXT_BYTES = 65536 };

static void put_lever(fixture_t *fixture, unsigned cpu, unsigned khz)
{
    char text[16];
    snprintf(text, sizeof text, "%u\n", khz);
    fixture_put_cpufreq_file(fixture, cpu, "scaling_max_freq", text);
}

static unsigned long lever(const fixture_t *fixture, unsigned cpu)
{
    return fixture_get_khz(fixture, cpu, "scaling_max_freq");
}

static bool is_restored(const fixture_t *fixture)
{
    return lever(fixture, 0) == FOUND;
}

static pwr_status_t remember(fixture_t *fixture, pwr_guard_t *guard, unsigned cpu)
{
    pwr_control_t control;
    fixture_open_ceiling(fixture, cpu, &control);
    pwr_status_t status = pwr_guard_remember(guard, &control, FOUND);
    control.access->close(&control);
    return status;
}

static pwr_status_t announce(fixture_t *fixture, pwr_guard_t *guard, unsigned cpu, uint64_t value)
{
    pwr_control_t control;
    fixture_open_ceiling(fixture, cpu, &control);
    pwr_status_t status = pwr_guard_announce(guard, &control, value);
    control.access->close(&control);
    return status;
}

static pwr_guard_t *guard_lever(fixture_t *fixture)
{
    put_lever(fixture, 0, FOUND);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(remember(fixture, guard, 0), PWR_OK);
    assert_int_equal(announce(fixture, guard, 0, LOWER), PWR_OK);
    return guard;
}

static void kill_guardian(pwr_guard_t *guard)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    assert_true(pwr_guard_lives(guard));
    assert_int_equal(kill(pwr_guard_pid(guard), SIGKILL), 0);
    while (pwr_guard_lives(guard)) {
        nanosleep(&pause, NULL);
    }
}

/* ---- the directory ---- */

static void rundir_name(const fixture_t *fixture, char name[PATH_MAX])
{
    snprintf(name, PATH_MAX, "%s/dev/shm/poweraware.%lu", fixture->root, (unsigned long)geteuid());
}

/* How many journals there are, and the path of one. */
static unsigned find_journals(const fixture_t *fixture, char path[2 * PATH_MAX])
{
    char name[PATH_MAX];
    struct dirent *entry;
    unsigned count = 0;
    rundir_name(fixture, name);
    DIR *directory = opendir(name);
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, "journal-", 8) == 0) {
            snprintf(path, 2 * PATH_MAX, "%s/%s", name, entry->d_name);
            count++;
        }
    }
    if (directory) {
        closedir(directory);
    }
    return count;
}

static bool has_no_journal(const fixture_t *fixture)
{
    char path[2 * PATH_MAX];
    return find_journals(fixture, path) == 0;
}

static void read_journal(const fixture_t *fixture, pwr_journal_t *journal)
{
    static char text[TEXT_BYTES];
    char path[2 * PATH_MAX];
    pwr_journal_flaw_t flaw;
    assert_int_equal(find_journals(fixture, path), 1);
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, text, sizeof text);
    assert_true(fd >= 0 && size >= 0);
    close(fd);
    assert_int_equal(pwr_journal_parse(text, (size_t)size, journal, &flaw), PWR_OK);
}

static unsigned count_lines(const char *log)
{
    unsigned count = 0;
    for (; *log != '\0'; log++) {
        count += *log == '\n';
    }
    return count;
}

/* ---- while it serves ---- */

static void test_what_is_confirmed_is_on_disk(void **state)
{
    fixture_t *fixture = *state;
    pwr_journal_t journal;
    char path[2 * PATH_MAX], start[64];
    pwr_guard_t *guard = guard_lever(fixture);
    read_journal(fixture, &journal);
    assert_string_equal(journal.header.root, fixture->root);
    assert_string_equal(journal.header.job, "job");
    assert_int_equal(journal.header.pid, getpid());
    assert_int_equal(journal.header.uid, geteuid());
    assert_int_equal(journal.count, 1);
    assert_int_equal(journal.records[0].original, FOUND);
    assert_int_equal(journal.records[0].num_ours, 1);
    assert_int_equal(journal.records[0].ours[0], LOWER);
    pwr_journal_free(&journal);
    find_journals(fixture, path);
    snprintf(start, sizeof start, "/journal-job-%ld-", (long)getpid());
    assert_non_null(strstr(path, start));
    pwr_guard_stop(guard);
    assert_true(has_no_journal(fixture));
}

static void test_restored_and_removed(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = guard_lever(fixture);
    put_lever(fixture, 0, LOWER);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(has_no_journal, fixture));
    assert_true(is_restored(fixture));
}

/* What could not be restored stays written down. */
static void test_kept_when_a_control_cannot_be_restored(void **state)
{
    fixture_t *fixture = *state;
    pwr_journal_t journal;
    put_lever(fixture, 7, FOUND);
    pwr_guard_t *guard = guard_lever(fixture);
    assert_int_equal(remember(fixture, guard, 7), PWR_OK);
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu7/cpufreq/scaling_max_freq");
    put_lever(fixture, 0, LOWER);
    pid_t guardian = pwr_guard_pid(guard);
    pwr_guard_abandon(guard);
    const struct timespec pause = {.tv_nsec = 5000000};
    while (kill(guardian, 0) == 0) {
        nanosleep(&pause, NULL);
    }
    assert_true(is_restored(fixture));
    read_journal(fixture, &journal);
    assert_int_equal(journal.count, 2);
    pwr_journal_free(&journal);
}

/* ---- no disk, no guardian ---- */

static void test_directory_that_cannot_be_used(void **state)
{
    fixture_t *fixture = *state;
    const pwr_guard_config_t config = {.run_directory = "/open"};
    pwr_guard_t *guard = NULL;
    fixture_make_directory(fixture, "/open");
    assert_int_equal(pwr_guard_start(&fixture->env, &config, &guard), PWR_ERR_PERM);
    assert_null(guard);
    assert_int_equal(count_lines(fixture->log), 1);
}

static void test_no_room_for_a_journal(void **state)
{
    fixture_t *fixture = *state;
    const pwr_guard_config_t config = {.job = "job"};
    pwr_guard_t *guard = NULL;
    fixture_limit_writes(20);
    pwr_status_t status = pwr_guard_start(&fixture->env, &config, &guard);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(status, PWR_ERR_IO);
    assert_null(guard);
    assert_int_equal(count_lines(fixture->log), 1);
    assert_non_null(strstr(fixture->log, "/journal-job-"));
    assert_non_null(strstr(fixture->log, "No space left on device"));
    assert_true(fixture_eventually(has_no_journal, fixture));
}

/* The disk is full at every byte of the line of an original: nothing is confirmed that is not
   written, and the journal can be read all the same. */
static void test_disk_full_later(void **state)
{
    fixture_t *fixture = *state;
    char path[2 * PATH_MAX];
    struct stat info;
    pwr_journal_t journal;
    put_lever(fixture, 0, FOUND);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(find_journals(fixture, path), 1);
    assert_int_equal(stat(path, &info), 0);
    pwr_guard_stop(guard);
    for (size_t room = 0; room < strlen("original ceiling cpufreq 0 3000000 12345678\n");
         room += 7) {
        fixture->log[0] = '\0';
        fixture_limit_writes((uint64_t)info.st_size + room);
        guard = fixture_guard(fixture);
        fixture_limit_writes(RLIM_INFINITY);
        assert_int_equal(remember(fixture, guard, 0), PWR_ERR_IO);
        assert_int_equal(remember(fixture, guard, 0), PWR_ERR_IO);
        assert_int_equal(announce(fixture, guard, 0, LOWER), PWR_ERR_ARG);
        assert_int_equal(count_lines(fixture->log), 1); /* said once */
        assert_non_null(strstr(fixture->log, "cannot write its journal"));
        read_journal(fixture, &journal);
        assert_int_equal(journal.lines, 1);
        assert_false(journal.torn);
        pwr_journal_free(&journal);
        assert_true(pwr_guard_lives(guard));
        pwr_guard_stop(guard);
    }
}

/* ---- killed guardians ---- */

static void test_successor_knows_what_the_first_knew(void **state)
{
    fixture_t *fixture = *state;
    put_lever(fixture, 1, FOUND);
    pwr_guard_t *guard = guard_lever(fixture);
    pid_t first = pwr_guard_pid(guard);
    assert_int_equal(pwr_guard_revive(guard), PWR_OK);
    assert_int_equal(pwr_guard_pid(guard), first); /* it lives: nothing to do */
    kill_guardian(guard);
    assert_int_equal(pwr_guard_revive(guard), PWR_OK);
    assert_int_not_equal(pwr_guard_pid(guard), first);
    assert_true(pwr_guard_lives(guard));
    assert_int_equal(remember(fixture, guard, 1), PWR_OK);
    assert_int_equal(announce(fixture, guard, 1, LOWER), PWR_OK);
    put_lever(fixture, 0, LOWER);
    put_lever(fixture, 1, LOWER);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(has_no_journal, fixture));
    assert_int_equal(lever(fixture, 0), FOUND);
    assert_int_equal(lever(fixture, 1), FOUND);
}

/* The death is noticed by an answer that does not come. */
static void test_successor_after_a_failed_word(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = guard_lever(fixture);
    assert_int_equal(kill(pwr_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(announce(fixture, guard, 0, 1300000), PWR_ERR_IO);
    assert_false(pwr_guard_lives(guard));
    assert_int_equal(pwr_guard_revive(guard), PWR_OK);
    assert_int_equal(announce(fixture, guard, 0, 1300000), PWR_OK);
    put_lever(fixture, 0, 1300000);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_farewell_to_a_killed_guardian(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = guard_lever(fixture);
    kill_guardian(guard);
    assert_false(has_no_journal(fixture));
    pwr_guard_stop(guard);
    assert_true(has_no_journal(fixture));
}

static void test_abandoning_a_killed_guardian(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = guard_lever(fixture);
    put_lever(fixture, 0, LOWER);
    kill_guardian(guard);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
    assert_true(fixture_eventually(has_no_journal, fixture));
}

static void test_no_successor_without_the_journal(void **state)
{
    fixture_t *fixture = *state;
    char path[2 * PATH_MAX];
    pwr_guard_t *guard = guard_lever(fixture);
    kill_guardian(guard);
    assert_int_equal(find_journals(fixture, path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pwr_guard_revive(guard), PWR_ERR_UNSUPPORTED);
    assert_false(pwr_guard_lives(guard));
    assert_int_equal(remember(fixture, guard, 0), PWR_ERR_IO);
    pwr_guard_abandon(guard);
    assert_non_null(strstr(fixture->log, "run poweraware-restore"));
}

static void test_no_successor_for_a_damaged_journal(void **state)
{
    fixture_t *fixture = *state;
    char path[2 * PATH_MAX];
    pwr_guard_t *guard = guard_lever(fixture);
    kill_guardian(guard);
    assert_int_equal(find_journals(fixture, path), 1);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, 30), 1);
    /* Closing it here would give the client's lock back: locks of a process are like that. */
    assert_int_equal(pwr_guard_revive(guard), PWR_ERR_PARSE);
    assert_non_null(strstr(fixture->log, "line 1"));
    pwr_guard_abandon(guard);
    assert_false(has_no_journal(fixture)); /* kept */
    close(fd);
}

/* When the parent says so. */
static pid_t start_killer(pid_t victim, int *tell)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer == 0) {
        _exit(read(ends[0], &byte, 1) == 1 && kill(victim, SIGKILL) == 0 ? 0 : 1);
    }
    close(ends[0]);
    *tell = ends[1];
    return killer;
}

/* Killed at any moment while it takes one value after the other, but not before it has taken a few:
   every value that was confirmed is in the journal. */
static void test_killed_at_any_moment(void **state)
{
    enum { ROUNDS = 25 };
    fixture_t *fixture = *state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pwr_journal_t journal;
        unsigned confirmed = 0;
        int tell, result;
        pwr_guard_t *guard = guard_lever(fixture);
        pid_t killer = start_killer(pwr_guard_pid(guard), &tell);
        while (announce(fixture, guard, 0, LOWER + confirmed % 20) == PWR_OK &&
               remember(fixture, guard, 0) == PWR_OK) {
            if (confirmed++ == round) {
                assert_int_equal(write(tell, "x", 1), 1);
            }
        }
        close(tell);
        assert_int_equal(waitpid(killer, &result, 0), killer);
        assert_int_equal(result, 0);
        assert_true(confirmed > round);
        read_journal(fixture, &journal);
        assert_int_equal(journal.count, 1);
        assert_true(journal.records[0].num_ours >= (confirmed < 20 ? confirmed : 20));
        pwr_journal_free(&journal);
        pwr_guard_stop(guard);
        assert_true(has_no_journal(fixture));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_what_is_confirmed_is_on_disk),
        FIXTURE_TEST(test_restored_and_removed),
        FIXTURE_TEST(test_kept_when_a_control_cannot_be_restored),
        FIXTURE_TEST(test_directory_that_cannot_be_used),
        FIXTURE_TEST(test_no_room_for_a_journal),
        FIXTURE_TEST(test_disk_full_later),
        FIXTURE_TEST(test_successor_knows_what_the_first_knew),
        FIXTURE_TEST(test_successor_after_a_failed_word),
        FIXTURE_TEST(test_farewell_to_a_killed_guardian),
        FIXTURE_TEST(test_abandoning_a_killed_guardian),
        FIXTURE_TEST(test_no_successor_without_the_journal),
        FIXTURE_TEST(test_no_successor_for_a_damaged_journal),
        FIXTURE_TEST(test_killed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
