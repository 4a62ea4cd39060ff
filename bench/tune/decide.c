/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From measurements to rows.
 *
 * 1. Points are read (points.c).
 * 2. An algorithm pays where it is faster by more than the margin and was slower in a quarter of
 *    the blocks at most, or where it saves CPU time and is at most the margin slower.  It must not
 *    be worse than a given bound in more than a tenth of the documents, which may come from
 *    different days and placements of the ranks.  Where bytes are not known to all ranks, one
 *    answer has to do for all sizes: it must pay on average and keep to the same bound everywhere.
 * 3. What pays at a point holds for its neighbourhood: up to the geometric middle between it and
 *    the next point that was measured, for bytes, ranks per node and nodes alike.  Beyond the
 *    largest it goes on; below the fewest nodes or ranks that were measured nothing is said.
 *    One node tells nothing about several.
 */
#include "config.h"

#include "points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 4 };

/* More blocks than this slower than stock: what looks faster may be noise. */
static const double slower_most = 0.25;

/* More documents than this in which it was bad: it does not depend on us alone whether it pays. */
static const double bad_most = 0.1;

typedef struct paid {
    const char *name;
    double time;
    double worst;
} paid_t;

/* What pays at a point, the fastest first. */
typedef struct chain {
    paid_t paid[CHAIN_MAX];
    int num;
} chain_t;

/* ---- step 2 ---- */

static bool is_bad(const tune_result_t *result)
{
    return result->bad > bad_most * result->documents;
}

static bool pays(const tune_rules_t *rules, const tune_result_t *result)
{
    double time = exp(result->log_time / result->documents);
    double cpu = exp(result->log_cpu / result->documents);
    double slower = result->slower / result->documents;
    return !is_bad(result) && ((time <= 1 - rules->margin && slower <= slower_most) ||
                               (time <= 1 + rules->margin && cpu <= 1 - rules->saving));
}

static int compare_paid(const void *left, const void *right)
{
    double a = ((const paid_t *)left)->time;
    double b = ((const paid_t *)right)->time;
    return (a > b) - (a < b);
}

static chain_t chain_of(const tune_point_t *point, const tune_rules_t *rules)
{
    paid_t paid[TUNE_RESULTS_MAX];
    chain_t chain = {.num = 0};
    size_t num = 0;
    for (int i = 0; i < point->num_results; i++) {
        const tune_result_t *r = &point->results[i];
        double time = exp(r->log_time / r->documents);
        if (pays(rules, r)) {
            paid[num++] = (paid_t){.name = r->name, .time = time, .worst = time};
        }
    }
    qsort(paid, num, sizeof *paid, compare_paid);
    for (size_t i = 0; i < num && chain.num < CHAIN_MAX; i++) {
        chain.paid[chain.num++] = paid[i];
    }
    return chain;
}

static bool is_unknown(const char *collective)
{
    return strcmp(collective, "alltoallv") == 0 || strcmp(collective, "alltoallw") == 0;
}

/* One point for all sizes of a layout: an algorithm with all of them, its mean and worst; those
   that are too bad somewhere get a time that never pays. */
static tune_point_t all_sizes(tune_point_t *const *line, size_t num)
{
    tune_point_t all = *line[0];
    all.bytes = 0;
    for (int i = 0; i < all.num_results; i++) {
        tune_result_t *result = &all.results[i];
        *result = (tune_result_t){.documents = 0};
        memcpy(result->name, line[0]->results[i].name, sizeof result->name);
        bool bad = false;
        for (size_t p = 0; p < num; p++) {
            bool found = false;
            for (int j = 0; j < line[p]->num_results; j++) {
                const tune_result_t *r = &line[p]->results[j];
                if (strcmp(r->name, result->name) == 0) {
                    found = true;
                    result->log_time += r->log_time / r->documents;
                    result->log_cpu += r->log_cpu / r->documents;
                    result->documents++;
                    bad = bad || is_bad(r);
                }
            }
            bad = bad || !found;
        }
        result->log_time = bad ? INFINITY : result->log_time;
    }
    return all;
}

/* ---- step 3 ---- */

static uint64_t middle(uint64_t low, uint64_t high)
{
    return (uint64_t)ceil(sqrt((double)low * (double)high) - 1e-9);
}

