/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduce_scatter and Reduce_scatter_block through shared memory and node leaders; the others rest
 * while leaders are on the network.
 *
 * Steps 1, 2 and 4 for each chunk are those of reduce_node.h.  A chunk has a share of every rank's
 * block, the blocks of a node side by side, so that all nodes have as much to do in every chunk.
 * 3. Leader i of a node takes part i of each node's blocks to that node's leader i, pairwise; each
 *    node ends with the sum of its own blocks.
 * 4. Every rank takes its own block.
 * On one node, unless few ranks have almost everything, a rank's slice is its own block, and the
 * sum goes straight into its buffer.
 *
 * In place, blocks of equal counts overwrite what has been contributed already.  Others are
 * gathered in a buffer as large as the rank's block first.
 *
 * Floating point: the order depends on layout, counts and parameters, so the bytes are the same in
 * every run.
 */
#include "algorithms/leader/among_leaders.h"
#include "algorithms/leader/reduce_node.h"
#include "algorithms/single_copy/single_copy.h"

#include <stdlib.h>

#include "ompi/datatype/ompi_datatype.h"

typedef struct scatter {
    const coll_poweraware_args_t *args;
    bool block;      /* Reduce_scatter_block: all counts are args->rcount */
    bool even;       /* all counts are equal */
    size_t total;    /* elements of the message */
    size_t largest;  /* of the counts */
    size_t *begin;   /* [size + 1] of each rank's block in the message */
    size_t *run_at;  /* [size + 1] see reduce_node.h */
    size_t *user;    /* [size] */
    size_t *node_at; /* [num_nodes + 1] where a node's blocks begin in the chunk */
} scatter_t;

/* A chunk takes a share of each block, at most one element more than its part; and a leader's part
   of a node's blocks must fit twice where it is received. */
static size_t least_elements(const pwr_hierarchy_t *h)
{
    return (size_t)h->size + 5 * (size_t)h->max_local + 4;
}

bool coll_poweraware_reduce_scatter_leader_can(const coll_poweraware_call_t *call,
                                               const coll_poweraware_args_t *args, size_t bytes)
{
    (void)bytes;
    return coll_poweraware_reduction_can(call, args, least_elements(call->hierarchy));
}

/* ---- cutting ---- */

static size_t count_of(const scatter_t *s, int rank)
{
    return s->begin[rank + 1] - s->begin[rank];
}

static void find_blocks(scatter_t *s, const pwr_hierarchy_t *h)
{
    s->even = true;
    s->begin[0] = 0;
    for (int rank = 0; rank < h->size; ++rank) {
        size_t count = s->block ? s->args->rcount : pwr_ompi_count(s->args->rcounts, rank);
        s->begin[rank + 1] = s->begin[rank] + count;
        s->even = s->even && count_of(s, 0) == count;
        s->largest = count > s->largest ? count : s->largest;
    }
    s->total = s->begin[h->size];
}

static size_t divide_up(size_t count, size_t by)
{
    return (count + by - 1) / by;
}

static size_t elements_of_node(const scatter_t *s, const pwr_hierarchy_t *h, int node)
{
    size_t elements = 0;
    for (int k = h->node_start[node]; k < h->node_start[node + 1]; ++k) {
        elements += count_of(s, h->by_node[k]);
    }
    return elements;
}

/* So many that a leader has room for what it receives of each: its part of its node's blocks. */
static size_t chunks_for_network(const coll_poweraware_reduction_t *r, const scatter_t *s)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    size_t leaders = (size_t)r->num_leaders;
    size_t rooms = (size_t)coll_poweraware_pairwise_rooms(h);
    size_t most = (r->room - leaders) / rooms - leaders;
    size_t num = 1;
    for (int node = 0; node < h->num_nodes; ++node) {
        size_t elements = elements_of_node(s, h, node);
        size_t needed = elements <= most ? 1 : divide_up(elements, most - (size_t)h->max_local);
        num = needed > num ? needed : num;
    }
    return num;
}

static size_t count_chunks(const coll_poweraware_reduction_t *r, const scatter_t *s)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    size_t num = s->total <= r->capacity ? 1 : divide_up(s->total, r->capacity - (size_t)h->size);
    size_t needed = h->num_nodes > 1 ? chunks_for_network(r, s) : 1;
    num = needed > num ? needed : num;
    return num < s->largest ? num : s->largest; /* none is empty */
}

/* The share of a rank's block that a chunk has. */
static coll_poweraware_range_t share_of(const coll_poweraware_reduction_t *r, const scatter_t *s,
                                        size_t number, int rank)
{
    coll_poweraware_range_t all = {0, count_of(s, rank)};
    return coll_poweraware_part(all, number, r->num_chunks);
}

/* Neighbours in the chunk that are neighbours in the message are one run. */
static void add_run(coll_poweraware_reduction_t *r, scatter_t *s, size_t at, size_t user)
{
    size_t k = r->num_runs;
    if (k > 0 && s->user[k - 1] + (at - s->run_at[k - 1]) == user) {
        return;
    }
    s->run_at[k] = at;
    s->user[k] = user;
    r->num_runs = k + 1;
}

