/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the leaders of nodes do with the partial sums of their nodes, over the network.
 *
 * Order: wherever two partial sums meet, that of the lower nodes is the left operand; and, up a
 * tree that is not rooted at the last node excepted, both belong to runs of nodes without a gap
 * between them.  So the order depends on the layout and, for operators that commute, the root.
 *
 * After an error a leader goes on with its messages (primitives/messages.c): what it sends is
 * empty, what it computes is nobody's; the error is the call's.
 */
#ifndef COLL_POWERAWARE_PARTIAL_SUMS_H
#define COLL_POWERAWARE_PARTIAL_SUMS_H

#include "algorithms/operands.h"

/* Addresses of elements are as MPI is given them. */
typedef struct coll_poweraware_leaders {
    coll_poweraware_call_t *call;
    const coll_poweraware_operands_t *operands;
    size_t message_count;                       /* elements of a message, at most; 0: of any */
    int (*of_node)(const void *self, int node); /* the rank that takes part for a node */
    void (*meanwhile)(void *self); /* what to do while messages travel; NULL: nothing */
    void *self;
} coll_poweraware_leaders_t;

/* Posts elements for, or from, a node's leader: no message if there are none, several if there are
   many.  Both know how many. */
void coll_poweraware_leaders_post(const coll_poweraware_leaders_t *leaders, bool send, char *buffer,
                                  size_t count, int node);
/* Completes all that was posted. */
void coll_poweraware_leaders_complete(const coll_poweraware_leaders_t *leaders);
/* Both. */
void coll_poweraware_leaders_transfer(const coll_poweraware_leaders_t *leaders, bool send,
                                      char *buffer, size_t count, int node);
/* sum = operand op sum; after an error nothing, because the operand may not have come. */
void coll_poweraware_put_left(const coll_poweraware_leaders_t *leaders, char *operand, char *sum,
                              size_t count);

/* To node top: what is received op sum, up a tree of this fan (node_tree.h) in which node top - v
   (modulo the number of nodes) is virtual node v, so that for the last node as top the order of the
   nodes is kept.  In a chain each node receives each element once: for messages of many chunks.
   room: for what is received. */
void coll_poweraware_sum_to_node(const coll_poweraware_leaders_t *leaders, char *sum, char *room,
                                 size_t count, int top, int fan);

/* From node from to node to, as it is. */
void coll_poweraware_sum_pass(const coll_poweraware_leaders_t *leaders, char *sum, size_t count,
                              int from, int to);

/* The sum on all nodes, all elements in each message; order kept.  By recursive doubling: few steps
   (Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.5).  The same bytes on all nodes: both
   partners combine in the same order.  Small sums where ranks share CPUs: up a tree and down again,
   the fewest messages.  Returns where it is: sum or room. */
char *coll_poweraware_sum_whole(const coll_poweraware_leaders_t *leaders, char *sum, char *room,
                                size_t count);

/* before: what the nodes before mine come to, for a node that has some; by doubling of distances
   (Hillis, Steele 1986).  sum and room change. */
void coll_poweraware_sum_before(const coll_poweraware_leaders_t *leaders, char *sum, char *room,
                                char *before, size_t count);

#endif
