/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Claims on CPUs as open-file-description locks: byte N of one file stands for CPU N.
 */
#include "config.h"

#include "pwr/claim.h"

#include "rundir.h"
#include "topo/topo_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char registry[] = "cpus";

enum { WHY_BYTES = 512 };

struct pwr_claim {
    int fd;
    pwr_cpuset_t reached; /* own CPUs and their SMT siblings */
};

static pwr_status_t open_registry(const pwr_env_t *env, const char *directory, int *fd)
{
    char why[WHY_BYTES];
    pwr_rundir_t *rundir;
    pwr_status_t status = pwr_rundir_open(env, directory, PWR_RUNDIR_CREATE, &rundir);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_rundir_open_file(rundir, registry, O_RDWR | O_CREAT, why, sizeof why, fd);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot use the registry of claimed CPUs: %s", why);
    }
    pwr_rundir_close(rundir);
    return status;
}

/* The lock of one CPU. */
static struct flock lock_of(int cpu, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = cpu, .l_len = 1};
}

pwr_status_t pwr_cpu_locks_take(int fd, const pwr_cpuset_t *cpus)
{
    for (int cpu = pwr_cpuset_next(cpus, -1); cpu >= 0; cpu = pwr_cpuset_next(cpus, cpu)) {
        struct flock lock = lock_of(cpu, F_RDLCK);
        if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
            return pwr_status_from_errno(errno);
        }
    }
    return PWR_OK;
}

int pwr_cpu_locks_first(int fd, const pwr_cpuset_t *cpus, bool locked)
{
    for (int cpu = pwr_cpuset_next(cpus, -1); cpu >= 0; cpu = pwr_cpuset_next(cpus, cpu)) {
        struct flock probe = lock_of(cpu, F_WRLCK);
        if (fcntl(fd, F_OFD_GETLK, &probe) != 0 || (probe.l_type != F_UNLCK) == locked) {
            return cpu;
        }
    }
    return -1;
}

pwr_status_t pwr_claim_take(const pwr_env_t *env, const pwr_topo_t *topo, const char *directory,
                            pwr_claim_t **claim)
{
    int fd;
    pwr_claim_t *made = malloc(sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    pwr_status_t status = open_registry(env, directory, &fd);
    if (status != PWR_OK) {
        free(made);
        return status;
    }
    *made = (pwr_claim_t){.fd = fd, .reached = pwr_topo_sets(topo)->reached};
    status = pwr_cpu_locks_take(fd, &pwr_topo_sets(topo)->mine);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot lock the registry of claimed CPUs: %s",
                    pwr_status_text(status));
        pwr_claim_release(made);
        return status;
    }
    *claim = made;
    return PWR_OK;
}

bool pwr_claim_is_exclusive(const pwr_claim_t *claim, unsigned *shared_cpu)
{
    int cpu = pwr_cpu_locks_first(claim->fd, &claim->reached, true);
    if (cpu >= 0 && shared_cpu) {
        *shared_cpu = (unsigned)cpu;
    }
    return cpu < 0;
}

int pwr_claim_first_unclaimed(const pwr_rundir_t *rundir, const pwr_cpuset_t *cpus)
{
    char why[WHY_BYTES];
    int fd;
    if (pwr_rundir_open_file(rundir, registry, O_RDWR, why, sizeof why, &fd) != PWR_OK) {
        return pwr_cpuset_next(cpus, -1);
    }
    int cpu = pwr_cpu_locks_first(fd, cpus, false);
    close(fd);
    return cpu;
}

void pwr_claim_release(pwr_claim_t *claim)
{
    if (claim) {
        close(claim->fd);
        free(claim);
    }
}
