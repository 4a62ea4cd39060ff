/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * All benchmarks of a suite in one program, which runs the one that it is called by,
 * osu_<collective>: options, sizes, buffers, rows and the JSON file.
 */
#include "config.h"

#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_WRONG = 1, /* data, or a file that cannot be written */
    EXIT_OPTIONS = 2,
    /* 0, then doublings of at least 1 up to INT_MAX. */
    SIZES_MAX = 33,
};

static size_t memory_of(const pwr_osu_run_t *run, size_t bytes)
{
    const pwr_osu_data_t *data = run->benchmark->data;
    return data->send_bytes(run->benchmark, run->np, bytes) +
           data->recv_bytes(run->benchmark, run->np, bytes);
}

/* The sizes asked for that fit into --mem-limit. */
static size_t list_sizes(const pwr_osu_run_t *run, size_t sizes[SIZES_MAX])
{
    const pwr_osu_options_t *options = run->options;
    size_t count = 0;
    size_t bytes = options->min_bytes;
    while (bytes <= options->max_bytes && memory_of(run, bytes) <= options->mem_limit) {
        sizes[count++] = bytes;
        if (run->benchmark->data->unit == 0) {
            return count;
        }
        bytes = bytes == 0 ? run->benchmark->data->unit : 2 * bytes;
    }
    if (bytes <= options->max_bytes && run->rank == 0) {
        fprintf(stderr,
                "%s: option --mem-limit: %zu bytes are too few for messages of %zu bytes between "
                "%d ranks, which need %zu%s\n",
                run->name, options->mem_limit, bytes, run->np, memory_of(run, bytes),
                count > 0 ? "; stopping before them" : "");
    }
    return count;
}

static void open_buffers(pwr_osu_run_t *run, size_t bytes)
{
    size_t send = run->benchmark->data->send_bytes(run->benchmark, run->np, bytes);
    size_t recv = run->benchmark->data->recv_bytes(run->benchmark, run->np, bytes);
    size_t cold = run->options->cold_bytes;
    if (!pwr_buffer_open(&run->send, send) || !pwr_osu_suite.open(&run->recv, recv) ||
        !pwr_buffer_open(&run->cold, cold)) {
        fprintf(stderr, "%s: rank %d has no memory for %zu bytes of buffers: lower --mem-limit%s\n",
                run->name, run->rank, send + recv + cold, cold > 0 ? " or --cold" : "");
        MPI_Abort(run->comm, EXIT_WRONG);
    }
}

/* Sizes are checked when all have been measured: from the first row's begin to the last one's end
   there are no checks. Returns the number of rows; a row with wrong data is the last one. */
static size_t run_sizes(pwr_osu_run_t *run, const size_t *sizes, size_t count, pwr_osu_row_t *rows)
{
    bool validate = run->options->validate;
    for (size_t i = 0; i < count; i++) {
        pwr_osu_measure(run, sizes[i], &rows[i]);
        if (validate) {
            pwr_osu_validate_timed(run, sizes[i]);
        } else if (run->rank == 0) {
            pwr_osu_output_row(run, &rows[i], stdout);
        }
    }
    for (size_t i = 0; validate && i < count; i++) {
        rows[i].verdict = pwr_osu_validate(run, sizes[i]);
        if (run->rank == 0) {
            pwr_osu_output_row(run, &rows[i], stdout);
        }
        if (rows[i].verdict == PWR_OSU_FAIL) {
            return i + 1;
        }
    }
    return count;
}

/* Opened before the first measurement: a wrong path must not cost a long run.  False on every rank
   when rank 0 cannot write it. */
static bool open_json(const pwr_osu_run_t *run, FILE **json)
{
    int opened = 1;
    *json = NULL;
    if (run->rank == 0 && run->options->json_path) {
        *json = fopen(run->options->json_path, "w");
        if (!*json) {
            fprintf(stderr, "%s: option --json: cannot write %s: %s\n", run->name,
                    run->options->json_path, strerror(errno));
            opened = 0;
        }
    }
    MPI_Bcast(&opened, 1, MPI_INT, 0, run->comm);
    return opened != 0;
}

