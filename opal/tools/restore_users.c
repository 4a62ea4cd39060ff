/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore as root: other users' journals, with other users' rights.
 */
#include "config.h"

#include "tools/poweraware_restore.h"

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
#include <unistd.h>

#include "pwr/clock.h"

enum { NO_GROUP = 65534, MOST_CHILDREN = 64 };
enum { PAUSE_NS = 10000000 };
/* A user may stop or block the process that runs with their rights; root does not wait for that,
   and an epilog, which has a minute for all, still hears of it. */
enum { LONGEST_CHILD_S = 30 };

/* A process that has become a user. */
typedef struct child {
    pid_t pid;
    uid_t uid;
    uint64_t deadline_ns;
} child_t;

/* All that run: side by side, so that nobody holds the others up. */
typedef struct crew {
    child_t children[MOST_CHILDREN];
    size_t count;
    bool done; /* nothing is left of what has ended so far */
} crew_t;

/* ---- in the child ---- */

/* For good: real, effective and saved.  Root's environment stays behind: programs that are started
   from here can be looked into by the user. */
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
    return clearenv() == 0 && setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) == 0;
}

/* ---- in root's process ---- */

/* True when it is over with this child, and then whether nothing is left to restore. */
static bool is_over(const child_t *child, bool *done)
{
    int result = 0;
    if (waitpid(child->pid, &result, WNOHANG) == child->pid) {
        *done = WIFEXITED(result) && WEXITSTATUS(result) == EXIT_SUCCESS;
        return true;
    }
    if (pwr_now_ns() < child->deadline_ns) {
        return false;
    }
    kill(child->pid, SIGKILL);
    fprintf(stderr, "poweraware-restore: gave up on user %lu after %d s\n",
            (unsigned long)child->uid, LONGEST_CHILD_S);
    *done = false;
    return true;
}

/* Waits until at most this many are left. */
static void wait_until(crew_t *crew, size_t most)
{
    for (;;) {
        for (size_t i = crew->count; i > 0; i--) {
            bool done;
            if (is_over(&crew->children[i - 1], &done)) {
                crew->done = crew->done && done;
                crew->children[i - 1] = crew->children[--crew->count];
            }
        }
        if (crew->count <= most) {
            return;
        }
        pwr_sleep_ns(PAUSE_NS);
    }
}

static void restore_as(const restore_request_t *request, uid_t uid, crew_t *crew)
{
    wait_until(crew, MOST_CHILDREN - 1);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "poweraware-restore: fork: %s\n", strerror(errno));
        crew->done = false;
        return;
    }
    if (child == 0) {
        bool done = become(uid) && restore_directory(request);
        fflush(stdout);
        _exit(done ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    crew->children[crew->count++] =
        (child_t){.pid = child,
                  .uid = uid,
                  .deadline_ns = pwr_now_ns() + LONGEST_CHILD_S * (uint64_t)PWR_NS_PER_S};
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

/* Directories that others made in a user's name are named and passed over, before a process is
   spent on them.  A file system that a user has mounted there might not answer: it is not asked,
   and when nothing is known the child finds out. */
static bool belongs_to(const char *shm, const char *name, uid_t uid)
{
    struct statx info;
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", shm, name);
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_UID, &info) != 0 ||
        info.stx_uid == uid) {
        return true;
    }
    fprintf(stderr, "poweraware-restore: %s belongs to user %lu: remove it\n", path,
            (unsigned long)info.stx_uid);
    return false;
}

bool restore_all_users(const restore_request_t *request)
{
    char name[PATH_MAX];
    struct dirent *entry;
    uid_t uid;
    crew_t crew = {.done = true};
    bool squatted = false;
    if (pwr_env_path(&request->env, "/dev/shm", name, sizeof name) != PWR_OK) {
        return false;
    }
    DIR *directory = opendir(name);
    if (!directory) {
        fprintf(stderr, "poweraware-restore: %s: %s\n", name, strerror(errno));
        return errno == ENOENT;
    }
    while ((entry = readdir(directory))) {
        if (!is_run_directory(entry->d_name, &uid)) {
            continue;
        }
        if (belongs_to(name, entry->d_name, uid)) {
            restore_as(request, uid, &crew);
        } else {
            squatted = true;
        }
    }
    closedir(directory);
    wait_until(&crew, 0);
    return crew.done && !squatted;
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
    crew_t crew = {.done = true};
    restore_as(request, info.st_uid, &crew);
    wait_until(&crew, 0);
    return crew.done;
}
