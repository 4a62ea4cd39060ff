/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Results as OSU's text table and as JSON.
 */
#include "config.h"

#include "harness.h"

#include <inttypes.h>
#include <jansson.h>

/* OSU's column widths, so that column-counting scripts work too. */
enum { WIDTH_SIZE = 10, WIDTH_TIME = 18, WIDTH_COUNT = 12 };

/* Without sizes the first column is a time, one character less wide. */
static bool has_sizes(const pwr_osu_run_t *run)
{
    return run->benchmark->data->unit > 0;
}

void pwr_osu_output_head(const pwr_osu_run_t *run, FILE *out)
{
    const pwr_osu_benchmark_t *benchmark = run->benchmark;
    fprintf(out, "\n# %s %s Latency Test v%s (poweraware's own program, not %s's)\n",
            pwr_osu_suite.kind, benchmark->title, PACKAGE_VERSION, pwr_osu_suite.owner);
    if (has_sizes(run)) {
        fprintf(out, "# Datatype: %s.\n", benchmark->data->datatype);
        fprintf(out, "%-*s%*s", WIDTH_SIZE, "# Size", WIDTH_TIME, "Avg Latency(us)");
    } else {
        fprintf(out, "# Avg Latency(us)");
    }
    if (run->options->full) {
        fprintf(out, "%*s%*s%*s", WIDTH_TIME, "Min Latency(us)", WIDTH_TIME, "Max Latency(us)",
                WIDTH_COUNT, "Iterations");
    }
    if (run->options->full && pwr_osu_suite.operations) {
        fprintf(out, "%*s", WIDTH_TIME, "Moved(bytes)");
    }
    if (run->options->validate) {
        fprintf(out, "%*s", WIDTH_TIME, "Validation");
    }
    fputc('\n', out);
    fflush(out);
}

void pwr_osu_output_row(const pwr_osu_run_t *run, const pwr_osu_row_t *row, FILE *out)
{
    if (has_sizes(run)) {
        fprintf(out, "%-*zu%*.2f", WIDTH_SIZE, row->bytes, WIDTH_TIME, row->avg_us);
    } else {
        fprintf(out, "%*.2f", WIDTH_TIME - 1, row->avg_us);
    }
    if (run->options->full) {
        fprintf(out, "%*.2f%*.2f%*lu", WIDTH_TIME, row->min_us, WIDTH_TIME, row->max_us,
                WIDTH_COUNT, row->iterations);
    }
    if (run->options->full && pwr_osu_suite.operations) {
        fprintf(out, "%*" PRIu64, WIDTH_TIME, row->moved_bytes);
    }
    if (row->verdict != PWR_OSU_NOT_CHECKED) {
        fprintf(out, "%*s", WIDTH_TIME, row->verdict == PWR_OSU_PASS ? "Pass" : "Fail");
    }
    fputc('\n', out);
    fflush(out);
}

static json_t *json_of_row(const pwr_osu_row_t *row)
{
    json_t *validated = row->verdict == PWR_OSU_NOT_CHECKED
                            ? json_null()
                            : json_boolean(row->verdict == PWR_OSU_PASS);
    json_t *moved = row->moved_bytes > 0 ? json_integer((json_int_t)row->moved_bytes) : NULL;
    return json_pack("{s:I, s:I, s:I, s:o*, s:f, s:f, s:f, s:I, s:I, s:f, s:o}", "bytes",
                     (json_int_t)row->bytes, "iterations", (json_int_t)row->iterations,
                     "operations", (json_int_t)row->operations, "moved_bytes", moved, "avg_us",
                     row->avg_us, "min_us", row->min_us, "max_us", row->max_us, "t_begin_ns",
                     (json_int_t)row->begin_ns, "t_end_ns", (json_int_t)row->end_ns, "cpu_s",
                     row->cpu_s, "validated", validated);
}

static json_t *json_of_root(const pwr_osu_run_t *run)
{
    if (!run->benchmark->rooted) {
        return json_null();
    }
    return run->options->root == PWR_OSU_ROOT_ROTATES ? json_string("rotate")
                                                      : json_integer(run->options->root);
}

bool pwr_osu_output_json(const pwr_osu_run_t *run, const pwr_osu_row_t *rows, size_t row_count,
                         const pwr_osu_rank_t *ranks, FILE *out)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);

    json_t *row_list = json_array();
    for (size_t i = 0; i < row_count; i++) {
        json_array_append_new(row_list, json_of_row(&rows[i]));
    }
    json_t *rank_list = json_array();
    for (int rank = 0; rank < run->np; rank++) {
        const pwr_osu_rank_t *about = &ranks[rank];
        json_array_append_new(rank_list,
                              json_pack("{s:i, s:s, s:I, s:f, s:f}", "rank", rank, "host",
                                        about->host, "pid", (json_int_t)about->pid, "cpu_s",
                                        about->cpu_s, "wall_s", about->wall_s));
    }
    json_t *document =
        json_pack("{s:s+, s:s, s:s, s:s, s:i, s:o, s:o, s:o}", "benchmark", pwr_osu_suite.prefix,
                  run->benchmark->name, "version", PACKAGE_VERSION, "library", library, "datatype",
                  run->benchmark->data->datatype, "np", run->np, "root", json_of_root(run), "rows",
                  row_list, "ranks", rank_list);
    bool written = document &&
                   json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
                   fputc('\n', out) != EOF;
    json_decref(document);
    return written;
}
