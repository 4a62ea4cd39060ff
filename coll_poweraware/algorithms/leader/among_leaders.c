/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Network phases of leaders (contracts, orders and sources: among_leaders.h).
 */
#include "algorithms/leader/among_leaders.h"

#include "algorithms/leader/node_tree.h"

#include "ompi/op/op.h"

typedef coll_poweraware_reduction_t reduction_t;
typedef coll_poweraware_reduce_chunk_t reduce_chunk_t;
typedef coll_poweraware_range_t range_t;

range_t coll_poweraware_range_of_part(const reduction_t *r, range_t all)
{
    size_t num = (size_t)r->num_leaders;
    size_t part = (size_t)r->my_part;
    size_t count = all.to - all.from;
    return (range_t){all.from + coll_poweraware_part(count, part, num),
                     all.from + coll_poweraware_part(count, part + 1, num)};
}

static size_t length(range_t range)
{
    return range.to - range.from;
}

static char *in_sum(const reduction_t *r, const reduce_chunk_t *chunk, size_t element)
{
    return coll_poweraware_reduction_sum(r, chunk) + (ptrdiff_t)element * r->extent;
}

/* In the area to receive into. */
static char *in_room(const reduction_t *r, const reduce_chunk_t *chunk, size_t element)
{
    return coll_poweraware_reduction_area(r, chunk, r->call->hierarchy->max_local) +
           (ptrdiff_t)element * r->extent;
}

/* sum = operand op sum */
static void put_left(const reduction_t *r, char *operand, char *sum, size_t count)
{
    if (count > 0 && OMPI_SUCCESS == r->call->error) { /* else it may not have come */
        ompi_op_reduce(r->op, operand, sum, (int)count, r->datatype);
    }
}

/* ---- messages; empty ones are not sent ---- */

static int post(const reduction_t *r, bool send, char *buffer, size_t count, int node)
{
    int peer = coll_poweraware_reduction_leader(r, node, r->my_part);
    if (0 == count) {
        return OMPI_SUCCESS;
    }
    return send ? coll_poweraware_post_send(r->call, buffer, count, r->datatype, peer)
                : coll_poweraware_post_recv(r->call, buffer, count, r->datatype, peer);
}

static int complete(reduction_t *r, int first)
{
    coll_poweraware_reduction_meanwhile(r);
    return coll_poweraware_complete(r->call, first);
}

static int transfer(reduction_t *r, bool send, char *buffer, size_t count, int node)
{
    return complete(r, post(r, send, buffer, count, node));
}

static int exchange(reduction_t *r, char *mine, char *theirs, size_t count, int node)
{
    int rc = post(r, false, theirs, count, node);
    return complete(r, coll_poweraware_first_error(rc, post(r, true, mine, count, node)));
}

/* ---- to one node ---- */

/* The k-th child of a virtual node, or -1. */
static int child_of(int vnode, int num_nodes, int k, bool chain)
{
    if (!chain) {
        return coll_poweraware_tree_child(vnode, num_nodes, k);
    }
    return 0 == k && vnode + 1 < num_nodes ? vnode + 1 : -1;
}

int coll_poweraware_chunk_to_node(reduction_t *r, const reduce_chunk_t *chunk, range_t range,
                                  int top, bool chain)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int num = h->num_nodes;
    int vnode = (top - h->my_node + num) % num;
    char *sum = in_sum(r, chunk, range.from);
    char *room = in_room(r, chunk, range.from);
    int rc = OMPI_SUCCESS;
    int child;
    for (int k = 0; (child = child_of(vnode, num, k, chain)) >= 0; ++k) {
        int node = (top - child + num) % num;
        rc = coll_poweraware_first_error(rc, transfer(r, false, room, length(range), node));
        put_left(r, room, sum, length(range));
    }
    if (vnode > 0) {
        int parent = chain ? vnode - 1 : coll_poweraware_tree_parent(vnode);
        int node = (top - parent + num) % num;
        rc = coll_poweraware_first_error(rc, transfer(r, true, sum, length(range), node));
    }
    return rc;
}

