/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Journals on disk: locks, full disks, and files that are not what they seem.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard/journal_file.h"

enum { WHY_BYTES = 512 };

static const pwr_journal_entry_t original = {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false,
                                             3000000};
static const pwr_journal_entry_t ours = {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, true,
                                         1200000};

static pwr_journal_header_t header_of(pid_t pid)
{
    pwr_journal_header_t header;
    pwr_identity_describe(pid, &header);
    strcpy(header.job, "7");
    strcpy(header.root, "/emulated");
    return header;
}

static pwr_rundir_t *open_rundir(fixture_t *fixture)
{
    pwr_rundir_t *rundir;
    assert_int_equal(pwr_rundir_open(&fixture->env, "/run", PWR_RUNDIR_CREATE, &rundir), PWR_OK);
    return rundir;
}

static pwr_journal_file_t *create(const pwr_rundir_t *rundir)
{
    char why[WHY_BYTES] = "";
    pwr_journal_file_t *file;
    const pwr_journal_header_t header = header_of(getpid());
    assert_int_equal(pwr_journal_create(rundir, &header, why, sizeof why, &file), PWR_OK);
    return file;
}

static void add(pwr_journal_file_t *file, const pwr_journal_entry_t *entry)
{
    int cause;
    assert_int_equal(pwr_journal_add(file, entry, &cause), PWR_OK);
}

static void name_of(const pwr_journal_file_t *file, char name[NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%s", file->name);
}

static const char *path_of(const pwr_rundir_t *rundir, const char *name)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", pwr_rundir_name(rundir), name);
    return path;
}

static size_t size_of(const pwr_rundir_t *rundir, const char *name)
{
    struct stat info;
    assert_int_equal(stat(path_of(rundir, name), &info), 0);
    return (size_t)info.st_size;
}

static pwr_status_t open_status(const pwr_rundir_t *rundir, const char *name, char why[WHY_BYTES])
{
    pwr_journal_file_t *file = NULL;
    why[0] = '\0';
    pwr_status_t status = pwr_journal_open(rundir, name, NULL, why, WHY_BYTES, &file);
    assert_int_equal(status == PWR_OK, file != NULL);
    pwr_journal_close(file);
    return status;
}

static void expect_open(const pwr_rundir_t *rundir, const char *name, pwr_status_t expected,
                        const char *reason)
{
    char why[WHY_BYTES];
    assert_int_equal(open_status(rundir, name, why), expected);
    if (!strstr(why, reason)) {
        print_error("\"%s\" instead of \"%s\"\n", why, reason);
        fail();
    }
}

/* ---- what is in it ---- */

static void test_is_there_for_a_restorer(void **state)
{
    char why[WHY_BYTES], name[NAME_MAX + 1], start[64];
    struct stat info;
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    snprintf(start, sizeof start, "journal-7-%ld-", (long)getpid());
    assert_ptr_equal(strstr(name, start), name);
    assert_int_equal(stat(path_of(rundir, name), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    add(file, &original);
    add(file, &ours);
    add(file, &ours); /* known: no line */
    assert_int_equal(file->journal.lines, 3);
    pwr_journal_close(file);
    assert_int_equal(pwr_journal_open(rundir, name, NULL, why, sizeof why, &file), PWR_OK);
    const pwr_journal_t *journal = &file->journal;
    assert_string_equal(journal->header.root, "/emulated");
    assert_int_equal(journal->header.pid, getpid());
    assert_true(journal->header.start > 0);
    assert_int_equal(strlen(journal->header.boot), 36);
    assert_int_equal(journal->count, 1);
    assert_int_equal(journal->records[0].original, 3000000);
    assert_int_equal(journal->records[0].ours[0], 1200000);
    assert_int_equal(pwr_journal_remove(file), PWR_OK);
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_ERR_UNSUPPORTED, name);
    pwr_rundir_close(rundir);
}

static void test_names_do_not_collide(void **state)
{
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *one = create(rundir);
    pwr_journal_file_t *two = create(rundir);
    assert_string_not_equal(one->name, two->name);
    pwr_journal_close(one);
    pwr_journal_close(two);
    pwr_rundir_close(rundir);
}

/* ---- locks ---- */

static void test_guardian_at_work(void **state)
{
    char name[NAME_MAX + 1];
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    expect_open(rundir, name, PWR_ERR_TIMEOUT, "timed out");
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_OK, "");
    pwr_rundir_close(rundir);
}

