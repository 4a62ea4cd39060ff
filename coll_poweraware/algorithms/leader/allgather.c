/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Allgather and Allgatherv through node leaders and shared memory; the others rest while leaders
 * are on the network.
 * Source: the leader-based scheme of ICPP 2010, section V-B, for a collective that it leaves out;
 * ring of nodes: Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 3.1.
 *
 * The leader of a node is its lowest rank.  Blocks are cut into stripes; round i has stripe i of
 * every block, and one piece (pipeline.h) per node with the stripes of its ranks.  In each round:
 * 1. every rank packs its stripe into the piece of its own node;
 * 2. the leader sends that piece to the next node of the ring, receives one from the node before
 *    and passes it on, until every node has had every piece;
 * 3. all ranks unpack each piece.
 * Where a node has one rank and the data have no gaps, messages go to and from user memory.
 */
#include "algorithms/algorithms.h"

#include "algorithms/single_copy/single_copy.h"
#include "algorithms/leader/pipeline.h"
#include "pwr_ompi/packer.h"

typedef struct allgather {
    coll_poweraware_call_t *call;
    const coll_poweraware_args_t *args;
    bool own_is_there; /* my own block is where it belongs before any piece is */
    bool packs;        /* packer is open */
    int leader;        /* of my node */
    int next;          /* rank: leader of the next node of the ring */
    coll_poweraware_blocks_t blocks;
    coll_poweraware_block_t own; /* that I send */
    size_t stripe;               /* bytes */
    pwr_packer_t packer;         /* of my block */
} allgather_t;

/* ---- how blocks are cut ---- */

static size_t bytes_of(const allgather_t *a, int rank)
{
    return coll_poweraware_block_bytes(&a->blocks, rank);
}

/* Bytes of a rank's block in round i: stripe i. */
static size_t stripe_of(const allgather_t *a, int rank, size_t first)
{
    size_t bytes = bytes_of(a, rank);
    size_t left = bytes > first ? bytes - first : 0;
    return left < a->stripe ? left : a->stripe;
}

/* Whether every node's piece has room in most bytes. */
static bool fits(const allgather_t *a, size_t stripe, size_t most)
{
    const pwr_hierarchy_t *h = a->call->hierarchy;
    for (int node = 0; node < h->num_nodes; ++node) {
        const int *ranks;
        int num = pwr_hierarchy_node(h, node, &ranks);
        size_t bytes = 0;
        for (int i = 0; i < num; ++i) {
            size_t block = bytes_of(a, ranks[i]);
            bytes += block < stripe ? block : stripe;
        }
        if (bytes > most) {
            return false;
        }
    }
    return true;
}

static size_t longest_block(const allgather_t *a)
{
    size_t longest = 0;
    for (int rank = 0; rank < a->call->hierarchy->size; ++rank) {
        size_t bytes = bytes_of(a, rank);
        longest = bytes > longest ? bytes : longest;
    }
    return longest;
}

/* Stripes as long as a chunk has room for, equal ones.  Where few ranks of a node have anything,
   their stripes are longer.  Returns the number of rounds. */
static size_t cut(allgather_t *a)
{
    size_t longest = coll_poweraware_blocks_vary(&a->blocks) ? longest_block(a) : bytes_of(a, 0);
    size_t most = coll_poweraware_chunk_bytes(a->call);
    size_t stripe = most / (size_t)a->call->hierarchy->max_local;
    while (coll_poweraware_blocks_vary(&a->blocks) && stripe < longest &&
           fits(a, 2 * stripe, most)) {
        stripe *= 2;
    }
    size_t rounds = (longest + stripe - 1) / stripe;
    if (rounds > 1) {
        size_t equal = (longest + rounds - 1) / rounds;
        equal = (equal + PWR_CACHE_LINE - 1) / PWR_CACHE_LINE * PWR_CACHE_LINE;
        stripe = equal < stripe ? equal : stripe;
    }
    a->stripe = stripe;
    return (longest + stripe - 1) / stripe;
}

/* ---- pieces ---- */

