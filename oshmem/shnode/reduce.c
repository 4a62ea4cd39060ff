/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions.
 *
 * Small (choice.c says what that is):
 *   1. Each PE puts its vector into its box, in one round.
 *   2. Each PE reads all boxes of its node, and reduces them in the order of PEs.
 *   3. With several nodes the first leader alone does 2; leaders reduce over nodes; a second round
 *      hands the result out.
 *
 * Large, one node: all begin; work (work.c) is blocks of the vector: who takes one reads it of all
 * sources, reduces it in its cache, in the order of PEs, and writes it to all targets.  Each source
 * is read once and each target written once.  A block is read before it is written, so target may
 * be source.
 *
 * Large, several nodes: chunk by chunk,
 *   1. work as above reduces the chunk into the leaders' memory, a slice for each leader;
 *   2. each leader reduces its slice over the nodes;
 *   3. after a round each PE copies all slices to its target.
 *
 * Vectors that other members cannot reach (shmem_ptr is NULL for static ones, often) go through the
 * boxes, a box at a time.
 */
#include "kernels.h"

#include <shmem.h>

enum { BLOCK = 16 * 1024, IN_CACHE = 4 * 1024 };

struct reduction {
    struct work work;
    unsigned char *target;
    const unsigned char *source;
    const ptrdiff_t *to, *from;
    size_t n, element;
    reduce_t *reduce;
    bool streams;
    int leaders; /* 0: the result goes to all targets */
    unsigned char *chunk;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- small ---- */

static void reduce_boxes(const struct reduction *r, void *to)
{
    const void *left = shnode_contribution(0);
    for (int i = 1; i < T.size; i++) {
        r->reduce(to, left, shnode_contribution(i), r->n);
        left = to;
    }
    if (T.size == 1) {
        memcpy(to, left, r->n * r->element);
    }
}

static void reduce_boxes_of_nodes(const struct reduction *r)
{
    _Alignas(LINE) unsigned char sum[BOX];
    size_t bytes = r->n * r->element;
    if (T.rank == 0) {
        reduce_boxes(r, sum);
    }
    shnode_reduce_nodes(sum, r->n, r->element, r->reduce, T.rank == 0 ? 0 : -1, 1); /* 3. */
    unsigned char *box = shnode_begin_round(T.rank == 0 ? bytes : 0);
    if (T.rank == 0) {
        memcpy(box, sum, bytes);
    }
    shnode_publish(true);
    shnode_wait_for(0);
    memcpy(r->target, shnode_contribution(0), bytes);
}

static void reduce_small(const struct reduction *r)
{
    size_t bytes = r->n * r->element;
    memcpy(shnode_begin_round(bytes), r->source, bytes); /* 1. */
    shnode_publish(true);
    shnode_wait_for_all();
    if (T.nodes > 1) {
        reduce_boxes_of_nodes(r);
    } else {
        reduce_boxes(r, r->target); /* 2. */
    }
}

static void reduce_box_by_box(const struct reduction *r)
{
    size_t most = BOX / r->element;
    for (size_t at = 0; at < r->n; at += most) {
        struct reduction part = *r;
        part.n = smaller(most, r->n - at);
        part.source += at * r->element;
        part.target += at * r->element;
        reduce_small(&part);
    }
}

/* ---- large ---- */

/* n elements of all members' sources, from element first on. */
static void reduce_block(const struct reduction *r, void *to, size_t first, size_t n)
{
    _Alignas(LINE) unsigned char sum[IN_CACHE];
    const unsigned char *source = r->source + first * r->element;
    const void *left = shnode_at(r->from, source, 0);
    for (int i = 1; i < T.size; i++) {
        void *result = i == T.size - 1 ? to : sum;
        r->reduce(result, left, shnode_at(r->from, source, i), n);
        left = result;
    }
    if (T.size == 1) {
        memmove(to, left, n * r->element);
    }
}

static void reduce_to_targets(const struct reduction *r, size_t first, size_t n)
{
    _Alignas(LINE) unsigned char result[IN_CACHE];
    unsigned char *target = r->target + first * r->element, *to = r->streams ? result : target;
    reduce_block(r, to, first, n);
    for (int i = 0; i < T.size; i++) {
        if (i != T.rank || r->streams) {
            shnode_copy(shnode_at(r->to, target, i), to, n * r->element, r->streams);
        }
    }
}

static size_t first_of(const struct reduction *r, int owner)
{
    size_t whole_lines = LINE / r->element > 0 ? LINE / r->element : 1;
    size_t first = r->n * (size_t)owner / (size_t)r->work.owners;
    return owner == r->work.owners ? r->n : first / whole_lines * whole_lines;
}

/* One item: a block of an owner's slice, in parts that stay in the cache. */
static void reduce_item(const struct work *work, int owner, size_t item)
{
    const struct reduction *r = (const struct reduction *)work;
    size_t first = first_of(r, owner), end = first_of(r, owner + 1), part = IN_CACHE / r->element;
    size_t at = first + item * (BLOCK / r->element), stop = smaller(end, at + BLOCK / r->element);
    int leader = r->leaders > 0 ? owner * T.size / r->leaders : 0;
    unsigned char *slice =
        r->leaders > 0 ? shnode_at(shnode_deltas(r->chunk), r->chunk, leader) : NULL;
    for (size_t n; at < stop; at += n) {
        n = smaller(part, stop - at);
        if (slice != NULL) {
            reduce_block(r, slice + (at - first) * r->element, at, n);
        } else {
            reduce_to_targets(r, at, n);
        }
    }
    shnode_end_copies(r->streams);
}

static void set_work(struct reduction *r, int owners)
{
    r->work.owners = owners;
    r->work.item = reduce_item;
    size_t most = r->n / (size_t)owners + 1 + LINE / r->element, block = BLOCK / r->element;
    r->work.items = (most + block - 1) / block;
}

static void reduce_on_node(struct reduction *r)
{
    size_t bytes = r->n * r->element * (size_t)T.size;
    set_work(r, T.size);
    r->work.shared = shnode_shares(bytes);
    r->streams = shnode_streams(bytes);
    shnode_do_work(&r->work);
}

/* ---- several nodes ---- */

static int leader_number(int leaders)
{
    for (int i = 0; i < leaders; i++) {
        if (T.rank == i * T.size / leaders) {
            return i;
        }
    }
    return -1;
}

static void copy_slices(const struct reduction *r)
{
    const ptrdiff_t *deltas = shnode_deltas(r->chunk);
    for (int i = 0; i < r->leaders; i++) {
        size_t first = first_of(r, i), n = first_of(r, i + 1) - first;
        memcpy(r->target + first * r->element, shnode_at(deltas, r->chunk, i * T.size / r->leaders),
               n * r->element);
    }
}

static void reduce_chunk(struct reduction *r)
{
    r->chunk = T.exchange.chunks[T.exchanges % 2];
    set_work(r, r->leaders);
    r->work.shared = true;
    shnode_do_work(&r->work); /* 1. */
    int leader = leader_number(r->leaders);
    size_t n = leader < 0 ? 0 : first_of(r, leader + 1) - first_of(r, leader);
    shnode_reduce_nodes(r->chunk, n, r->element, r->reduce, leader, r->leaders); /* 2. */
    shnode_round(true);
    copy_slices(r); /* 3. */
}

static void reduce_chunks(const struct reduction *r)
{
    int leaders = shnode_leaders_for(true, r->n * r->element);
    size_t most = (size_t)leaders * (CHUNK - LINE) / r->element;
    for (size_t at = 0; at < r->n; at += most) {
        struct reduction part = *r;
        part.leaders = leaders;
        part.n = smaller(most, r->n - at);
        part.source += at * r->element;
        part.target += at * r->element;
        reduce_chunk(&part);
    }
}

static void reduce_large(struct reduction *r)
{
    bool reachable = shnode_all_reachable(r->to) && shnode_all_reachable(r->from);
    if (!shnode_agree(reachable)) {
        reduce_box_by_box(r);
    } else if (T.nodes > 1) {
        reduce_chunks(r);
    } else {
        reduce_on_node(r);
    }
}

static int reduce(void *target, const void *source, size_t n, size_t element, reduce_t *kernel)
{
    struct reduction r = {
        .target = target, .source = source, .n = n, .element = element, .reduce = kernel};
    int status = shnode_check(target, source, &r.to, &r.from);
    if (status != SHNODE_SUCCESS) {
        return status;
    }
    if (shnode_is_small(true, n * element)) {
        reduce_small(&r);
    } else {
        reduce_large(&r);
    }
    return SHNODE_SUCCESS;
}

/* ---- the functions ---- */

#define STOCK(op, name, type)                                                                      \
    static int stock_##name##_##op(type *target, const type *source, size_t n)                     \
    {                                                                                              \
        const ptrdiff_t *to, *from;                                                                \
        int status = shnode_check(target, source, &to, &from);                                     \
        for (size_t at = 0, m; status == SHNODE_SUCCESS && at < n; at += m) {                      \
            m = smaller(n - at, STOCK_WORK / sizeof(type));                                        \
            long *sync = shnode_stock_sync();                                                      \
            shmem_##name##_##op##_to_all(target + at, (type *)source + at, (int)m, 0, 0, T.pes,    \
                                         shnode_stock_work(), sync);                               \
        }                                                                                          \
        return status;                                                                             \
    }
SHNODE_REDUCTIONS_(STOCK)

#define TO_ALL(op, name, type)                                                                     \
    int shnode_##name##_##op##_to_all(type *target, const type *source, size_t nreduce)            \
    {                                                                                              \
        if (nreduce == 0) {                                                                        \
            return shnode_sync_all();                                                              \
        }                                                                                          \
        return shnode_settings.collectives                                                         \
                   ? reduce(target, source, nreduce, sizeof(type), shnode_reduce_##name##_##op)    \
                   : stock_##name##_##op(target, source, nreduce);                                 \
    }
SHNODE_REDUCTIONS_(TO_ALL)
