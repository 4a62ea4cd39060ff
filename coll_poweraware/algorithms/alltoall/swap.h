/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An Alltoall in place, pair by pair: two ranks swap two blocks where they lie.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_SWAP_H
#define COLL_POWERAWARE_ALLTOALL_SWAP_H

#include "algorithms/alltoall/exchange.h"

enum { COLL_POWERAWARE_SWAP_BUFFERS = 3 };

/* Temporary memory of a rank for one call. */
typedef struct coll_poweraware_swap {
    coll_poweraware_exchange_t *x;
    size_t bytes; /* of a buffer: the same on all ranks */
    unsigned char *buffer[COLL_POWERAWARE_SWAP_BUFFERS];
    coll_poweraware_claim_t claim[COLL_POWERAWARE_SWAP_BUFFERS];
} coll_poweraware_swap_t;

/* Whether there is enough memory for it; the same on all ranks. */
bool coll_poweraware_swap_can(const coll_poweraware_call_t *call);

/* Begin and end are for all ranks of the node. */
void coll_poweraware_swap_begin(coll_poweraware_swap_t *swap, coll_poweraware_exchange_t *exchange);
void coll_poweraware_swap_end(const coll_poweraware_swap_t *swap);

/* Exchanges the blocks of this rank and peer through messages; both call it, in an order in which
   nobody waits in a circle, as the meetings of schedule.h are.  Returns the call's first
   error. */
int coll_poweraware_swap(const coll_poweraware_swap_t *swap, int peer);

#endif
