/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is left when a process and its guardian are killed together, and poweraware-restore on it.
 */
#include "config.h"

#include "leftover.h"

#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/control.h"

int leftover_setup(void **state)
{
    if (fixture_setup(state) != 0) {
        return -1;
    }
    fixture_copy_program(*state, "poweraware-restore");
    return 0;
}

void leftover_put_ceiling(fixture_t *fixture, unsigned cpu, unsigned khz)
{
    char text[16];
    snprintf(text, sizeof text, "%u\n", khz);
    fixture_put_cpufreq_file(fixture, cpu, "scaling_max_freq", text);
}

unsigned long leftover_ceiling(const fixture_t *fixture, unsigned cpu)
{
    return fixture_get_khz(fixture, cpu, "scaling_max_freq");
}

/* The process: 0 when all went well. */
static int lower(fixture_t *fixture, const char *job, unsigned cpu, int report)
{
    pwr_guard_t *guard;
    pwr_control_t control;
    uint64_t found;
    const pwr_guard_config_t config = {.job = job};
    if (pwr_guard_start(&fixture->env, &config, &guard) != PWR_OK) {
        return 1;
    }
    pid_t guardian = pwr_guard_pid(guard);
    fixture_open_ceiling(fixture, cpu, &control);
    bool good = control.access->read(&control, &found) == PWR_OK &&
                pwr_guard_remember(guard, &control, found) == PWR_OK &&
                pwr_guard_announce(guard, &control, LEFTOVER_LOWER) == PWR_OK &&
                control.access->write(&control, LEFTOVER_LOWER) == PWR_OK &&
                write(report, &guardian, sizeof guardian) == (ssize_t)sizeof guardian;
    if (good) {
        pause();
    }
    return 1;
}

leftover_process_t leftover_start(fixture_t *fixture, uid_t uid, const char *job, unsigned cpu)
{
    leftover_process_t process;
    int report[2];
    assert_int_equal(pipe(report), 0);
    process.pid = fork();
    assert_true(process.pid >= 0);
    if (process.pid == 0) {
        bool same = uid == geteuid();
        bool dropped =
            same || (setgroups(0, NULL) == 0 && setgid((gid_t)uid) == 0 && setuid(uid) == 0);
        _exit(dropped ? lower(fixture, job, cpu, report[1]) : 1);
    }
    close(report[1]);
    assert_int_equal(read(report[0], &process.guardian, sizeof process.guardian),
                     sizeof process.guardian);
    close(report[0]);
    return process;
}

void leftover_kill(leftover_process_t process)
{
    assert_int_equal(kill(process.guardian, SIGKILL), 0);
    assert_int_equal(kill(process.pid, SIGKILL), 0);
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
}

void leftover_make(fixture_t *fixture, uid_t uid, const char *job, unsigned cpu)
{
    leftover_kill(leftover_start(fixture, uid, job, cpu));
}

const char *leftover_directory(uid_t uid)
{
    static char name[64];
    snprintf(name, sizeof name, "/dev/shm/poweraware.%lu", (unsigned long)uid);
    return name;
}

unsigned leftover_journals(const fixture_t *fixture, uid_t uid, char name[256])
{
    char path[PATH_MAX];
    struct dirent *entry;
    unsigned count = 0;
    assert_int_equal(pwr_env_path(&fixture->env, leftover_directory(uid), path, sizeof path),
                     PWR_OK);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        if (strncmp(entry->d_name, "journal-", 8) == 0) {
            count++;
            if (name) {
                snprintf(name, 256, "%s", entry->d_name);
            }
        }
    }
    closedir(directory);
    return count;
}

void leftover_restore(const fixture_t *fixture, const char *const options[], leftover_run_t *run)
{
    const char *argv[8] = {"poweraware-restore", "--root", fixture->root};
    char program[PATH_MAX];
    int output[2], status;
    size_t used = 0;
    ssize_t got;
    for (size_t i = 0; i < 4 && options[i]; i++) {
        argv[3 + i] = options[i];
    }
    snprintf(program, sizeof program, "%s/poweraware-restore", fixture->root);
    assert_int_equal(pipe(output), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool wired = dup2(output[1], 1) == 1 && dup2(output[1], 2) == 2;
        close(output[0]);
        close(output[1]);
        if (wired) {
            execv(program, (char *const *)argv);
        }
        _exit(127);
    }
    close(output[1]);
    while ((got = read(output[0], run->output + used, sizeof run->output - 1 - used)) > 0) {
        used += (size_t)got;
    }
    run->output[used] = '\0';
    close(output[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    run->status = WEXITSTATUS(status);
}
