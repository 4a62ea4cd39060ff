/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore on journals of its own user.
 */
#include "config.h"

#include "leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/journal_file.h"
#include "record/page.h"

enum { THEIRS = 2000000, CLOCK_MODULATION = 0x19a };

static const char *const no_options[] = {NULL};
static const char *const verbose[] = {"--verbose", NULL};
static const char *const dry_run[] = {"--dry-run", NULL};
static const char *const of_13[] = {"--job", "13", NULL};
static const char *const dry_run_of_13[] = {"--dry-run", "--job", "13", NULL};

static void leave(fixture_t *fixture, const char *job, unsigned cpu)
{
    leftover_put_ceiling(fixture, cpu, LEFTOVER_FOUND);
    leftover_make(fixture, geteuid(), job, cpu);
    assert_int_equal(leftover_ceiling(fixture, cpu), LEFTOVER_LOWER);
}

static unsigned journals(const fixture_t *fixture)
{
    return leftover_journals(fixture, geteuid(), NULL);
}

/* Runs the tool; a word that must be in its output. */
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

static void expect_silence(const fixture_t *fixture)
{
    leftover_run_t run;
    leftover_restore(fixture, no_options, &run);
    assert_int_equal(run.status, 0);
    assert_string_equal(run.output, "");
}

/* ---- journals made by hand ---- */

static pwr_rundir_t *open_rundir(fixture_t *fixture)
{
    pwr_rundir_t *rundir;
    assert_int_equal(pwr_rundir_open(&fixture->env, NULL, PWR_RUNDIR_CREATE, &rundir), PWR_OK);
    return rundir;
}

static void write_journal(fixture_t *fixture, const pwr_journal_header_t *header,
                          const pwr_journal_entry_t *entries, size_t count)
{
    char why[512];
    int cause;
    pwr_journal_file_t *file;
    pwr_rundir_t *rundir = open_rundir(fixture);
    assert_int_equal(pwr_journal_create(rundir, header, why, sizeof why, &file), PWR_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pwr_journal_add(file, &entries[i], &cause), PWR_OK);
    }
    pwr_journal_close(file);
    pwr_rundir_close(rundir);
}

static pwr_journal_header_t header_of(const fixture_t *fixture, const char *job)
{
    pwr_journal_header_t header;
    pwr_identity_describe(getpid(), &header);
    snprintf(header.job, sizeof header.job, "%s", job);
    snprintf(header.root, sizeof header.root, "%s", fixture->root);
    return header;
}

static void put_file(fixture_t *fixture, const char *name, const char *text)
{
    char path[PATH_MAX], full[2 * PATH_MAX];
    pwr_rundir_close(open_rundir(fixture));
    snprintf(path, sizeof path, "%s/%s", leftover_directory(geteuid()), name);
    fixture_put(fixture, path, text);
    assert_int_equal(pwr_env_path(&fixture->env, path, full, sizeof full), PWR_OK);
    assert_int_equal(chmod(full, 0600), 0);
}

/* ---- tests ---- */

static void test_nothing_to_do(void **state)
{
    fixture_t *fixture = *state;
    expect_silence(fixture); /* not even a directory */
    pwr_rundir_close(open_rundir(fixture));
    put_file(fixture, "cpus", "");
    expect_silence(fixture);
    assert_int_equal(access(fixture->root, F_OK), 0);
}

static void test_both_were_killed(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, "12", 3);
    expect(fixture, no_options, 0, "  restored CPU 3 ceiling 1200000 -> 3000000 kHz\n");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_FOUND);
    assert_int_equal(journals(fixture), 0);
    expect_silence(fixture);
}

static void test_dry_run_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    expect(fixture, dry_run, 0, "no run-time directory: no journals: nothing to restore\n");
    put_file(fixture, "journal-empty", "");
    expect(fixture, dry_run, 0, "journal-empty: nothing was changed yet; would be removed\n");
    expect(fixture, dry_run_of_13, 0, ": no journals of job 13: nothing to restore\n");
    leave(fixture, "12", 3);
    expect(fixture, dry_run, 1, "  would restore CPU 3 ceiling 1200000 -> 3000000 kHz\n");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 2);
}

