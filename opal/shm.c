/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Names of shared memory and their locks.
 */
#include "config.h"

#include "pwr/shm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = "/dev/shm";

/* Whether the name in the directory is a file of ours, and if fd >= 0 that one. */
static bool is_ours(int directory, const char *name, int fd)
{
    struct stat named, opened;
    return fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(named.st_mode) &&
           named.st_uid == geteuid() &&
           (fd < 0 || (fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
                       named.st_ino == opened.st_ino));
}

/* The lock is held while the name is removed, so that it cannot come to mean another's. */
static void remove_if_dead(int directory, const char *name)
{
    if (!is_ours(directory, name, -1)) {
        return;
    }
    int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_ours(directory, name, fd)) {
        (void)unlinkat(directory, name, 0);
    }
    close(fd);
}

/* Whoever sweeps between the opening and the lock has removed the name: once more then. */
static pwr_status_t create_and_lock(int directory, const char *name, int *fd)
{
    enum { ATTEMPTS = 20 };
    for (int i = 0; i < ATTEMPTS; i++) {
        int made =
            openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (made < 0 && errno != EEXIST) {
            return pwr_status_from_errno(errno);
        }
        if (made < 0) {
            remove_if_dead(directory, name);
            continue;
        }
        bool locked = flock(made, LOCK_SH | LOCK_NB) == 0;
        int cause = errno;
        if (locked && is_ours(directory, name, made)) {
            *fd = made;
            return PWR_OK;
        }
        if (!locked && cause != EWOULDBLOCK) {
            (void)unlinkat(directory, name, 0);
            close(made);
            return pwr_status_from_errno(cause);
        }
        close(made);
    }
    return pwr_status_from_errno(EEXIST);
}

pwr_status_t pwr_shm_create(const char *name, int *fd)
{
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return pwr_status_from_errno(errno);
    }
    pwr_status_t status = create_and_lock(directory, name + (name[0] == '/'), fd);
    close(directory);
    return status;
}

void pwr_shm_remove(const char *name, int fd)
{
    shm_unlink(name);
    close(fd);
}

void pwr_shm_sweep(const pwr_env_t *env)
{
    char path[PATH_MAX];
    char prefix[64];
    int length = snprintf(prefix, sizeof prefix, "poweraware.%lu.", (unsigned long)geteuid());
    DIR *directory = pwr_env_path(env, folder, path, sizeof path) == PWR_OK ? opendir(path) : NULL;
    if (!directory) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (strncmp(entry->d_name, prefix, (size_t)length) == 0) {
            remove_if_dead(dirfd(directory), entry->d_name);
        }
    }
    closedir(directory);
}
