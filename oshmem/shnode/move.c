/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives that move blocks: fcollect, collect, broadcast, alltoall.
 *
 * Small, one node: each PE puts its block into its box, in one round; each PE copies what it needs.
 * fcollect with several nodes: leaders gather the boxes of all nodes, and a second round lets
 * members copy them.
 *
 * Large:
 *   1. All PEs begin (shnode_agree), so targets may be written and sources read.
 *   2. With several nodes, each PE puts its block to one leader of each other node (of alltoall, to
 *      each PE there). All complete their puts and meet again.
 *   3. Work (work.c): parts of blocks are copied to the members' targets, from the sources of this
 *      node, and from the leaders' targets what came in 2.
 *
 * Where shmem_ptr is NULL for a source or target, 2 puts all blocks to all PEs, and there is no 3.
 */
#include "node.h"

#include <shmem.h>
#include <stdlib.h>

enum { PART = 64 * 1024 };

struct move {
    struct work work;
    void (*copy)(const struct move *m, int owner, int piece, size_t at, size_t most);
    unsigned char *target;
    const unsigned char *source;
    const ptrdiff_t *to, *from;
    size_t bytes;          /* of a block */
    const size_t *offsets; /* collect: where blocks begin in target, by PE; one more than PEs */
    int pieces, root, leaders;
    size_t parts; /* of the longest piece */
    bool streams;
};

static size_t offset_of(const struct move *m, int pe)
{
    return m->offsets != NULL ? m->offsets[pe] : (size_t)pe * m->bytes;
}

static void move_item(const struct work *work, int owner, size_t item)
{
    const struct move *m = (const struct move *)work;
    int piece = (int)((item / m->parts + (size_t)owner) % (size_t)m->pieces);
    m->copy(m, owner, piece, item % m->parts * PART, PART);
    shnode_end_copies(m->streams);
}

/* pieces of each member's target, of which none is longer than `longest` */
static void do_moves(struct move *m, int pieces, size_t longest)
{
    m->pieces = pieces;
    m->parts = (longest + PART - 1) / PART;
    size_t bytes = longest * (size_t)pieces;
    m->work = (struct work){T.size, (size_t)pieces * m->parts, shnode_shares(bytes), move_item};
    m->streams = shnode_streams(bytes * (size_t)T.size);
    if (m->work.items > 0) {
        shnode_do_work(&m->work);
    }
}

static void copy_part(const struct move *m, void *to, const void *from, size_t bytes, size_t at,
                      size_t most)
{
    if (at < bytes && to != from) {
        size_t n = bytes - at < most ? bytes - at : most;
        shnode_copy((char *)to + at, (const char *)from + at, n, m->streams);
    }
}

/* 1. */
static bool begin(const struct move *m)
{
    return shnode_agree(m->to != NULL && m->from != NULL && shnode_all_reachable(m->to) &&
                        shnode_all_reachable(m->from));
}

static void put_block(void *to, const void *from, size_t bytes, int pe)
{
    if (bytes > 0) {
        shmem_putmem_nbi(to, from, bytes, pe);
    }
}

static void complete(void)
{
    shnode_quiet();
    shnode_sync();
}

/* ---- fcollect and collect ---- */

static bool fcollect_is_small(size_t bytes)
{
    return shnode_is_small(false, bytes) && (T.nodes == 1 || bytes * (size_t)T.pes <= GATHERED);
}

static void fcollect_small(unsigned char *target, const void *source, size_t bytes)
{
    memcpy(shnode_begin_round(bytes), source, bytes);
    shnode_publish(true);
    shnode_wait_for_all();
    if (T.nodes == 1) {
        for (int pe = 0; pe < T.pes; pe++) {
            memcpy(target + (size_t)pe * bytes, shnode_contribution(pe), bytes);
        }
        return;
    }
    const unsigned char *blocks = shnode_gather_nodes(bytes);
    for (int i = 0; i < T.pes; i++) {
        memcpy(target + (size_t)T.ordered[i] * bytes, blocks + (size_t)i * bytes, bytes);
    }
}

