/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall, Alltoallv and Alltoallw of a communicator on one node.
 *
 * 1. What local.h does within each node is all there is to do.
 * There is no phase in which part of the ranks could rest, so nobody is throttled; who waits gives
 * the CPU back.
 */
#include "algorithms/algorithms.h"

#include "algorithms/alltoall/local.h"

bool coll_poweraware_alltoall_node_can(const coll_poweraware_call_t *call,
                                       const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    return 1 == call->hierarchy->num_nodes &&
           (MPI_IN_PLACE != args->sbuf || coll_poweraware_swap_can(call));
}

int coll_poweraware_alltoall_node(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    coll_poweraware_exchange_t x;
    coll_poweraware_swap_t swap;
    coll_poweraware_exchange_begin(&x, call, args);
    if (!x.in_place) {
        return coll_poweraware_exchange_local(&x, NULL); /* 1 */
    }
    coll_poweraware_swap_begin(&swap, &x);
    int rc = coll_poweraware_exchange_local(&x, &swap); /* 1 */
    coll_poweraware_swap_end(&swap);
    return rc;
}
