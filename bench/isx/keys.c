/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Keys of an integer bucket sort, by one process for itself.
 */
#include "config.h"

#include "keys.h"

#include <string.h>

/* splitmix64's step: a hash of 64 bits, too */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

isx_buckets_t isx_buckets(uint32_t range, size_t number)
{
    uint32_t width = (uint32_t)((range + number - 1) / number);
    width = width > 1 ? width : 2; /* the inverse of 1 has 65 bits */
    return (isx_buckets_t){range, width, UINT64_MAX / width + 1, number};
}

void isx_make_keys(uint32_t *keys, size_t count, uint32_t range, uint64_t seed)
{
    uint64_t state = mix(seed);
    for (size_t i = 0; i < count; i++) {
        state += 0x9e3779b97f4a7c15;
        keys[i] = (uint32_t)((mix(state) >> 32) * range >> 32);
    }
}

void isx_count_keys(const uint32_t *keys, size_t count, isx_buckets_t buckets, size_t *starts)
{
    memset(starts, 0, (buckets.number + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++) {
        starts[isx_bucket_of(keys[i], &buckets) + 1]++;
    }
    for (size_t b = 0; b < buckets.number; b++) {
        starts[b + 1] += starts[b];
    }
}

void isx_bucketize(const uint32_t *keys, size_t count, isx_buckets_t buckets, uint32_t **next)
{
    for (size_t i = 0; i < count; i++) {
        *next[isx_bucket_of(keys[i], &buckets)]++ = keys[i];
    }
}

void isx_count_values(const uint32_t *keys, size_t count, uint32_t first, uint32_t width,
                      uint32_t *values)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i] - first < width) { /* as unsigned numbers: keys below first, too */
            values[keys[i] - first]++;
        }
    }
}

void isx_summarize(isx_summary_t *summary, const uint32_t *keys, size_t count,
                   isx_buckets_t buckets, size_t bucket)
{
    for (size_t i = 0; i < count; i++) {
        summary->outside += keys[i] >= buckets.range || keys[i] / buckets.width != bucket;
        summary->sum += keys[i];
        summary->mixed += (long)(mix(keys[i]) >> 32);
    }
    summary->count += (long)count;
}

void isx_add(isx_summary_t *summary, const isx_summary_t *other)
{
    summary->count += other->count;
    summary->outside += other->outside;
    summary->sum += other->sum;
    summary->mixed += other->mixed;
}

const char *isx_fault(const isx_summary_t *before, const isx_summary_t *after)
{
    if (after->count != before->count) {
        return "keys are missing, or there are more than before";
    }
    if (after->outside != 0) {
        return "keys are in a wrong bucket";
    }
    if (after->sum != before->sum || after->mixed != before->mixed) {
        return "keys have changed";
    }
    return NULL;
}
