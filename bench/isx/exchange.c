/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The exchange of ISx (Hanebutte and Hemstad, 2015).  For each PE, beginning with the next one:
 *
 *   1. Reserve a place among its received keys: a fetching atomic add.
 *   2. Put the keys there.
 *
 * stock does it by OpenSHMEM, its own keys first by memcpy.  shnode-mixed puts by shnode_putmem,
 * which is a copy within the node.  shnode has transfers within the node apart (Rahman et al.):
 *
 *   1. To PEs of other nodes, as above, without waiting for the puts.
 *   2. To PEs of this node, the own one last: reserve by the CPU's atomic operation, then memcpy.
 *   3. All complete their puts and meet.
 *
 * shnode-direct goes on from there:
 *
 *   1. All PEs learn how many keys each has for each (fcollect): that is all places, in one round.
 *   2. Keys for PEs of this node are put into buckets where these PEs want them, and nowhere else.
 *   3. To PEs of other nodes, without waiting for the puts.  All complete them and meet.
 */
#include "config.h"

#include "exchange.h"

#include "../../oshmem/shnode/shnode.h"

#include <shmem.h>
#include <stdbool.h>
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

/* 3.  Between nodes the barrier of OpenSHMEM takes half as long (README.md). */
static void meet_by_shnode(void)
{
    bool is_one_node = true;
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        is_one_node &= shnode_is_team_member(pe) == 1;
    }
    if (is_one_node) {
        shnode_barrier_all();
    } else {
        atomic_thread_fence(memory_order_seq_cst); /* the copies within the node */
        shmem_barrier_all();
    }
}

/* Where this PE's keys go, and how many keys it gets; from the lower PEs' counts. */
static void read_table(isx_job_t *job)
{
    size_t pes = (size_t)job->pes;
    memset(job->places, 0, pes * sizeof *job->places);
    for (int from = 0; from < job->pes; from++) {
        const long *row = job->table + (size_t)from * pes;
        for (int pe = 0; pe < job->pes && from < job->me; pe++) {
            job->places[pe] += (size_t)row[pe];
        }
        job->inbox->low += row[job->me];
    }
}

static bool fits(const isx_job_t *job, int pe)
{
    return job->places[pe] + keys_for(job, pe) <= job->capacity;
}

static void plan_places(isx_job_t *job)
{
    for (int pe = 0; pe < job->pes; pe++) {
        job->counts[pe] = (long)keys_for(job, pe);
    }
    shnode_fcollect64(job->table, job->counts, (size_t)job->pes); /* 1. */
    read_table(job);
    for (int pe = 0; pe < job->pes; pe++) {
        uint32_t *received = shnode_get_member_remote_addr(pe, job->received);
        if (received != NULL && fits(job, pe)) {
            job->next[pe] = received + job->places[pe]; /* 2. */
        }
    }
}

static void direct(const isx_job_t *job)
{
    for (int i = 1; i < job->pes; i++) { /* 3. */
        int pe = (job->me + i) % job->pes;
        if (!shnode_is_team_member(pe) && fits(job, pe)) {
            shmem_putmem_nbi(job->received + job->places[pe], source_for(job, pe),
                             keys_for(job, pe) * sizeof *job->received, pe);
        }
    }
}

const isx_way_t isx_ways[ISX_WAYS] = {
    {"stock", NULL, stock, shmem_barrier_all},
    {"shnode-mixed", NULL, mixed, meet_by_shnode},
    {"shnode", NULL, apart, meet_by_shnode},
    {"shnode-direct", plan_places, direct, meet_by_shnode},
};
