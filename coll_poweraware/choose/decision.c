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

/* Rows in their order. */
typedef struct rows {
    row_t **row;
    size_t num;
} rows_t;

/* nodes 0: any layout, for which rows that say stock tell nothing */
static bool applies(row_t *row, int nodes, int ranks_per_node)
{
    if (nodes == 0) {
        return row->algorithm != COLL_POWERAWARE_DECISION_STOCK;
    }
    return within(row->nodes, (uint64_t)nodes) &&
           within(row->ranks_per_node, (uint64_t)ranks_per_node);
}

/* Those of a layout: few of all.  row, [decision->num_rows]: room for them. */
static rows_t find_rows(const coll_poweraware_decision_t *decision, int nodes, int ranks_per_node,
                        row_t **row)
{
    rows_t found = {.row = row};
    for (size_t i = 0; i < decision->num_rows; i++) {
        if (applies(&decision->rows[i], nodes, ranks_per_node)) {
            row[found.num++] = &decision->rows[i];
        }
    }
    return found;
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
static step_t make_step(const rows_t *rows, int collective, uint64_t from)
{
    step_t step = {.from = from};
    int num = 0;
    for (size_t i = 0; i < rows->num && num < COLL_POWERAWARE_DECISION_CHAIN; i++) {
        row_t *row = rows->row[i];
        if (row->collective != collective || !within(row->bytes, from)) {
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
static size_t find_bounds(const rows_t *rows, int collective, uint64_t *bounds)
{
    size_t num = 0;
    bounds[num++] = 0;
    for (size_t i = 0; i < rows->num; i++) {
        row_t *row = rows->row[i];
        if (row->collective == collective) {
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
static size_t add_steps(const rows_t *rows, int collective, uint64_t *bounds, step_t *steps)
{
    size_t num_bounds = find_bounds(rows, collective, bounds);
    size_t num = 0;
    for (size_t i = 0; i < num_bounds; i++) {
        if (i > 0 && bounds[i] == bounds[i - 1]) {
            continue;
        }
        step_t step = make_step(rows, collective, bounds[i]);
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
    coll_poweraware_choices_t *choices = calloc(1, sizeof *choices);
    row_t **row = calloc(decision->num_rows + 1, sizeof(row_t *));
    rows_t rows = row ? find_rows(decision, nodes, ranks_per_node, row) : (rows_t){0};
    /* a row adds at most two bounds */
    uint64_t *bounds = calloc(2 * rows.num + 1, sizeof *bounds);
    step_t *steps = calloc(2 * rows.num + num_collectives, sizeof *steps);
    size_t *first = calloc(num_collectives + 1, sizeof *first);
    bool has_memory = choices && row && bounds && steps && first;
    if (has_memory) {
        for (int c = 0; c < decision->num_collectives; c++) {
            first[c + 1] = first[c] + add_steps(&rows, c, bounds, steps + first[c]);
        }
        step_t *fitting = realloc(steps, first[num_collectives] * sizeof *steps);
        *choices = (coll_poweraware_choices_t){first, fitting ? fitting : steps};
    } else {
        free(choices);
        free(steps);
        free(first);
    }
    free(row);
    free(bounds);
    return has_memory ? choices : NULL;
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
