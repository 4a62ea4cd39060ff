/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The document of a job (tools/record/poweraware-job.schema.json) from its ledger.
 */
#ifndef PWR_RECORD_DOCUMENT_H
#define PWR_RECORD_DOCUMENT_H

#include <limits.h>

#include "pwr/ledger.h"
#include "tools/record/about.h"

/* Sums that document and summary both tell. */
typedef struct document_totals {
    unsigned reported; /* processes */
    unsigned finished;
    size_t metered;    /* nodes whose energy is known */
    size_t sharing;    /* nodes that are containers on one machine with others */
    uint64_t begin_ns; /* of the first node .. */
    uint64_t end_ns;   /* .. and the last */
    double wall_s;     /* sums over processes */
    double cpu_s;
    double setup_s;
    double joules; /* of metered nodes */
    double uncertainty_j;
    double gpus_j; /* of that, what GPUs have counted themselves (NVML); 0: there are none */
    double gpus_uncertainty_j;
    pwr_meter_provenance_t provenance; /* of the least sure */
    pwr_account_sums_t calls;
} document_totals_t;

document_totals_t document_totals(const pwr_ledger_t *ledger);
double document_spread(const document_totals_t *totals); /* seconds from begin to end */

/* The classes that were called into cells[PWR_ACCOUNT_CELLS], those in which most time was spent
   first; returns how many. */
size_t document_classes(const pwr_account_t *account, const pwr_account_cell_t **cells);

/* why_incomplete: NULL of a job that ended as it should and reported all.  NULL without memory. */
json_t *document_make(const about_t *about, const pwr_ledger_t *ledger, const char *why_incomplete);

/* Replaces the file by a whole document or leaves it as it is.  0, or an errno. */
int document_replace(const json_t *document, const char *path);
/* Writes a whole document to a file that is not there yet: <stem>.json, where that is somebody
   else's <stem>-<owner>.json, or with a number behind it.  path says which.  0, or an errno. */
int document_keep(const json_t *document, const char *stem, const char *owner, char path[PATH_MAX]);

/* What people see of it on their terminal.  To be freed; "" when about wants none; NULL without
   memory. */
char *summary_make(const about_t *about, const pwr_ledger_t *ledger, const char *why_incomplete);

#endif