static void describe_own(const allgather_t *a, int stripes, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = a->call->hierarchy;
    piece->fillers = stripes;
    piece->fills = stripe_of(a, h->my_rank, piece->first) > 0;
    if (1 == h->num_local && a->packs && NULL != a->packer.contiguous) {
        piece->direct = a->packer.contiguous + piece->first;
    }
}

static void describe_other(const allgather_t *a, coll_poweraware_piece_t *piece)
{
    const pwr_hierarchy_t *h = a->call->hierarchy;
    piece->fillers = 1;
    piece->rests = true;
    if (h->my_rank == a->leader) {
        piece->fills = true;
        piece->from = h->leader_of[(h->my_node + h->num_nodes - 1) % h->num_nodes];
    }
}

/* The direct place of another node's piece: if it is one rank's stripe, and only I want it. */
static unsigned char *place_of(const allgather_t *a, const coll_poweraware_piece_t *piece, int rank)
{
    if (a->call->hierarchy->num_local > 1) {
        return NULL;
    }
    coll_poweraware_block_t block = coll_poweraware_block_of(&a->blocks, rank);
    unsigned char *data = pwr_packer_contiguous(block.data, block.count, block.datatype);
    return NULL != data ? data + piece->first : NULL;
}

static void describe(void *self, size_t index, coll_poweraware_piece_t *piece)
{
    const allgather_t *a = self;
    const pwr_hierarchy_t *h = a->call->hierarchy;
    int hops = (int)(index % (size_t)h->num_nodes);
    int stripes = 0;
    int last = COLL_POWERAWARE_NO_RANK;
    const int *ranks;
    piece->node = (h->my_node + h->num_nodes - hops) % h->num_nodes;
    piece->first = index / (size_t)h->num_nodes * a->stripe;
    int num = pwr_hierarchy_node(h, piece->node, &ranks);
    for (int i = 0; i < num; ++i) {
        size_t bytes = stripe_of(a, ranks[i], piece->first);
        piece->bytes += bytes;
        stripes += bytes > 0;
        last = bytes > 0 ? ranks[i] : last;
    }
    piece->readers = h->num_local;
    piece->reads = true;
    if (0 == hops) {
        describe_own(a, stripes, piece); /* 1 */
    } else {
        describe_other(a, piece); /* 2 */
        piece->direct = 1 == stripes ? place_of(a, piece, last) : NULL;
    }
    piece->num_to = h->my_rank == a->leader && hops < h->num_nodes - 1;
    piece->to = &a->next;
    piece->takes = NULL == piece->direct;
}

static int fill(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot)
{
    allgather_t *a = self;
    const pwr_hierarchy_t *h = a->call->hierarchy;
    size_t at = 0;
    for (int i = 0; i < h->my_local; ++i) {
        at += stripe_of(a, h->local_ranks[i], piece->first);
    }
    int rc = a->packs ? pwr_packer_seek(&a->packer, piece->first) : OMPI_ERROR;
    return OMPI_SUCCESS == rc
               ? pwr_packer_pack(&a->packer, slot + at, stripe_of(a, h->my_rank, piece->first))
               : rc;
}

static int unpack_stripe(const allgather_t *a, int rank, size_t first, const unsigned char *data,
                         size_t bytes)
{
    pwr_packer_t packer;
    coll_poweraware_block_t block = coll_poweraware_block_of(&a->blocks, rank);
    int rc = pwr_packer_begin(&packer, false, block.data, block.count, block.datatype);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = pwr_packer_seek(&packer, first);
    rc = OMPI_SUCCESS == rc ? pwr_packer_unpack(&packer, data, bytes) : rc;
    pwr_packer_end(&packer);
    return rc;
}

/* 3. */
static int take(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot)
{
    const allgather_t *a = self;
    const pwr_hierarchy_t *h = a->call->hierarchy;
    const int *ranks;
    int num = pwr_hierarchy_node(h, piece->node, &ranks);
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < num && OMPI_SUCCESS == rc; ++i) {
        size_t bytes = stripe_of(a, ranks[i], piece->first);
        if (bytes > 0 && (ranks[i] != h->my_rank || !a->own_is_there)) {
            rc = unpack_stripe(a, ranks[i], piece->first, slot, bytes);
        }
        slot += bytes;
    }
    return rc;
}

