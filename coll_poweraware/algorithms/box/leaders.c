/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What leaders do with small messages between fan-in and fan-out.
 *
 * Sources: Barrier, dissemination (Hensgen, Finkel, Manber 1988).  Bcast and Reduce, binomial tree
 * (node_tree.h).  Exscan, doubling of distances (Hillis, Steele 1986).  Allreduce, recursive
 * doubling; Allgather, Bruck et al. 1997: both as in Thakur, Rabenseifner, Gropp, "Optimization of
 * Collective Communication Operations in MPICH", 2005.
 *
 * Order of reductions: wherever two partial results meet, that of the lower nodes is the left
 * operand, and both belong to ranges of nodes without a gap between them.  So the order depends on
 * layout and root only, and in an Allreduce both partners compute the same bytes.
 *
 * After an error a leader goes on with its messages (primitives/messages.c): what it sends is
 * empty, what it computes is nobody's.
 */
#include "algorithms/box/box.h"

#include "algorithms/leader/node_tree.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

static int lowest(const coll_poweraware_call_t *call, int node)
{
    return coll_poweraware_leader(call, node, COLL_POWERAWARE_NO_RANK);
}

/* ---- Barrier ---- */

int coll_poweraware_box_leaders_meet(coll_poweraware_call_t *call)
{
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
    int parent = coll_poweraware_tree_parent(vnode_of(call, first));
    int rc = coll_poweraware_post_recv(call, buffer, bytes, MPI_BYTE,
                                       leader_of_vnode(call, parent, first, root));
    return coll_poweraware_complete(call, rc);
}

void coll_poweraware_box_leaders_forward(coll_poweraware_call_t *call, int root, const void *buffer,
                                         size_t bytes)
{
    int first = call->hierarchy->node_of[root];
    int me = vnode_of(call, first);
    int nodes = call->hierarchy->num_nodes;
    int highest = 0;
    while (coll_poweraware_tree_child(me, nodes, highest) >= 0) {
        ++highest;
    }
    for (int k = highest - 1; k >= 0; --k) { /* largest subtree first */
        int child = coll_poweraware_tree_child(me, nodes, k);
        coll_poweraware_post_send(call, buffer, bytes, MPI_BYTE,
                                  leader_of_vnode(call, child, first, root));
    }
}

/* ---- reductions ---- */

typedef struct partial {
    coll_poweraware_call_t *call;
    const coll_poweraware_operands_t *operands;
    size_t count;
    char *sum;
    char *spare;
} partial_t;

static int send_to(const partial_t *p, int peer)
{
    coll_poweraware_post_send(p->call, p->sum, p->count, p->operands->datatype, peer);
    return coll_poweraware_complete(p->call, OMPI_SUCCESS);
}

static int receive_from(const partial_t *p, char *to, int peer)
{
    coll_poweraware_post_recv(p->call, to, p->count, p->operands->datatype, peer);
    return coll_poweraware_complete(p->call, OMPI_SUCCESS);
}

/* The spare has what lower nodes have come to: sum = spare op sum. */
static void join_lower(partial_t *p)
{
    ompi_op_reduce(p->operands->op, p->spare, p->sum, (int)p->count, p->operands->datatype);
}

/* The spare has what higher nodes have come to: sum = sum op spare, where the spare was. */
static void join_higher(partial_t *p)
{
    ompi_op_reduce(p->operands->op, p->sum, p->spare, (int)p->count, p->operands->datatype);
    char *swap = p->sum;
    p->sum = p->spare;
    p->spare = swap;
}

static int reduce_up_the_tree(partial_t *p, int first, int root)
{
    int nodes = p->call->hierarchy->num_nodes;
    int me = vnode_of(p->call, first);
    int rc = OMPI_SUCCESS;
    int child;
    for (int k = 0; (child = coll_poweraware_tree_child(me, nodes, k)) >= 0; ++k) {
        rc = receive_from(p, p->spare, leader_of_vnode(p->call, child, first, root));
        if (OMPI_SUCCESS == rc) {
            join_higher(p);
        }
    }
    if (0 != me) {
        int parent = coll_poweraware_tree_parent(me);
        rc = send_to(p, leader_of_vnode(p->call, parent, first, root));
    }
    return rc;
}

/* A tree that is not rooted at the root's node passes its result on. */
static int pass_to_root(partial_t *p, int first, int root)
{
    const pwr_hierarchy_t *h = p->call->hierarchy;
    if (first == h->node_of[root]) {
        return OMPI_SUCCESS;
    }
    return h->my_node == first  ? send_to(p, root)
           : h->my_rank == root ? receive_from(p, p->sum, lowest(p->call, first))
                                : OMPI_SUCCESS;
}

