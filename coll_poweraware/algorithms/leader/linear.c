/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gather and Scatter over few ranks: one message between the root and every other rank.  Whoever
 * has sent a short one goes on: nobody waits but the root, or, in a Scatter, who is to receive.
 *
 * 1. The root posts its messages, in rank order from the next one on, as many at once as a call may
 *    have; the others post theirs.
 * 2. The root copies its own block meanwhile.
 */
#include "algorithms/algorithms.h"

#include "algorithms/blocks.h"

static int run_at_root(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                       bool gathers)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    coll_poweraware_blocks_t blocks = coll_poweraware_all_blocks(call, args);
    int room = coll_poweraware_max_requests(h);
    for (int d = 1; d < h->size; ++d) { /* 1 */
        int rank = (h->my_rank + d) % h->size;
        coll_poweraware_block_t b = coll_poweraware_block_of(&blocks, rank);
        coll_poweraware_post(call, !gathers, b.data, b.count, b.datatype, rank);
        if (0 == d % room) {
            coll_poweraware_complete(call, OMPI_SUCCESS); /* an error stays with the call */
        }
    }
    return coll_poweraware_complete(call, coll_poweraware_copy_own(call, args)); /* 2 */
}

int coll_poweraware_linear(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    bool gathers = COLL_POWERAWARE_GATHER == call->collective;
    if (call->hierarchy->my_rank == args->root) {
        return run_at_root(call, args, gathers);
    }
    coll_poweraware_block_t own = coll_poweraware_own_block(call, args);
    coll_poweraware_post(call, gathers, own.data, own.count, own.datatype, args->root);
    return coll_poweraware_complete(call, OMPI_SUCCESS);
}
