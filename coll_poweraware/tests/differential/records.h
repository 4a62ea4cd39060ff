/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What ranks have to tell each other about calls, and how they agree on which one was wrong:
 * with plain messages on a communicator of its own, because collectives are what is under test.
 *
 * Calls follow each other without a word; ranks agree after a batch of them.  So a fast rank may be
 * several calls ahead of a slow one, as in a program.
 */
#ifndef DIFF_RECORDS_H
#define DIFF_RECORDS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum diff_record_kind {
    DIFF_FAILURE,
    DIFF_PASSAGE,    /* a: entered, b: left a barrier, ns on the one clock of all */
    DIFF_DIGEST,     /* a: hash of a result */
    DIFF_SAME_DIGEST /* the same, and all ranks of the communicator must have it */
} diff_record_kind_t;

typedef struct diff_record {
    uint64_t index; /* of the call */
    int32_t sub;    /* of several under one number */
    int32_t first;  /* diff_comm_t.first */
    int32_t rank;   /* in the communicator */
    int32_t kind;
    uint64_t a;
    uint64_t b;
} diff_record_t;

typedef struct diff_records {
    diff_record_t *list;
    size_t num;
    size_t room;
} diff_records_t;

typedef struct diff_verdict {
    uint64_t failures;
    uint64_t index; /* of the first call that failed */
    char why[128];  /* what only all ranks together could see; else empty */
} diff_verdict_t;

void diff_records_add(diff_records_t *records, const diff_record_t *record);
/* Collective over comm, with point-to-point messages only: tells all ranks the same verdict on
   everybody's records and empties them.  digests: where rank 0 writes digests; may be NULL. */
void diff_records_settle(diff_records_t *records, MPI_Comm comm, FILE *digests,
                         diff_verdict_t *verdict);
void diff_records_free(diff_records_t *records);

#endif
