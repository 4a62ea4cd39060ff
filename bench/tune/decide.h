/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From measurements to the rows of a decision table; knows no MPI.
 */
#ifndef PWR_TUNE_DECIDE_H
#define PWR_TUNE_DECIDE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_NAME_MAX = 32 };

typedef struct tune_row {
    char collective[TUNE_NAME_MAX];
    char algorithm[TUNE_NAME_MAX];
    uint64_t nodes[2]; /* UINT64_MAX: no limit */
    uint64_t ranks_per_node[2];
    uint64_t bytes[2];
    double ratio[2]; /* of times to stock: best and worst point */
} tune_row_t;

/* Parts of 1. */
typedef struct tune_rules {
    double margin; /* time that must be gained */
    double saving; /* CPU time that must be saved where time is within the margin */
} tune_rules_t;

/* The rows that the points of all documents ask for, to be freed; their number in *num.  NULL: out
   of memory, or a document that is not one; why[why_size] says which. */
tune_row_t *tune_decide(json_t *const *documents, int num_documents, const tune_rules_t *rules,
                        size_t *num, char *why, size_t why_size);

/* ---- table.c ---- */

/* A decision table, one row to a line, to be freed; NULL when out of memory. */
char *tune_table(const tune_row_t *rows, size_t num, const char *source);
/* The commands, hosts and dates of documents in a line, to be freed; NULL when out of memory. */
char *tune_source(json_t *const *documents, int num_documents);

#endif
