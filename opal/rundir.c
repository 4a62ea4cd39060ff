/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The run-time directory; the numbers are those of rundir.h.
 */
#include "config.h"

#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_TO_OTHERS = 077 };

struct pwr_rundir {
    int fd;
    char name[PATH_MAX];
};

/* A slash at the end would make open follow a link in the last component. */
static void strip_slashes(char *name)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') {
        name[--length] = '\0';
    }
}

static pwr_status_t full_name(const pwr_env_t *env, const char *directory, char name[PATH_MAX])
{
    char own[64];
    if (!directory) {
        snprintf(own, sizeof own, "/dev/shm/poweraware.%lu", (unsigned long)geteuid());
        directory = own;
    }
    pwr_status_t status = pwr_env_path(env, directory, name, PATH_MAX);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "the run-time directory \"%s\" is not an absolute path or is too long",
                    directory);
        return status;
    }
    strip_slashes(name);
    return PWR_OK;
}

/* 1. */
static pwr_status_t check_directory(const pwr_env_t *env, int fd, const char *name)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return pwr_status_from_errno(errno);
    }
    if (info.st_uid != geteuid() || (info.st_mode & OPEN_TO_OTHERS) != 0) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "%s belongs to user %lu and has mode %03o, but must be a directory of user %lu "
                    "with mode 700: remove it or name another run-time directory",
                    name, (unsigned long)info.st_uid, (unsigned)(info.st_mode & 0777),
                    (unsigned long)geteuid());
        return PWR_ERR_PERM;
    }
    return PWR_OK;
}

static pwr_status_t open_directory(const pwr_env_t *env, const char *name, pwr_rundir_mode_t mode,
                                   int *fd)
{
    if (mode == PWR_RUNDIR_CREATE && mkdir(name, 0700) != 0 && errno != EEXIST) {
        int cause = errno;
        pwr_env_log(env, PWR_LOG_WARN, "cannot make the run-time directory %s: %s", name,
                    strerror(cause));
        return pwr_status_from_errno(cause);
    }
    int opened = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        int cause = errno;
        if (cause == ENOENT && mode == PWR_RUNDIR_EXISTING) {
            return PWR_ERR_UNSUPPORTED;
        }
        bool other_thing = cause == ENOTDIR || cause == ELOOP;
        pwr_env_log(env, PWR_LOG_WARN, "cannot use the run-time directory %s: %s%s", name,
                    strerror(cause),
                    other_thing ? " (remove what is there or name another one)" : "");
        return other_thing ? PWR_ERR_PERM : pwr_status_from_errno(cause);
    }
    return pwr_env_opened(check_directory(env, opened, name), opened, fd);
}

pwr_status_t pwr_rundir_open(const pwr_env_t *env, const char *directory, pwr_rundir_mode_t mode,
                             pwr_rundir_t **rundir)
{
    pwr_rundir_t *made = malloc(sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    pwr_status_t status = full_name(env, directory, made->name);
    if (status == PWR_OK) {
        status = open_directory(env, made->name, mode, &made->fd);
    }
    if (status != PWR_OK) {
        free(made);
        return status;
    }
    *rundir = made;
    return PWR_OK;
}

void pwr_rundir_close(pwr_rundir_t *rundir)
{
    if (rundir) {
        close(rundir->fd);
        free(rundir);
    }
}

const char *pwr_rundir_name(const pwr_rundir_t *rundir)
{
    return rundir->name;
}

int pwr_rundir_fd(const pwr_rundir_t *rundir)
{
    return rundir->fd;
}

/* 2. */
static const char *what_is_wrong(const struct stat *info)
{
    if (!S_ISREG(info->st_mode)) {
        return "is not a regular file";
    }
    if (info->st_uid != geteuid()) {
        return "belongs to another user";
    }
    if ((info->st_mode & OPEN_TO_OTHERS) != 0) {
        return "is open to others (its mode must be 600)";
    }
    return info->st_nlink > 1 ? "has another name (a hard link)" : NULL;
}

static pwr_status_t check_file(int fd, const char *name, char *why, unsigned why_size)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        snprintf(why, why_size, "%s: %s", name, strerror(errno));
        return PWR_ERR_IO;
    }
    const char *wrong = what_is_wrong(&info);
    if (wrong) {
        snprintf(why, why_size, "%s %s: remove it", name, wrong);
        return PWR_ERR_PERM;
    }
    return PWR_OK;
}

pwr_status_t pwr_rundir_open_file(const pwr_rundir_t *rundir, const char *name, int flags,
                                  char *why, unsigned why_size, int *fd)
{
    char full[2 * PATH_MAX];
    snprintf(full, sizeof full, "%s/%s", rundir->name, name);
    if (name[0] == '\0' || strchr(name, '/')) {
        snprintf(why, why_size, "%s: not the name of a file", full);
        return PWR_ERR_ARG;
    }
    int opened =
        openat(rundir->fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (opened < 0) {
        int cause = errno;
        snprintf(why, why_size, "%s: %s", full, strerror(cause));
        if (cause == EEXIST) {
            return PWR_ERR_SHARED;
        }
        bool other_thing = cause == ELOOP || cause == EISDIR || cause == ENXIO;
        return other_thing ? PWR_ERR_PERM : pwr_status_from_errno(cause);
    }
    return pwr_env_opened(check_file(opened, full, why, why_size), opened, fd);
}

bool pwr_rundir_has(const pwr_rundir_t *rundir, const char *name, int fd)
{
    struct stat by_name, by_fd;
    return fstatat(rundir->fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
           by_name.st_ino == by_fd.st_ino;
}

pwr_status_t pwr_rundir_remove(const pwr_rundir_t *rundir, const char *name, int fd)
{
    if (!pwr_rundir_has(rundir, name, fd)) {
        return PWR_OK;
    }
    return unlinkat(rundir->fd, name, 0) == 0 || errno == ENOENT ? PWR_OK
                                                                 : pwr_status_from_errno(errno);
}