int coll_poweraware_box_leaders_reduce(coll_poweraware_call_t *call,
                                       const coll_poweraware_operands_t *operands, int root,
                                       size_t count, char **sum, char *spare)
{
    /* going round from the root's node changes the order of nodes */
    int first = ompi_op_is_commute(operands->op) ? call->hierarchy->node_of[root] : 0;
    partial_t p = {call, operands, count, *sum, spare};
    int rc = reduce_up_the_tree(&p, first, root);
    rc = coll_poweraware_first_error(rc, pass_to_root(&p, first, root));
    *sum = p.sum;
    return rc;
}

static int exchange(partial_t *p, int peer)
{
    coll_poweraware_post_recv(p->call, p->spare, p->count, p->operands->datatype, peer);
    coll_poweraware_post_send(p->call, p->sum, p->count, p->operands->datatype, peer);
    return coll_poweraware_complete(p->call, OMPI_SUCCESS);
}

/* Nodes take part as 0 .. power - 1; the first 2 * pairs nodes as pairs, for which the upper one
   takes part. */
static int node_taking_part(int part, int pairs)
{
    return part < pairs ? 2 * part + 1 : part + pairs;
}

static int double_recursively(partial_t *p, int part, int power, int pairs)
{
    int rc = OMPI_SUCCESS;
    for (int mask = 1; mask < power; mask *= 2) {
        int peer = part ^ mask;
        rc = exchange(p, lowest(p->call, node_taking_part(peer, pairs)));
        if (OMPI_SUCCESS == rc) {
            if (peer < part) {
                join_lower(p);
            } else {
                join_higher(p);
            }
        }
    }
    return rc;
}

int coll_poweraware_box_leaders_allreduce(coll_poweraware_call_t *call,
                                          const coll_poweraware_operands_t *operands, size_t count,
                                          char **sum, char *spare)
{
    int nodes = call->hierarchy->num_nodes;
    int me = call->hierarchy->my_node;
    int power = 1;
    while (2 * power <= nodes) {
        power *= 2;
    }
    int pairs = nodes - power;
    bool paired = me < 2 * pairs;
    partial_t p = {call, operands, count, *sum, spare};
    int rc = OMPI_SUCCESS;
    if (paired && 0 == me % 2) {
        send_to(&p, lowest(call, me + 1));
        rc = receive_from(&p, p.sum, lowest(call, me + 1));
    } else {
        if (paired) {
            rc = receive_from(&p, p.spare, lowest(call, me - 1));
        }
        if (paired && OMPI_SUCCESS == rc) {
            join_lower(&p);
        }
        rc = double_recursively(&p, paired ? me / 2 : me - pairs, power, pairs);
        if (paired) {
            rc = send_to(&p, lowest(call, me - 1));
        }
    }
    *sum = p.sum;
    return rc;
}

/* The sum is that of the last `distance` nodes up to mine, before that of one less, without mine.
 */
int coll_poweraware_box_leaders_exscan(coll_poweraware_call_t *call,
                                       const coll_poweraware_operands_t *operands, size_t count,
                                       char *sum, char *spare, char *before)
{
    int nodes = call->hierarchy->num_nodes;
    int me = call->hierarchy->my_node;
    int rc = OMPI_SUCCESS;
    for (int distance = 1; distance < nodes; distance *= 2) {
        if (me >= distance) {
            coll_poweraware_post_recv(call, spare, count, operands->datatype,
                                      lowest(call, me - distance));
        }
        if (me + distance < nodes) {
            coll_poweraware_post_send(call, sum, count, operands->datatype,
                                      lowest(call, me + distance));
        }
        rc = coll_poweraware_complete(call, OMPI_SUCCESS);
        if (OMPI_SUCCESS != rc || me < distance || 0 == count) {
            continue;
        }
        if (1 == distance) {
            rc = coll_poweraware_copy_operands(operands, before, spare, count);
        } else {
            ompi_op_reduce(operands->op, spare, before, (int)count, operands->datatype);
        }
        ompi_op_reduce(operands->op, spare, sum, (int)count, operands->datatype);
    }
    return rc;
}

/* ---- Allgather ---- */

/* Posts the blocks of num nodes from first on, which may go round. */
static void post_nodes(coll_poweraware_call_t *call, const coll_poweraware_rank_blocks_t *blocks,
                       unsigned char *all, int first, int num, bool send, int peer)
{
    int nodes = call->hierarchy->num_nodes;
    while (num > 0) {
        int here = first + num <= nodes ? num : nodes - first;
        size_t from = coll_poweraware_bytes_before_node(call, blocks, first);
        size_t bytes = coll_poweraware_bytes_before_node(call, blocks, first + here) - from;
        if (0 == bytes) {
            /* both ends know */
        } else if (send) {
            coll_poweraware_post_send(call, all + from, bytes, MPI_BYTE, peer);
        } else {
            coll_poweraware_post_recv(call, all + from, bytes, MPI_BYTE, peer);
        }
        first = 0;
        num -= here;
    }
}

int coll_poweraware_box_leaders_allgather(coll_poweraware_call_t *call,
                                          const coll_poweraware_rank_blocks_t *blocks,
                                          unsigned char *all)
{
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
