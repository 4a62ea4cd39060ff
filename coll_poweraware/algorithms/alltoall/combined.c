/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Alltoall of small messages: the blocks from one node to another travel as one message between
 * their leaders; the other ranks sleep meanwhile.
 *
 * A chunk's slot has two regions, out and in, with one cell per node in each.  A cell holds all
 * blocks from the ranks of one node to the ranks of another, packed: by sending rank, then by
 * receiving rank, both ascending.
 *
 * 1. Alltoallv/w: every rank posts messages for its large blocks, which go directly: to copy them
 *    twice and send them by one rank takes longer.  Both ends of a block know its size.  Of the
 *    others, it posts in its box what it sends to each node and what it receives from each rank
 *    (bytes).  Then all of a node know the size of every cell from and to it, and both ends of a
 *    pair of nodes come to the same size.  Where all cells are empty, 2 to 4 are only to complete
 *    the messages.
 * 2. Every rank packs its blocks into the cells of the out region and counts itself on `arrived`.
 *    The cell for its own node is read where it is.  Then it completes its messages.
 * 3. The leader sends the cells of the out region and receives those of the in region, then counts
 *    on `ready`; the others rest.
 * 4. Everybody unpacks its blocks and releases the slot.
 *
 * One message per ordered pair of nodes instead of one per pair of ranks.  A leader that talks for
 * its node is that of ICPP 2010 V-B; combining is the hierarchical Alltoall of MPI libraries.
 */
#include "algorithms/algorithms.h"

#include <string.h>

#include "algorithms/alltoall/exchange.h"

/* A block is large if a pair of nodes that has no smaller ones has more than this, or than fits a
   cell. */
enum { MOST_OF_A_PAIR = 32 * 1024 };

typedef struct combined {
    coll_poweraware_call_t *call;
    coll_poweraware_exchange_t x;
    coll_poweraware_chunk_t chunk;
    size_t cell_bytes;
    bool uneven;  /* v or w: sizes are in the boxes ... */
    size_t most;  /* ... of blocks that are no larger than this */
    size_t block; /* else: bytes of every block */
    int error;
} combined_t;

static size_t cell_bytes_of(const coll_poweraware_call_t *call)
{
    size_t cells = 2 * (size_t)call->hierarchy->num_nodes;
    return call->slot_bytes / cells / PWR_CACHE_LINE * PWR_CACHE_LINE;
}

/* Between two nodes, at most. */
static size_t most_blocks(const pwr_hierarchy_t *h)
{
    return (size_t)h->max_local * (size_t)h->max_local;
}

/* What a rank posts in step 1: bytes to each node, then bytes from each rank. */
static size_t posted_bytes(const pwr_hierarchy_t *h)
{
    return ((size_t)h->num_nodes + (size_t)h->size) * sizeof(uint64_t);
}

bool coll_poweraware_alltoall_combined_can(const coll_poweraware_call_t *call,
                                           const coll_poweraware_args_t *args, size_t bytes)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (!coll_poweraware_bytes_known[call->collective]) {
        return MPI_IN_PLACE != args->sbuf && posted_bytes(h) <= call->segment->box_bytes;
    }
    return bytes / (size_t)h->size <= cell_bytes_of(call) / most_blocks(h);
}

static void keep_first(combined_t *c, int rc)
{
    c->error = coll_poweraware_first_error(c->error, rc);
}

/* ---- 1. ---- */

static bool goes_directly(const combined_t *c, const coll_poweraware_block_t *b)
{
    return c->uneven && b->bytes > c->most;
}

/* Bytes of a cell. */
static size_t bytes_of(const combined_t *c, const coll_poweraware_block_t *b)
{
    return goes_directly(c, b) ? 0 : b->bytes;
}

static void post_directly(const combined_t *c, bool send, int node)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    const int *ranks;
    int num = pwr_hierarchy_node(h, node, &ranks);
    for (int i = 0; i < num; ++i) {
        coll_poweraware_block_t b = send ? coll_poweraware_block_to(&c->x, ranks[i])
                                         : coll_poweraware_block_from(&c->x, ranks[i]);
        if (goes_directly(c, &b) && ranks[i] != h->my_rank) {
            coll_poweraware_post(c->call, send, b.data, b.count, b.datatype, ranks[i]);
        }
    }
}

/* As many nodes at once as a call may have messages, the same on all ranks: a window of one rank
   then waits for the same window of others alone.  The last one is not completed.  Receives come
   first: what nobody has asked for is copied twice. */