static void test_somebody_elses_value_stays(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, "12", 3);
    leftover_put_ceiling(fixture, 3, THEIRS);
    expect(fixture, no_options, 0, "left CPU 3 ceiling at 2000000 kHz, which somebody else");
    assert_int_equal(leftover_ceiling(fixture, 3), THEIRS);
    assert_int_equal(journals(fixture), 0);
}

static bool has(fixture_t *fixture, const char *name)
{
    pwr_rundir_t *rundir = open_rundir(fixture);
    bool there = faccessat(pwr_rundir_fd(rundir), name, F_OK, 0) == 0;
    pwr_rundir_close(rundir);
    return there;
}

static void test_pages_of_the_dead_are_removed(void **state)
{
    fixture_t *fixture = *state;
    char why[512];
    pwr_mapped_page_t lives;
    put_file(fixture, "calls.12.0", "");
    expect(fixture, dry_run, 0, "nothing to restore\n");
    expect(fixture, of_13, 0, "");
    assert_true(has(fixture, "calls.12.0"));
    pwr_rundir_t *rundir = open_rundir(fixture);
    assert_int_equal(pwr_page_create(rundir, "12", 1, why, sizeof why, &lives), PWR_OK);
    expect_silence(fixture);
    assert_false(has(fixture, "calls.12.0"));
    assert_true(has(fixture, "calls.12.1"));
    pwr_page_remove(rundir, &lives);
    pwr_page_close(&lives);
    pwr_rundir_close(rundir);
}

/* Its lock is the creator's (pwr/shm.h). */
static int make_segment(const char *folder, int number, char *path, size_t size)
{
    snprintf(path, size, "%s/poweraware.%lu.%d.3.0", folder, (unsigned long)geteuid(), number);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
    return fd;
}

static void test_segments_of_the_dead_are_removed(void **state)
{
    fixture_t *fixture = *state;
    char folder[PATH_MAX];
    char ours[PATH_MAX + 64];
    char theirs[PATH_MAX + 64];
    snprintf(folder, sizeof folder, "%s/dev", fixture->root);
    (void)mkdir(folder, 0700);
    snprintf(folder, sizeof folder, "%s/dev/shm", fixture->root);
    (void)mkdir(folder, 0700);
    int lives = make_segment(folder, 1, ours, sizeof ours);
    close(make_segment(folder, 2, theirs, sizeof theirs));
    expect(fixture, of_13, 0, "");
    assert_int_equal(access(theirs, F_OK), 0);
    expect_silence(fixture);
    assert_int_not_equal(access(theirs, F_OK), 0);
    assert_int_equal(access(ours, F_OK), 0);
    close(lives);
    unlink(ours);
}

static void test_original_is_there_already(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, "12", 3);
    leftover_put_ceiling(fixture, 3, LEFTOVER_FOUND);
    expect(fixture, verbose, 0, "  CPU 3 ceiling is 3000000 kHz already\n");
    assert_int_equal(journals(fixture), 0);
}

static void test_a_living_job_is_left_alone(void **state)
{
    fixture_t *fixture = *state;
    leftover_put_ceiling(fixture, 3, LEFTOVER_FOUND);
    leftover_process_t process = leftover_start(fixture, geteuid(), "12", 3);
    expect_silence(fixture);
    expect(fixture, verbose, 0, ": in use; left alone\n");
    assert_int_equal(kill(process.guardian, SIGKILL), 0);
    expect(fixture, verbose, 0, ": in use; left alone\n"); /* it can start another guardian */
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 1);
    assert_int_equal(kill(process.pid, SIGKILL), 0);
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
    expect(fixture, no_options, 0, "restored CPU 3");
}

static bool is_restored(const fixture_t *fixture)
{
    return leftover_ceiling(fixture, 3) == LEFTOVER_FOUND;
}

