/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where the parts of a reduction lie: areas of a chunk, runs of a message, slices of ranks, leaders
 * of nodes (contracts: reduce_node.h).
 */
#include "algorithms/leader/reduce_node.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/* ---- what fits ---- */

/* The most slots of a chunk: two chunks are in hand. */
enum { MOST_SLOTS = PWR_SEGMENT_SLOTS / 2 };
_Static_assert(0 == (MOST_SLOTS & (MOST_SLOTS - 1)), "chunks of any size follow without a gap");

static size_t area_bytes_of(const coll_poweraware_call_t *call, int num_slots)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    size_t areas = (size_t)h->max_local + (h->num_nodes > 1);
    return (size_t)num_slots * call->slot_bytes / areas / COLL_POWERAWARE_ALIGNMENT *
           COLL_POWERAWARE_ALIGNMENT;
}

/* Elements that fit an area, whatever the type's gaps; 0 if not even one does.  The same on all
   nodes: it depends on max_local, not on num_local. */
static size_t elements_that_fit(size_t area_bytes, const struct ompi_datatype_t *datatype)
{
    ptrdiff_t gap;
    ptrdiff_t one = opal_datatype_span(&datatype->super, 1, &gap);
    ptrdiff_t extent;
    ptrdiff_t lb;
    ompi_datatype_get_extent(datatype, &lb, &extent);
    ptrdiff_t room = (ptrdiff_t)area_bytes - COLL_POWERAWARE_ALIGNMENT - one;
    if (extent <= 0 || room < 0) {
        return 0;
    }
    return 1 + (size_t)(room / extent);
}

/* On one node chunks that stay in a cache are as fast as larger ones (256 KiB: 0.3 to 0.5 times the
   stock function's time between two cores of an AMD EPYC 9004, 128 KiB to 4 MiB).  Between nodes
   every chunk costs waits for messages and, where ranks share CPUs, changes of rank. */
static size_t chunk_elements(const coll_poweraware_reduction_t *r)
{
    if (r->call->hierarchy->num_nodes > 1) {
        return r->room;
    }
    size_t wanted = r->call->settings->chunk_bytes / (size_t)r->operands.extent;
    return wanted > 0 && wanted < r->room ? wanted : r->room;
}

bool coll_poweraware_reduction_can(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args, size_t least)
{
    return coll_poweraware_order_is_kept(call, args) &&
           elements_that_fit(area_bytes_of(call, MOST_SLOTS), args->rdtype) >= least;
}

/* ---- who leads ---- */

static int ranks_of(const pwr_hierarchy_t *h, int node)
{
    return h->node_start[node + 1] - h->node_start[node];
}

/* As many as asked for, but no more than the smallest node has ranks. */
static int count_leaders(const pwr_hierarchy_t *h, int wanted)
{
    int leaders = wanted;
    for (int node = 0; node < h->num_nodes; ++node) {
        int ranks = ranks_of(h, node);
        leaders = ranks < leaders ? ranks : leaders;
    }
    return leaders;
}

/* Rank of leader part of a node.  Several are spread over its packages. */
static int leader_of(const coll_poweraware_reduction_t *r, int node, int part)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    if (1 == r->num_leaders) {
        return h->leader_of[node];
    }
    return h->members[h->node_start[node] + part * ranks_of(h, node) / r->num_leaders];
}

static int leader_of_my_part(const void *self, int node)
{
    const coll_poweraware_reduction_t *r = self;
    return leader_of(r, node, r->my_part);
}

static int find_my_part(const coll_poweraware_reduction_t *r)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int part = r->num_leaders - 1;
    while (part >= 0 && h->my_rank != leader_of(r, h->my_node, part)) {
        --part;
    }
    return part;
}

coll_poweraware_range_t coll_poweraware_my_part(const coll_poweraware_reduction_t *r,
                                                const coll_poweraware_reduce_chunk_t *chunk)
{
    return coll_poweraware_part((coll_poweraware_range_t){0, chunk->count}, (size_t)r->my_part,
                                (size_t)r->num_leaders);
}

int coll_poweraware_reduction_leader_near_me(const coll_poweraware_reduction_t *r)
{
    const pwr_hierarchy_t *h = r->call->hierarchy;
    int leader = leader_of(r, h->my_node, 0);
    for (int part = 1; part < r->num_leaders && h->group_of[leader] != h->my_group; ++part) {
        leader = leader_of(r, h->my_node, part);
    }
    return leader;
}

/* ---- areas ---- */

char *coll_poweraware_reduction_area(const coll_poweraware_reduction_t *r,
                                     const coll_poweraware_reduce_chunk_t *chunk, int index,
                                     size_t element)
{
    size_t place = index < r->call->hierarchy->max_local ? chunk->place : 0;
    return (char *)chunk->slot.data + (size_t)index * r->area_bytes + place + r->operands.base +
           (ptrdiff_t)element * r->operands.extent;
}

char *coll_poweraware_reduction_sum(const coll_poweraware_reduction_t *r,
                                    const coll_poweraware_reduce_chunk_t *chunk, size_t element)
{
    int last = r->call->hierarchy->num_local - 1;
    return coll_poweraware_reduction_area(r, chunk, last, element);
}

char *coll_poweraware_reduction_room(const coll_poweraware_reduction_t *r,
                                     const coll_poweraware_reduce_chunk_t *chunk, size_t element)
{
    int behind = r->call->hierarchy->max_local;
    return coll_poweraware_reduction_area(r, chunk, behind, element);
}