int coll_poweraware_chunk_pass(reduction_t *r, const reduce_chunk_t *chunk, range_t range, int from,
                               int to)
{
    int me = r->call->hierarchy->my_node;
    if (from == to || (me != from && me != to)) {
        return OMPI_SUCCESS;
    }
    bool send = me == from;
    return transfer(r, send, in_sum(r, chunk, range.from), length(range), send ? to : from);
}

/* ---- recursive doubling ---- */

typedef struct doubling {
    reduction_t *r;
    size_t count;
    char *mine;   /* the sum so far */
    char *theirs; /* room */
    int folded;   /* the first 2 * folded nodes are taken together in pairs */
} doubling_t;

/* One of nodes me and partner is before the other; the sum of both is in mine afterwards. */
static void combine(doubling_t *d, bool partner_first)
{
    if (partner_first) {
        put_left(d->r, d->theirs, d->mine, d->count);
        return;
    }
    put_left(d->r, d->mine, d->theirs, d->count);
    char *swap = d->mine;
    d->mine = d->theirs;
    d->theirs = swap;
}

static int double_up(doubling_t *d, int vnode, int num)
{
    int rc = OMPI_SUCCESS;
    for (int distance = 1; distance < num; distance *= 2) {
        int partner = vnode ^ distance;
        int node = partner < d->folded ? 2 * partner + 1 : partner + d->folded;
        rc = coll_poweraware_first_error(rc, exchange(d->r, d->mine, d->theirs, d->count, node));
        combine(d, partner < vnode);
    }
    return rc;
}

/* Of a folded pair the first node gives the second its operand and gets the result. */
static int double_folded(doubling_t *d, int me, int num)
{
    if (me >= 2 * d->folded) {
        return double_up(d, me - d->folded, num);
    }
    if (0 == me % 2) {
        int rc = transfer(d->r, true, d->mine, d->count, me + 1);
        return coll_poweraware_first_error(rc, transfer(d->r, false, d->mine, d->count, me + 1));
    }
    int rc = transfer(d->r, false, d->theirs, d->count, me - 1);
    combine(d, true);
    rc = coll_poweraware_first_error(rc, double_up(d, me / 2, num));
    return coll_poweraware_first_error(rc, transfer(d->r, true, d->mine, d->count, me - 1));
}

int coll_poweraware_chunk_double(reduction_t *r, const reduce_chunk_t *chunk, range_t range)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    doubling_t d = {
        .r = r,
        .count = length(range),
        .mine = in_sum(r, chunk, range.from),
        .theirs = in_room(r, chunk, range.from),
    };
    char *sum = d.mine;
    int power = 1;
    while (2 * power <= h->num_nodes) {
        power *= 2;
    }
    d.folded = h->num_nodes - power;
    int rc = double_folded(&d, h->my_node, power);
    if (sum != d.mine &&
        ompi_datatype_copy_content_same_ddt(r->datatype, d.count, sum, d.mine) < 0) {
        rc = coll_poweraware_first_error(rc, OMPI_ERROR);
    }
    return rc;
}

/* ---- pairwise ---- */

enum { WINDOW = 16 }; /* steps of two messages each: see coll_poweraware_max_requests */

typedef struct scatter {
    reduction_t *r;
    const reduce_chunk_t *chunk;
    coll_poweraware_range_of_t range_of;
    size_t count; /* of my range */
    char *before; /* x_0 op ... op x_mine, so far */
    char *after;  /* x_mine+1 op ... op x_last, so far; NULL: nothing yet */
    char *first_room;
    int window; /* steps at once; one more room keeps `after`, unless one window is all */
} scatter_t;

static int others(const reduction_t *r)
{
    return r->call->hierarchy->num_nodes - 1;
}

int coll_poweraware_chunk_least_rooms(const reduction_t *r)
{
    return others(r) < 2 ? others(r) : 2;
}

