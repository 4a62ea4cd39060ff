/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Claims on CPUs as open-file-description locks: byte N of one file stands for CPU N.
 */
#include "config.h"

#include "pwr/claim.h"

#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char registry[] = "cpus";

enum { WHY_BYTES = 512 };

struct pwr_claim {
    int fd;
    unsigned num_reached;
    unsigned reached[]; /* own CPUs and their SMT siblings */
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
    pwr_status_t status = open_registry(env, directory, &made->fd);
    if (status != PWR_OK) {
        goto free_claim;
    }
    status = lock_own_cpus(made->fd, topo);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot lock the registry of claimed CPUs: %s",
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
