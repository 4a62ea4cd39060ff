/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Points: what measurements say of one collective, layout and number of bytes.
 */
#ifndef PWR_TUNE_POINTS_H
#define PWR_TUNE_POINTS_H

#include "decide.h"

enum { TUNE_RESULTS_MAX = 16 };

/* What an algorithm may cost at its worst, of stock's time. */
#define TUNE_WORST_TIME 1.05

/* One algorithm at one point, sums over documents
   but where something else is said. */
typedef struct tune_result {
    char name[TUNE_NAME_MAX];
    double log_time; /* logarithms of ratios to stock */
    double log_cpu;
    double slower; /* shares of blocks that were slower than stock */
    int bad;       /* documents in which it took more than TUNE_WORST_TIME of stock's time */
    int documents;
} tune_result_t;

typedef struct tune_point {
    char collective[TUNE_NAME_MAX];
    uint64_t nodes;
    uint64_t ranks_per_node;
    uint64_t bytes;
    tune_result_t results[TUNE_RESULTS_MAX];
    int num_results;
} tune_point_t;

typedef struct tune_points {
    tune_point_t *all; /* to be freed */
    size_t num;
    bool out_of_memory;
} tune_points_t;

/* All points of all documents.  False: why[why_size] says which is not one. */
bool tune_points_read(tune_points_t *points, json_t *const *documents, int num_documents, char *why,
                      size_t why_size);

#endif