/* ---- on one node: every rank exposes its block (single_copy.h) ---- */

/* Bytes that every rank copies, about, in either way; the same on all ranks. */
static size_t copied_bytes(const allgather_t *a)
{
    size_t bytes = 0;
    for (int rank = 0; rank < a->call->hierarchy->size; ++rank) {
        bytes += bytes_of(a, rank);
    }
    return bytes;
}

/* My block, unless it has gaps. */
static coll_poweraware_exposed_t my_offer(const allgather_t *a)
{
    const unsigned char *from = pwr_packer_contiguous(a->own.data, a->own.count, a->own.datatype);
    return (coll_poweraware_exposed_t){
        .from = (uint64_t)(uintptr_t)from,
        .exposes = NULL != from || 0 == bytes_of(a, a->call->hierarchy->my_rank),
    };
}

/* Starting with the next rank's, so that not all read the same. */
static int copy_others(const allgather_t *a)
{
    const pwr_hierarchy_t *h = a->call->hierarchy;
    int rc = OMPI_SUCCESS;
    for (int d = 1; d < h->num_local && OMPI_SUCCESS == rc; ++d) {
        int local = (h->my_local + d) % h->num_local;
        uint64_t from = coll_poweraware_exposed_by(a->call, local).from;
        coll_poweraware_block_t to = coll_poweraware_block_of(&a->blocks, h->local_ranks[local]);
        rc = coll_poweraware_copy_exposed(a->call, local, from, false, &to);
    }
    return rc;
}

static bool expose(const allgather_t *a, int *rc)
{
    size_t bytes = copied_bytes(a);
    if (!coll_poweraware_single_copy_can(a->call, bytes / (size_t)a->call->hierarchy->size) ||
        !coll_poweraware_expose_all(a->call, my_offer(a), bytes)) {
        return false;
    }
    uint64_t begin_ns = coll_poweraware_begin_work(a->call, 0, bytes);
    *rc = coll_poweraware_copy_own(a->call, a->args);
    *rc = OMPI_SUCCESS == *rc ? copy_others(a) : *rc;
    coll_poweraware_end_work(a->call, 0, begin_ns);
    coll_poweraware_report_work(a->call, PWR_COPY_SINGLE);
    *rc = coll_poweraware_meet(a->call, *rc);
    return true;
}

/* ---- the call ---- */

static int begin(allgather_t *a)
{
    int rc = 1 == a->call->hierarchy->num_local ? coll_poweraware_copy_own(a->call, a->args)
                                                : OMPI_SUCCESS;
    return OMPI_SUCCESS == rc
               ? pwr_packer_begin(&a->packer, true, a->own.data, a->own.count, a->own.datatype)
               : rc;
}

bool coll_poweraware_allgather_leader_can(const coll_poweraware_call_t *call,
                                          const coll_poweraware_args_t *args, size_t bytes)
{
    (void)args;
    (void)bytes;
    /* a stripe is worth a cache line */
    return coll_poweraware_chunk_bytes(call) / PWR_CACHE_LINE >= (size_t)call->hierarchy->max_local;
}

int coll_poweraware_allgather_leader(coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args)
{
    static const coll_poweraware_pipeline_t pipeline = {describe, fill, take};
    const pwr_hierarchy_t *h = call->hierarchy;
    allgather_t a = {
        .call = call,
        .args = args,
        .own_is_there = MPI_IN_PLACE == args->sbuf || 1 == h->num_local,
        .leader = h->leader_of[h->my_node],
        .blocks = coll_poweraware_recv_blocks(call, args),
        .own = coll_poweraware_own_block(call, args),
        .next = h->leader_of[(h->my_node + 1) % h->num_nodes],
    };
    int rc;
    if (expose(&a, &rc)) {
        return rc;
    }
    size_t rounds = cut(&a);
    rc = begin(&a);
    a.packs = OMPI_SUCCESS == rc;
    call->error = rc;
    rc = coll_poweraware_pipeline_run(&pipeline, &a, call, rounds * (size_t)h->num_nodes, a.leader);
    if (a.packs) {
        pwr_packer_end(&a.packer);
    }
    return rc;
}
