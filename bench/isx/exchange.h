/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ways in which all PEs send each PE the keys of its bucket.
 */
#ifndef ISX_EXCHANGE_H
#define ISX_EXCHANGE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Symmetric: for how many keys others have reserved places.  Those reserved by OpenSHMEM's atomic
   operations lie at the begin of the received keys, those by the CPU's (PEs of this node) at their
   end: the two kinds need not be atomic with each other. */
typedef struct isx_inbox {
    long low;
    alignas(64) atomic_long high;
} isx_inbox_t;

typedef struct isx_job {
    int me, pes;
    uint32_t *bucketed; /* this PE's keys, by bucket */
    size_t *starts;     /* of buckets in there, and the end */
    uint32_t **next;    /* where the next key of each bucket goes */
    isx_inbox_t *inbox; /* symmetric */
    uint32_t *received; /* symmetric, of */
    size_t capacity;    /* keys */
    long *counts, *table; /* symmetric: keys for each PE; the same of all PEs, in their order */
    size_t *places;       /* in each PE's received keys, for this PE's */
} isx_job_t;

typedef struct isx_way {
    const char *name;
    void (*plan)(isx_job_t *job); /* before keys are put into buckets; NULL: none */
    void (*exchange)(const isx_job_t *job);
    void (*meet)(void); /* all keys are there */
} isx_way_t;

extern const isx_way_t isx_ways[];
enum { ISX_WAYS = 4 };

#endif
