/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one collective benchmark is: a row of a table, which the harness and poweraware-tune run.
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

typedef struct pwr_osu_benchmark pwr_osu_benchmark_t;

/* One call of the collective, as one rank sees it. */
typedef struct pwr_osu_call {
    const pwr_osu_benchmark_t *benchmark;
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

/* What a collective moves: how it is written and checked. */
typedef struct pwr_osu_data {
    const char *datatype; /* MPI name */
    size_t unit;          /* bytes: message sizes are multiples of it; 0: there are no messages */

    /* Sizes of the two buffers for np ranks and messages of bytes; 0: not used. */
    size_t (*send_bytes)(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes);
    size_t (*recv_bytes)(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes);

    /* Writes what is sent, and wrong bytes wherever something is to be received. */
    void (*fill)(const pwr_osu_call_t *call);

    /* After run: every byte of both buffers against the rule fill used.  False: *error is set. */
    bool (*check)(const pwr_osu_call_t *call, pwr_osu_error_t *error);
} pwr_osu_data_t;

/* A buffer that is not used. */
size_t pwr_osu_no_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes);

/* Blocks as long as the message, side by side in rank order. */
extern const pwr_osu_data_t pwr_osu_blocks;
/* The message, in the receive buffer of each rank. */
extern const pwr_osu_data_t pwr_osu_message;
/* Sums over all ranks. */
extern const pwr_osu_data_t pwr_osu_sums;
/* None: nobody may leave before the last rank enters. */
extern const pwr_osu_data_t pwr_osu_nothing;

/* Elements of a message. */
typedef struct pwr_osu_part {
    size_t first;
    size_t count;
} pwr_osu_part_t;

struct pwr_osu_benchmark {
    const char *name;  /* of the collective; the program is osu_<name> */
    const char *title; /* as in OSU's first line: "Broadcast" */
    const pwr_osu_data_t *data;
    bool rooted;
    bool send_each; /* the send buffer has a block for each rank, not one for all or for root */
    bool recv_each; /* the receive buffer has a block from each rank, not one from root */
    /* What of a sum a rank gets, rank 0 the most; NULL: all of it. */
    pwr_osu_part_t (*part)(int np, int rank, size_t elements);
    /* How many ranks, from 0 on, are in the sum that a rank gets, 0: it gets none; NULL: all. */
    int (*summed)(int rank);

    /* The collective itself, nothing else: this is what is timed. */
    void (*run)(const pwr_osu_call_t *call);
};

extern const pwr_osu_benchmark_t pwr_osu_benchmarks[];
extern const int pwr_osu_num_benchmarks;

/* By the collective's name; NULL: there is none. */
const pwr_osu_benchmark_t *pwr_osu_find(const char *name);

struct pwr_command;

/* The next name of a command's option --collectives, "bcast,reduce", which moves behind it; NULL:
   none is left.  One that has no messages is refused. */
const pwr_osu_benchmark_t *pwr_osu_next(const struct pwr_command *command, const char **list);
/* Zeroed memory, never NULL: without it the job is aborted. */
void *pwr_osu_allocate(const struct pwr_command *command, size_t bytes);
/* A copy of MPI_COMM_WORLD for which coll_poweraware_algorithm is that; NULL: the scheme chooses;
   "off": it has no functions of ours. */
MPI_Comm pwr_osu_comm(const char *algorithm);

#endif
