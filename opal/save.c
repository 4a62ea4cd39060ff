/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Replacing a file.
 */
#include "config.h"

#include "pwr/save.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *speaker; /* the command */

static bool complain(const char *file, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", speaker, file, what);
    return false;
}

/* Where a symbolic link leads: the link stays, what it names is replaced. */
static bool resolve(const char *file, char target[PATH_MAX])
{
    struct stat info;
    if (stat(file, &info) != 0) {
        if (errno != ENOENT || strlen(file) >= PATH_MAX) {
            return complain(file, strerror(errno != ENOENT ? errno : ENAMETOOLONG));
        }
        if (lstat(file, &info) == 0) {
            return complain(file, "a symbolic link that leads nowhere");
        }
        memcpy(target, file, strlen(file) + 1);
        return true;
    }
    if (!S_ISREG(info.st_mode)) {
        return complain(file, "not a regular file");
    }
    return realpath(file, target) != NULL || complain(file, strerror(errno));
}

static bool make_parents(const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST) {
            return complain(path, strerror(errno));
        }
        *slash = '/';
    }
    return true;
}

bool pwr_save_check(const char *command, const char *file)
{
    char target[PATH_MAX];
    char folder[PATH_MAX];
    speaker = command;
    if (!resolve(file, target) || !make_parents(target)) {
        return false;
    }
    snprintf(folder, sizeof folder, "%s", target);
    const char *parent = dirname(folder);
    return access(parent, W_OK | X_OK) == 0 || complain(parent, strerror(errno));
}

/* Readable to all: it is no secret, and a site's file is for everybody. */
static bool write_all(int fd, const char *text)
{
    return dprintf(fd, "%s", text) >= 0 && fchmod(fd, 0644) == 0 && fsync(fd) == 0;
}

static bool replace(const char *target, const char *text)
{
    char temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", target);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return complain(target, strerror(errno));
    }
    bool written = write_all(fd, text);
    int cause = errno;
    if (close(fd) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written && rename(temporary, target) != 0) {
        written = false;
        cause = errno;
    }
    if (!written) {
        unlink(temporary);
        return complain(target, strerror(cause));
    }
    return true;
}

bool pwr_save(const char *command, const char *file, const char *text)
{
    char target[PATH_MAX];
    sigset_t stops, before;
    speaker = command;
    if (!resolve(file, target) || !make_parents(target)) {
        return false;
    }
    /* Ctrl-C in between would leave the temporary file, and so would a limit of file sizes. */
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGHUP);
    sigaddset(&stops, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &stops, &before);
    bool saved = replace(target, text);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return saved;
}
