/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Pairwise network phases of leaders (contracts: among_leaders.h).
 */
#include "algorithms/leader/among_leaders.h"

#include "ompi/op/op.h"

typedef coll_poweraware_reduction_t reduction_t;
typedef coll_poweraware_reduce_chunk_t reduce_chunk_t;
typedef coll_poweraware_range_t range_t;

range_t coll_poweraware_my_part(const reduction_t *r, const reduce_chunk_t *chunk)
{
    return coll_poweraware_part((range_t){0, chunk->count}, (size_t)r->my_part,
                                (size_t)r->num_leaders);
}

static size_t length(range_t range)
{
    return range.to - range.from;
}

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
    char *room = s->first_room + (ptrdiff_t)((size_t)index * s->count) * s->r->operands.extent;
    bool taken = room == s->after;
    return taken ? s->first_room + (ptrdiff_t)((size_t)s->window * s->count) * s->r->operands.extent
                 : room;
}

/* Step d: my range of node me - d into a room, node me + d's range of mine to it. */
static void post_step(const scatter_t *s, int d)
{
    const pwr_hierarchy_t *h = s->r->call->hierarchy;
    const coll_poweraware_leaders_t *leaders = &s->r->leaders;
    int to = (h->my_node + d) % h->num_nodes;
    range_t theirs = s->range_of(s->r, s->chunk, to);
    coll_poweraware_leaders_post(leaders, false, room_of(s, d), s->count,
                                 (h->my_node - d + h->num_nodes) % h->num_nodes);
    coll_poweraware_leaders_post(leaders, true,
                                 coll_poweraware_reduction_sum(s->r, s->chunk, theirs.from),
                                 length(theirs), to);
}

static void combine_step(scatter_t *s, int d)
{
    bool keep_apart = d > s->r->call->hierarchy->my_node && !ompi_op_is_commute(s->r->operands.op);
    char *room = room_of(s, d);
    if (keep_apart && NULL == s->after) {
        s->after = room;
    } else {
        coll_poweraware_put_left(&s->r->leaders, room, keep_apart ? s->after : s->before, s->count);
    }
}

static void join(scatter_t *s)
{
    if (NULL != s->after) {
        coll_poweraware_put_left(&s->r->leaders, s->before, s->after, s->count);
        coll_poweraware_note_error(s->r->call, coll_poweraware_copy_operands(
                                                   &s->r->operands, s->before, s->after, s->count));
    }
}

void coll_poweraware_chunk_scatter(reduction_t *r, const reduce_chunk_t *chunk,
                                   coll_poweraware_range_of_t range_of, range_t room)
{
    range_t mine = range_of(r, chunk, r->call->hierarchy->my_node);
    scatter_t s = {.r = r,
                   .chunk = chunk,
                   .range_of = range_of,
                   .count = length(mine),
                   .before = coll_poweraware_reduction_sum(r, chunk, mine.from),
                   .first_room = coll_poweraware_reduction_room(r, chunk, room.from),
                   .window = window_of(r, length(mine), length(room))};
    for (int first = 1; first <= others(r); first += s.window) {
        int end = first + s.window <= others(r) ? first + s.window : others(r) + 1;
        for (int d = first; d < end; ++d) {
            post_step(&s, d);
        }
        coll_poweraware_leaders_complete(&r->leaders);
        for (int d = first; d < end; ++d) {
            combine_step(&s, d);
        }
    }
    join(&s);
}

void coll_poweraware_chunk_gather(reduction_t *r, const reduce_chunk_t *chunk,
                                  coll_poweraware_range_of_t range_of)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    range_t mine = range_of(r, chunk, h->my_node);
    char *sum = coll_poweraware_reduction_sum(r, chunk, mine.from);
    for (int d = 1; d < h->num_nodes; ++d) {
        int from = (h->my_node - d + h->num_nodes) % h->num_nodes;
        range_t theirs = range_of(r, chunk, from);
        coll_poweraware_leaders_post(&r->leaders, false,
                                     coll_poweraware_reduction_sum(r, chunk, theirs.from),
                                     length(theirs), from);
        coll_poweraware_leaders_post(&r->leaders, true, sum, length(mine),
                                     (h->my_node + d) % h->num_nodes);
        if (0 == d % WINDOW || d + 1 == h->num_nodes) {
            coll_poweraware_leaders_complete(&r->leaders);
        }
    }
}
