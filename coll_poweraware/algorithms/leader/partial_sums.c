/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Partial sums of nodes (contracts, orders and sources: partial_sums.h).
 */
#include "algorithms/leader/partial_sums.h"

#include "algorithms/leader/node_tree.h"

#include "ompi/op/op.h"

typedef const coll_poweraware_leaders_t leaders_t;

void coll_poweraware_leaders_post(leaders_t *l, bool send, char *buffer, size_t count, int node)
{
    size_t most = 0 == l->message_count ? count : l->message_count;
    for (size_t from = 0; from < count; from += most) {
        coll_poweraware_post(l->call, send, buffer + (ptrdiff_t)from * l->operands->extent,
                             count - from < most ? count - from : most, l->operands->datatype,
                             l->of_node(l->self, node));
    }
}

void coll_poweraware_leaders_complete(leaders_t *l)
{
    if (NULL != l->meanwhile) {
        l->meanwhile(l->self);
    }
    coll_poweraware_complete(l->call, OMPI_SUCCESS);
}

void coll_poweraware_leaders_transfer(leaders_t *l, bool send, char *buffer, size_t count, int node)
{
    coll_poweraware_leaders_post(l, send, buffer, count, node);
    coll_poweraware_leaders_complete(l);
}

void coll_poweraware_put_left(leaders_t *l, char *operand, char *sum, size_t count)
{
    if (count > 0 && OMPI_SUCCESS == l->call->error) {
        ompi_op_reduce(l->operands->op, operand, sum, (int)count, l->operands->datatype);
    }
}

/* ---- to one node ---- */

void coll_poweraware_sum_to_node(leaders_t *l, char *sum, char *room, size_t count, int top,
                                 int fan)
{
    int num = l->call->hierarchy->num_nodes;
    int vnode = (top - l->call->hierarchy->my_node + num) % num;
    int child;
    for (int k = 0; (child = coll_poweraware_node_child(vnode, num, k, fan)) >= 0; ++k) {
        coll_poweraware_leaders_transfer(l, false, room, count, (top - child + num) % num);
        coll_poweraware_put_left(l, room, sum, count);
    }
    if (vnode > 0) {
        int parent = coll_poweraware_node_parent(vnode, fan);
        coll_poweraware_leaders_transfer(l, true, sum, count, (top - parent + num) % num);
    }
}

/* The other way. */
static void sum_from_node(leaders_t *l, char *sum, size_t count, int top, int fan)
{
    int num = l->call->hierarchy->num_nodes;
    int vnode = (top - l->call->hierarchy->my_node + num) % num;
    if (vnode > 0) {
        int parent = coll_poweraware_node_parent(vnode, fan);
        coll_poweraware_leaders_transfer(l, false, sum, count, (top - parent + num) % num);
    }
    for (int k = coll_poweraware_num_children(vnode, num, fan) - 1; k >= 0; --k) {
        int child = coll_poweraware_node_child(vnode, num, k, fan); /* largest subtree first */
        coll_poweraware_leaders_post(l, true, sum, count, (top - child + num) % num);
    }
    coll_poweraware_leaders_complete(l);
}

void coll_poweraware_sum_pass(leaders_t *l, char *sum, size_t count, int from, int to)
{
    int me = l->call->hierarchy->my_node;
    if (from != to && (me == from || me == to)) {
        coll_poweraware_leaders_transfer(l, me == from, sum, count, me == from ? to : from);
    }
}

/* ---- recursive doubling ---- */

typedef struct doubling {
    leaders_t *leaders;
    size_t count;
    char *mine;   /* the sum so far */
    char *theirs; /* room */
    int folded;   /* the first 2 * folded nodes are taken together in pairs */
} doubling_t;

/* One of nodes me and partner is before the other; the sum of both is in mine afterwards. */
static void combine(doubling_t *d, bool partner_first)
{
    if (partner_first) {
        coll_poweraware_put_left(d->leaders, d->theirs, d->mine, d->count);
        return;
    }
    coll_poweraware_put_left(d->leaders, d->mine, d->theirs, d->count);
    char *swap = d->mine;
    d->mine = d->theirs;
    d->theirs = swap;
}

static void double_up(doubling_t *d, int vnode, int num)
{
    for (int distance = 1; distance < num; distance *= 2) {
        int partner = vnode ^ distance;
        int node = partner < d->folded ? 2 * partner + 1 : partner + d->folded;
        coll_poweraware_leaders_post(d->leaders, false, d->theirs, d->count, node);
        coll_poweraware_leaders_post(d->leaders, true, d->mine, d->count, node);
        coll_poweraware_leaders_complete(d->leaders);
        combine(d, partner < vnode);
    }
}

/* Of a folded pair the first node gives the second its operand and gets the result. */
static void double_folded(doubling_t *d, int me, int num)
{
    if (me >= 2 * d->folded) {
        double_up(d, me - d->folded, num);
    } else if (0 == me % 2) {
        coll_poweraware_leaders_transfer(d->leaders, true, d->mine, d->count, me + 1);
        coll_poweraware_leaders_transfer(d->leaders, false, d->mine, d->count, me + 1);
    } else {
        coll_poweraware_leaders_transfer(d->leaders, false, d->theirs, d->count, me - 1);
        combine(d, true);
        double_up(d, me / 2, num);
        coll_poweraware_leaders_transfer(d->leaders, true, d->mine, d->count, me - 1);
    }
}

static char *sum_double(leaders_t *l, char *sum, char *room, size_t count)
{
    const pwr_hierarchy_t *h = l->call->hierarchy;
    doubling_t d = {.leaders = l, .count = count, .mine = sum, .theirs = room};
    int power = 1;
    while (2 * power <= h->num_nodes) {
        power *= 2;
    }
    d.folded = h->num_nodes - power;
    double_folded(&d, h->my_node, power);
    return d.mine;
}

/* ---- everywhere ---- */

char *coll_poweraware_sum_whole(leaders_t *l, char *sum, char *room, size_t count)
{
    int num = l->call->hierarchy->num_nodes;
    size_t bytes = count * (size_t)l->operands->extent;
    if (coll_poweraware_saves_messages(l->call) && bytes <= COLL_POWERAWARE_WIDE_BYTES) {
        int fan = coll_poweraware_fan(bytes, num);
        coll_poweraware_sum_to_node(l, sum, room, count, num - 1, fan);
        sum_from_node(l, sum, count, num - 1, fan);
        return sum;
    }
    return sum_double(l, sum, room, count);
}

/* ---- of the nodes before ---- */

/* The sum is that of the last `distance` nodes up to mine, before that of one less, without mine.
 */
void coll_poweraware_sum_before(leaders_t *l, char *sum, char *room, char *before, size_t count)
{
    int me = l->call->hierarchy->my_node;
    for (int distance = 1; distance < l->call->hierarchy->num_nodes; distance *= 2) {
        if (me >= distance) {
            coll_poweraware_leaders_post(l, false, room, count, me - distance);
        }
        if (me + distance < l->call->hierarchy->num_nodes) {
            coll_poweraware_leaders_post(l, true, sum, count, me + distance);
        }
        coll_poweraware_leaders_complete(l);
        if (me >= distance && 1 == distance) {
            coll_poweraware_note_error(
                l->call, coll_poweraware_copy_operands(l->operands, before, room, count));
        } else if (me >= distance) {
            coll_poweraware_put_left(l, room, before, count);
        }
        if (me >= distance) {
            coll_poweraware_put_left(l, room, sum, count);
        }
    }
}