static void test_what_a_stopped_guardian_has_is_left_and_said(void **state)
{
    fixture_t *fixture = *state;
    leftover_put_ceiling(fixture, 3, LEFTOVER_FOUND);
    leftover_process_t process = leftover_start(fixture, geteuid(), "12", 3);
    assert_int_equal(kill(process.guardian, SIGSTOP), 0);
    assert_int_equal(kill(process.pid, SIGKILL), 0);
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
    expect(fixture, no_options, 1, ": job 12, process ");
    expect(fixture, no_options, 1,
           "left to its poweraware-guard, which lives and does not restore");
    expect(fixture, no_options, 1, "  not restored CPU 3 ceiling 1200000 -> 3000000 kHz\n");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 1);
    assert_int_equal(kill(process.guardian, SIGCONT), 0);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_one_job_only(void **state)
{
    static const char *const job_1[] = {"--job", "1", NULL};
    static const char *const job_12[] = {"--job", "12", NULL};
    fixture_t *fixture = *state;
    leave(fixture, "12", 3);
    leave(fixture, "13", 4);
    put_file(fixture, "journal-13-1-00000000", "damaged\n");
    leftover_run_t run;
    leftover_restore(fixture, job_1, &run);
    assert_int_equal(run.status, 1); /* it might have been a journal of job 1 */
    assert_null(strstr(run.output, "restored"));
    assert_int_equal(journals(fixture), 3);
    leftover_restore(fixture, job_12, &run);
    assert_int_equal(run.status, 0);
    assert_non_null(strstr(run.output, "restored CPU 3"));
    assert_int_equal(leftover_ceiling(fixture, 4), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 2);
}

static void test_offline_cpus_keep_the_journal(void **state)
{
    fixture_t *fixture = *state;
    leave(fixture, "12", 3);
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq");
    expect(fixture, no_options, 1, "CPU 3 ceiling is not restored to 3000000 kHz: offline or gone");
    assert_int_equal(journals(fixture), 1);
    leftover_put_ceiling(fixture, 3, LEFTOVER_LOWER);
    expect(fixture, no_options, 0, "restored CPU 3");
    assert_int_equal(journals(fixture), 0);
}

static void test_failing_writes_keep_the_journal(void **state)
{
    fixture_t *fixture = *state;
    leftover_run_t run;
    leave(fixture, "12", 3);
    fixture_limit_writes(0); /* the tool inherits it */
    leftover_restore(fixture, no_options, &run);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.output, "writing: input/output error"));
    assert_non_null(strstr(run.output, "is kept for another attempt"));
    assert_int_equal(journals(fixture), 1);
    leftover_put_ceiling(fixture, 3, LEFTOVER_LOWER);
    expect(fixture, no_options, 0, "restored CPU 3");
}

static void test_interrupted_line_does_not_count(void **state)
{
    fixture_t *fixture = *state;
    char name[256], path[2 * PATH_MAX];
    leave(fixture, "12", 3);
    leftover_journals(fixture, geteuid(), name);
    snprintf(path, sizeof path, "%s%s/%s", fixture->root, leftover_directory(geteuid()), name);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "original ceil", 13), 13);
    close(fd);
    expect(fixture, verbose, 0, "its last line was interrupted and does not count");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_FOUND);
}

static void test_unreadable_journals_are_kept_and_named(void **state)
{
    fixture_t *fixture = *state;
    char name[256], path[2 * PATH_MAX];
    leave(fixture, "12", 3);
    leftover_journals(fixture, geteuid(), name);
    snprintf(path, sizeof path, "%s%s/%s", fixture->root, leftover_directory(geteuid()), name);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, 40), 1);
    close(fd);
    leave(fixture, "13", 4);
    snprintf(path, sizeof path, "/%s: line 1: ", name);
    expect(fixture, no_options, 1, path);
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER); /* never guessed at */
    assert_int_equal(leftover_ceiling(fixture, 4), LEFTOVER_FOUND); /* the other one was used */
    assert_int_equal(journals(fixture), 1);
}

