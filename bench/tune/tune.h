/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-tune: what its parts hand to each other.
 *
 *   options -> layouts -> cells: every variant of a collective at one size, in one job, interleaved
 *           -> measurements (JSON), of which "poweraware decide" makes a decision table
 */
#ifndef PWR_TUNE_H
#define PWR_TUNE_H

#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "../osu/osu.h"

enum {
    TUNE_NAME_MAX = 32,
    TUNE_VARIANTS_MAX = 16,
    TUNE_SIZES_MAX = 32,
    TUNE_LAYOUTS_MAX = 64,
    TUNE_BLOCKS_MAX = 200,
    TUNE_COLLECTIVES_MAX = 16,
};

/* ---- options.c ---- */

typedef struct tune_layout {
    int nodes;
    int ranks_per_node;
} tune_layout_t;

typedef struct tune_options {
    const char *output;      /* of the measurements */
    const char *layouts;     /* as given */
    const char *collectives; /* as given; NULL: all */
    const char *variants;    /* as given; NULL: stock and all of ours */
    size_t sizes[TUNE_SIZES_MAX];
    int num_sizes;
    double seconds; /* per collective and size */
    int blocks;
    unsigned long seed;
    unsigned long mem_limit;
} tune_options_t;

/* Ends the program for --help and for what is wrong. */
tune_options_t tune_options_read(int argc, char **argv);

/* The words of "a,b,c" one after the other: *rest is the list first, NULL is an empty one. */
bool tune_list_next(const char **rest, char word[TUNE_NAME_MAX]);
bool tune_list_has(const char *list, const char *name);

/* ---- variants.c ---- */

typedef struct tune_variant {
    char name[TUNE_NAME_MAX];
    const char *word;               /* coll_poweraware_algorithm of its communicator */
    const char *preference;         /* ompi_comm_coll_preference, or NULL */
    bool has[TUNE_COLLECTIVES_MAX]; /* which of pwr_osu_benchmarks it does */
    bool is_ours;                   /* an algorithm, which may decline a call */
    bool copies;                    /* no collective: each rank copies the message once */
} tune_variant_t;

typedef struct tune_variants {
    tune_variant_t variant[TUNE_VARIANTS_MAX];
    int num;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handled;
} tune_variants_t;

/* What the job's Open MPI has to be told before MPI_Init; the user's own settings stay. */
void tune_variants_environment(const tune_options_t *options);
/* All that options ask for; the first is stock.  Between MPI_Init and MPI_Finalize. */
bool tune_variants_find(tune_variants_t *variants, const tune_options_t *options);
/* How many calls of this process algorithms of ours took so far. */
unsigned long long tune_variants_handled(const tune_variants_t *variants);
void tune_variants_close(tune_variants_t *variants);
MPI_Comm tune_variant_open(const tune_variant_t *variant, MPI_Comm base);

/* ---- layouts.c ---- */

typedef struct tune_layouts {
    tune_layout_t layout[TUNE_LAYOUTS_MAX];
    int num;
    int my_node;
    int my_local;
} tune_layouts_t;

/* Those asked for; an error where this job's ranks cannot make one. */
bool tune_layouts_find(tune_layouts_t *layouts, const tune_options_t *options);
/* MPI_COMM_NULL on ranks that have no part in it. */
MPI_Comm tune_layout_open(const tune_layouts_t *layouts, const tune_layout_t *layout);
/* All ranks of the world; those without a part sleep until the others are done. */
void tune_layout_close(MPI_Comm comm);

/* ---- measure.c ---- */

typedef struct tune_place {
    const tune_options_t *options;
    const tune_layout_t *layout;
    const tune_variants_t *variants;
    MPI_Comm neutral;                  /* for barriers and results */
    MPI_Comm comms[TUNE_VARIANTS_MAX]; /* one of each variant */
    int np;
    int rank;
    unsigned tag;         /* of the last checked call; the same on all ranks, as is: */
    unsigned long chance; /* state of the random numbers */
} tune_place_t;

/* One collective at one size with all variants that do it.  Returns the point on rank 0, NULL on
   the others and where there is nothing to measure. */
json_t *tune_measure(tune_place_t *place, const pwr_osu_benchmark_t *collective, size_t size);

/* ---- output.c: what rank 0 tells the user ---- */

/* Why the job cannot be done, in a line; all ranks may call it.  Returns false. */
bool tune_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a terminal one line that changes, elsewhere a line now and then. */
void tune_progress(const tune_layout_t *layout, const char *collective, size_t size, int done,
                   int all);
void tune_progress_end(void);

/* The document with the measurements; no points yet. */
json_t *tune_document_new(int argc, char **argv);
/* Replaced in one step. */
bool tune_document_write(const json_t *document, const char *path);

#endif
