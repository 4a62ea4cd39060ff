/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Layouts: communicators of the first P ranks of each of the first N nodes.
 */
#include "config.h"

#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDLE_US = 20000 };

/* Nodes are numbered by their lowest rank.  Returns the ranks of each of them [*num_nodes]. */
static int *count_ranks(tune_layouts_t *layouts, int *num_nodes)
{
    int np;
    int rank;
    MPI_Comm node;
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &layouts->my_local);
    int leader = rank;
    MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    int *leaders = calloc((size_t)np, sizeof *leaders);
    int *counts = calloc((size_t)np, sizeof *counts);
    int *node_of = calloc((size_t)np, sizeof *node_of);
    if (!leaders || !counts || !node_of) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    MPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, MPI_COMM_WORLD);
    *num_nodes = 0;
    for (int i = 0; i < np; i++) {
        node_of[i] = leaders[i] == i ? (*num_nodes)++ : node_of[leaders[i]];
        counts[node_of[i]]++;
    }
    layouts->my_node = node_of[rank];
    free(leaders);
    free(node_of);
    return counts;
}

/* The most ranks that each of the first nodes has. */
static int ranks_on_each(const int *counts, int nodes)
{
    int least = counts[0];
    for (int i = 1; i < nodes; i++) {
        least = counts[i] < least ? counts[i] : least;
    }
    return least;
}

static void add(tune_layouts_t *layouts, int nodes, int ranks_per_node)
{
    if (nodes * ranks_per_node > 1 && layouts->num < TUNE_LAYOUTS_MAX) {
        layouts->layout[layouts->num++] = (tune_layout_t){nodes, ranks_per_node};
    }
}

/* 1, 2, 4, ... and the most itself. */
static int next_power(int value, int most)
{
    return value < most && 2 * value > most ? most : 2 * value;
}

static void add_powers(tune_layouts_t *layouts, const int *counts, int num_nodes)
{
    for (int nodes = 1; nodes <= num_nodes; nodes = next_power(nodes, num_nodes)) {
        int most = ranks_on_each(counts, nodes);
        for (int ranks = 1; ranks <= most; ranks = next_power(ranks, most)) {
            add(layouts, nodes, ranks);
        }
    }
}

static bool add_named(tune_layouts_t *layouts, const int *counts, int num_nodes, const char *list)
{
    char word[TUNE_NAME_MAX];
    for (const char *rest = list; tune_list_next(&rest, word);) {
        int nodes;
        int ranks;
        int length = 0;
        if (strcmp(word, "world") == 0) {
            add(layouts, num_nodes, ranks_on_each(counts, num_nodes));
            continue;
        }
        if (sscanf(word, "%dx%d%n", &nodes, &ranks, &length) != 2 || nodes < 1 || ranks < 1 ||
            word[length] != '\0') {
            return tune_refuse("option --layouts: \"%s\" is not NODESxRANKS,... or \"world\"",
                               list);
        }
        if (nodes > num_nodes || ranks > ranks_on_each(counts, nodes)) {
            return tune_refuse("option --layouts: this job has not %d nodes with %d ranks each",
                               nodes, ranks);
        }
        add(layouts, nodes, ranks);
    }
    return true;
}

bool tune_layouts_find(tune_layouts_t *layouts, const tune_options_t *options)
{
    int num_nodes;
    *layouts = (tune_layouts_t){.num = 0};
    int *counts = count_ranks(layouts, &num_nodes);
    bool good = true;
    if (options->layouts) {
        good = add_named(layouts, counts, num_nodes, options->layouts);
    } else {
        add_powers(layouts, counts, num_nodes);
    }
    free(counts);
    if (good && layouts->num == 0) {
        return tune_refuse("one rank has nobody to talk to: use mpirun -np N");
    }
    return good;
}

MPI_Comm tune_layout_open(const tune_layouts_t *layouts, const tune_layout_t *layout)
{
    MPI_Comm comm;
    int rank;
    bool mine = layouts->my_node < layout->nodes && layouts->my_local < layout->ranks_per_node;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, mine ? 0 : MPI_UNDEFINED, rank, &comm);
    return comm;
}

void tune_layout_close(MPI_Comm comm)
{
    MPI_Request done;
    int is_done = 0;
    bool sleeps = comm == MPI_COMM_NULL;
    if (!sleeps) {
        MPI_Comm_free(&comm);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &done);
    while (!is_done) {
        MPI_Test(&done, &is_done, MPI_STATUS_IGNORE);
        if (sleeps && !is_done) {
            usleep(IDLE_US);
        }
    }
}
