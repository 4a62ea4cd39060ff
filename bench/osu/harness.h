/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the parts of a benchmark program hand to each other: suite, options, a row for each message
 * size, output.
 */
#ifndef PWR_OSU_HARNESS_H
#define PWR_OSU_HARNESS_H

#include <stdint.h>
#include <stdio.h>

#include "osu.h"
#include "pwr_verify/buffer.h"

/* ---- suite.c: what the benchmarks of a program have in common ---- */

typedef struct pwr_osu_suite {
    const char *prefix; /* of the names that the program is called by */
    const char *owner;  /* whose benchmark this does as */
    const char *kind;   /* before the title of a benchmark */
    const char *what;   /* for --help, whose latency this is; NULL: the benchmark's title says it */
    const char *note;   /* for --help */
    int fewest_ranks;
    /* Operations of one run, each of which moves a message; NULL: it is one call, and what that
       moves is not told. */
    int (*operations)(int np);
    /* Receive buffers; open: false when there is no memory. */
    bool (*open)(pwr_buffer_t *buffer, size_t capacity);
    void (*release)(pwr_buffer_t *buffer);
} pwr_osu_suite_t;

extern const pwr_osu_suite_t pwr_osu_suite;

/* ---- options.c ---- */

enum {
    PWR_OSU_ROOT_ROTATES = -1,
    /* Above this size fewer calls are timed and warmed up. */
    PWR_OSU_LARGE_BYTES = 8192,
};

/* Numbers of calls per message size. */
typedef struct pwr_osu_calls {
    unsigned long timed;
    unsigned long warmup;
} pwr_osu_calls_t;

typedef struct pwr_osu_options {
    size_t min_bytes;
    size_t max_bytes;
    pwr_osu_calls_t small;
    pwr_osu_calls_t large;
    unsigned long
        least_ms; /* the timed calls of a size are made again until they have taken that */
    unsigned long cold_bytes; /* that a rank writes before each call, beside the message */
    unsigned long validated_calls;
    unsigned long mem_limit; /* bytes of message buffers per process */
    int root;                /* or PWR_OSU_ROOT_ROTATES */
    bool full;
    bool validate;
    const char *json_path; /* points into argv; NULL: none */
} pwr_osu_options_t;

/* The same on every rank, as argv is; before MPI_Init.  Ends the program for --help and for what is
   wrong. */
pwr_osu_options_t pwr_osu_options_read(const pwr_osu_benchmark_t *benchmark, int argc, char **argv);

/* ---- measure.c, validate.c: called by all ranks together ---- */

typedef enum pwr_osu_verdict {
    PWR_OSU_NOT_CHECKED,
    PWR_OSU_PASS,
    PWR_OSU_FAIL,
} pwr_osu_verdict_t;

/* One message size.  Latencies are of the ranks' own means per call. */
typedef struct pwr_osu_row {
    size_t bytes;
    unsigned long iterations; /* timed operations of a rank */
    unsigned long operations; /* of a rank between begin and end: those to warm up, too */
    uint64_t moved_bytes;     /* by them, of all ranks; 0: not told */
    double avg_us;
    double min_us;
    double max_us;
    uint64_t begin_ns; /* CLOCK_REALTIME: the first rank to start the warm-up calls ... */
    uint64_t end_ns;   /* ... and the last one to end the timed ones */
    double cpu_s;      /* user and system time of all ranks in between */
    pwr_osu_verdict_t verdict;
} pwr_osu_row_t;

/* Wrong data that this rank saw. */
typedef struct pwr_osu_failure {
    bool seen;
    size_t bytes; /* message size */
    long call;    /* checked one, from 0; below 0: a timed one */
    char text[200];
} pwr_osu_failure_t;

typedef struct pwr_osu_run {
    const char *name; /* of the program, for messages */
    const pwr_osu_benchmark_t *benchmark;
    const pwr_osu_options_t *options;
    MPI_Comm comm;
    int np;
    int rank;
    pwr_buffer_t send;
    pwr_buffer_t recv;
    pwr_buffer_t cold; /* written before each call */
    /* This rank, over the warm-up and timed calls of all sizes so far. */
    double cpu_s;
    double wall_s;
    /* Kept apart from the verdict all ranks agreed on, because that agreement is made by
       collectives of the library under test. */
    pwr_osu_failure_t failure;
} pwr_osu_run_t;

/* Makes the buffers those of a size, with zones around them. */
void pwr_osu_use_buffers(pwr_osu_run_t *run, size_t bytes);

/* Times the calls of one size.  *row is complete on rank 0 except for the verdict. */
void pwr_osu_measure(pwr_osu_run_t *run, size_t bytes, pwr_osu_row_t *row);

/* Right after pwr_osu_measure: whether its calls wrote outside of the buffers, for
 * pwr_osu_validate. */
void pwr_osu_validate_timed(pwr_osu_run_t *run, size_t bytes);

/* Makes checked calls of a size; wrong data is described in one line on stderr.  The same result on
   every rank. */
pwr_osu_verdict_t pwr_osu_validate(pwr_osu_run_t *run, size_t bytes);

/* The call number index of a size, as this rank sees it. */
pwr_osu_call_t pwr_osu_call(const pwr_osu_run_t *run, size_t bytes, unsigned long index);

/* ---- output.c: OSU's text table, and JSON (osu.schema.json) ---- */

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
