/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Compiles the rows of a decision table for one layout.
 */
#include "config.h"

#include "choose/decision.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/checksum.h"

typedef const coll_poweraware_decision_row_t row_t;
typedef coll_poweraware_choice_t step_t;

static bool within(const uint64_t range[2], uint64_t value)
{
    return range[0] <= value && value <= range[1];
}

/* nodes 0: any layout, for which rows that say stock tell nothing */
static bool applies(row_t *row, int collective, int nodes, int ranks_per_node)
{
    if (row->collective != collective) {
        return false;
    }
    if (nodes == 0) {
        return row->algorithm != COLL_POWERAWARE_DECISION_STOCK;
    }
    return within(row->nodes, (uint64_t)nodes) &&
           within(row->ranks_per_node, (uint64_t)ranks_per_node);
}

static bool has(const step_t *step, int num, int algorithm)
{
    for (int i = 0; i < num; i++) {
        if (step->algorithms[i] == algorithm) {
            return true;
        }
    }
    return false;
}

/* What rows say of a size, in their order. */
static step_t make_step(const coll_poweraware_decision_t *decision, int collective, int nodes,
                        int ranks_per_node, uint64_t from)
{
    step_t step = {.from = from};
    int num = 0;
    for (size_t i = 0; i < decision->num_rows && num < COLL_POWERAWARE_DECISION_CHAIN; i++) {
        row_t *row = &decision->rows[i];
        if (!applies(row, collective, nodes, ranks_per_node) || !within(row->bytes, from)) {
            continue;
        }
        if (row->algorithm == COLL_POWERAWARE_DECISION_STOCK) {
            break;
        }
        if (!has(&step, num, row->algorithm)) {
            step.times_ppm[num] = row->time_ppm;
            step.algorithms[num++] = row->algorithm;
        }
    }
    for (; num <= COLL_POWERAWARE_DECISION_CHAIN; num++) {
        step.algorithms[num] = COLL_POWERAWARE_DECISION_STOCK;
        step.times_ppm[num] = COLL_POWERAWARE_DECISION_PPM;
    }
    return step;
}

static bool is_equal(const step_t *a, const step_t *b)
{
    return memcmp(a->algorithms, b->algorithms, sizeof a->algorithms) == 0 &&
           memcmp(a->times_ppm, b->times_ppm, sizeof a->times_ppm) == 0;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Sizes at which the answer may change, ascending; returns their number. */
static size_t find_bounds(const coll_poweraware_decision_t *decision, int collective, int nodes,
                          int ranks_per_node, uint64_t *bounds)
{
    size_t num = 0;
    bounds[num++] = 0;
    for (size_t i = 0; i < decision->num_rows; i++) {
        row_t *row = &decision->rows[i];
        if (applies(row, collective, nodes, ranks_per_node)) {
            bounds[num++] = row->bytes[0];
            if (row->bytes[1] != UINT64_MAX) {
                bounds[num++] = row->bytes[1] + 1;
            }
        }
    }
    qsort(bounds, num, sizeof *bounds, compare);
    return num;
}

/* Adds the steps of one collective behind those that are there; equal neighbours are one step. */
static size_t add_steps(const coll_poweraware_decision_t *decision, int collective, int nodes,
                        int ranks_per_node, uint64_t *bounds, step_t *steps)
{
    size_t num_bounds = find_bounds(decision, collective, nodes, ranks_per_node, bounds);
    size_t num = 0;
    for (size_t i = 0; i < num_bounds; i++) {
        step_t step = make_step(decision, collective, nodes, ranks_per_node, bounds[i]);
        if (num == 0 || !is_equal(&steps[num - 1], &step)) {
            steps[num++] = step;
        }
    }
    return num;
}

coll_poweraware_choices_t *
coll_poweraware_decision_compile(const coll_poweraware_decision_t *decision, int nodes,
                                 int ranks_per_node)
{
    size_t num_collectives = (size_t)decision->num_collectives;
    /* a row adds at most two bounds */
    size_t most = 2 * decision->num_rows + num_collectives;
    coll_poweraware_choices_t *choices = calloc(1, sizeof *choices);
    uint64_t *bounds = calloc(2 * decision->num_rows + 1, sizeof *bounds);
    step_t *steps = calloc(most, sizeof *steps);
    size_t *first = calloc(num_collectives + 1, sizeof *first);
    if (choices && bounds && steps && first) {
        for (int c = 0; c < decision->num_collectives; c++) {
            first[c + 1] =
                first[c] + add_steps(decision, c, nodes, ranks_per_node, bounds, steps + first[c]);
        }
        step_t *fitting = realloc(steps, first[num_collectives] * sizeof *steps);
        *choices = (coll_poweraware_choices_t){first, fitting ? fitting : steps};
        free(bounds);
        return choices;
    }
    free(choices);
    free(bounds);
    free(steps);
    free(first);
    return NULL;
}

void coll_poweraware_choices_free(coll_poweraware_choices_t *choices)
{
    if (choices) {
        free(choices->first);
        free(choices->steps);
        free(choices);
    }
}

uint64_t coll_poweraware_choices_from(const coll_poweraware_choices_t *choices, int collective)
{
    for (size_t i = choices->first[collective]; i < choices->first[collective + 1]; i++) {
        if (choices->steps[i].algorithms[0] != COLL_POWERAWARE_DECISION_STOCK) {
            return choices->steps[i].from;
        }
    }
    return UINT64_MAX;
}

void coll_poweraware_decision_free(coll_poweraware_decision_t *decision)
{
    if (decision) {
        free(decision->rows);
        free(decision);
    }
}

static void mix(uint64_t *sum, uint64_t value)
{
    *sum = pwr_checksum_add(*sum, &value, sizeof value);
}

uint64_t coll_poweraware_decision_checksum(const coll_poweraware_decision_t *decision)
{
    uint64_t sum = PWR_CHECKSUM_OF_NOTHING;
    for (size_t i = 0; i < decision->num_rows; i++) {
        row_t *row = &decision->rows[i];
        mix(&sum, (uint64_t)row->collective);
        mix(&sum, (uint64_t)(int64_t)row->algorithm);
        mix(&sum, (uint64_t)row->time_ppm);
        for (int end = 0; end < 2; end++) {
            mix(&sum, row->nodes[end]);
            mix(&sum, row->ranks_per_node[end]);
            mix(&sum, row->bytes[end]);
        }
    }
    return sum;
}