typedef struct client {
    pid_t pid;
    int release; /* closing it ends a child that the client has left behind */
} client_t;

/* A process that holds the client's lock, and so may a child that it forked, if locks were
   inherited. */
static client_t start_client(const pwr_rundir_t *rundir, const char *name)
{
    int ready[2], release[2];
    char byte, why[WHY_BYTES];
    int fd;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(release), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(release[1]);
        bool held = pwr_journal_hold(rundir, name, why, sizeof why, &fd) == PWR_OK;
        if (fork() == 0) {
            close(ready[1]);
            _exit((int)read(release[0], &byte, 1));
        }
        bool told = held && write(ready[1], "x", 1) == 1;
        close(ready[1]);
        pause();
        _exit(told ? 0 : 1);
    }
    close(ready[1]);
    close(release[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return (client_t){.pid = pid, .release = release[1]};
}

static void test_client_at_work_and_dead_with_a_child_alive(void **state)
{
    char name[NAME_MAX + 1];
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    pwr_journal_close(file);
    client_t client = start_client(rundir, name);
    expect_open(rundir, name, PWR_ERR_SHARED, "in use");
    assert_int_equal(kill(client.pid, SIGKILL), 0);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    expect_open(rundir, name, PWR_OK, "");
    close(client.release);
    pwr_rundir_close(rundir);
}

static void test_two_restorers(void **state)
{
    char name[NAME_MAX + 1], why[WHY_BYTES];
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    pwr_journal_close(file);
    assert_int_equal(pwr_journal_open(rundir, name, NULL, why, sizeof why, &file), PWR_OK);
    expect_open(rundir, name, PWR_ERR_SHARED, "in use");
    assert_int_equal(pwr_journal_remove(file), PWR_OK);
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_ERR_UNSUPPORTED, name);
    pwr_rundir_close(rundir);
}

/* A guardian that is just ending is waited for. */
static void test_restorer_waits_for_a_guardian(void **state)
{
    char name[NAME_MAX + 1];
    const struct timespec while_ending = {.tv_nsec = 50000000};
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    pid_t guardian = fork();
    assert_true(guardian >= 0);
    if (guardian == 0) { /* shares the lock */
        nanosleep(&while_ending, NULL);
        _exit(0);
    }
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_OK, "");
    assert_int_equal(waitpid(guardian, NULL, 0), guardian);
    pwr_rundir_close(rundir);
}

/* The journal goes while a restorer waits for its lock: it must not act on a file without a name,
   which a guardian that starts anew no longer protects. */
static void test_removed_while_a_restorer_waits(void **state)
{
    char name[NAME_MAX + 1], why[WHY_BYTES], byte;
    const struct timespec until_it_waits = {.tv_nsec = 100000000};
    int ready[2], result;
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    assert_int_equal(pipe(ready), 0);
    pid_t restorer = fork();
    assert_true(restorer >= 0);
    if (restorer == 0) {
        pwr_journal_close(file); /* shares the lock, which the parent keeps */
        bool told = write(ready[1], "x", 1) == 1;
        _exit(told ? (int)open_status(rundir, name, why) : 255);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    nanosleep(&until_it_waits, NULL);
    assert_int_equal(pwr_journal_remove(file), PWR_OK);
    pwr_journal_close(file);
    assert_int_equal(waitpid(restorer, &result, 0), restorer);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), PWR_ERR_UNSUPPORTED);
    close(ready[0]);
    close(ready[1]);
    pwr_rundir_close(rundir);
}

