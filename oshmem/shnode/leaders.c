/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders of nodes exchange, by puts and flags.
 *
 * A message is a put into the receiver's symmetric memory, a fence, and a put of its number to a
 * flag, for which the receiver waits by shmem_long_wait_until.  All PEs count exchanges, so numbers
 * agree whoever leads.  Memory of messages is twice there, in turns: an exchange needs all nodes,
 * each of which has left the one before, so memory of the one before that is free.
 *
 * Barrier: dissemination; in step i a node tells the one 2^i further on.
 *
 * Reduction, up to SMALL bytes: recursive doubling.  Nodes beyond the largest power of two hand in
 * what they have first, and get the result last.  The lower node's operand is always the left one,
 * so all compute the same bits.
 *
 * Reduction, more: ring; pieces go round once to be reduced, once to be handed out.
 *
 * Gather: each leader puts its node's blocks to each other leader.
 */
#include "node.h"

#include <shmem.h>

enum { SMALL = 16 * 1024 };

static size_t rounded(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static int steps(void)
{
    int n = 2;
    while (1 << (n - 2) < T.nodes) {
        n++;
    }
    return n;
}

static size_t piece_bytes(void)
{
    return rounded(CHUNK / (size_t)T.nodes + LINE);
}

static size_t blocks_bytes(void)
{
    size_t counts = (size_t)T.pes * sizeof(uint64_t);
    return rounded(counts > GATHERED ? counts : GATHERED);
}

/* Of the symmetric memory for all this; shnode_place_exchange divides it in the same order. */
size_t shnode_exchange_bytes(void)
{
    size_t nodes = (size_t)T.nodes;
    return rounded(4 * nodes * sizeof(long)) + rounded(nodes * sizeof(long)) +
           2 * ((size_t)steps() * SMALL + 2 * nodes * piece_bytes() + CHUNK + blocks_bytes());
}

static unsigned char *take(unsigned char **memory, size_t bytes)
{
    unsigned char *taken = *memory;
    *memory += rounded(bytes);
    return taken;
}

void shnode_place_exchange(unsigned char *memory)
{
    struct exchange *x = &T.exchange;
    size_t nodes = (size_t)T.nodes;
    x->ring = (long *)take(&memory, 4 * nodes * sizeof(long));
    x->gathered = (long *)take(&memory, nodes * sizeof(long));
    x->inbox = take(&memory, 2 * (size_t)steps() * SMALL);
    x->pieces = take(&memory, 4 * nodes * piece_bytes());
    for (int i = 0; i < 2; i++) {
        x->chunks[i] = take(&memory, CHUNK);
        x->blocks[i] = take(&memory, blocks_bytes());
    }
}

/* The PE that is leader number `leader` of so many of a node. */
int shnode_leader(int node, int leader, int leaders)
{
    return T.ordered[T.firsts[node] + leader * T.sizes[node] / leaders];
}

static void put(void *to, const void *from, size_t bytes, long *flag, long number, int pe)
{
    shmem_putmem(to, from, bytes, pe);
    shmem_fence();
    shmem_long_p(flag, number, pe);
}

static void await(long *flag, long number)
{
    shmem_long_wait_until(flag, SHMEM_CMP_GE, number);
}

/* Leaders alone.  Puts of this node's PEs are complete. */
void shnode_sync_nodes(void)
{
    long number = ++T.barriers;
    for (int step = 0; 1 << step < T.nodes; step++) {
        int to = shnode_leader((T.node + (1 << step)) % T.nodes, 0, 1);
        shmem_long_p(&T.mine->barrier[step], number, to);
        await(&T.mine->barrier[step], number);
    }
}

/* ---- recursive doubling ---- */

struct swap {
    unsigned char *data;
    size_t n, bytes;
    reduce_t *reduce;
    int leader, leaders;
    long number;
};

static unsigned char *inbox(const struct swap *swap, int step)
{
    return T.exchange.inbox + (size_t)(2 * step + swap->number % 2) * SMALL;
}

static void send(const struct swap *swap, int step, int node)
{
    put(inbox(swap, step), swap->data, swap->bytes, &T.mine->steps[step][swap->number % 2],
        swap->number, shnode_leader(node, swap->leader, swap->leaders));
}

static const unsigned char *receive(const struct swap *swap, int step)
{
    await(&T.mine->steps[step][swap->number % 2], swap->number);
    return inbox(swap, step);
}

static void combine(const struct swap *swap, const unsigned char *theirs, bool they_are_lower)
{
    const unsigned char *lower = they_are_lower ? theirs : swap->data;
    swap->reduce(swap->data, lower, they_are_lower ? swap->data : theirs, swap->n);
}

enum { HANDED_IN, HANDED_OUT, FIRST_STEP };

static void double_up(const struct swap *swap, int power)
{
    for (int i = 0; 1 << i < power; i++) {
        int partner = T.node ^ 1 << i;
        send(swap, FIRST_STEP + i, partner);
        combine(swap, receive(swap, FIRST_STEP + i), partner < T.node);
    }
}

static void swap_all(const struct swap *swap)
{
    int power = 1;
    while (2 * power <= T.nodes) {
        power *= 2;
    }
    int beyond = T.nodes - power;
    if (T.node >= power) {
        send(swap, HANDED_IN, T.node - power);
        memcpy(swap->data, receive(swap, HANDED_OUT), swap->bytes);
        return;
    }
    if (T.node < beyond) {
        combine(swap, receive(swap, HANDED_IN), false);
    }
    double_up(swap, power);
    if (T.node < beyond) {
        send(swap, HANDED_OUT, T.node + power);
    }
}

/* ---- ring ---- */

struct piece {
    unsigned char *data;
    size_t n;
};

static struct piece piece_of(const struct swap *swap, int index)
{
    size_t nodes = (size_t)T.nodes, i = (size_t)((index + 2 * T.nodes) % T.nodes);
    size_t first = swap->n * i / nodes, element = swap->bytes / swap->n;
    return (struct piece){swap->data + first * element, swap->n * (i + 1) / nodes - first};
}

/* Piece `out` goes to the right; what comes from the left belongs to the piece before it. */
static const unsigned char *pass(const struct swap *swap, int step, int out)
{
    size_t slot = (size_t)(2 * step + swap->number % 2), element = swap->bytes / swap->n;
    struct piece piece = piece_of(swap, out);
    unsigned char *box = T.exchange.pieces + slot * piece_bytes();
    put(box, piece.data, piece.n * element, &T.exchange.ring[slot], swap->number,
        shnode_leader((T.node + 1) % T.nodes, swap->leader, swap->leaders));
    await(&T.exchange.ring[slot], swap->number);
    return box;
}

static void go_round(const struct swap *swap)
{
    int last = T.nodes - 1;
    for (int i = 0; i < last; i++) {
        const unsigned char *came = pass(swap, i, T.node - i);
        struct piece piece = piece_of(swap, T.node - i - 1);
        swap->reduce(piece.data, came, piece.data, piece.n);
    }
    for (int i = 0; i < last; i++) {
        const unsigned char *came = pass(swap, last + i, T.node + 1 - i);
        struct piece piece = piece_of(swap, T.node - i);
        memcpy(piece.data, came, piece.n * (swap->bytes / swap->n));
    }
}

/* All PEs call this, for the numbers; data: n elements of this leader's slice, CHUNK bytes at most.
   leader: which one this PE is, or -1. */
void shnode_reduce_nodes(void *data, size_t n, size_t element, reduce_t *reduce, int leader,
                         int leaders)
{
    const struct swap swap = {data, n, n * element, reduce, leader, leaders, ++T.exchanges};
    if (leader < 0 || n == 0) {
        return;
    }
    if (swap.bytes <= SMALL) {
        swap_all(&swap);
    } else {
        go_round(&swap);
    }
}

/* The first leader has its node's blocks in place, `bytes` per PE; all get the blocks of all nodes,
   in the order of T.ordered.  Two rounds are between this and what calls it next. */
const unsigned char *shnode_gather_nodes(size_t bytes)
{
    long number = ++T.gathers;
    unsigned char *blocks = T.exchange.blocks[number % 2];
    if (T.rank == 0) {
        unsigned char *ours = blocks + (size_t)T.firsts[T.node] * bytes;
        for (int i = 0; i < T.size; i++) {
            memcpy(ours + (size_t)i * bytes, shnode_contribution(i), bytes);
        }
        for (int i = 1; i < T.nodes; i++) {
            put(ours, ours, (size_t)T.size * bytes, &T.exchange.gathered[T.node], number,
                shnode_leader((T.node + i) % T.nodes, 0, 1));
        }
        for (int node = 0; node < T.nodes; node++) {
            if (node != T.node) {
                await(&T.exchange.gathered[node], number);
            }
        }
    }
    shnode_begin_round(0);
    shnode_publish(true);
    shnode_wait_for(0);
    return shnode_at(shnode_deltas(blocks), blocks, 0);
}
