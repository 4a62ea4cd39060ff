/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The part of an Alltoall that stays within a node.
 */
#ifndef COLL_POWERAWARE_ALLTOALL_LOCAL_H
#define COLL_POWERAWARE_ALLTOALL_LOCAL_H

#include "algorithms/alltoall/exchange.h"
#include "algorithms/alltoall/swap.h"

/* Exchanges all blocks among the ranks of this node, the one for itself included.  All of them call
   it.  swap: NULL unless in place.  Returns the call's first error. */
int coll_poweraware_exchange_local(const coll_poweraware_exchange_t *exchange,
                                   const coll_poweraware_swap_t *swap);

/* The same for blocks of one length that all fit a box (box.c); needs no swap in place.
   fits says so, from what all ranks know equally. */
bool coll_poweraware_exchange_box_fits(const coll_poweraware_call_t *call, size_t block_bytes);
int coll_poweraware_exchange_box(const coll_poweraware_exchange_t *exchange);

#endif