static int window_of(const reduction_t *r, size_t count, size_t room)
{
    size_t rooms = 0 == count ? (size_t)others(r) : room / count;
    int window = others(r) < WINDOW ? others(r) : WINDOW;
    if (rooms >= (size_t)others(r) || rooms > (size_t)window) {
        return window;
    }
    return (int)rooms - 1;
}

static char *room_of(const scatter_t *s, int d)
{
    int index = (d - 1) % s->window;
    char *room = s->first_room + (ptrdiff_t)((size_t)index * s->count) * s->r->extent;
    bool taken = room == s->after;
    return taken ? s->first_room + (ptrdiff_t)((size_t)s->window * s->count) * s->r->extent : room;
}

/* Step d: my range of node me - d into a room, node me + d's range of mine to it. */
static int post_step(const scatter_t *s, int d)
{
    const pwr_hierarchy_t *h = s->r->call->hierarchy;
    int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
    int to = (h->my_node + d) % h->num_nodes;
    range_t theirs = s->range_of(s->r, s->chunk, to);
    int rc = post(s->r, false, room_of(s, d), s->count, from);
    return coll_poweraware_first_error(
        rc, post(s->r, true, in_sum(s->r, s->chunk, theirs.from), length(theirs), to));
}

static void combine_step(scatter_t *s, int d)
{
    bool keep_apart = d > s->r->call->hierarchy->my_node && !ompi_op_is_commute(s->r->op);
    char *room = room_of(s, d);
    if (keep_apart && NULL == s->after) {
        s->after = room;
    } else {
        put_left(s->r, room, keep_apart ? s->after : s->before, s->count);
    }
}

static int join(scatter_t *s)
{
    if (NULL == s->after) {
        return OMPI_SUCCESS;
    }
    put_left(s->r, s->before, s->after, s->count);
    return ompi_datatype_copy_content_same_ddt(s->r->datatype, s->count, s->before, s->after) < 0
               ? OMPI_ERROR
               : OMPI_SUCCESS;
}

int coll_poweraware_chunk_scatter(reduction_t *r, const reduce_chunk_t *chunk,
                                  coll_poweraware_range_of_t range_of, range_t room)
{
    range_t mine = range_of(r, chunk, r->call->hierarchy->my_node);
    scatter_t s = {.r = r,
                   .chunk = chunk,
                   .range_of = range_of,
                   .count = length(mine),
                   .before = in_sum(r, chunk, mine.from),
                   .first_room = in_room(r, chunk, room.from),
                   .window = window_of(r, length(mine), length(room))};
    int rc = OMPI_SUCCESS;
    for (int first = 1; first <= others(r); first += s.window) {
        int end = first + s.window <= others(r) ? first + s.window : others(r) + 1;
        for (int d = first; d < end; ++d) {
            rc = coll_poweraware_first_error(rc, post_step(&s, d));
        }
        rc = complete(r, rc);
        for (int d = first; d < end; ++d) {
            combine_step(&s, d);
        }
    }
    return coll_poweraware_first_error(rc, join(&s));
}

int coll_poweraware_chunk_gather(reduction_t *r, const reduce_chunk_t *chunk,
                                 coll_poweraware_range_of_t range_of)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    range_t mine = range_of(r, chunk, h->my_node);
    int rc = OMPI_SUCCESS;
    for (int d = 1; d < h->num_nodes; ++d) {
        int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
        range_t theirs = range_of(r, chunk, from);
        rc = coll_poweraware_first_error(
            rc, post(r, false, in_sum(r, chunk, theirs.from), length(theirs), from));
        rc = coll_poweraware_first_error(rc, post(r, true, in_sum(r, chunk, mine.from),
                                                  length(mine), (h->my_node + d) % h->num_nodes));
        if (0 == d % WINDOW || d + 1 == h->num_nodes) {
            rc = complete(r, rc);
        }
    }
    return rc;
}