/* The rank of the leader to which a PE's block comes in another node. */
static int receiver(const struct move *m, int pe)
{
    return T.rank_of[pe] % m->leaders * T.size / m->leaders;
}

static void copy_block(const struct move *m, int owner, int pe, size_t at, size_t most)
{
    size_t offset = offset_of(m, pe), bytes = offset_of(m, pe + 1) - offset;
    unsigned char *to = shnode_at(m->to, m->target + offset, owner);
    const void *from = T.node_of[pe] == T.node
                           ? shnode_at(m->from, m->source, T.rank_of[pe])
                           : shnode_at(m->to, m->target + offset, receiver(m, pe));
    copy_part(m, to, from, bytes, at, most);
}

static void put_to_nodes(const struct move *m, size_t bytes)
{
    unsigned char *to = m->target + offset_of(m, T.me);
    for (int i = 1; i < T.nodes; i++) {
        int node = (T.node + i) % T.nodes;
        put_block(to, m->source, bytes, shnode_leader(node, T.rank % m->leaders, m->leaders));
    }
}

static void put_to_all(const struct move *m, size_t bytes)
{
    for (int i = 0; i < T.pes; i++) {
        put_block(m->target + offset_of(m, T.me), m->source, bytes, (T.me + i) % T.pes);
    }
    complete();
}

static void collect_large(struct move *m, size_t bytes, size_t longest)
{
    m->copy = copy_block;
    m->leaders = shnode_leaders_for(false, bytes);
    if (!begin(m)) {
        put_to_all(m, bytes);
        return;
    }
    if (T.nodes > 1) {
        put_to_nodes(m, bytes); /* 2. */
        complete();
    }
    do_moves(m, T.pes, longest); /* 3. */
}

static int fcollect(void *target, const void *source, size_t bytes)
{
    struct move m = {.target = target, .source = source, .bytes = bytes};
    int status = shnode_check(target, source, &m.to, &m.from);
    if (status != SHNODE_SUCCESS) {
        return status;
    }
    if (fcollect_is_small(bytes)) {
        fcollect_small(target, source, bytes);
    } else {
        collect_large(&m, bytes, bytes);
    }
    return SHNODE_SUCCESS;
}

/* One round, one node: lengths, and blocks that have room beside them.  Whether all had. */
static bool collect_in_a_round(struct move *m, size_t *offsets, size_t bytes)
{
    size_t head = sizeof(uint64_t);
    bool fits = shnode_is_small(false, head + bytes), all = true;
    unsigned char *box = shnode_begin_round(fits ? head + bytes : head);
    memcpy(box, &(uint64_t){bytes}, head);
    memcpy(box + head, m->source, fits ? bytes : 0);
    shnode_publish(true);
    shnode_wait_for_all();
    for (int pe = 0; pe < T.pes; pe++) {
        uint64_t length;
        memcpy(&length, shnode_contribution(pe), head);
        offsets[pe + 1] = offsets[pe] + length;
        all &= shnode_contribution_bytes(pe) == head + length;
    }
    for (int pe = 0; all && pe < T.pes; pe++) {
        memcpy(m->target + offsets[pe], (const char *)shnode_contribution(pe) + head,
               offsets[pe + 1] - offsets[pe]);
    }
    return all;
}

static void gather_offsets(size_t *offsets, size_t bytes)
{
    uint64_t own = bytes;
    fcollect_small((unsigned char *)(offsets + 1), &own, sizeof own);
    for (int pe = 0; pe < T.pes; pe++) {
        offsets[pe + 1] += offsets[pe];
    }
}

