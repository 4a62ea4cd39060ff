/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Nodes of a communicator and, within each node, groups of ranks (packages).
 * Source: ICPP 2010, figure 2: process groups A and B of a node are its two sockets.
 */
#ifndef PWR_OMPI_HIERARCHY_H
#define PWR_OMPI_HIERARCHY_H

#include <stdbool.h>

/* Identical on all ranks except for the my_* members.  Nodes are numbered by their lowest rank,
   groups of a node by package number, from 0 without gaps. */
typedef struct pwr_hierarchy {
    int size;
    int num_nodes;
    int num_groups; /* the most groups on any node, >= 1 */
    int max_local;  /* the most ranks on any node */
    bool ordered;   /* every node's ranks are consecutive, so node order is rank order */

    int my_rank;
    int my_node;
    int my_group;
    int my_local; /* my index among local_ranks */

    int *node_of;     /* [size] rank -> node */
    int *group_of;    /* [size] rank -> group within its node */
    int *local_of;    /* [size] rank -> index among the ranks of its node, in rank order */
    int *leader_of;   /* [num_nodes] node -> lowest rank */
    int *members;     /* [size] all ranks, sorted by node, then group, then rank */
    int *group_start; /* [num_nodes * num_groups + 1] (node, group) -> first index in members */
    int *by_node;     /* [size] all ranks, sorted by node, then rank */
    int *node_start;  /* [num_nodes + 1] node -> first index in by_node */
    int num_local;
    const int *local_ranks; /* [num_local] ranks of my node, ascending: part of by_node */
} pwr_hierarchy_t;

/* Builds the hierarchy of a communicator of size ranks from what each rank said of itself:
   leader[r], the lowest rank on r's node, and package[r], the package r is bound to (negative:
   not bound to one; such ranks count as bound to the node's lowest package).
   Returns NULL when out of memory or when leader[] is inconsistent. */
pwr_hierarchy_t *pwr_hierarchy_build(int size, int my_rank, const int *leader, const int *package);
void pwr_hierarchy_free(pwr_hierarchy_t *hierarchy);

/* Ranks of a node, ascending: returns the number, *ranks points to the first. */
int pwr_hierarchy_node(const pwr_hierarchy_t *hierarchy, int node, const int **ranks);

/* Ranks of a group: returns the number, *ranks points to the first. 0 for a group a node lacks. */
int pwr_hierarchy_group(const pwr_hierarchy_t *hierarchy, int node, int group, const int **ranks);

#endif
