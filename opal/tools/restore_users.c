/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore as root: other users' journals, with other users' rights.
 */
#include "config.h"

#include "restore_users.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NO_GROUP = 65534 };
/* A user may stop or block the process that runs with their rights; root does not wait for that. */
enum { PAUSE_MS = 10, LONGEST_CHILD_MS = 60000 };

/* For good: real, effective and saved. */
static bool become(uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    gid_t gid = user ? user->pw_gid : NO_GROUP;
    int grouped = user ? initgroups(user->pw_name, gid) : setgroups(0, NULL);
    if (grouped != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
        fprintf(stderr, "poweraware-restore: cannot become user %lu: %s\n", (unsigned long)uid,
                strerror(errno));
        return false;
    }
    return true;
}

/* The child's result; one that takes too long is killed. */
static bool wait_for(pid_t child, uid_t uid)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int result;
    int waited_ms = 0;
    pid_t ended = waitpid(child, &result, WNOHANG);
    while ((ended == 0 || (ended < 0 && errno == EINTR)) && waited_ms < LONGEST_CHILD_MS) {
        nanosleep(&pause, NULL);
        waited_ms += PAUSE_MS;
        ended = waitpid(child, &result, WNOHANG);
    }
    if (ended == child) {
        return WIFEXITED(result) && WEXITSTATUS(result) == EXIT_SUCCESS;
    }
    kill(child, SIGKILL);
    fprintf(stderr, "poweraware-restore: gave up on user %lu after %d s\n", (unsigned long)uid,
            LONGEST_CHILD_MS / 1000);
    return false;
}

static bool restore_as(const restore_request_t *request, uid_t uid)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "poweraware-restore: fork: %s\n", strerror(errno));
        return false;
    }
    if (child == 0) {
        bool done = become(uid) && restore_directory(request);
        fflush(stdout);
        _exit(done ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return wait_for(child, uid);
}

/* "poweraware.<uid>" in the one spelling of its number, and not a segment, whose names go on. */
static bool is_run_directory(const char *name, uid_t *uid)
{
    char again[64];
    static const char prefix[] = "poweraware.";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 ||
        !isdigit((unsigned char)name[sizeof prefix - 1])) {
        return false;
    }
    unsigned long long number = strtoull(name + sizeof prefix - 1, NULL, 10);
    snprintf(again, sizeof again, "%s%llu", prefix, number);
    *uid = (uid_t)number;
    return number < UINT_MAX && strcmp(name, again) == 0;
}

bool restore_all_users(const restore_request_t *request)
{
    char name[PATH_MAX];
    struct dirent *entry;
    uid_t uid;
    bool done = true;
    if (pwr_env_path(&request->env, "/dev/shm", name, sizeof name) != PWR_OK) {
        return false;
    }
    DIR *directory = opendir(name);
    if (!directory) {
        fprintf(stderr, "poweraware-restore: %s: %s\n", name, strerror(errno));
        return errno == ENOENT;
    }
    /* Nothing is asked about the entry itself: a user's file system might not answer. */
    while ((entry = readdir(directory))) {
        if (is_run_directory(entry->d_name, &uid)) {
            done = restore_as(request, uid) && done;
        }
    }
    closedir(directory);
    return done;
}

bool restore_as_owner(const restore_request_t *request)
{
    char name[PATH_MAX];
    struct stat info;
    if (pwr_env_path(&request->env, request->run_directory, name, sizeof name) != PWR_OK) {
        fprintf(stderr, "poweraware-restore: --run-dir %s: not an absolute path\n",
                request->run_directory);
        return false;
    }
    if (lstat(name, &info) != 0) {
        return errno == ENOENT ||
               (fprintf(stderr, "poweraware-restore: %s: %s\n", name, strerror(errno)), false);
    }
    return restore_as(request, info.st_uid);
}