static void test_what_is_no_journal(void **state)
{
    fixture_t *fixture = *state;
    char path[2 * PATH_MAX];
    put_file(fixture, "elsewhere", "");
    snprintf(path, sizeof path, "%s/journal-link", leftover_directory(geteuid()));
    fixture_link(fixture, path, "elsewhere");
    expect(fixture, no_options, 1, "/journal-link: ");
    fixture_remove(fixture, path);
    snprintf(path, sizeof path, "%s%s/journal-fifo", fixture->root, leftover_directory(geteuid()));
    assert_int_equal(mkfifo(path, 0600), 0);
    expect(fixture, no_options, 1, "/journal-fifo is not a regular file");
    assert_int_equal(remove(path), 0);
    put_file(fixture, "journal-\x1b[31m", "\x1b[31m\n");
    expect(fixture, no_options, 1, "/journal-?[31m: line 1: not a journal of poweraware; kept\n");
    assert_int_equal(journals(fixture), 1);
}

static void test_other_boots_and_other_hosts(void **state)
{
    fixture_t *fixture = *state;
    const pwr_journal_entry_t entries[] = {
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false, LEFTOVER_FOUND},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, true, LEFTOVER_LOWER}};
    leftover_put_ceiling(fixture, 3, LEFTOVER_LOWER);
    pwr_journal_header_t header = header_of(fixture, "12");
    header.boot[0] = header.boot[0] == '0' ? '1' : '0';
    write_journal(fixture, &header, entries, 2);
    expect(fixture, no_options, 0, "of an earlier boot, so nothing is left to restore; removed");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 0);
    strcat(header.host, "x");
    write_journal(fixture, &header, entries, 2);
    expect(fixture, no_options, 0, "of another host; left alone");
    assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_LOWER);
    assert_int_equal(journals(fixture), 1);
}

/* Sets when journals were last written: the older one, and all others. */
static void date_journals(const fixture_t *fixture, const char *older,
                          const struct timespec times[2])
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", fixture->root, leftover_directory(geteuid()));
    DIR *directory = opendir(path);
    struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        const struct timespec *time = &times[strcmp(entry->d_name, older) == 0 ? 0 : 1];
        const struct timespec both[] = {*time, *time};
        if (entry->d_name[0] != '.') {
            assert_int_equal(utimensat(dirfd(directory), entry->d_name, both, 0), 0);
        }
    }
    closedir(directory);
}

/* The second job found what the first had left: only backwards that leads to the beginning. */
static void test_newest_first(void **state)
{
    static const struct timespec times[][2] = {{{100, 5}, {100, 6}}, {{100, 6}, {101, 5}}};
    fixture_t *fixture = *state;
    const pwr_journal_header_t header = header_of(fixture, "12");
    const pwr_journal_entry_t first[] = {
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false, LEFTOVER_FOUND},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, true, LEFTOVER_LOWER}};
    const pwr_journal_entry_t second[] = {
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false, LEFTOVER_LOWER},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, true, 800000}};
    for (int i = 0; i < 16; i++) { /* random names: no order of the directory helps */
        char older[256];
        leftover_put_ceiling(fixture, 3, 800000);
        write_journal(fixture, &header, first, 2);
        leftover_journals(fixture, geteuid(), older);
        write_journal(fixture, &header, second, 2);
        date_journals(fixture, older, times[i % 2]);
        expect(fixture, no_options, 0, "restored CPU 3 ceiling 800000 -> 1200000 kHz");
        assert_int_equal(leftover_ceiling(fixture, 3), LEFTOVER_FOUND);
        assert_int_equal(journals(fixture), 0);
    }
}

