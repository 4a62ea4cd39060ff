/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From measurements to rows.
 *
 * 1. A variant's time at a point is the median of its ratios to stock, block by block; several
 *    documents with the same point count with their geometric mean.
 * 2. An algorithm pays where it is faster by more than the margin and was slower in a quarter of
 *    the blocks at most, or where it saves CPU time and is at most the margin slower.  Where bytes
 * are not known to all ranks, one answer has to do for all sizes: it must pay on average and be
 * nowhere worse than a given bound.
 * 3. What pays at a point holds for its neighbourhood: up to the geometric middle between it and
 *    the next point that was measured, for bytes, ranks per node and nodes alike.  Beyond the
 *    largest it goes on; below the fewest nodes or ranks that were measured nothing is said.
 *    One node tells nothing about several.
 */
#include "config.h"

#include "decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS_MAX = 16, VALUES_MAX = 1024, CHAIN_MAX = 4 };

/* More blocks than this slower than stock: what looks faster may be noise. */
static const double slower_most = 0.25;

/* What one answer for all sizes may cost at its worst size. */
static const double unknown_worst = 1.05;

typedef struct result {
    char name[TUNE_NAME_MAX];
    double log_time; /* sums of logarithms of ratios to stock */
    double log_cpu;
    double slower; /* sum of shares of blocks */
    int documents;
} result_t;

typedef struct point {
    char collective[TUNE_NAME_MAX];
    uint64_t nodes;
    uint64_t ranks_per_node;
    uint64_t bytes;
    result_t results[RESULTS_MAX];
    int num_results;
} point_t;

typedef struct points {
    point_t *all;
    size_t num;
    bool out_of_memory;
} points_t;

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

/* ---- step 1 ---- */

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t num)
{
    qsort(values, num, sizeof *values, compare_reals);
    return num % 2 == 1 ? values[num / 2] : 0.5 * (values[num / 2 - 1] + values[num / 2]);
}

/* 1 where there is nothing to compare.  *slower: the share of ratios above 1. */
static double ratio_of(const json_t *mine, const json_t *stocks, const char *key, double *slower)
{
    double ratios[VALUES_MAX];
    size_t num = 0;
    size_t num_slower = 0;
    const json_t *above = json_object_get(mine, key);
    const json_t *below = json_object_get(stocks, key);
    for (size_t i = 0; i < json_array_size(above) && i < json_array_size(below) && i < VALUES_MAX;
         i++) {
        double a = json_number_value(json_array_get(above, i));
        double b = json_number_value(json_array_get(below, i));
        if (a > 0 && b > 0) {
            ratios[num++] = a / b;
            num_slower += a > b;
        }
    }
    *slower = num == 0 ? 1 : (double)num_slower / (double)num;
    return num == 0 ? 1 : median(ratios, num);
}

static const json_t *find_stock(const json_t *variants)
{
    size_t i;
    json_t *variant;
    json_array_foreach(variants, i, variant)
    {
        const char *name = json_string_value(json_object_get(variant, "name"));
        if (name && strcmp(name, "stock") == 0) {
            return variant;
        }
    }
    return NULL;
}

/* Names of other components and of auto are in measurements too; a table cannot name them. */
static bool is_candidate(const json_t *variant, const char *name)
{
    static const char *const others[] = {"stock", "auto",  "adapt", "basic",
                                         "han",   "tuned", "sm",    "xhc"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i]) == 0) {
            return false;
        }
    }
    return !json_is_true(json_object_get(variant, "wrong")) &&
           json_array_size(json_object_get(variant, "us")) > 0;
}

static void add_result(point_t *point, const char *name, const json_t *mine, const json_t *stocks)
{
    double cpu_slower;
    double slower;
    double cpu = ratio_of(mine, stocks, "cpu_us", &cpu_slower);
    double time = ratio_of(mine, stocks, "us", &slower);
    result_t *result = NULL;
    for (int i = 0; i < point->num_results; i++) {
        result = strcmp(point->results[i].name, name) == 0 ? &point->results[i] : result;
    }
    if (!result) {
        if (point->num_results == RESULTS_MAX) {
            return;
        }
        result = &point->results[point->num_results++];
        snprintf(result->name, sizeof result->name, "%s", name);
    }
    result->log_time += log(time);
    result->log_cpu += log(cpu);
    result->slower += slower;
    result->documents++;
}

static point_t *find_point(points_t *points, const point_t *key)
{
    for (size_t i = 0; i < points->num; i++) {
        point_t *p = &points->all[i];
        if (strcmp(p->collective, key->collective) == 0 && p->nodes == key->nodes &&
            p->ranks_per_node == key->ranks_per_node && p->bytes == key->bytes) {
            return p;
        }
    }
    point_t *longer = realloc(points->all, (points->num + 1) * sizeof *longer);
    if (!longer) {
        points->out_of_memory = true;
        return NULL;
    }
    points->all = longer;
    points->all[points->num] = *key;
    return &points->all[points->num++];
}