static void send_large(combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    int at_once = coll_poweraware_max_requests(h) / (2 * h->max_local);
    for (int first = 0; first < h->num_nodes; first += at_once) {
        int end = first + at_once < h->num_nodes ? first + at_once : h->num_nodes;
        keep_first(c, coll_poweraware_complete(c->call, OMPI_SUCCESS));
        for (int d = first; d < end; ++d) {
            post_directly(c, false, (h->my_node - d + h->num_nodes) % h->num_nodes);
        }
        for (int d = first; d < end; ++d) {
            post_directly(c, true, (h->my_node + d) % h->num_nodes);
        }
    }
    coll_poweraware_block_t own = coll_poweraware_block_to(&c->x, h->my_rank);
    if (goes_directly(c, &own)) {
        keep_first(c, coll_poweraware_copy_own_block(&c->x));
    }
}

static void post_sizes(combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    coll_poweraware_begin_round(c->call);
    uint64_t *to_node = (uint64_t *)(void *)pwr_boxes_fill(c->call->boxes, posted_bytes(h));
    uint64_t *from_rank = to_node + h->num_nodes;
    memset(to_node, 0, (size_t)h->num_nodes * sizeof *to_node);
    for (int peer = 0; peer < h->size; ++peer) {
        coll_poweraware_block_t to = coll_poweraware_block_to(&c->x, peer);
        coll_poweraware_block_t from = coll_poweraware_block_from(&c->x, peer);
        to_node[h->node_of[peer]] += bytes_of(c, &to);
        from_rank[peer] = bytes_of(c, &from);
    }
    pwr_boxes_join(c->call->boxes, OMPI_SUCCESS);
    pwr_boxes_wait_all(c->call->boxes);
}

static const uint64_t *sizes_of(const combined_t *c, int local)
{
    return (const uint64_t *)(const void *)pwr_boxes_read(c->call->boxes, local,
                                                          posted_bytes(c->call->hierarchy));
}

/* Bytes from a rank of my node to all ranks of node. */
static size_t bytes_to_node(const combined_t *c, int local, int node)
{
    const int *ranks;
    return c->uneven ? sizes_of(c, local)[node]
                     : c->block * (size_t)pwr_hierarchy_node(c->call->hierarchy, node, &ranks);
}

/* Bytes from a rank to a rank of my node. */
static size_t bytes_from_rank(const combined_t *c, int rank, int local)
{
    return c->uneven ? sizes_of(c, local)[c->call->hierarchy->num_nodes + rank] : c->block;
}

static size_t bytes_out(const combined_t *c, int node, int num_local)
{
    size_t bytes = 0;
    for (int i = 0; i < num_local; ++i) {
        bytes += bytes_to_node(c, i, node);
    }
    return bytes;
}

static size_t bytes_in_from_rank(const combined_t *c, int rank, int num_local)
{
    size_t bytes = 0;
    for (int i = 0; i < num_local; ++i) {
        bytes += bytes_from_rank(c, rank, i);
    }
    return bytes;
}

static size_t bytes_in(const combined_t *c, int node)
{
    const int *ranks;
    int num = pwr_hierarchy_node(c->call->hierarchy, node, &ranks);
    size_t bytes = 0;
    for (int i = 0; i < num; ++i) {
        bytes += bytes_in_from_rank(c, ranks[i], c->call->hierarchy->num_local);
    }
    return bytes;
}

/* ---- cells ---- */

static unsigned char *out_cell(const combined_t *c, int node)
{
    return c->chunk.data + (size_t)node * c->cell_bytes;
}

/* What came from my own node lies where its ranks put it. */
static unsigned char *in_cell(const combined_t *c, int node)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    return out_cell(c, node == h->my_node ? node : h->num_nodes + node);
}

/* ---- 2. and 4. ---- */

static void pack_for_node(combined_t *c, int node)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    const int *ranks;
    int num = pwr_hierarchy_node(h, node, &ranks);
    unsigned char *to = out_cell(c, node) + bytes_out(c, node, h->my_local);
    for (int i = 0; i < num; ++i) {
        coll_poweraware_block_t b = coll_poweraware_block_to(&c->x, ranks[i]);
        if (!goes_directly(c, &b)) {
            keep_first(c, coll_poweraware_block_pack(&b, to));
            to += b.bytes;
        }
    }
}

