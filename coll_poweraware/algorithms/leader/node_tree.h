/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The trees over nodes that the leader-based collectives share.
 *
 * In a tree of fan f, virtual node v has as parent v without its lowest digit, in base f, that is
 * not 0; and as children v + d f^k for all digits d > 0 and all places k below that digit's.  The
 * subtree of child v + d f^k is the range v + d f^k .. v + (d + 1) f^k - 1.  So taking the children
 * in their order extends v's range without a gap: order is kept.  Fan 2 is the binomial tree; 1
 * stands for a chain.
 *
 * A node sends to one child after the other, which takes far less time than a hop as long as
 * messages are small: then a wide tree is through before a binomial one.
 */
#ifndef COLL_POWERAWARE_NODE_TREE_H
#define COLL_POWERAWARE_NODE_TREE_H

#include <stddef.h>

enum { COLL_POWERAWARE_CHAIN = 1, COLL_POWERAWARE_BINOMIAL = 2, COLL_POWERAWARE_WIDE = 8 };
/* No more bytes than these go down a wide tree, on no more nodes than these: there a node has up to
   35 children. */
enum { COLL_POWERAWARE_WIDE_BYTES = 4096, COLL_POWERAWARE_WIDE_NODES = 32768 };

static inline int coll_poweraware_fan(size_t bytes, int num_nodes)
{
    return bytes <= COLL_POWERAWARE_WIDE_BYTES && num_nodes <= COLL_POWERAWARE_WIDE_NODES
               ? COLL_POWERAWARE_WIDE
               : COLL_POWERAWARE_BINOMIAL;
}

/* fan^k of vnode's lowest digit that is not 0; vnode > 0, fan > 1. */
static inline long coll_poweraware_node_place(int vnode, int fan)
{
    long place = 1;
    while (0 == vnode % (place * fan)) {
        place *= fan;
    }
    return place;
}

/* Parent of vnode > 0. */
static inline int coll_poweraware_node_parent(int vnode, int fan)
{
    if (COLL_POWERAWARE_CHAIN == fan) {
        return vnode - 1;
    }
    return vnode - (int)(vnode % (coll_poweraware_node_place(vnode, fan) * fan));
}

/* The k-th child, k = 0, 1, ..., or -1 when there are no more. */
static inline int coll_poweraware_node_child(int vnode, int num_nodes, int k, int fan)
{
    if (COLL_POWERAWARE_CHAIN == fan) {
        return 0 == k && vnode + 1 < num_nodes ? vnode + 1 : -1;
    }
    long place = 1;
    while (k >= fan - 1 && place < num_nodes) {
        place *= fan;
        k -= fan - 1;
    }
    long child = vnode + (k + 1) * place;
    return 0 == vnode % (place * fan) && child < num_nodes ? (int)child : -1;
}

/* The root of a binomial tree has log2 num_nodes of them, rounded up. */
static inline int coll_poweraware_num_children(int vnode, int num_nodes, int fan)
{
    int num = 0;
    while (coll_poweraware_node_child(vnode, num_nodes, num, fan) >= 0) {
        ++num;
    }
    return num;
}

/* The node behind vnode's subtree; fan > 1. */
static inline int coll_poweraware_node_end(int vnode, int num_nodes, int fan)
{
    long end = 0 == vnode ? num_nodes : vnode + coll_poweraware_node_place(vnode, fan);
    return end < num_nodes ? (int)end : num_nodes;
}

#endif