/* False: it is not a point. */
static bool read_point(points_t *points, const json_t *json)
{
    const json_t *collective = json_object_get(json, "collective");
    const json_t *variants = json_object_get(json, "variants");
    const json_t *stocks = find_stock(variants);
    point_t key = {.nodes = (uint64_t)json_integer_value(json_object_get(json, "nodes")),
                   .ranks_per_node =
                       (uint64_t)json_integer_value(json_object_get(json, "ranks_per_node")),
                   .bytes = (uint64_t)json_integer_value(json_object_get(json, "bytes"))};
    if (!json_is_string(collective) || !stocks || key.nodes == 0 || key.ranks_per_node == 0) {
        return false;
    }
    snprintf(key.collective, sizeof key.collective, "%s", json_string_value(collective));
    point_t *point = find_point(points, &key);
    size_t i;
    json_t *variant;
    json_array_foreach(variants, i, variant)
    {
        const char *name = json_string_value(json_object_get(variant, "name"));
        if (point && name && is_candidate(variant, name)) {
            add_result(point, name, variant, stocks);
        }
    }
    return true;
}

/* ---- step 2 ---- */

static bool pays(const tune_rules_t *rules, const result_t *result)
{
    double time = exp(result->log_time / result->documents);
    double cpu = exp(result->log_cpu / result->documents);
    double slower = result->slower / result->documents;
    return (time <= 1 - rules->margin && slower <= slower_most) ||
           (time <= 1 + rules->margin && cpu <= 1 - rules->saving);
}

static int compare_paid(const void *left, const void *right)
{
    return compare_reals(&((const paid_t *)left)->time, &((const paid_t *)right)->time);
}

static chain_t chain_of(const point_t *point, const tune_rules_t *rules)
{
    paid_t paid[RESULTS_MAX];
    chain_t chain = {.num = 0};
    size_t num = 0;
    for (int i = 0; i < point->num_results; i++) {
        const result_t *r = &point->results[i];
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
static point_t all_sizes(point_t *const *line, size_t num)
{
    point_t all = *line[0];
    all.bytes = 0;
    for (int i = 0; i < all.num_results; i++) {
        result_t *result = &all.results[i];
        *result = (result_t){.documents = 0};
        memcpy(result->name, line[0]->results[i].name, sizeof result->name);
        bool bad = false;
        for (size_t p = 0; p < num; p++) {
            bool found = false;
            for (int j = 0; j < line[p]->num_results; j++) {
                const result_t *r = &line[p]->results[j];
                if (strcmp(r->name, result->name) == 0) {
                    found = true;
                    result->log_time += r->log_time / r->documents;
                    result->log_cpu += r->log_cpu / r->documents;
                    result->documents++;
                    bad = bad || r->log_time / r->documents > log(unknown_worst);
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
static void add_line(rows_t *rows, tune_row_t *where, point_t *const *line, size_t num,
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
    return compare_numbers(&(*(point_t *const *)left)->bytes, &(*(point_t *const *)right)->bytes);
}

/* Points of the layout; where has the collective. */
static void add_layout(rows_t *rows, points_t *points, tune_row_t *where, uint64_t nodes,
                       uint64_t ranks_per_node, const tune_rules_t *rules)
{
    point_t all;
    size_t num = 0;
    point_t **line = calloc(points->num, sizeof *line);
    if (!line) {
        rows->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < points->num; i++) {
        point_t *p = &points->all[i];
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
static uint64_t *values_of(const points_t *points, member_t member, uint64_t nodes, size_t *num)
{
    uint64_t *values = calloc(points->num + 1, sizeof *values);
    *num = 0;
    for (size_t i = 0; values && i < points->num; i++) {
        const point_t *p = &points->all[i];
        if (member == NODES || p->nodes == nodes) {
            values[(*num)++] = member == NODES ? p->nodes : p->ranks_per_node;
        }
    }
    *num = values ? unique(values, *num) : 0;
    return values;
}

static void add_nodes(rows_t *rows, points_t *points, tune_row_t *where, uint64_t nodes,
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

static void add_collective(rows_t *rows, points_t *points, const char *collective,
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

static bool is_first_of_its_collective(const points_t *points, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(points->all[i].collective, points->all[at].collective) == 0) {
            return false;
        }
    }
    return true;
}

static bool read_documents(points_t *points, json_t *const *documents, int num_documents, char *why,
                           size_t why_size)
{
    for (int d = 0; d < num_documents; d++) {
        size_t i;
        json_t *json;
        json_array_foreach(json_object_get(documents[d], "points"), i, json)
        {
            if (!read_point(points, json)) {
                snprintf(why, why_size, "document %d: point %zu is not one", d + 1, i + 1);
                return false;
            }
        }
    }
    return true;
}

tune_row_t *tune_decide(json_t *const *documents, int num_documents, const tune_rules_t *rules,
                        size_t *num, char *why, size_t why_size)
{
    points_t points = {.num = 0};
    rows_t rows = {.all = calloc(1, sizeof *rows.all)};
    bool good = read_documents(&points, documents, num_documents, why, why_size);
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