static void unpack_from_node(combined_t *c, int node)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    const int *ranks;
    int num = pwr_hierarchy_node(h, node, &ranks);
    const unsigned char *from = in_cell(c, node);
    for (int i = 0; i < num; ++i) {
        coll_poweraware_block_t b = coll_poweraware_block_from(&c->x, ranks[i]);
        const unsigned char *block = from + bytes_in_from_rank(c, ranks[i], h->my_local);
        if (!goes_directly(c, &b)) {
            keep_first(c, coll_poweraware_block_unpack(&b, block));
        }
        from += bytes_in_from_rank(c, ranks[i], h->num_local);
    }
}

/* ---- 3. ---- */

static int exchange_cells(combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    for (int d = 1; d < h->num_nodes; ++d) {
        int node = (h->my_node - d + h->num_nodes) % h->num_nodes;
        size_t bytes = bytes_in(c, node);
        if (bytes > 0) {
            coll_poweraware_post_recv(c->call, in_cell(c, node), bytes, MPI_BYTE,
                                      h->leader_of[node]);
        }
    }
    for (int d = 1; d < h->num_nodes; ++d) {
        int node = (h->my_node + d) % h->num_nodes;
        size_t bytes = bytes_out(c, node, h->num_local);
        if (bytes > 0) {
            coll_poweraware_post_send(c->call, out_cell(c, node), bytes, MPI_BYTE,
                                      h->leader_of[node]);
        }
    }
    return coll_poweraware_complete(c->call, OMPI_SUCCESS);
}

static void lead(combined_t *c)
{
    coll_poweraware_begin_network(c->call, OMPI_SUCCESS);
    int rc = exchange_cells(c);
    coll_poweraware_end_network(c->call);
    pwr_slot_set_error(c->chunk.slot, rc);
    pwr_flag_arrive(&c->chunk.slot->ready, c->chunk.expect->ready);
}

/* On one node `arrived` says all. */
static void exchange(combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    int leader = h->leader_of[h->my_node];
    if (h->my_rank == leader || 1 == h->num_nodes) {
        coll_poweraware_wait(c->call, PWR_SITE_SLOT_FILLED, &c->chunk.slot->arrived,
                             c->chunk.expect->arrived);
    }
    if (1 == h->num_nodes) {
        return;
    }
    if (h->my_rank == leader) {
        lead(c);
    } else {
        coll_poweraware_rest(c->call, PWR_SITE_SLOT_READY, &c->chunk.slot->ready,
                             c->chunk.expect->ready, leader);
    }
    keep_first(c, c->chunk.slot->error);
}

/* The same on all ranks of the node. */
static bool needs_cells(const combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    for (int node = 0; node < h->num_nodes; ++node) {
        if (bytes_out(c, node, h->num_local) > 0 || bytes_in(c, node) > 0) {
            return true;
        }
    }
    return false;
}

static void fill_cells(combined_t *c)
{
    const pwr_hierarchy_t *h = c->call->hierarchy;
    c->chunk = coll_poweraware_next_chunk(c->call);
    c->chunk.expect->arrived += (uint32_t)h->num_local;
    c->chunk.expect->ready += h->num_nodes > 1;
    coll_poweraware_wait_free(c->call, &c->chunk);
    for (int node = 0; node < h->num_nodes; ++node) {
        pack_for_node(c, node);
    }
    pwr_flag_arrive(&c->chunk.slot->arrived, c->chunk.expect->arrived);
}

static void empty_cells(combined_t *c)
{
    for (int node = 0; node < c->call->hierarchy->num_nodes; ++node) {
        unpack_from_node(c, node);
    }
    coll_poweraware_release_chunk(c->call, &c->chunk);
}

int coll_poweraware_alltoall_combined(coll_poweraware_call_t *call,
                                      const coll_poweraware_args_t *args)
{
    combined_t c = {.call = call, .cell_bytes = cell_bytes_of(call), .error = OMPI_SUCCESS};
    coll_poweraware_exchange_begin(&c.x, call, args);
    c.uneven = COLL_POWERAWARE_ALLTOALL != call->collective;
    c.most = (MOST_OF_A_PAIR < c.cell_bytes ? MOST_OF_A_PAIR : c.cell_bytes) /
             most_blocks(call->hierarchy);
    if (c.uneven) {
        send_large(&c);
        post_sizes(&c); /* 1 */
    } else {
        c.block = coll_poweraware_block_from(&c.x, 0).bytes;
    }
    bool cells = needs_cells(&c);
    if (cells) {
        fill_cells(&c); /* 2 */
    }
    keep_first(&c, coll_poweraware_complete(call, OMPI_SUCCESS));
    if (cells) {
        exchange(&c);    /* 3 */
        empty_cells(&c); /* 4 */
    }
    if (c.uneven) {
        pwr_boxes_end(call->boxes);
    }
    return c.error;
}
