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

#include "algorithms/box/box.h"

#include "ompi/datatype/ompi_datatype.h"

/* More ranks would have the root handle more messages than a tree has rounds, by far. */
enum { MOST_RANKS = 64 };

bool coll_poweraware_linear_can(const coll_poweraware_call_t *call,
                                const coll_poweraware_args_t *args, size_t bytes)
{
    (void)args;
    (void)bytes;
    return call->hierarchy->size <= MOST_RANKS;
}

typedef const coll_poweraware_rank_blocks_t blocks_t;

/* 1. the root's. */
static void post_all(coll_poweraware_call_t *call, blocks_t *blocks, bool gathers)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    int room = coll_poweraware_max_requests(h);
    for (int d = 1; d < h->size; ++d) {
        int rank = (h->my_rank + d) % h->size;
        char *block = coll_poweraware_block_address(blocks, rank);
        if (gathers) {
            coll_poweraware_post_recv(call, block, blocks->count, blocks->datatype, rank);
        } else {
            coll_poweraware_post_send(call, block, blocks->count, blocks->datatype, rank);
        }
        if (0 == d % room) {
            coll_poweraware_complete(call, OMPI_SUCCESS); /* an error stays with the call */
        }
    }
}

static int gather_at_root(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    blocks_t blocks = coll_poweraware_rank_blocks(args->rbuf, args->rcount, args->rdtype);
    int rc = OMPI_SUCCESS;
    post_all(call, &blocks, true);
    if (MPI_IN_PLACE != args->sbuf) { /* 2 */
        rc = ompi_datatype_sndrcv(args->sbuf, (pwr_count_t)args->scount, args->sdtype,
                                  coll_poweraware_block_address(&blocks, args->root),
                                  (pwr_count_t)args->rcount, args->rdtype);
    }
    return coll_poweraware_complete(call, rc);
}

static int scatter_at_root(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    blocks_t blocks = coll_poweraware_rank_blocks((void *)args->sbuf, args->scount, args->sdtype);
    int rc = OMPI_SUCCESS;
    post_all(call, &blocks, false);
    if (MPI_IN_PLACE != args->rbuf) { /* 2 */
        rc = ompi_datatype_sndrcv(coll_poweraware_block_address(&blocks, args->root),
                                  (pwr_count_t)args->scount, args->sdtype, args->rbuf,
                                  (pwr_count_t)args->rcount, args->rdtype);
    }
    return coll_poweraware_complete(call, rc);
}

int coll_poweraware_gather_linear(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    if (call->hierarchy->my_rank == args->root) {
        return gather_at_root(call, args);
    }
    coll_poweraware_post_send(call, args->sbuf, args->scount, args->sdtype, args->root);
    return coll_poweraware_complete(call, OMPI_SUCCESS);
}

int coll_poweraware_scatter_linear(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    if (call->hierarchy->my_rank == args->root) {
        return scatter_at_root(call, args);
    }
    coll_poweraware_post_recv(call, args->rbuf, args->rcount, args->rdtype, args->root);
    return coll_poweraware_complete(call, OMPI_SUCCESS);
}
