/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The collectives of one set of PEs.
 *
 * The component scoll/mpi hands most collectives to the set's communicator, where coll_poweraware
 * has its algorithms.  Ours does so with those that it leaves to the slow way of scoll/basic.
 */
#ifndef SCOLL_POWERAWARE_MODULE_H
#define SCOLL_POWERAWARE_MODULE_H

#include "pwr_ompi/compat.h"

#include "oshmem_config.h"

#include "oshmem/mca/scoll/scoll.h"

/* NULL: out of memory. */
mca_scoll_base_module_t *scoll_poweraware_module_new(void);

#endif
