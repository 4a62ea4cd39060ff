/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one collective benchmark is: a const descriptor, which the harness runs.
 *
 * Options, output and timing follow the documented behaviour of the OSU micro-benchmarks, so that
 * scripts and readers need not care which of the two ran; the code is our own.
 */
#ifndef PWR_OSU_H
#define PWR_OSU_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "pwr_verify/pattern.h"

/* One call of the collective, as one rank sees it. */
typedef struct pwr_osu_call {
    MPI_Comm comm;
    int np;
    int rank;
    int root;     /* 0 when the collective has none */
    size_t bytes; /* message size, as in the first column of the output */
    unsigned tag; /* which data: another tag, other bytes */
    unsigned char *send;
    unsigned char *recv;
} pwr_osu_call_t;

/* The first wrong byte of a call, for the message to the user. */
typedef struct pwr_osu_error {
    const char *where; /* "block received from rank", ... */
    int peer;
    bool no_byte; /* what is wrong is not a byte */
    pwr_mismatch_t byte;
} pwr_osu_error_t;

typedef struct pwr_osu_benchmark {
    const char *name;     /* of the program */
    const char *title;    /* as in OSU's first line: "Broadcast" */
    const char *datatype; /* MPI name */
    size_t unit;          /* bytes: message sizes are multiples of it; 0: there are no messages */
    bool rooted;

    /* Sizes of the two buffers for np ranks and messages of bytes; 0: not used. */
    size_t (*send_bytes)(int np, size_t bytes);
    size_t (*recv_bytes)(int np, size_t bytes);

    /* The collective itself, nothing else: this is what is timed. */
    void (*run)(const pwr_osu_call_t *call);

    /* Writes what is sent, and wrong bytes wherever something is to be received. */
    void (*fill)(const pwr_osu_call_t *call);

    /* After run: every byte of both buffers against the rule fill used.  False: *error is set. */
    bool (*check)(const pwr_osu_call_t *call, pwr_osu_error_t *error);
} pwr_osu_benchmark_t;

/* Every collective: X(name). */
#define PWR_OSU_BENCHMARKS(X)                                                                      \
    X(allgather)                                                                                   \
    X(allgatherv)                                                                                  \
    X(allreduce)                                                                                   \
    X(alltoall)                                                                                    \
    X(alltoallv)                                                                                   \
    X(alltoallw)                                                                                   \
    X(barrier)                                                                                     \
    X(bcast)                                                                                       \
    X(gather)                                                                                      \
    X(reduce)                                                                                      \
    X(reduce_scatter)                                                                              \
    X(reduce_scatter_block)                                                                        \
    X(scatter)
#define PWR_OSU_DECLARE(name) extern const pwr_osu_benchmark_t pwr_osu_##name;
PWR_OSU_BENCHMARKS(PWR_OSU_DECLARE)
#undef PWR_OSU_DECLARE

/* The whole program.  Exit status: 0, 1 (wrong data, or a file that cannot be written) or 2
   (options). */
int pwr_osu_main(const pwr_osu_benchmark_t *benchmark, int argc, char **argv);

#endif