/* A client starts while a restorer finds out that the journal is in use. */
static void test_client_waits_for_a_restorer(void **state)
{
    char name[NAME_MAX + 1], why[WHY_BYTES];
    const struct timespec while_looking = {.tv_nsec = 50000000};
    int fd;
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    pwr_journal_close(file);
    assert_int_equal(pwr_journal_open(rundir, name, NULL, why, sizeof why, &file), PWR_OK);
    pid_t restorer = fork();
    assert_true(restorer >= 0);
    if (restorer == 0) {
        nanosleep(&while_looking, NULL);
        _exit(0);
    }
    pwr_journal_close(file);
    assert_int_equal(pwr_journal_hold(rundir, name, why, sizeof why, &fd), PWR_OK);
    close(fd);
    assert_int_equal(waitpid(restorer, NULL, 0), restorer);
    pwr_rundir_close(rundir);
}

/* ---- taking over ---- */

static void append_text(const pwr_rundir_t *rundir, const char *name, const char *text)
{
    int fd = open(path_of(rundir, name), O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void test_successor_goes_on_where_the_first_was_killed(void **state)
{
    char name[NAME_MAX + 1], why[WHY_BYTES];
    const pwr_journal_header_t header = header_of(getpid());
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    add(file, &original);
    pwr_journal_close(file);
    /* Killed in the middle of a line that is longer than the next one. */
    append_text(rundir, name, "original clock_modulation msr_safe 3 0x1f 1234567");
    assert_int_equal(pwr_journal_open(rundir, name, &header, why, sizeof why, &file), PWR_OK);
    assert_int_equal(file->journal.lines, 2);
    add(file, &ours);
    pwr_journal_close(file);
    assert_int_equal(pwr_journal_open(rundir, name, NULL, why, sizeof why, &file), PWR_OK);
    assert_false(file->journal.torn);
    assert_int_equal(file->journal.records[0].num_ours, 1);
    pwr_journal_close(file);
    pwr_rundir_close(rundir);
}

/* It may only want to know what would be done. */
static void test_restorer_changes_no_byte(void **state)
{
    char name[NAME_MAX + 1];
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    add(file, &original);
    pwr_journal_close(file);
    append_text(rundir, name, "original clock_modulation");
    size_t size = size_of(rundir, name);
    expect_open(rundir, name, PWR_OK, "");
    assert_int_equal(size_of(rundir, name), size);
    pwr_rundir_close(rundir);
}

static void test_nobody_takes_over_what_is_not_theirs(void **state)
{
    char name[NAME_MAX + 1], why[WHY_BYTES];
    pwr_journal_header_t header = header_of(getpid());
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    pwr_journal_file_t *second = NULL;
    name_of(file, name);
    assert_int_equal(pwr_journal_open(rundir, name, &header, why, sizeof why, &second),
                     PWR_ERR_SHARED);
    pwr_journal_close(file);
    header.start++; /* another process of the same number */
    assert_int_equal(pwr_journal_open(rundir, name, &header, why, sizeof why, &second),
                     PWR_ERR_PARSE);
    assert_non_null(strstr(why, "not this process's"));
    assert_int_equal(pwr_journal_open(rundir, "journal-none", &header, why, sizeof why, &second),
                     PWR_ERR_UNSUPPORTED);
    assert_null(second);
    pwr_rundir_close(rundir);
}

/* ---- full disks ---- */

static bool is_empty(const pwr_rundir_t *rundir)
{
    return rmdir(pwr_rundir_name(rundir)) == 0 && mkdir(pwr_rundir_name(rundir), 0700) == 0;
}

/* The disk is full at every byte of the first line. */
static void test_full_at_the_first_line(void **state)
{
    char why[WHY_BYTES], name[NAME_MAX + 1];
    const pwr_journal_header_t header = header_of(getpid());
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    size_t first = size_of(rundir, name);
    assert_int_equal(pwr_journal_remove(file), PWR_OK);
    pwr_journal_close(file);
    for (size_t limit = 0; limit < first; limit++) {
        fixture_limit_writes(limit);
        pwr_status_t status = pwr_journal_create(rundir, &header, why, sizeof why, &file);
        fixture_limit_writes(RLIM_INFINITY);
        assert_int_equal(status, PWR_ERR_IO);
        assert_non_null(strstr(why, "journal-7-"));
    }
    assert_true(is_empty(rundir));
    pwr_rundir_close(rundir);
}

/* The disk is full at every byte of a later line; nothing of it stays, and when there is room again
   the journal goes on. */
static void test_full_at_a_later_line(void **state)
{
    char name[NAME_MAX + 1];
    int cause;
    pwr_rundir_t *rundir = open_rundir(*state);
    pwr_journal_file_t *file = create(rundir);
    name_of(file, name);
    size_t before = size_of(rundir, name);
    size_t length = strlen("original ceiling cpufreq 3 3000000 12345678\n");
    for (size_t limit = before; limit < before + length; limit++) {
        fixture_limit_writes(limit);
        pwr_status_t status = pwr_journal_add(file, &original, &cause);
        fixture_limit_writes(RLIM_INFINITY);
        assert_int_equal(status, PWR_ERR_IO);
        assert_int_equal(cause, limit == before ? EFBIG : ENOSPC);
        assert_int_equal(size_of(rundir, name), before);
        assert_int_equal(file->journal.count, 0);
    }
    add(file, &original);
    add(file, &ours);
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_OK, "");
    pwr_rundir_close(rundir);
}

/* In a child with a file system of its own: 0 good, 77 not allowed here. */
static int fill_a_file_system(fixture_t *fixture)
{
    pwr_rundir_t *rundir = open_rundir(fixture);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", pwr_rundir_name(rundir), "tmpfs", 0, "size=8k,mode=0700") != 0) {
        return 77;
    }
    pwr_rundir_close(rundir);
    rundir = open_rundir(fixture);
    pwr_journal_file_t *file = create(rundir);
    pwr_journal_entry_t entry = original;
    char name[NAME_MAX + 1];
    int cause = 0;
    name_of(file, name);
    while (pwr_journal_add(file, &entry, &cause) == PWR_OK && entry.cpu < 1000) {
        entry.cpu++;
    }
    size_t lines = file->journal.lines;
    pwr_journal_close(file);
    char why[WHY_BYTES];
    bool whole = pwr_journal_open(rundir, name, NULL, why, sizeof why, &file) == PWR_OK &&
                 file->journal.lines == lines && !file->journal.torn;
    return cause == ENOSPC && lines > 50 && whole ? 0 : 1;
}