/* All ranks; json is NULL everywhere but on rank 0. */
static bool write_json(const pwr_osu_run_t *run, const pwr_osu_row_t *rows, size_t count,
                       FILE *json)
{
    pwr_osu_rank_t me;
    int length;
    memset(&me, 0, sizeof me); /* padding travels too */
    MPI_Get_processor_name(me.host, &length);
    me.pid = getpid();
    me.cpu_s = run->cpu_s;
    me.wall_s = run->wall_s;

    pwr_osu_rank_t *ranks = NULL;
    if (run->rank == 0) {
        ranks = calloc((size_t)run->np, sizeof *ranks);
        if (!ranks) {
            fprintf(stderr, "%s: no memory for a table of %d ranks\n", run->name, run->np);
            MPI_Abort(run->comm, EXIT_WRONG);
        }
    }
    MPI_Gather(&me, (int)sizeof me, MPI_BYTE, ranks, (int)sizeof me, MPI_BYTE, 0, run->comm);
    if (run->rank != 0) {
        return true;
    }
    bool written = pwr_osu_output_json(run, rows, count, ranks, json);
    free(ranks);
    if (fclose(json) != 0 || !written) {
        fprintf(stderr, "%s: option --json: cannot write all of %s: %s\n", run->name,
                run->options->json_path, strerror(errno));
        return false;
    }
    return true;
}

static int run_benchmark(pwr_osu_run_t *run)
{
    size_t sizes[SIZES_MAX];
    pwr_osu_row_t rows[SIZES_MAX];
    FILE *json;
    size_t count = list_sizes(run, sizes);
    if (count == 0) {
        return EXIT_OPTIONS;
    }
    if (!open_json(run, &json)) {
        return EXIT_WRONG;
    }
    open_buffers(run, sizes[count - 1]);
    if (run->rank == 0) {
        pwr_osu_output_head(run, stdout);
    }
    count = run_sizes(run, sizes, count, rows);
    bool good = rows[count - 1].verdict != PWR_OSU_FAIL && !run->failure.seen;
    if (run->options->json_path && !write_json(run, rows, count, json)) {
        good = false;
    }
    pwr_buffer_release(&run->send);
    pwr_osu_suite.release(&run->recv);
    pwr_buffer_release(&run->cold);
    return good ? 0 : EXIT_WRONG;
}

/* Between MPI_Init and MPI_Finalize. */
static int run_job(const char *name, const pwr_osu_benchmark_t *benchmark,
                   const pwr_osu_options_t *options)
{
    pwr_osu_run_t run = {
        .name = name, .benchmark = benchmark, .options = options, .comm = MPI_COMM_WORLD};
    MPI_Comm_size(run.comm, &run.np);
    MPI_Comm_rank(run.comm, &run.rank);
    if (run.np < pwr_osu_suite.fewest_ranks) {
        if (run.rank == 0) {
            fprintf(stderr, "%s: there are %d ranks, it needs %d at least\n", name, run.np,
                    pwr_osu_suite.fewest_ranks);
        }
        return EXIT_OPTIONS;
    }
    if (options->root < run.np) {
        return run_benchmark(&run);
    }
    if (run.rank == 0) {
        fprintf(stderr, "%s: option --root: %d is not one of the %d ranks (0 to %d)\n", name,
                options->root, run.np, run.np - 1);
    }
    return EXIT_OPTIONS;
}

int main(int argc, char **argv)
{
    const char *called = basename(argv[0]);
    const char *prefix = pwr_osu_suite.prefix;
    const pwr_osu_benchmark_t *benchmark =
        strncmp(called, prefix, strlen(prefix)) == 0 ? pwr_osu_find(called + strlen(prefix)) : NULL;
    if (!benchmark) {
        fprintf(stderr, "%s: call it %s<benchmark>, as the links beside it\n", called, prefix);
        return EXIT_OPTIONS;
    }
    const pwr_osu_options_t options = pwr_osu_options_read(benchmark, argc, argv);
    MPI_Init(&argc, &argv);
    int status = run_job(called, benchmark, &options);
    MPI_Finalize();
    return status;
}