static int collect(void *target, const void *source, size_t bytes)
{
    struct move m = {.target = target, .source = source};
    int status = shnode_check(target, bytes > 0 ? source : target, &m.to, &m.from);
    size_t *offsets = status == SHNODE_SUCCESS ? calloc((size_t)T.pes + 1, sizeof *offsets) : NULL;
    if (offsets == NULL) {
        return status != SHNODE_SUCCESS ? status : SHNODE_ERR_MEMORY;
    }
    m.offsets = offsets;
    m.from = bytes > 0 ? m.from : NULL; /* source may be anything then */
    bool done = false;
    if (T.nodes == 1) {
        done = collect_in_a_round(&m, offsets, bytes);
    } else {
        gather_offsets(offsets, bytes);
    }
    size_t longest = 0;
    for (int pe = 0; pe < T.pes; pe++) {
        size_t length = offsets[pe + 1] - offsets[pe];
        longest = length > longest ? length : longest;
    }
    if (!done) {
        collect_large(&m, bytes, longest);
    }
    free(offsets);
    return SHNODE_SUCCESS;
}

/* ---- broadcast ---- */

static void broadcast_small(const struct move *m)
{
    bool root = T.me == m->root;
    unsigned char *box = shnode_begin_round(root ? m->bytes : 0);
    memcpy(box, m->source, root ? m->bytes : 0);
    shnode_publish(true);
    if (!root) {
        shnode_wait_for(T.rank_of[m->root]);
        memcpy(m->target, shnode_contribution(T.rank_of[m->root]), m->bytes);
    }
}

static void copy_from_root(const struct move *m, int owner, int piece, size_t at, size_t most)
{
    (void)piece;
    bool here = T.node_of[m->root] == T.node;
    const void *from =
        here ? shnode_at(m->from, m->source, T.rank_of[m->root]) : shnode_at(m->to, m->target, 0);
    if (!here || T.members[owner] != m->root) {
        copy_part(m, shnode_at(m->to, m->target, owner), from, m->bytes, at, most);
    }
}

static void broadcast_large(struct move *m)
{
    m->copy = copy_from_root;
    bool reachable = begin(m);
    if (T.me == m->root && !reachable) {
        for (int i = 1; i < T.pes; i++) {
            put_block(m->target, m->source, m->bytes, (T.me + i) % T.pes);
        }
    } else if (T.me == m->root) {
        for (int i = 1; i < T.nodes; i++) {
            int node = (T.node + i) % T.nodes;
            put_block(m->target, m->source, m->bytes, shnode_leader(node, 0, 1));
        }
    }
    if (T.nodes > 1 || !reachable) {
        complete();
    }
    if (reachable) {
        do_moves(m, 1, m->bytes);
    }
}

static int broadcast(void *target, const void *source, size_t bytes, int root)
{
    struct move m = {.target = target, .source = source, .bytes = bytes, .root = root};
    int status = shnode_check(target, source, &m.to, &m.from);
    if (status == SHNODE_SUCCESS && (root < 0 || root >= T.pes)) {
        status = SHNODE_ERR_ARGUMENT;
    }
    if (status != SHNODE_SUCCESS) {
        return status;
    }
    if (T.nodes == 1 && shnode_is_small(false, bytes)) {
        broadcast_small(&m);
    } else {
        broadcast_large(&m);
    }
    return SHNODE_SUCCESS;
}

/* ---- alltoall ---- */

static void alltoall_small(const struct move *m)
{
    size_t bytes = m->bytes * (size_t)T.pes;
    memcpy(shnode_begin_round(bytes), m->source, bytes);
    shnode_publish(true);
    shnode_wait_for_all();
    for (int pe = 0; pe < T.pes; pe++) {
        const unsigned char *theirs = shnode_contribution(pe);
        memcpy(m->target + (size_t)pe * m->bytes, theirs + (size_t)T.me * m->bytes, m->bytes);
    }
}

static void copy_between(const struct move *m, int owner, int rank, size_t at, size_t most)
{
    const unsigned char *from = m->source + (size_t)T.members[owner] * m->bytes;
    unsigned char *to = m->target + (size_t)T.members[rank] * m->bytes;
    copy_part(m, shnode_at(m->to, to, owner), shnode_at(m->from, from, rank), m->bytes, at, most);
}