static void test_full_file_system(void **state)
{
    int result;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(fill_a_file_system(*state));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 77) {
        print_message("only root can mount a file system\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---- files that are not what they seem ---- */

static void put_file(const pwr_rundir_t *rundir, const char *name, const char *text, off_t size)
{
    int fd = open(path_of(rundir, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    if (size > 0) {
        assert_int_equal(ftruncate(fd, size), 0);
    }
    close(fd);
}

static void test_damaged_files_are_named_with_line_and_reason(void **state)
{
    pwr_rundir_t *rundir = open_rundir(*state);
    put_file(rundir, "journal-a", "what is this\n", 0);
    expect_open(rundir, "journal-a", PWR_ERR_PARSE, "journal-a: line 1: not a journal");
    put_file(rundir, "journal-b", "", 8 << 20); /* sparse */
    expect_open(rundir, "journal-b", PWR_ERR_PARSE, "journal-b: line 1: an interrupted line");
    put_file(rundir, "journal-c", "", (off_t)1 << 40); /* sparse and huge */
    expect_open(rundir, "journal-c", PWR_ERR_PARSE, "journal-c: line 1: the file is larger");
    put_file(rundir, "journal-d", "", 0);
    expect_open(rundir, "journal-d", PWR_OK, ""); /* killed before the first line */
    pwr_rundir_close(rundir);
}

static void test_other_kinds_of_files_are_refused(void **state)
{
    fixture_t *fixture = *state;
    pwr_rundir_t *rundir = open_rundir(fixture);
    char target[2 * PATH_MAX];
    put_file(rundir, "real", "", 0);
    fixture_link(fixture, "/run/journal-link", "real");
    expect_open(rundir, "journal-link", PWR_ERR_PERM, "journal-link");
    assert_int_equal(mkfifo(path_of(rundir, "journal-fifo"), 0600), 0);
    expect_open(rundir, "journal-fifo", PWR_ERR_PERM, "not a regular file");
    strcpy(target, path_of(rundir, "real"));
    assert_int_equal(link(target, path_of(rundir, "journal-hard")), 0);
    expect_open(rundir, "journal-hard", PWR_ERR_PERM, "hard link");
    pwr_rundir_close(rundir);
}

static void test_journal_of_another_user(void **state)
{
    char why[WHY_BYTES], name[NAME_MAX + 1];
    pwr_journal_file_t *file;
    pwr_journal_header_t header = header_of(getpid());
    pwr_rundir_t *rundir = open_rundir(*state);
    header.uid++;
    assert_int_equal(pwr_journal_create(rundir, &header, why, sizeof why, &file), PWR_OK);
    name_of(file, name);
    pwr_journal_close(file);
    expect_open(rundir, name, PWR_ERR_PARSE, "line 1: it is user");
    pwr_rundir_close(rundir);
}

/* ---- names of jobs ---- */

static void expect_job(const char *name, const char *expected)
{
    char job[PWR_JOB_BYTES];
    pwr_identity_job(name, job);
    assert_string_equal(job, expected);
}

static void test_who_is_there(void **state)
{
    enum { NOBODY = 0 };
    pwr_journal_header_t mine, nobodys;
    char host[PWR_JOURNAL_WORD_BYTES] = "";
    (void)state;
    pwr_identity_describe(getpid(), &mine);
    pwr_identity_describe(NOBODY, &nobodys);
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_string_equal(mine.host, host);
    assert_string_equal(mine.job, ""); /* is not known here, as the root */
    assert_string_equal(mine.root, "");
    assert_true(mine.start > 0);
    assert_int_equal(nobodys.start, 0);
    assert_false(pwr_identity_is_stopped(getpid()));
    assert_false(pwr_identity_is_stopped(NOBODY));
}

static void test_jobs(void **state)
{
    static const char *const variables[] = {"PMIX_NAMESPACE", "FLUX_JOB_ID", "LSB_JOBID",
                                            "PBS_JOBID", "SLURM_JOB_ID"};
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
    expect_job(NULL, "none");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        char job[16];
        snprintf(job, sizeof job, "%zu[2].srv", i);
        setenv(variables[i], job, 1);
        snprintf(job, sizeof job, "%zu_2_.srv", i);
        expect_job(NULL, job); /* the batch system's before the launcher's */
    }
    expect_job("../../etc/x y\n\x1b", ".._.._etc_x_y__");
    expect_job("0123456789012345678901234567890123456789012345678901234567890123456789",
               "0123456789012345678901234567890123456789012345678901234567890123");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_is_there_for_a_restorer),
        FIXTURE_TEST(test_names_do_not_collide),
        FIXTURE_TEST(test_guardian_at_work),
        FIXTURE_TEST(test_client_at_work_and_dead_with_a_child_alive),
        FIXTURE_TEST(test_two_restorers),
        FIXTURE_TEST(test_restorer_waits_for_a_guardian),
        FIXTURE_TEST(test_removed_while_a_restorer_waits),
        FIXTURE_TEST(test_client_waits_for_a_restorer),
        FIXTURE_TEST(test_successor_goes_on_where_the_first_was_killed),
        FIXTURE_TEST(test_restorer_changes_no_byte),
        FIXTURE_TEST(test_nobody_takes_over_what_is_not_theirs),
        FIXTURE_TEST(test_full_at_the_first_line),
        FIXTURE_TEST(test_full_at_a_later_line),
        FIXTURE_TEST(test_full_file_system),
        FIXTURE_TEST(test_damaged_files_are_named_with_line_and_reason),
        FIXTURE_TEST(test_other_kinds_of_files_are_refused),
        FIXTURE_TEST(test_journal_of_another_user),
        FIXTURE_TEST(test_who_is_there),
        FIXTURE_TEST(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
