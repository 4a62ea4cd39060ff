/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What Open MPI calls.
 */
#ifndef COLL_POWERAWARE_ENTRY_H
#define COLL_POWERAWARE_ENTRY_H

#include <stdbool.h>

#include "collectives.h"

/* Puts our functions into module: of all collectives that we have algorithms for, of others that
   block, because ranks wait in them, and of the rest if all are to be counted. */
void coll_poweraware_offer(mca_coll_base_module_t *module, bool all);

#endif