static void alltoall_large(struct move *m)
{
    m->copy = copy_between;
    bool reachable = begin(m);
    for (int i = 0; i < T.pes; i++) {
        int pe = (T.me + i) % T.pes;
        if (!reachable || T.node_of[pe] != T.node) {
            put_block(m->target + (size_t)T.me * m->bytes, m->source + (size_t)pe * m->bytes,
                      m->bytes, pe);
        }
    }
    if (T.nodes > 1 || !reachable) {
        complete();
    }
    if (reachable) {
        do_moves(m, T.size, m->bytes);
    }
}

static int alltoall(void *target, const void *source, size_t bytes)
{
    struct move m = {.target = target, .source = source, .bytes = bytes};
    int status = shnode_check(target, source, &m.to, &m.from);
    if (status != SHNODE_SUCCESS) {
        return status;
    }
    if (T.nodes == 1 && shnode_is_small(false, bytes * (size_t)T.pes)) {
        alltoall_small(&m);
    } else {
        alltoall_large(&m);
    }
    return SHNODE_SUCCESS;
}

/* ---- the functions ---- */

static int ready(const void *target, const void *source)
{
    const ptrdiff_t *to, *from;
    return shnode_check(target, source, &to, &from);
}

/* One that all PEs call with no elements does nothing but to wait for them. */
#define MOVES(bits)                                                                                \
    int shnode_fcollect##bits(void *target, const void *source, size_t nelems)                     \
    {                                                                                              \
        if (nelems == 0) {                                                                         \
            return shnode_sync_all();                                                              \
        }                                                                                          \
        if (shnode_settings.collectives) {                                                         \
            return fcollect(target, source, nelems * (bits / 8));                                  \
        }                                                                                          \
        int status = ready(target, source);                                                        \
        if (status == SHNODE_SUCCESS) {                                                            \
            shmem_fcollect##bits(target, source, nelems, 0, 0, T.pes, shnode_stock_sync());        \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    int shnode_collect##bits(void *target, const void *source, size_t nelems)                      \
    {                                                                                              \
        if (shnode_settings.collectives) {                                                         \
            return collect(target, source, nelems * (bits / 8));                                   \
        }                                                                                          \
        int status = ready(target, nelems > 0 ? source : target);                                  \
        if (status == SHNODE_SUCCESS) {                                                            \
            shmem_collect##bits(target, source, nelems, 0, 0, T.pes, shnode_stock_sync());         \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    int shnode_broadcast##bits(void *target, const void *source, size_t nelems, int root)          \
    {                                                                                              \
        if (nelems == 0) {                                                                         \
            return shnode_sync_all();                                                              \
        }                                                                                          \
        if (shnode_settings.collectives) {                                                         \
            return broadcast(target, source, nelems * (bits / 8), root);                           \
        }                                                                                          \
        int status = ready(target, source);                                                        \
        if (status == SHNODE_SUCCESS && (root < 0 || root >= T.pes)) {                             \
            status = SHNODE_ERR_ARGUMENT;                                                          \
        }                                                                                          \
        if (status == SHNODE_SUCCESS) {                                                            \
            shmem_broadcast##bits(target, source, nelems, root, 0, 0, T.pes, shnode_stock_sync()); \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    int shnode_alltoall##bits(void *target, const void *source, size_t nelems)                     \
    {                                                                                              \
        if (nelems == 0) {                                                                         \
            return shnode_sync_all();                                                              \
        }                                                                                          \
        if (shnode_settings.collectives) {                                                         \
            return alltoall(target, source, nelems * (bits / 8));                                  \
        }                                                                                          \
        int status = ready(target, source);                                                        \
        if (status == SHNODE_SUCCESS) {                                                            \
            shmem_alltoall##bits(target, source, nelems, 0, 0, T.pes, shnode_stock_sync());        \
        }                                                                                          \
        return status;                                                                             \
    }
MOVES(32)
MOVES(64)
