/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How many bytes calls have of which each rank knows its own alone (Alltoallv, Alltoallw).
 *
 * Programs make such calls of one size again and again.  So the ranks agree now and then on the
 * most that one of them moves (one Allreduce by the saved function): in the first call, again after
 * 8 calls, and then every
 *
 *   64 calls, 16 of at least 256 KiB, 4 of at least 4 MiB
 *
 * Where it has changed, they begin with 8 again.  What they agree on holds for the calls behind
 * that one.  Where sizes change faster, calls are chosen as those of another size, which costs
 * time, but is right.
 */
#ifndef COLL_POWERAWARE_BYTES_H
#define COLL_POWERAWARE_BYTES_H

#include "module.h"

/* In a call with scheme auto: whether the ranks have agreed before it.  Where they agree on others
   in it, no call repeats it.  Collective. */
bool coll_poweraware_know_bytes(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                                int collective);

/* How many of so many calls may repeat the latest one, until the ranks agree again. */
uint32_t coll_poweraware_most_of_these_bytes(const mca_coll_poweraware_module_t *module,
                                             int collective, uint32_t calls);

#endif