static void cut(coll_poweraware_reduction_t *r, coll_poweraware_reduce_chunk_t *chunk)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    scatter_t *s = r->collective;
    size_t at = 0;
    r->num_runs = 0;
    for (int k = 0; k < h->size; ++k) {
        int rank = h->by_node[k];
        coll_poweraware_range_t share = share_of(r, s, chunk->number, rank);
        if (k == h->node_start[h->node_of[rank]]) {
            s->node_at[h->node_of[rank]] = at;
        }
        if (share.from < share.to) {
            add_run(r, s, at, s->begin[rank] + share.from);
        }
        if (rank == h->my_rank) {
            chunk->take_from = at;
            chunk->take_count = share.to - share.from;
            chunk->take_to = share.from;
        }
        at += share.to - share.from;
    }
    s->run_at[r->num_runs] = at;
    s->node_at[h->num_nodes] = at;
    r->run_at = s->run_at;
    r->run_user = s->user;
    chunk->count = at;
    coll_poweraware_reduction_cut_slices(r, chunk);
    if (!r->shares_sum) {
        chunk->from = chunk->take_from;
        chunk->to = chunk->take_from + chunk->take_count;
    }
}

/* ---- 3. ---- */

/* My part of what a node has. */
static coll_poweraware_range_t blocks_of(const void *arg, int node)
{
    const coll_poweraware_reduction_t *r = arg;
    const scatter_t *s = r->collective; /* node_at is the current chunk's */
    coll_poweraware_range_t all = {s->node_at[node], s->node_at[node + 1]};
    return coll_poweraware_part(all, (size_t)r->my_part, (size_t)r->num_leaders);
}

static void network(coll_poweraware_reduction_t *r, const coll_poweraware_reduce_chunk_t *chunk)
{
    coll_poweraware_range_t area = {0, r->room};
    coll_poweraware_range_t room =
        coll_poweraware_part(area, (size_t)r->my_part, (size_t)r->num_leaders);
    const coll_poweraware_pairwise_t pairwise = {
        .leaders = &r->leaders,
        .range_of = blocks_of,
        .arg = r,
        .sum = coll_poweraware_reduction_sum(r, chunk, 0),
        .room = coll_poweraware_reduction_room(r, chunk, room.from),
        .room_count = room.to - room.from,
    };
    coll_poweraware_pairwise_scatter(&pairwise);
}

/* ---- in place ---- */

typedef struct aside {
    char *memory;
    char *user; /* rbuf of the application */
} aside_t;

/* A rank without memory goes on counting itself, and takes nothing. */
static void put_aside(aside_t *aside, coll_poweraware_reduction_t *r, size_t count)
{
    ptrdiff_t gap;
    size_t span = (size_t)opal_datatype_span(&r->operands.datatype->super, count, &gap);
    aside->user = r->operands.rbuf;
    aside->memory = malloc(span > 0 ? span : 1);
    if (NULL == aside->memory) {
        r->error = OMPI_ERR_OUT_OF_RESOURCE;
        return;
    }
    r->operands.rbuf = aside->memory - gap;
}

static int bring_back(aside_t *aside, const coll_poweraware_reduction_t *r, size_t count, int rc)
{
    if (NULL != aside->memory) {
        int rc_copy =
            coll_poweraware_copy_operands(&r->operands, aside->user, r->operands.rbuf, count);
        rc = coll_poweraware_first_error(rc, rc_copy);
    }
    free(aside->memory);
    return rc;
}

/* ---- all of it ---- */

/* On one node, whether the rank with the largest block would work longer on it, num_local - 1
   operands, than all would on equal slices, with copying the sum. */
static bool lopsided(const scatter_t *s, const pwr_hierarchy_t *h)
{
    return h->num_local > 2 && s->largest > s->total / (size_t)(h->num_local - 2);
}

int coll_poweraware_reduce_scatter_leader(coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t ranks = (size_t)h->size + 1;
    scatter_t s = {
        .args = args,
        .block = COLL_POWERAWARE_REDUCE_SCATTER_BLOCK == call->collective,
        .begin = call->numbers,
        .run_at = call->numbers + ranks,
        .user = call->numbers + 2 * ranks,
        .node_at = call->numbers + 3 * ranks,
    };
    coll_poweraware_reduction_t r;
    find_blocks(&s, h);
    const coll_poweraware_reduce_copy_t message = {
        .args = args, .count = s.total, .to = COLL_POWERAWARE_TO_EACH, .begin = s.begin};
    int rc;
    if (coll_poweraware_reduce_single_copy(call, &message, &rc)) {
        return rc;
    }
    size_t least = least_elements(h);
    coll_poweraware_reduction_begin(&r, call, args, s.total, least);
    r.capacity = r.capacity < least ? least : r.capacity;
    r.num_chunks = count_chunks(&r, &s);
    r.shares_sum = h->num_nodes > 1 || lopsided(&s, h);
    r.awaits_sum = r.shares_sum;
    r.direct = !r.shares_sum && !r.operands.in_place;
    r.cut = cut;
    r.network = network;
    r.collective = &s;
    if (!r.operands.in_place || s.even || r.num_chunks <= 1) {
        return coll_poweraware_reduction_run(&r);
    }
    aside_t aside;
    size_t mine = count_of(&s, h->my_rank);
    put_aside(&aside, &r, mine);
    return bring_back(&aside, &r, mine, coll_poweraware_reduction_run(&r));
}
