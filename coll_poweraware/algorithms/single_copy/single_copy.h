/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Long messages on one node by single copy: ranks expose each other their memory.
 *
 * The leader algorithms of one node choose between this and going through shared memory, by what
 * has been faster lately (pwr_ompi/copy_costs.h).  All ranks take the same way; a rank whose data
 * have gaps where others are to copy from or to cannot expose, and then nobody does.
 *
 * Not where ranks share CPUs: to wait for all in every call would be more changes of rank than the
 * other way needs.  4 ranks on 2 CPUs took 1.8 us for a Bcast of 16 KiB that way, and 6.7 us so.
 */
#ifndef COLL_POWERAWARE_SINGLE_COPY_H
#define COLL_POWERAWARE_SINGLE_COPY_H

#include "algorithms/blocks.h"

/* Whether this call may, if every rank copies so many bytes: the same on all ranks. */
bool coll_poweraware_single_copy_can(const coll_poweraware_call_t *call, size_t bytes);

/* ---- what it costs: a rank's work on a message, without waits, in either way ---- */

/* Around all copying and reducing, which they also trace as step of the algorithm.  No clock is
   read when the message is not to be measured (call->measured_bytes). */
uint64_t coll_poweraware_begin_work(const coll_poweraware_call_t *call, int step, size_t bytes);
void coll_poweraware_end_work(coll_poweraware_call_t *call, int step, uint64_t begin_ns);
/* What all of it took; without effect when it is not measured. */
void coll_poweraware_report_work(const coll_poweraware_call_t *call, pwr_copy_way_t way);

/* ---- Bcast, Scatter, Gather: the root exposes (single_copy/rooted.c) ---- */

typedef struct coll_poweraware_rooted_copy {
    int root;
    bool to_root; /* the others copy to the root's memory */
    /* At the root: the packed bytes of rank r's block are at memory + r * stride; NULL: they are
       not packed there. */
    unsigned char *memory;
    ptrdiff_t stride;
    /* My block; its bytes are the same on all ranks. */
    coll_poweraware_block_t block;
} coll_poweraware_rooted_copy_t;

/* Returns whether the message has gone that way, the same on all ranks; *rc is then an OMPI_* code.
 */
bool coll_poweraware_rooted_single_copy(coll_poweraware_call_t *call,
                                        const coll_poweraware_rooted_copy_t *message, int *rc);

/* ---- all ranks expose (single_copy/all.c) ---- */

/* What a rank tells the others. */
typedef struct coll_poweraware_exposed {
    uint64_t from; /* address that others copy from ... */
    uint64_t to;   /* ... and to */
    int32_t exposes;
    int32_t way;      /* the first rank's choice */
    int32_t measures; /* and whether it wants to know what it costs, ... */
    int32_t ends;     /* ... and whether single copy ends: the kernel has refused one */
} coll_poweraware_exposed_t;

/* Everybody exposes or not; mine: from, to and exposes.  Returns whether everybody exposes, and the
   first rank has chosen it; bytes: of the message. */
bool coll_poweraware_expose_all(coll_poweraware_call_t *call, coll_poweraware_exposed_t mine,
                                size_t bytes);
/* What a local rank exposes, until I go on to the next round. */
coll_poweraware_exposed_t coll_poweraware_exposed_by(const coll_poweraware_call_t *call, int local);

/* Copies the packed bytes of my block from, or to, what a local rank exposes. */
int coll_poweraware_copy_exposed(const coll_poweraware_call_t *call, int local, uint64_t there,
                                 bool to_there, const coll_poweraware_block_t *block);

/* ---- Reduce, Allreduce, Reduce_scatter(_block) (single_copy/reduce.c) ---- */

enum { COLL_POWERAWARE_TO_ALL = -1, COLL_POWERAWARE_TO_EACH = -2 };

typedef struct coll_poweraware_reduce_copy {
    const coll_poweraware_args_t *args;
    size_t count; /* elements of the message */
    int to;       /* the rank that has the sum, or COLL_POWERAWARE_TO_ALL, or _TO_EACH its part */
    bool alone;   /* that rank may do all the work */
    /* TO_EACH: rank r's part is elements begin[r] .. begin[r + 1] - 1. */
    const size_t *begin;
} coll_poweraware_reduce_copy_t;

bool coll_poweraware_reduce_single_copy(coll_poweraware_call_t *call,
                                        const coll_poweraware_reduce_copy_t *message, int *rc);

#endif
