/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which PEs share a node.  Members must agree, or a collective would hang:
 *
 *   1. Each PE tells all PEs the lowest PE that it can reach by shmem_ptr, how many it can reach,
 *      and a sum over them.
 *   2. A node is those that name the same lowest PE, if each of them reaches exactly these: then
 *      reaching is symmetric and transitive among them.  The sum has a random-looking 64-bit number per
 *      PE, so it tells sets apart.
 *   3. Where it is not so, each of these PEs is a node of its own.
 *
 * All PEs know 1, so all come to the same result.
 */
#define _GNU_SOURCE
#include "node.h"

#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct team shnode_team;

/* What a PE says about itself. */
struct view {
    int64_t lowest, count, sum;
    int64_t cpus, cpu_set; /* how many it may use, and which (a sum, as above) */
    int64_t settings;      /* of those that all must agree on */
};
enum { WORDS = sizeof(struct view) / sizeof(int64_t) };

/* splitmix64 */
static uint64_t number_of(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static void count_cpus(struct view *view)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        view->cpus = sysconf(_SC_NPROCESSORS_ONLN);
        return;
    }
    view->cpus = CPU_COUNT(&set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        view->cpu_set += CPU_ISSET(cpu, &set) ? (int64_t)(number_of(cpu) >> 8) : 0;
    }
}

/* 1. */
static struct view look(const void *symmetric, const int *nodes)
{
    struct view view = {.lowest = T.me,
                        .settings = shnode_settings.collectives + 2 * shnode_settings.leaders};
    uint64_t sum = 0;
    for (int pe = 0; pe < T.pes; pe++) {
        bool same = nodes == NULL || nodes[pe] == nodes[T.me];
        if (pe == T.me || (same && shmem_ptr(symmetric, pe) != NULL)) {
            view.lowest = pe < view.lowest ? pe : view.lowest;
            view.count++;
            sum += number_of((uint64_t)pe);
        }
    }
    view.sum = (int64_t)sum;
    count_cpus(&view);
    return view;
}

static bool exchange(struct view *views, const struct view *mine)
{
    size_t bytes = sizeof(struct view);
    long *sync = shmem_malloc(SHMEM_COLLECT_SYNC_SIZE * sizeof *sync);
    struct view *all = shmem_malloc((size_t)(T.pes + 1) * bytes);
    bool could = sync != NULL && all != NULL;
    if (could) {
        for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) {
            sync[i] = SHMEM_SYNC_VALUE;
        }
        all[T.pes] = *mine;
        shmem_barrier_all();
        shmem_fcollect64(all, &all[T.pes], WORDS, 0, 0, T.pes, sync);
        memcpy(views, all, (size_t)T.pes * bytes);
        shmem_barrier_all();
    }
    shmem_free(all);
    shmem_free(sync);
    return could;
}

/* 2. and 3.  Sets node_of to the leader of each PE. */
static bool agree(const struct view *views)
{
    uint64_t *sums = calloc((size_t)T.pes, sizeof *sums);
    int *counts = calloc((size_t)T.pes, sizeof *counts);
    char *wrong = calloc((size_t)T.pes, 1);
    bool could = sums != NULL && counts != NULL && wrong != NULL;
    for (int pe = 0; could && pe < T.pes; pe++) {
        sums[views[pe].lowest] += number_of((uint64_t)pe);
        counts[views[pe].lowest]++;
    }
    for (int pe = 0; could && pe < T.pes; pe++) {
        int64_t leader = views[pe].lowest;
        wrong[leader] |=
            views[pe].count != counts[leader] || views[pe].sum != (int64_t)sums[leader];
    }
    for (int pe = 0; could && pe < T.pes; pe++) {
        T.node_of[pe] = wrong[views[pe].lowest] ? pe : (int)views[pe].lowest;
    }
    free(sums);
    free(counts);
    free(wrong);
    return could;
}

/* Leaders become numbers of nodes, in the order of leaders.  A leader is the lowest of its node, so
 * it comes first. */
static void number_nodes(void)
{
    for (int pe = 0; pe < T.pes; pe++) {
        int leader = T.node_of[pe];
        int node = leader == pe ? T.nodes++ : T.node_of[leader];
        T.node_of[pe] = node;
        T.rank_of[pe] = T.sizes[node]++;
    }
    T.most_leaders = T.sizes[0];
    for (int node = 1; node < T.nodes; node++) {
        T.firsts[node] = T.firsts[node - 1] + T.sizes[node - 1];
        T.most_leaders = T.sizes[node] < T.most_leaders ? T.sizes[node] : T.most_leaders;
    }
    for (int pe = 0; pe < T.pes; pe++) {
        T.ordered[T.firsts[T.node_of[pe]] + T.rank_of[pe]] = pe;
    }
}

static bool is_crowded(const struct view *views, int pe)
{
    int64_t sharing = 0;
    for (int i = 0; i < T.size; i++) {
        sharing += views[T.members[i]].cpu_set == views[pe].cpu_set;
    }
    return sharing > views[pe].cpus;
}

/* Members must agree, because the choice of algorithms depends on it. */
static void count_crowd(const struct view *views)
{
    for (int i = 0; i < T.size; i++) {
        T.crowded |= is_crowded(views, T.members[i]);
    }
}

static void take_settings_of_0(const struct view *views)
{
    if (views[0].settings != views[T.me].settings) {
        fprintf(stderr,
                "shnode: PE %d has other SHNODE_COLLECTIVES or SHNODE_LEADERS than PE 0, whose are "
                "used\n",
                T.me);
    }
    shnode_settings.collectives = views[0].settings % 2;
    shnode_settings.leaders = (int)(views[0].settings / 2);
}

static bool allocate(void)
{
    size_t n = (size_t)T.pes;
    T.node_of = calloc(n, sizeof(int));
    T.rank_of = calloc(n, sizeof(int));
    T.sizes = calloc(n, sizeof(int));
    T.firsts = calloc(n, sizeof(int));
    T.ordered = calloc(n, sizeof(int));
    T.controls = calloc(n, sizeof(struct control *));
    return T.node_of && T.rank_of && T.sizes && T.firsts && T.ordered && T.controls;
}

static void set_team(const struct view *views)
{
    number_nodes();
    T.node = T.node_of[T.me];
    T.rank = T.rank_of[T.me];
    T.size = T.sizes[T.node];
    T.members = T.ordered + T.firsts[T.node];
    for (int i = 0; i < T.size; i++) {
        T.controls[i] = i == T.rank ? T.mine : shmem_ptr(T.mine, T.members[i]);
    }
    T.leader = T.controls[0];
    count_crowd(views);
    take_settings_of_0(views);
}

/* T.mine is there.  Collective; a PE without memory takes part in what the others do. */
int shnode_find_members(void)
{
    struct view *views = calloc((size_t)T.pes, sizeof *views);
    int *nodes = shnode_test_nodes(T.pes);
    struct view mine = look(T.mine, nodes);
    free(nodes);
    bool could = views != NULL && allocate() && exchange(views, &mine) && agree(views);
    if (could) {
        set_team(views);
    }
    free(views);
    return could ? SHNODE_SUCCESS : SHNODE_ERR_MEMORY;
}

void shnode_forget_members(void)
{
    free(T.node_of);
    free(T.rank_of);
    free(T.sizes);
    free(T.firsts);
    free(T.ordered);
    free(T.controls);
}
