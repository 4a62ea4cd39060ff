/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The exchange of ISx (Hanebutte and Hemstad, 2015).  For each PE, beginning with the next one:
 *
 *   1. Reserve a place among its received keys: a fetching atomic add.
 *   2. Put the keys there.
 *
 * stock does it by OpenSHMEM, its own keys first by memcpy. shnode-mixed puts by shnode_putmem, which
 * is a copy within the node.  shnode has transfers within the node apart, as Rahman et al. do:
 *
 *   1. To PEs of other nodes, as above, without waiting for the puts.
 *   2. To PEs of this node, the own one last: reserve by the CPU's atomic operation, then memcpy.
 *   3. All complete their puts and meet.
 */
#include "config.h"

#include "exchange.h"

#include "../../oshmem/shnode/shnode.h"

#include <shmem.h>
#include <string.h>

static size_t keys_for(const isx_job_t *job, int pe)
{
    return job->starts[pe + 1] - job->starts[pe];
}

static const uint32_t *source_for(const isx_job_t *job, int pe)
{
    return job->bucketed + job->starts[pe];
}

/* Where PE pe takes so many keys, as an address of the own memory; NULL: it has no room.  Then keys
   are missing, and the check says so. */
static uint32_t *reserve(const isx_job_t *job, int pe, size_t keys)
{
    size_t at = (size_t)shmem_long_atomic_fetch_add(&job->inbox->low, (long)keys, pe);
    return at + keys <= job->capacity ? job->received + at : NULL;
}

typedef void put_function(void *dest, const void *source, size_t bytes, int pe);

static void send(const isx_job_t *job, int pe, put_function *put)
{
    size_t keys = keys_for(job, pe);
    uint32_t *dest = keys > 0 ? reserve(job, pe, keys) : NULL;
    if (dest != NULL) {
        put(dest, source_for(job, pe), keys * sizeof *dest, pe);
    }
}

static void copy(void *dest, const void *source, size_t bytes, int pe)
{
    (void)pe;
    memcpy(dest, source, bytes);
}

static void in_order(const isx_job_t *job, put_function *put)
{
    send(job, job->me, copy);
    for (int i = 1; i < job->pes; i++) {
        send(job, (job->me + i) % job->pes, put);
    }
}

static void stock(const isx_job_t *job)
{
    in_order(job, shmem_putmem);
}

static void mixed(const isx_job_t *job)
{
    in_order(job, shnode_putmem);
}

static void copy_within_node(const isx_job_t *job, int pe)
{
    size_t keys = keys_for(job, pe);
    isx_inbox_t *inbox = shnode_get_member_remote_addr(pe, job->inbox);
    uint32_t *received = shnode_get_member_remote_addr(pe, job->received);
    /* the barrier that follows orders the keys, the number itself needs no order */
    size_t taken =
        keys + (size_t)atomic_fetch_add_explicit(&inbox->high, (long)keys, memory_order_relaxed);
    if (taken <= job->capacity) {
        memcpy(received + job->capacity - taken, source_for(job, pe), keys * sizeof *received);
    }
}

static void apart(const isx_job_t *job)
{
    for (int i = 1; i < job->pes; i++) { /* 1. */
        int pe = (job->me + i) % job->pes;
        if (!shnode_is_team_member(pe)) {
            send(job, pe, shmem_putmem_nbi);
        }
    }
    for (int i = 1; i <= job->pes; i++) { /* 2. */
        int pe = (job->me + i) % job->pes;
        if (shnode_is_team_member(pe)) {
            copy_within_node(job, pe);
        }
    }
}

static void meet_by_shnode(void)
{
    shnode_barrier_all(); /* 3. */
}

const isx_way_t isx_ways[ISX_WAYS] = {
    {"stock", stock, shmem_barrier_all},
    {"shnode-mixed", mixed, meet_by_shnode},
    {"shnode", apart, meet_by_shnode},
};
