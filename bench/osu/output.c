/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Results as OSU's text table and as JSON.
 */
#include "config.h"

#include "output.h"

#include "json.h"

/* OSU's column widths, so that column-counting scripts work too. */
enum { WIDTH_SIZE = 10, WIDTH_TIME = 18, WIDTH_COUNT = 12 };

/* Without sizes the first column is a time, one character less wide. */
static bool has_sizes(const pwr_osu_run_t *run)
{
    return run->benchmark->unit > 0;
}

void pwr_osu_output_head(const pwr_osu_run_t *run, FILE *out)
{
    const pwr_osu_benchmark_t *benchmark = run->benchmark;
    fprintf(out, "\n# OSU MPI %s Latency Test v%s (poweraware's own program, not OSU's)\n",
            benchmark->title, PACKAGE_VERSION);
    if (has_sizes(run)) {
        fprintf(out, "# Datatype: %s.\n", benchmark->datatype);
        fprintf(out, "%-*s%*s", WIDTH_SIZE, "# Size", WIDTH_TIME, "Avg Latency(us)");
    } else {
        fprintf(out, "# Avg Latency(us)");
    }
    if (run->options->full) {
        fprintf(out, "%*s%*s%*s", WIDTH_TIME, "Min Latency(us)", WIDTH_TIME, "Max Latency(us)",
                WIDTH_COUNT, "Iterations");
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
    if (row->verdict != PWR_OSU_NOT_CHECKED) {
        fprintf(out, "%*s", WIDTH_TIME, row->verdict == PWR_OSU_PASS ? "Pass" : "Fail");
    }
    fputc('\n', out);
    fflush(out);
}

static void put_row(pwr_json_t *json, const pwr_osu_row_t *row)
{
    pwr_json_begin(json, NULL, '{');
    pwr_json_integer(json, "bytes", (int64_t)row->bytes);
    pwr_json_integer(json, "iterations", (int64_t)row->iterations);
    pwr_json_real(json, "avg_us", row->avg_us);
    pwr_json_real(json, "min_us", row->min_us);
    pwr_json_real(json, "max_us", row->max_us);
    pwr_json_integer(json, "t_begin_ns", row->begin_ns);
    pwr_json_integer(json, "t_end_ns", row->end_ns);
    pwr_json_real(json, "cpu_s", row->cpu_s);
    if (row->verdict == PWR_OSU_NOT_CHECKED) {
        pwr_json_null(json, "validated");
    } else {
        pwr_json_bool(json, "validated", row->verdict == PWR_OSU_PASS);
    }
    pwr_json_end(json, '}');
}

static void put_rank(pwr_json_t *json, int rank, const pwr_osu_rank_t *about)
{
    pwr_json_begin(json, NULL, '{');
    pwr_json_integer(json, "rank", rank);
    pwr_json_string(json, "host", about->host);
    pwr_json_integer(json, "pid", about->pid);
    pwr_json_real(json, "cpu_s", about->cpu_s);
    pwr_json_real(json, "wall_s", about->wall_s);
    pwr_json_end(json, '}');
}

static void put_root(pwr_json_t *json, const pwr_osu_run_t *run)
{
    if (!run->benchmark->rooted) {
        pwr_json_null(json, "root");
    } else if (run->options->root == PWR_OSU_ROOT_ROTATES) {
        pwr_json_string(json, "root", "rotate");
    } else {
        pwr_json_integer(json, "root", run->options->root);
    }
}

void pwr_osu_output_json(const pwr_osu_run_t *run, const pwr_osu_row_t *rows, size_t row_count,
                         const pwr_osu_rank_t *ranks, FILE *out)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);

    pwr_json_t json = pwr_json(out);
    pwr_json_begin(&json, NULL, '{');
    pwr_json_string(&json, "benchmark", run->benchmark->name);
    pwr_json_string(&json, "version", PACKAGE_VERSION);
    pwr_json_string(&json, "library", library);
    pwr_json_string(&json, "datatype", run->benchmark->datatype);
    pwr_json_integer(&json, "np", run->np);
    put_root(&json, run);
    pwr_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < row_count; i++) {
        put_row(&json, &rows[i]);
    }
    pwr_json_end(&json, ']');
    pwr_json_begin(&json, "ranks", '[');
    for (int rank = 0; rank < run->np; rank++) {
        put_rank(&json, rank, &ranks[rank]);
    }
    pwr_json_end(&json, ']');
    pwr_json_end(&json, '}');
}