/* Bytes: where a power of two is near, it. */
static uint64_t middle_bytes(uint64_t low, uint64_t high)
{
    return low == 0 ? 1
                    : (uint64_t)1 << (int)lround(0.5 * (log2((double)low) + log2((double)high)));
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Sorts and makes unique; returns the new number. */
static size_t unique(uint64_t *values, size_t num)
{
    size_t kept = 0;
    qsort(values, num, sizeof *values, compare_numbers);
    for (size_t i = 0; i < num; i++) {
        if (kept == 0 || values[kept - 1] != values[i]) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

static void neighbourhood(const uint64_t *values, size_t num, size_t at, uint64_t range[2])
{
    range[0] = at == 0 ? values[0] : middle(values[at - 1], values[at]);
    range[1] = at + 1 == num ? UINT64_MAX : middle(values[at], values[at + 1]) - 1;
}

typedef struct rows {
    tune_row_t *all;
    size_t num;
    bool out_of_memory;
} rows_t;

static void add_row(rows_t *rows, const tune_row_t *where, const paid_t *paid)
{
    tune_row_t *longer = realloc(rows->all, (rows->num + 1) * sizeof *longer);
    if (!longer) {
        rows->out_of_memory = true;
        return;
    }
    rows->all = longer;
    tune_row_t *row = &rows->all[rows->num++];
    *row = *where;
    snprintf(row->algorithm, sizeof row->algorithm, "%s", paid->name);
    row->ratio[0] = paid->time;
    row->ratio[1] = paid->worst;
}

/* The same algorithms in the same order. */
static bool same(const chain_t *a, const chain_t *b)
{
    for (int i = 0; i < CHAIN_MAX; i++) {
        if ((i < a->num) != (i < b->num) ||
            (i < a->num && strcmp(a->paid[i].name, b->paid[i].name) != 0)) {
            return false;
        }
    }
    return true;
}

static void merge(chain_t *chain, const chain_t *next)
{
    for (int i = 0; i < chain->num; i++) {
        paid_t *paid = &chain->paid[i];
        paid->time = next->paid[i].time < paid->time ? next->paid[i].time : paid->time;
        paid->worst = next->paid[i].worst > paid->worst ? next->paid[i].worst : paid->worst;
    }
}

/* Rows of one collective on one layout; line is ascending in bytes, where has the other ranges. */
static void add_line(rows_t *rows, tune_row_t *where, tune_point_t *const *line, size_t num,
                     const tune_rules_t *rules)
{
    for (size_t i = 0; i < num;) {
        size_t end = i + 1;
        chain_t chain = chain_of(line[i], rules);
        for (; end < num; end++) {
            chain_t next = chain_of(line[end], rules);
            if (!same(&chain, &next)) {
                break;
            }
            merge(&chain, &next);
        }
        where->bytes[0] = i == 0 ? 0 : middle_bytes(line[i - 1]->bytes, line[i]->bytes);
        where->bytes[1] =
            end == num ? UINT64_MAX : middle_bytes(line[end - 1]->bytes, line[end]->bytes) - 1;
        for (int k = 0; k < chain.num; k++) {
            add_row(rows, where, &chain.paid[k]);
        }
        i = end;
    }
}

static int compare_points(const void *left, const void *right)
{
    return compare_numbers(&(*(tune_point_t *const *)left)->bytes,
                           &(*(tune_point_t *const *)right)->bytes);
}

/* Points of the layout; where has the collective. */
static void add_layout(rows_t *rows, tune_points_t *points, tune_row_t *where, uint64_t nodes,
                       uint64_t ranks_per_node, const tune_rules_t *rules)
{
    tune_point_t all;
    size_t num = 0;
    tune_point_t **line = calloc(points->num, sizeof *line);
    if (!line) {
        rows->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < points->num; i++) {
        tune_point_t *p = &points->all[i];
        if (strcmp(p->collective, where->collective) == 0 && p->nodes == nodes &&
            p->ranks_per_node == ranks_per_node) {
            line[num++] = p;
        }
    }
    qsort(line, num, sizeof *line, compare_points);
    if (num > 0 && is_unknown(where->collective)) {
        all = all_sizes(line, num);
        line[0] = &all;
        num = 1;
    }
    add_line(rows, where, line, num, rules);
    free(line);
}

typedef enum member { NODES, RANKS } member_t;

/* Distinct numbers of the points, with RANKS of those of that many nodes alone; NULL: no memory. */
static uint64_t *values_of(const tune_points_t *points, member_t member, uint64_t nodes,
                           size_t *num)
{
    uint64_t *values = calloc(points->num + 1, sizeof *values);
    *num = 0;
    for (size_t i = 0; values && i < points->num; i++) {
        const tune_point_t *p = &points->all[i];
        if (member == NODES || p->nodes == nodes) {
            values[(*num)++] = member == NODES ? p->nodes : p->ranks_per_node;
        }
    }
    *num = values ? unique(values, *num) : 0;
    return values;
}

static void add_nodes(rows_t *rows, tune_points_t *points, tune_row_t *where, uint64_t nodes,
                      const tune_rules_t *rules)
{
    size_t num;
    uint64_t *ranks = values_of(points, RANKS, nodes, &num);
    rows->out_of_memory = rows->out_of_memory || !ranks;
    for (size_t i = 0; i < num; i++) {
        neighbourhood(ranks, num, i, where->ranks_per_node);
        add_layout(rows, points, where, nodes, ranks[i], rules);
    }
    free(ranks);
}

static void add_collective(rows_t *rows, tune_points_t *points, const char *collective,
                           const tune_rules_t *rules)
{
    size_t num;
    tune_row_t where = {.algorithm = ""};
    uint64_t *nodes = values_of(points, NODES, 0, &num);
    rows->out_of_memory = rows->out_of_memory || !nodes;
    snprintf(where.collective, sizeof where.collective, "%s", collective);
    for (size_t i = 0; i < num; i++) {
        neighbourhood(nodes, num, i, where.nodes);
        where.nodes[1] = nodes[i] == 1 ? 1 : where.nodes[1];
        add_nodes(rows, points, &where, nodes[i], rules);
    }
    free(nodes);
}

static bool is_first_of_its_collective(const tune_points_t *points, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(points->all[i].collective, points->all[at].collective) == 0) {
            return false;
        }
    }
    return true;
}

tune_row_t *tune_decide(json_t *const *documents, int num_documents, const tune_rules_t *rules,
                        size_t *num, char *why, size_t why_size)
{
    tune_points_t points = {.num = 0};
    rows_t rows = {.all = calloc(1, sizeof *rows.all)};
    bool good = tune_points_read(&points, documents, num_documents, why, why_size);
    for (size_t i = 0; good && i < points.num; i++) {
        if (is_first_of_its_collective(&points, i)) {
            add_collective(&rows, &points, points.all[i].collective, rules);
        }
    }
    if (good && (points.out_of_memory || rows.out_of_memory || !rows.all)) {
        snprintf(why, why_size, "out of memory");
        good = false;
    }
    free(points.all);
    if (!good) {
        free(rows.all);
        return NULL;
    }
    *num = rows.num;
    return rows.all;
}
