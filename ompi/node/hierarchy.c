/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Nodes and groups from (leader, package) pairs: one sort and three passes, no communication.
 */
#include "pwr_ompi/hierarchy.h"

#include <stdlib.h>

typedef struct place {
    int node;
    int package;
    int rank;
} place_t;

static int compare_places(const void *left, const void *right)
{
    const place_t *a = left;
    const place_t *b = right;
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    if (a->package != b->package) {
        return a->package < b->package ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* All arrays whose lengths are known: one block, which begins with the first of them. */
static bool allocate(pwr_hierarchy_t *h)
{
    int **const arrays[] = {&h->node_of,  &h->group_of, &h->leader_of, &h->members,
                            &h->local_of, &h->by_node,  &h->node_start};
    const size_t num = sizeof arrays / sizeof arrays[0];
    const size_t length = (size_t)h->size + 1; /* as many as node_start may need */
    int *block = calloc(num * length, sizeof *block);
    for (size_t i = 0; NULL != block && i < num; ++i) {
        *arrays[i] = block + i * length;
    }
    return NULL != block;
}

/* Numbers nodes in order of their leaders and finds out whether their ranks are consecutive;
   false when a leader does not lead itself. */
static bool number_nodes(pwr_hierarchy_t *h, const int *leader)
{
    h->ordered = true;
    for (int rank = 0; rank < h->size; ++rank) {
        int lead = leader[rank];
        if (lead < 0 || lead > rank || leader[lead] != lead) {
            return false;
        }
        if (lead == rank) {
            h->leader_of[h->num_nodes] = rank;
            h->node_of[rank] = h->num_nodes++;
        } else {
            h->node_of[rank] = h->node_of[lead];
            h->ordered = h->ordered && h->node_of[rank - 1] == h->node_of[rank];
        }
    }
    return true;
}

/* In sorted order: a new node starts group 0, a new package starts the next group.  Unbound ranks
   (negative package) sort first and share group 0 with the lowest package. */
static void number_groups(pwr_hierarchy_t *h, const place_t *places)
{
    int group = 0;
    int local = 0;
    h->num_groups = 1;
    for (int i = 0; i < h->size; ++i) {
        const place_t *place = &places[i];
        if (i == 0 || place->node != places[i - 1].node) {
            group = 0;
            local = 0;
        } else if (place->package != places[i - 1].package && places[i - 1].package >= 0) {
            ++group;
        }
        ++local;
        h->members[i] = place->rank;
        h->group_of[place->rank] = group;
        h->num_groups = group >= h->num_groups ? group + 1 : h->num_groups;
        h->max_local = local > h->max_local ? local : h->max_local;
    }
}

static bool index_groups(pwr_hierarchy_t *h)
{
    int cells = h->num_nodes * h->num_groups;
    h->group_start = calloc((size_t)cells + 1, sizeof(int));
    if (NULL == h->group_start) {
        return false;
    }
    for (int rank = 0; rank < h->size; ++rank) {
        ++h->group_start[h->node_of[rank] * h->num_groups + h->group_of[rank] + 1];
    }
    for (int cell = 0; cell < cells; ++cell) {
        h->group_start[cell + 1] += h->group_start[cell];
    }
    return true;
}

/* One counting sort: ranks are visited in order, so they stay in order within a node. */
static void index_nodes(pwr_hierarchy_t *h)
{
    for (int rank = 0; rank < h->size; ++rank) {
        h->local_of[rank] = h->node_start[h->node_of[rank] + 1]++;
    }
    for (int node = 0; node < h->num_nodes; ++node) {
        h->node_start[node + 1] += h->node_start[node];
    }
    for (int rank = 0; rank < h->size; ++rank) {
        h->by_node[h->node_start[h->node_of[rank]] + h->local_of[rank]] = rank;
    }
}

static void find_myself(pwr_hierarchy_t *h)
{
    h->my_node = h->node_of[h->my_rank];
    h->my_group = h->group_of[h->my_rank];
    h->my_local = h->local_of[h->my_rank];
    h->local_ranks = &h->by_node[h->node_start[h->my_node]];
    h->num_local = h->node_start[h->my_node + 1] - h->node_start[h->my_node];
}

static bool fill(pwr_hierarchy_t *h, place_t *places, const int *leader, const int *package)
{
    if (!allocate(h) || !number_nodes(h, leader)) {
        return false;
    }
    for (int rank = 0; rank < h->size; ++rank) {
        places[rank] = (place_t){h->node_of[rank], package[rank], rank};
    }
    qsort(places, (size_t)h->size, sizeof *places, compare_places);
    number_groups(h, places);
    index_nodes(h);
    find_myself(h);
    return index_groups(h);
}

pwr_hierarchy_t *pwr_hierarchy_build(int size, int my_rank, const int *leader, const int *package)
{
    pwr_hierarchy_t *h = calloc(1, sizeof *h);
    place_t *places = calloc((size_t)size, sizeof *places);
    bool ok = NULL != h && NULL != places;
    if (ok) {
        h->size = size;
        h->my_rank = my_rank;
        ok = fill(h, places, leader, package);
    }
    free(places);
    if (!ok) {
        pwr_hierarchy_free(h);
        return NULL;
    }
    return h;
}

void pwr_hierarchy_free(pwr_hierarchy_t *h)
{
    if (NULL != h) {
        free(h->node_of);
        free(h->group_start);
        free(h);
    }
}

int pwr_hierarchy_node(const pwr_hierarchy_t *h, int node, const int **ranks)
{
    *ranks = h->by_node + h->node_start[node];
    return h->node_start[node + 1] - h->node_start[node];
}

int pwr_hierarchy_group(const pwr_hierarchy_t *h, int node, int group, const int **ranks)
{
    int cell = node * h->num_groups + group;
    *ranks = h->members + h->group_start[cell];
    return h->group_start[cell + 1] - h->group_start[cell];
}
