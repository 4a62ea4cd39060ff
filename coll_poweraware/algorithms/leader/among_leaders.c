/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Pairwise network phases of leaders (contracts: among_leaders.h).
 */
#include "algorithms/leader/among_leaders.h"

#include "algorithms/leader/node_tree.h"

#include "ompi/op/op.h"

typedef const coll_poweraware_pairwise_t pairwise_t;
typedef coll_poweraware_range_t range_t;

static size_t length(range_t range)
{
    return range.to - range.from;
}

static const pwr_hierarchy_t *hierarchy_of(pairwise_t *p)
{
    return p->leaders->call->hierarchy;
}

static range_t mine_of(pairwise_t *p)
{
    return p->range_of(p->arg, hierarchy_of(p)->my_node);
}

static char *element(pairwise_t *p, char *from, size_t index)
{
    return from + (ptrdiff_t)index * p->leaders->operands->extent;
}

/* ---- scatter ---- */

enum { WINDOW = 16 }; /* steps of two messages each: see coll_poweraware_max_requests */

typedef struct scatter {
    pairwise_t *p;
    size_t count; /* of my range */
    char *before; /* x_0 op ... op x_mine, so far */
    char *after;  /* x_mine+1 op ... op x_last, so far; NULL: nothing yet */
    int window;   /* steps at once; one more room keeps `after`, unless one window is all */
} scatter_t;

static int others(const pwr_hierarchy_t *h)
{
    return h->num_nodes - 1;
}

int coll_poweraware_pairwise_rooms(const pwr_hierarchy_t *h)
{
    return others(h) < 2 ? others(h) : 2;
}

static int window_of(pairwise_t *p, size_t count)
{
    int all = others(hierarchy_of(p));
    size_t rooms = 0 == count ? (size_t)all : p->room_count / count;
    int window = all < WINDOW ? all : WINDOW;
    if (rooms >= (size_t)all || rooms > (size_t)window) {
        return window;
    }
    return (int)rooms - 1;
}

static char *room_of(const scatter_t *s, int d)
{
    char *room = element(s->p, s->p->room, (size_t)((d - 1) % s->window) * s->count);
    bool taken = room == s->after;
    return taken ? element(s->p, s->p->room, (size_t)s->window * s->count) : room;
}

/* Step d: my range of node me - d into a room, node me + d's range of mine to it. */
static void post_step(const scatter_t *s, int d)
{
    const pwr_hierarchy_t *h = hierarchy_of(s->p);
    const coll_poweraware_leaders_t *leaders = s->p->leaders;
    int to = (h->my_node + d) % h->num_nodes;
    range_t theirs = s->p->range_of(s->p->arg, to);
    coll_poweraware_leaders_post(leaders, false, room_of(s, d), s->count,
                                 (h->my_node - d + h->num_nodes) % h->num_nodes);
    coll_poweraware_leaders_post(leaders, true, element(s->p, s->p->sum, theirs.from),
                                 length(theirs), to);
}

static void combine_step(scatter_t *s, int d)
{
    const coll_poweraware_leaders_t *leaders = s->p->leaders;
    bool keep_apart = d > hierarchy_of(s->p)->my_node && !ompi_op_is_commute(leaders->operands->op);
    char *room = room_of(s, d);
    if (keep_apart && NULL == s->after) {
        s->after = room;
    } else {
        coll_poweraware_put_left(leaders, room, keep_apart ? s->after : s->before, s->count);
    }
}

static void join(scatter_t *s)
{
    const coll_poweraware_leaders_t *leaders = s->p->leaders;
    if (NULL != s->after) {
        coll_poweraware_put_left(leaders, s->before, s->after, s->count);
        coll_poweraware_note_error(
            leaders->call,
            coll_poweraware_copy_operands(leaders->operands, s->before, s->after, s->count));
    }
}

void coll_poweraware_pairwise_scatter(pairwise_t *p)
{
    range_t mine = mine_of(p);
    scatter_t s = {.p = p,
                   .count = length(mine),
                   .before = element(p, p->sum, mine.from),
                   .window = window_of(p, length(mine))};
    int all = others(hierarchy_of(p));
    for (int first = 1; first <= all; first += s.window) {
        int end = first + s.window <= all ? first + s.window : all + 1;
        for (int d = first; d < end; ++d) {
            post_step(&s, d);
        }
        coll_poweraware_leaders_complete(p->leaders);
        for (int d = first; d < end; ++d) {
            combine_step(&s, d);
        }
    }
    join(&s);
}

/* ---- gather ---- */

/* Every node's range to all other nodes. */
static void gather(pairwise_t *p)
{
    const pwr_hierarchy_t *h = hierarchy_of(p);
    range_t mine = mine_of(p);
    for (int d = 1; d < h->num_nodes; ++d) {
        int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
        range_t theirs = p->range_of(p->arg, from);
        coll_poweraware_leaders_post(p->leaders, false, element(p, p->sum, theirs.from),
                                     length(theirs), from);
        coll_poweraware_leaders_post(p->leaders, true, element(p, p->sum, mine.from), length(mine),
                                     (h->my_node + d) % h->num_nodes);
        if (0 == d % WINDOW || d + 1 == h->num_nodes) {
            coll_poweraware_leaders_complete(p->leaders);
        }
    }
}

/* ---- everywhere ---- */

typedef struct pieces {
    size_t count, nodes;
} pieces_t;

static range_t piece_of(const void *arg, int node)
{
    const pieces_t *all = arg;
    return coll_poweraware_part((range_t){0, all->count}, (size_t)node, all->nodes);
}

/* A leader of p nodes sends
     in pieces    2 (p - 1) messages, and of n bytes 2 (p - 1) / p
     by doubling  log2 p messages, and all n bytes in each,
   where a message costs as much as so many bytes more (measured: emulated nodes, TCP; reckoned for
   InfiniBand, of 1 us and 12 GB/s: 12 KiB).  Two nodes gain nothing by pieces. */
enum { MESSAGE_BYTES = 6 << 10 };

static bool in_pieces(const coll_poweraware_leaders_t *leaders, size_t count)
{
    const pwr_hierarchy_t *h = leaders->call->hierarchy;
    size_t nodes = (size_t)h->num_nodes, largest = (count + nodes - 1) / nodes;
    size_t steps = (size_t)coll_poweraware_num_children(0, (int)nodes, COLL_POWERAWARE_BINOMIAL);
    size_t messages = 2 * (nodes - 1), bytes = count * (size_t)leaders->operands->extent;
    bool fits = largest * (size_t)coll_poweraware_pairwise_rooms(h) <= count;
    return fits && bytes * (steps * nodes - messages) > MESSAGE_BYTES * nodes * (messages - steps);
}

char *coll_poweraware_sum_everywhere(const coll_poweraware_leaders_t *leaders, char *sum,
                                     char *room, size_t count)
{
    const pieces_t pieces = {count, (size_t)leaders->call->hierarchy->num_nodes};
    const coll_poweraware_pairwise_t pairwise = {leaders, piece_of, &pieces, sum, room, count};
    if (!in_pieces(leaders, count)) {
        return coll_poweraware_sum_whole(leaders, sum, room, count);
    }
    coll_poweraware_pairwise_scatter(&pairwise);
    gather(&pairwise);
    return sum;
}