/* Lines that others have just read are slow to write: they have to be taken away from the caches
   that hold them.  So chunks move through their slots, and what is written was read long ago. */
size_t coll_poweraware_reduction_place(const coll_poweraware_reduction_t *r, size_t count)
{
    ptrdiff_t gap;
    size_t bytes = (size_t)opal_datatype_span(&r->operands.datatype->super, count, &gap);
    size_t step = (bytes + 2 * COLL_POWERAWARE_ALIGNMENT - 1) / COLL_POWERAWARE_ALIGNMENT *
                  COLL_POWERAWARE_ALIGNMENT;
    size_t places = r->area_bytes / step;
    size_t turn = r->call->segment->next_chunk / PWR_SEGMENT_SLOTS;
    return places > 1 ? turn % places * step : 0;
}

/* ---- cutting ---- */

/* Slices begin on lines of their own where elements allow it. */
void coll_poweraware_reduction_cut_slices(const coll_poweraware_reduction_t *r,
                                          coll_poweraware_reduce_chunk_t *chunk)
{
    size_t me = (size_t)r->call->hierarchy->my_local;
    size_t num = (size_t)r->call->hierarchy->num_local;
    size_t extent = (size_t)r->operands.extent;
    size_t unit = extent < COLL_POWERAWARE_ALIGNMENT && 0 == COLL_POWERAWARE_ALIGNMENT % extent
                      ? COLL_POWERAWARE_ALIGNMENT / extent
                      : 1;
    coll_poweraware_range_t units = {0, chunk->count / unit};
    coll_poweraware_range_t mine = coll_poweraware_part(units, me, num);
    chunk->from = mine.from * unit;
    chunk->to = me + 1 < num ? mine.to * unit : chunk->count;
}

void coll_poweraware_reduction_cut_evenly(coll_poweraware_reduction_t *r,
                                          coll_poweraware_reduce_chunk_t *chunk)
{
    coll_poweraware_range_t all = {0, r->elements};
    coll_poweraware_range_t mine = coll_poweraware_part(all, chunk->number, r->num_chunks);
    chunk->count = mine.to - mine.from;
    chunk->take_count = chunk->count;
    chunk->take_to = mine.from;
    coll_poweraware_reduction_cut_slices(r, chunk);
    r->one_run_at[0] = 0;
    r->one_run_at[1] = chunk->count;
    r->one_run_user[0] = mine.from;
    r->num_runs = 1;
    r->run_at = r->one_run_at;
    r->run_user = r->one_run_user;
}

coll_poweraware_stretch_t coll_poweraware_reduction_clip(const coll_poweraware_reduction_t *r,
                                                         size_t k, size_t from, size_t to)
{
    size_t begin = r->run_at[k] > from ? r->run_at[k] : from;
    size_t end = r->run_at[k + 1] < to ? r->run_at[k + 1] : to;
    return (coll_poweraware_stretch_t){
        .at = begin,
        .user = r->run_user[k] + (begin - r->run_at[k]),
        .count = end > begin ? end - begin : 0,
    };
}

/* ---- all of it ---- */

/* Of a message between leaders, at most; 0: any.  One area comes and one goes at once, in as many
   parts as a call may have: so elements must not overlap. */
static size_t message_elements(const coll_poweraware_reduction_t *r)
{
    size_t most = coll_poweraware_message_bytes(r->call);
    size_t extent = (size_t)r->operands.extent;
    bool few = r->area_bytes / most < COLL_POWERAWARE_MOST_PARTS / 2;
    return few && r->operands.datatype->super.size <= extent ? most / extent : 0;
}

/* As few as the message needs.  On one node as few as give about the chunk that is wanted: the more
   chunks, the further may ranks run ahead of others.  Between nodes as many as there are. */
static void choose_slots(coll_poweraware_reduction_t *r, size_t elements, size_t least)
{
    size_t enough =
        r->call->hierarchy->num_nodes > 1 ? SIZE_MAX : r->call->settings->chunk_bytes / 2;
    for (r->num_slots = 1;; r->num_slots *= 2) {
        r->area_bytes = area_bytes_of(r->call, r->num_slots);
        r->room = elements_that_fit(r->area_bytes, r->operands.datatype);
        bool large = r->room >= least && r->area_bytes >= enough;
        if (elements <= r->room || large || MOST_SLOTS == r->num_slots) {
            return;
        }
    }
}

void coll_poweraware_reduction_begin(coll_poweraware_reduction_t *r, coll_poweraware_call_t *call,
                                     const coll_poweraware_args_t *args, size_t elements,
                                     size_t least)
{
    *r = (coll_poweraware_reduction_t){
        .call = call,
        .operands = coll_poweraware_operands(args),
        .leaders = {.call = call,
                    .operands = &r->operands,
                    .of_node = leader_of_my_part,
                    .self = r},
        .elements = elements,
        .num_leaders = count_leaders(call->hierarchy, call->settings->leaders),
        .shares_sum = true,
        .awaits_sum = true,
        .cut = coll_poweraware_reduction_cut_evenly,
    };
    choose_slots(r, elements > least ? elements : least, least);
    r->leaders.message_count = message_elements(r);
    r->capacity = chunk_elements(r);
    r->num_chunks = (elements + r->capacity - 1) / r->capacity;
    r->my_part = find_my_part(r);
}
