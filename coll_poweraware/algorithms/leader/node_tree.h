/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The binomial tree over nodes, or a chain of them, that the leader-based collectives share.
 *
 * Virtual node v has as parent v without its lowest set bit, and children v + 2^k for all 2^k below
 * that bit.  The subtree of child v + 2^k is the range v + 2^k .. v + 2^(k+1) - 1, so taking the
 * children in order k = 0, 1, ... extends v's range without a gap: order is kept.
 */
#ifndef COLL_POWERAWARE_NODE_TREE_H
#define COLL_POWERAWARE_NODE_TREE_H

#include <stdbool.h>

/* Parent of vnode > 0. */
static inline int coll_poweraware_tree_parent(int vnode)
{
    return vnode & (vnode - 1);
}

/* The k-th child, k = 0, 1, ..., or -1 when there are no more. */
static inline int coll_poweraware_tree_child(int vnode, int num_nodes, int k)
{
    long bit = 1L << k;
    if (0 != vnode && bit >= (vnode & -vnode)) {
        return -1;
    }
    return vnode + bit < num_nodes ? (int)(vnode + bit) : -1;
}

/* The same, or in a chain of nodes. */
static inline int coll_poweraware_node_parent(int vnode, bool chain)
{
    return chain ? vnode - 1 : coll_poweraware_tree_parent(vnode);
}

static inline int coll_poweraware_node_child(int vnode, int num_nodes, int k, bool chain)
{
    if (chain) {
        return 0 == k && vnode + 1 < num_nodes ? vnode + 1 : -1;
    }
    return coll_poweraware_tree_child(vnode, num_nodes, k);
}

/* The root of a tree has log2 num_nodes of them, rounded up. */
static inline int coll_poweraware_num_children(int vnode, int num_nodes, bool chain)
{
    int num = 0;
    while (coll_poweraware_node_child(vnode, num_nodes, num, chain) >= 0) {
        ++num;
    }
    return num;
}

#endif
