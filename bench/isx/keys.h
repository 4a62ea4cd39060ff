/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Keys of an integer bucket sort, by one process for itself.
 */
#ifndef ISX_KEYS_H
#define ISX_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* Keys are below range; bucket b has those from b * width on, below (b + 1) * width. */
typedef struct isx_buckets {
    uint32_t range, width;
    uint64_t inverse; /* of width: a division for each key would take most of the time */
    size_t number;
} isx_buckets_t;

static inline size_t isx_bucket_of(uint32_t key, const isx_buckets_t *buckets)
{
    __extension__ typedef unsigned __int128 uint128_t;
    return (size_t)((uint128_t)buckets->inverse * key >> 64);
}

/* What keys have come to: sums over processes can be compared.  All of them fit for 2^31 keys. */
typedef struct isx_summary {
    long count, outside; /* keys; those that do not belong to the bucket */
    long sum, mixed;     /* of the keys; of a hash of each, which no exchange of digits keeps */
} isx_summary_t;

isx_buckets_t isx_buckets(uint32_t range, size_t number);
/* Uniformly distributed ones, the same for the same seed. */
void isx_make_keys(uint32_t *keys, size_t count, uint32_t range, uint64_t seed);
/* How many keys each bucket has, and where each begins; starts has one more, the end. */
void isx_count_keys(const uint32_t *keys, size_t count, isx_buckets_t buckets, size_t *starts);
/* next: where each bucket begins, and afterwards ends. */
void isx_bucketize(const uint32_t *keys, size_t count, isx_buckets_t buckets, uint32_t **next);
/* How often there is each key of a bucket that begins with first; keys outside are left out. */
void isx_count_values(const uint32_t *keys, size_t count, uint32_t first, uint32_t width,
                      uint32_t *values);
/* Adds keys that should be of the bucket. */
void isx_summarize(isx_summary_t *summary, const uint32_t *keys, size_t count,
                   isx_buckets_t buckets, size_t bucket);
void isx_add(isx_summary_t *summary, const isx_summary_t *other);
/* What is wrong with the sorted keys, given the keys of before; NULL: nothing. */
const char *isx_fault(const isx_summary_t *before, const isx_summary_t *after);

#endif
