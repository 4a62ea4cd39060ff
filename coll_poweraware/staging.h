/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls with buffers in the memory of a GPU: the data go through memory of the CPU.
 *
 * Each rank decides for itself, since only it knows what its buffers are.  So the algorithm is that
 * of all ranks, and stays the same.  Where Open MPI's own functions know such memory, only our
 * algorithms need this.  Only what the datatypes name is copied back: what is in gaps may change
 * meanwhile.
 */
#ifndef COLL_POWERAWARE_STAGING_H
#define COLL_POWERAWARE_STAGING_H

#include "algorithms/algorithms.h"
#include "module.h"
#include "pwr_ompi/device_memory.h"

typedef struct coll_poweraware_staged {
    char *device; /* what the caller passed; NULL: this side is memory of the CPU */
    char *memory; /* stands for [low, high), seen from device */
    ptrdiff_t low, high;
} coll_poweraware_staged_t;

typedef struct coll_poweraware_staging {
    struct ompi_communicator_t *comm;
    coll_poweraware_collective_t collective;
    coll_poweraware_args_t args; /* as they came */
    coll_poweraware_staged_t send, receive;
    bool cannot; /* no memory: the call must not be made */
    int rc;      /* of the copies */
} coll_poweraware_staging_t;

/* Before a call runs algorithm (NULL: the stock function).  Returns whether args have other buffers
   now: then unstage has to follow.  For calls with pwr_device_memory_may_be. */
bool coll_poweraware_stage(coll_poweraware_staging_t *staging, mca_coll_poweraware_module_t *module,
                           coll_poweraware_collective_t collective,
                           const coll_poweraware_algorithm_t *algorithm,
                           coll_poweraware_args_t *args);

/* After it, which returned rc.  Returns rc, or an error of the copies. */
int coll_poweraware_unstage(coll_poweraware_staging_t *staging, int rc);

#endif
