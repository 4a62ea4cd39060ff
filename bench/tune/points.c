/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads points.
 *
 * An algorithm's time at a point is the median of its ratios to stock, block by block, because
 * blocks of one number ran next to each other.  Several documents with the same point count with
 * their geometric mean.
 */
#include "config.h"

#include "points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1024 };

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

static void add_result(tune_point_t *point, const char *name, const json_t *mine,
                       const json_t *stocks)
{
    double cpu_slower;
    double slower;
    double cpu = ratio_of(mine, stocks, "cpu_us", &cpu_slower);
    double time = ratio_of(mine, stocks, "us", &slower);
    tune_result_t *result = NULL;
    for (int i = 0; i < point->num_results; i++) {
        result = strcmp(point->results[i].name, name) == 0 ? &point->results[i] : result;
    }
    if (!result) {
        if (point->num_results == TUNE_RESULTS_MAX) {
            return;
        }
        result = &point->results[point->num_results++];
        snprintf(result->name, sizeof result->name, "%s", name);
    }
    result->log_time += log(time);
    result->log_cpu += log(cpu);
    result->slower += slower;
    result->bad += time > TUNE_WORST_TIME;
    result->documents++;
}

static tune_point_t *find_point(tune_points_t *points, const tune_point_t *key)
{
    for (size_t i = 0; i < points->num; i++) {
        tune_point_t *p = &points->all[i];
        if (strcmp(p->collective, key->collective) == 0 && p->nodes == key->nodes &&
            p->ranks_per_node == key->ranks_per_node && p->bytes == key->bytes) {
            return p;
        }
    }
    tune_point_t *longer = realloc(points->all, (points->num + 1) * sizeof *longer);
    if (!longer) {
        points->out_of_memory = true;
        return NULL;
    }
    points->all = longer;
    points->all[points->num] = *key;
    return &points->all[points->num++];
}

/* False: it is not a point. */
static bool read_point(tune_points_t *points, const json_t *json)
{
    const json_t *collective = json_object_get(json, "collective");
    const json_t *variants = json_object_get(json, "variants");
    const json_t *stocks = find_stock(variants);
    tune_point_t key = {.nodes = (uint64_t)json_integer_value(json_object_get(json, "nodes")),
                        .ranks_per_node =
                            (uint64_t)json_integer_value(json_object_get(json, "ranks_per_node")),
                        .bytes = (uint64_t)json_integer_value(json_object_get(json, "bytes"))};
    if (!json_is_string(collective) || !stocks || key.nodes == 0 || key.ranks_per_node == 0) {
        return false;
    }
    snprintf(key.collective, sizeof key.collective, "%s", json_string_value(collective));
    tune_point_t *point = find_point(points, &key);
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

bool tune_points_read(tune_points_t *points, json_t *const *documents, int num_documents, char *why,
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
