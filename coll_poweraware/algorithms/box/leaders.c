/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders do with small messages between fan-in and fan-out.
 *
 * Sources: Barrier, dissemination (Hensgen, Finkel, Manber 1988).  Bcast, node_tree.h.  Allgather,
 * Bruck et al. 1997, as in Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication
 * Operations in MPICH", 2005.  Reductions: partial_sums.h.
 *
 * Where ranks share CPUs (call->crowded), each message costs time that others wait for.  So p
 * leaders, more than two, do Barrier and Allgather by 2 (p - 1) messages, up a tree of nodes and
 * down again, instead of p log2 p.
 */
#include "algorithms/box/box.h"

#include "algorithms/leader/node_tree.h"

static int lowest(const coll_poweraware_call_t *call, int node)
{
    return coll_poweraware_leader(call, node, COLL_POWERAWARE_NO_RANK);
}

/* ---- trees: virtual node 0 is node `first` ---- */

static int vnode_of(const coll_poweraware_call_t *call, int first)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    return (h->my_node - first + h->num_nodes) % h->num_nodes;
}

static int leader_of_vnode(const coll_poweraware_call_t *call, int vnode, int first, int root)
{
    return coll_poweraware_leader(call, (vnode + first) % call->hierarchy->num_nodes, root);
}

int coll_poweraware_box_leaders_receive(coll_poweraware_call_t *call, int root, void *buffer,
                                        size_t bytes)
{
    int first = call->hierarchy->node_of[root];
    int fan = coll_poweraware_fan(bytes, call->hierarchy->num_nodes);
    int parent = coll_poweraware_node_parent(vnode_of(call, first), fan);
    coll_poweraware_post_recv(call, buffer, bytes, MPI_BYTE,
                              leader_of_vnode(call, parent, first, root));
    return coll_poweraware_complete(call, OMPI_SUCCESS);
}

void coll_poweraware_box_leaders_forward(coll_poweraware_call_t *call, int root, const void *buffer,
                                         size_t bytes)
{
    int nodes = call->hierarchy->num_nodes;
    if (1 == nodes) {
        return;
    }
    int first = call->hierarchy->node_of[root];
    int me = vnode_of(call, first);
    int fan = coll_poweraware_fan(bytes, nodes);
    int num = coll_poweraware_num_children(me, nodes, fan);
    for (int k = num - 1; k >= 0; --k) { /* largest subtree first */
        int child = coll_poweraware_node_child(me, nodes, k, fan);
        coll_poweraware_post_send(call, buffer, bytes, MPI_BYTE,
                                  leader_of_vnode(call, child, first, root));
    }
}

/* ---- blocks of nodes ---- */

size_t coll_poweraware_bytes_before_node(const coll_poweraware_call_t *call,
                                         const coll_poweraware_blocks_t *blocks, int node)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (!coll_poweraware_blocks_vary(blocks)) {
        return (size_t)h->node_start[node] * coll_poweraware_block_bytes(blocks, 0);
    }
    size_t before = 0;
    for (int i = 0; i < h->node_start[node]; ++i) {
        before += coll_poweraware_block_bytes(blocks, h->by_node[i]);
    }
    return before;
}

/* Posts the blocks of num nodes from first on, which may go round. */
static void post_nodes(coll_poweraware_call_t *call, const coll_poweraware_blocks_t *blocks,
                       unsigned char *all, int first, int num, bool send, int peer)
{
    int nodes = call->hierarchy->num_nodes;
    while (num > 0) {
        int here = first + num <= nodes ? num : nodes - first;
        size_t from = coll_poweraware_bytes_before_node(call, blocks, first);
        size_t bytes = coll_poweraware_bytes_before_node(call, blocks, first + here) - from;
        if (bytes > 0) { /* both ends know */
            coll_poweraware_post(call, send, all + from, bytes, MPI_BYTE, peer);
        }
        first = 0;
        num -= here;
    }
}

/* ---- up to node 0 and down again ---- */

/* The blocks of the nodes below `node` in the tree, and its own. */
static void post_subtree(coll_poweraware_call_t *call, const coll_poweraware_blocks_t *blocks,
                         unsigned char *all, int node, int fan, bool send, int peer)
{
    int end = coll_poweraware_node_end(node, call->hierarchy->num_nodes, fan);
    if (NULL == blocks) {
        coll_poweraware_post(call, send, NULL, 0, MPI_BYTE, lowest(call, peer));
    } else {
        post_nodes(call, blocks, all, node, end - node, send, lowest(call, peer));
    }
}

/* blocks, all: NULL: empty messages. */
static int up_and_down(coll_poweraware_call_t *call, const coll_poweraware_blocks_t *blocks,
                       unsigned char *all)
{
    int nodes = call->hierarchy->num_nodes, me = call->hierarchy->my_node, root = lowest(call, 0);
    size_t total = NULL == blocks ? 0 : coll_poweraware_bytes_before_node(call, blocks, nodes);
    int fan = coll_poweraware_fan(total, nodes);
    int child;
    for (int k = 0; (child = coll_poweraware_node_child(me, nodes, k, fan)) >= 0; ++k) {
        post_subtree(call, blocks, all, child, fan, false, child);
    }
    coll_poweraware_complete(call, OMPI_SUCCESS);
    if (me > 0) {
        post_subtree(call, blocks, all, me, fan, true, coll_poweraware_node_parent(me, fan));
        coll_poweraware_complete(call, OMPI_SUCCESS);
        coll_poweraware_box_leaders_receive(call, root, all, total);
    }
    coll_poweraware_box_leaders_forward(call, root, all, total);
    return coll_poweraware_complete(call, OMPI_SUCCESS);
}

/* ---- Barrier ---- */

int coll_poweraware_box_leaders_meet(coll_poweraware_call_t *call)
{
    if (coll_poweraware_saves_messages(call)) {
        return up_and_down(call, NULL, NULL);
    }
    int nodes = call->hierarchy->num_nodes;
    int me = call->hierarchy->my_node;
    int rc = OMPI_SUCCESS;
    for (int distance = 1; distance < nodes; distance *= 2) {
        int from = lowest(call, (me - distance + nodes) % nodes);
        int to = lowest(call, (me + distance) % nodes);
        coll_poweraware_post_recv(call, NULL, 0, MPI_BYTE, from);
        coll_poweraware_post_send(call, NULL, 0, MPI_BYTE, to);
        rc = coll_poweraware_complete(call, OMPI_SUCCESS);
    }
    return rc;
}

/* ---- Allgather ---- */

int coll_poweraware_box_leaders_allgather(coll_poweraware_call_t *call,
                                          const coll_poweraware_blocks_t *blocks,
                                          unsigned char *all)
{
    if (coll_poweraware_saves_messages(call)) {
        return up_and_down(call, blocks, all);
    }
    int nodes = call->hierarchy->num_nodes;
    int me = call->hierarchy->my_node;
    int rc = OMPI_SUCCESS;
    /* I have the blocks of nodes me .. me + have - 1, going round */
    for (int have = 1; have < nodes;) {
        int more = have < nodes - have ? have : nodes - have;
        int above = (me + have) % nodes;
        int below = (me - have + nodes) % nodes;
        post_nodes(call, blocks, all, above, more, false, lowest(call, above));
        post_nodes(call, blocks, all, me, more, true, lowest(call, below));
        rc = coll_poweraware_complete(call, OMPI_SUCCESS);
        have += more;
    }
    return rc;
}
