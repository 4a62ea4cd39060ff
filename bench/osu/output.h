/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Results as OSU's text table and as JSON (osu.schema.json).
 */
#ifndef PWR_OSU_OUTPUT_H
#define PWR_OSU_OUTPUT_H

#include <stdio.h>

#include "measure.h"

/* One rank, for the JSON document.  Sent between ranks as bytes. */
typedef struct pwr_osu_rank {
    char host[MPI_MAX_PROCESSOR_NAME];
    int64_t pid;
    double cpu_s;
    double wall_s;
} pwr_osu_rank_t;

/* Title and column names. */
void pwr_osu_output_head(const pwr_osu_run_t *run, FILE *out);

/* One line, flushed: it is also the progress a user sees. */
void pwr_osu_output_row(const pwr_osu_run_t *run, const pwr_osu_row_t *row, FILE *out);

/* The document of rows[row_count] and ranks[run->np].  False: not all is written. */
bool pwr_osu_output_json(const pwr_osu_run_t *run, const pwr_osu_row_t *rows, size_t row_count,
                         const pwr_osu_rank_t *ranks, FILE *out);

#endif
