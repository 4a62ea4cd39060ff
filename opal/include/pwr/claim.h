/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whose CPU is it: every rank on a node claims its CPUs; a CPU claimed twice is nobody's.
 *
 * The registry is one small file per user and machine.  A claim is a shared open-file-description
 * lock on byte N for CPU N; "is somebody else there?" asks the kernel whether a write lock would
 * conflict.  The kernel drops the locks of a dead process, so a claim never goes stale.
 */
#ifndef PWR_CLAIM_H
#define PWR_CLAIM_H

#include <stdbool.h>

#include "pwr/env.h"
#include "pwr/topo.h"

typedef struct pwr_claim pwr_claim_t;

/* Claims all of topo's own CPUs in directory, the user's run-time directory (opal/rundir.h; NULL:
   /dev/shm/poweraware.<uid>), which is made when it is not there.  The file is `cpus`, mode 0600.
   PWR_ERR_PERM: directory or file is a symbolic link, of another kind, not ours or open to others.
   A child made by fork() shares its parent's claim. */
pwr_status_t pwr_claim_take(const pwr_env_t *env, const pwr_topo_t *topo, const char *directory,
                            pwr_claim_t **claim);

/* True when no other process of this user holds a claim on any of our CPUs or their SMT siblings
   (topo.h: reached CPUs).  One system call per CPU.  *shared_cpu (may be NULL) is set to the first
   one that is shared when false. */
bool pwr_claim_is_exclusive(const pwr_claim_t *claim, unsigned *shared_cpu);

/* NULL is allowed. */
void pwr_claim_release(pwr_claim_t *claim);

#endif