/* Ceilings before floors; of a register only the bits that are the control. */
static void test_all_kinds_in_their_order(void **state)
{
    fixture_t *fixture = *state;
    leftover_run_t run;
    const pwr_journal_header_t header = header_of(fixture, "12");
    const pwr_journal_entry_t entries[] = {
        {&pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION, 0, false, 0xab00000000000000},
        {&pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION, 0, true, 0x12},
        {&pwr_access_cpufreq, PWR_CONTROL_FLOOR, 0, false, 1500000},
        {&pwr_access_cpufreq, PWR_CONTROL_FLOOR, 0, true, 1200000},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 0, false, 3000000},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 0, true, 1200000}};
    fixture_put_cpufreq_file(fixture, 0, "scaling_max_freq", "1200000\n");
    fixture_put_cpufreq_file(fixture, 0, "scaling_min_freq", "1200000\n");
    fixture_put_msr(fixture, 0, "msr", CLOCK_MODULATION, 0xcd00000000000012);
    write_journal(fixture, &header, entries, 6);
    leftover_restore(fixture, no_options, &run);
    assert_int_equal(run.status, 0);
    const char *ceiling = strstr(run.output, "restored CPU 0 ceiling 1200000 -> 3000000 kHz\n");
    const char *floor = strstr(run.output, "restored CPU 0 floor 1200000 -> 1500000 kHz\n");
    const char *duty = strstr(run.output, "restored CPU 0 clock_modulation 0xcd00000000000012 -> ");
    assert_true(ceiling && floor && duty && ceiling < floor && floor < duty);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", CLOCK_MODULATION), 0xcd00000000000000);
}

static void test_two_at_once(void **state)
{
    enum { CPUS = 24, TOOLS = 3 };
    fixture_t *fixture = *state;
    pid_t tools[TOOLS];
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        leave(fixture, "12", cpu);
    }
    for (int i = 0; i < TOOLS; i++) {
        tools[i] = fork();
        assert_true(tools[i] >= 0);
        if (tools[i] == 0) {
            leftover_run_t run;
            leftover_restore(fixture, no_options, &run);
            _exit(run.status);
        }
    }
    for (int i = 0; i < TOOLS; i++) {
        int status;
        assert_int_equal(waitpid(tools[i], &status, 0), tools[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        assert_int_equal(leftover_ceiling(fixture, cpu), LEFTOVER_FOUND);
    }
    assert_int_equal(journals(fixture), 0);
}

static void test_options(void **state)
{
    static const char *const help[] = {"--help", NULL};
    static const char *const unknown[] = {"--everything", NULL};
    static const char *const word[] = {"now", NULL};
    static const char *const no_job[] = {"--job", "", NULL};
    static const char *const no_root[] = {"--root", "/does/not/exist", NULL};
    static const char *const both[] = {"--all", "--run-dir", "/run", NULL};
    fixture_t *fixture = *state;
    expect(fixture, help, 0, "usage: poweraware-restore");
    expect(fixture, unknown, 2, "--help");
    expect(fixture, word, 2, "unexpected argument \"now\"");
    expect(fixture, no_job, 2, "--job");
    expect(fixture, no_root, 2, "/does/not/exist");
    expect(fixture, both, 2, "not both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEFTOVER_TEST(test_nothing_to_do),
        LEFTOVER_TEST(test_both_were_killed),
        LEFTOVER_TEST(test_dry_run_changes_nothing),
        LEFTOVER_TEST(test_somebody_elses_value_stays),
        LEFTOVER_TEST(test_pages_of_the_dead_are_removed),
        LEFTOVER_TEST(test_segments_of_the_dead_are_removed),
        LEFTOVER_TEST(test_original_is_there_already),
        LEFTOVER_TEST(test_a_living_job_is_left_alone),
        LEFTOVER_TEST(test_what_a_stopped_guardian_has_is_left_and_said),
        LEFTOVER_TEST(test_one_job_only),
        LEFTOVER_TEST(test_offline_cpus_keep_the_journal),
        LEFTOVER_TEST(test_failing_writes_keep_the_journal),
        LEFTOVER_TEST(test_interrupted_line_does_not_count),
        LEFTOVER_TEST(test_unreadable_journals_are_kept_and_named),
        LEFTOVER_TEST(test_what_is_no_journal),
        LEFTOVER_TEST(test_other_boots_and_other_hosts),
        LEFTOVER_TEST(test_newest_first),
        LEFTOVER_TEST(test_all_kinds_in_their_order),
        LEFTOVER_TEST(test_two_at_once),
        LEFTOVER_TEST(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
