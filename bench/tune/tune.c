/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-tune: an MPI program that measures where our algorithms pay.
 *
 * It is the job itself, started with the user's own mpirun or srun, because how ranks are placed
 * and bound decides what pays.
 */
#include "config.h"

#include "tune.h"
#include "pwr/save.h"

#include <stdio.h>

enum { EXIT_WRONG = 1, EXIT_OPTIONS = 2 };

typedef struct run {
    const tune_options_t *options;
    tune_variants_t variants;
    tune_layouts_t layouts;
    json_t *document; /* rank 0 */
    int rank;
    int done;
    int all;
} run_t;

static bool is_wanted(const run_t *run, const pwr_osu_benchmark_t *collective)
{
    return !run->options->collectives || tune_list_has(run->options->collectives, collective->name);
}

static int num_sizes(const run_t *run, const pwr_osu_benchmark_t *collective)
{
    return collective->data->unit == 0 ? 1 : run->options->num_sizes;
}

static void measure_collective(run_t *run, tune_place_t *place,
                               const pwr_osu_benchmark_t *collective)
{
    for (int i = 0; i < num_sizes(run, collective); i++) {
        size_t size = collective->data->unit == 0 ? 0 : run->options->sizes[i];
        if (run->rank == 0) {
            tune_progress(place->layout, collective->name, size, run->done, run->all);
        }
        json_t *point = tune_measure(place, collective, size);
        if (point) {
            json_array_append_new(json_object_get(run->document, "points"), point);
        }
        run->done++;
    }
}

/* Ranks that have a part in the layout; rank 0 always has. */
static void measure_layout(run_t *run, const tune_layout_t *layout, MPI_Comm base)
{
    static const tune_variant_t neutral = {.name = "neutral", .word = "off"};
    tune_place_t place = {.options = run->options,
                          .layout = layout,
                          .variants = &run->variants,
                          .neutral = tune_variant_open(&neutral, base),
                          .chance = run->options->seed};
    MPI_Comm_size(base, &place.np);
    MPI_Comm_rank(base, &place.rank);
    for (int i = 0; i < run->variants.num; i++) {
        place.comms[i] = tune_variant_open(&run->variants.variant[i], base);
    }
    for (int c = 0; c < pwr_osu_num_benchmarks; c++) {
        if (is_wanted(run, &pwr_osu_benchmarks[c])) {
            measure_collective(run, &place, &pwr_osu_benchmarks[c]);
        }
    }
    for (int i = 0; i < run->variants.num; i++) {
        MPI_Comm_free(&place.comms[i]);
    }
    MPI_Comm_free(&place.neutral);
}

static void measure_layouts(run_t *run)
{
    for (int c = 0; c < pwr_osu_num_benchmarks; c++) {
        run->all +=
            is_wanted(run, &pwr_osu_benchmarks[c]) ? num_sizes(run, &pwr_osu_benchmarks[c]) : 0;
    }
    run->all *= run->layouts.num;
    for (int i = 0; i < run->layouts.num; i++) {
        MPI_Comm base = tune_layout_open(&run->layouts, &run->layouts.layout[i]);
        if (base != MPI_COMM_NULL) {
            measure_layout(run, &run->layouts.layout[i], base);
        }
        tune_layout_close(base);
    }
    if (run->rank == 0) {
        tune_progress_end();
    }
}

/* Rank 0. */
static int write_results(const run_t *run)
{
    const char *path = run->options->output;
    if (json_array_size(json_object_get(run->document, "points")) == 0) {
        tune_refuse("nothing was measured");
        return EXIT_WRONG;
    }
    if (!tune_document_write(run->document, path)) {
        return EXIT_WRONG;
    }
    printf("Measurements: %s; a decision table is made of them by poweraware decide %s -o FILE\n",
           path, path);
    return 0;
}

/* Rank 0 looks, all learn. */
static bool can_write(const run_t *run)
{
    int good = run->rank != 0 || pwr_save_check("poweraware-tune", run->options->output);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good != 0;
}

int main(int argc, char **argv)
{
    const tune_options_t options = tune_options_read(argc, argv);
    int status = EXIT_OPTIONS;
    run_t run = {.options = &options};
    tune_variants_environment(&options);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    if (can_write(&run) && tune_variants_find(&run.variants, &options) &&
        tune_layouts_find(&run.layouts, &options)) {
        run.document = run.rank == 0 ? tune_document_new(argc, argv) : NULL;
        measure_layouts(&run);
        status = run.rank == 0 ? write_results(&run) : 0;
        json_decref(run.document);
    }
    tune_variants_close(&run.variants);
    MPI_Finalize();
    return status;
}
