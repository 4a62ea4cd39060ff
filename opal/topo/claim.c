/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Claims on CPUs as open-file-description locks: byte N of one file stands for CPU N.
 */
#include "config.h"

#include "pwr/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pwr_claim {
    int fd;
    unsigned num_reached;
    unsigned reached[]; /* own CPUs and their SMT siblings */
};

/* Anybody may put a file of this name into a world-writable directory; only one that we made
   ourselves may decide about our levers. */
static pwr_status_t check_ours(const pwr_env_t *env, int fd, const char *name)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return pwr_status_from_errno(errno);
    }
    if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "%s is not a regular file of ours with mode 0600: remove it or name another "
                    "directory",
                    name);
        return PWR_ERR_PERM;
    }
    return PWR_OK;
}

static pwr_status_t open_registry(const pwr_env_t *env, const char *directory, int *fd)
{
    char path[PATH_MAX];
    char name[PATH_MAX];
    int length =
        snprintf(path, sizeof path, "%s/poweraware-cpus.%lu", directory, (unsigned long)geteuid());
    if (length < 0 || (size_t)length >= sizeof path ||
        pwr_env_path(env, path, name, sizeof name) != PWR_OK) {
        return PWR_ERR_ARG;
    }
    int opened = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (opened < 0) {
        int cause = errno;
        pwr_env_log(env, PWR_LOG_WARN, "cannot open %s: %s", name, strerror(cause));
        return cause == ELOOP || cause == EISDIR ? PWR_ERR_PERM : pwr_status_from_errno(cause);
    }
    pwr_status_t status = check_ours(env, opened, name);
    if (status != PWR_OK) {
        close(opened);
        return status;
    }
    *fd = opened;
    return PWR_OK;
}

static pwr_status_t lock_own_cpus(int fd, const pwr_topo_t *topo)
{
    for (unsigned i = 0; i < pwr_topo_num_my_cpus(topo); i++) {
        struct flock lock = {.l_type = F_RDLCK,
                             .l_whence = SEEK_SET,
                             .l_start = (off_t)pwr_topo_my_cpu(topo, i),
                             .l_len = 1};
        /* Claims are read locks and never exclude each other, so this cannot block. */
        if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
            return pwr_status_from_errno(errno);
        }
    }
    return PWR_OK;
}

pwr_status_t pwr_claim_take(const pwr_env_t *env, const pwr_topo_t *topo, const char *directory,
                            pwr_claim_t **claim)
{
    unsigned count = pwr_topo_num_reached_cpus(topo);
    pwr_claim_t *made = malloc(sizeof *made + count * sizeof made->reached[0]);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->fd = -1;
    made->num_reached = count;
    for (unsigned i = 0; i < count; i++) {
        made->reached[i] = pwr_topo_reached_cpu(topo, i);
    }
    pwr_status_t status = open_registry(env, directory ? directory : "/dev/shm", &made->fd);
    if (status != PWR_OK) {
        goto free_claim;
    }
    status = lock_own_cpus(made->fd, topo);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot lock %s/poweraware-cpus.%lu: %s",
                    directory ? directory : "/dev/shm", (unsigned long)geteuid(),
                    pwr_status_text(status));
        goto close_registry;
    }
    *claim = made;
    return PWR_OK;

close_registry:
    close(made->fd);
free_claim:
    free(made);
    return status;
}

bool pwr_claim_is_exclusive(const pwr_claim_t *claim, unsigned *shared_cpu)
{
    for (unsigned i = 0; i < claim->num_reached; i++) {
        struct flock probe = {.l_type = F_WRLCK,
                              .l_whence = SEEK_SET,
                              .l_start = (off_t)claim->reached[i],
                              .l_len = 1};
        /* A kernel that cannot answer counts as "somebody else is there". */
        if (fcntl(claim->fd, F_OFD_GETLK, &probe) != 0 || probe.l_type != F_UNLCK) {
            if (shared_cpu) {
                *shared_cpu = claim->reached[i];
            }
            return false;
        }
    }
    return true;
}

void pwr_claim_release(pwr_claim_t *claim)
{
    if (claim) {
        close(claim->fd);
        free(claim);
    }
}
