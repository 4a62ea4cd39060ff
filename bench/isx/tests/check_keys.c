/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Keys: buckets against divisions, sorts against their definition; the check finds broken keys.
 */
#include "config.h"

#include "../keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 10007, RANGE = 1000 };

static int failures;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("FAILED: %s\n", what);
        failures++;
    }
}

static void check_buckets(void)
{
    const uint32_t ranges[] = {1, 2, 7, 8, 1000, 1u << 28, INT32_MAX};
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        for (size_t number = 1; number <= 9; number++) {
            isx_buckets_t buckets = isx_buckets(ranges[r], number);
            expect((uint64_t)buckets.width * number >= ranges[r], "buckets have all keys");
            for (size_t b = 0; b < number; b++) {
                uint32_t first = (uint32_t)b * buckets.width, last = first + buckets.width - 1;
                expect(isx_bucket_of(first, &buckets) == first / buckets.width, "first of one");
                expect(isx_bucket_of(last, &buckets) == last / buckets.width, "last of one");
            }
        }
    }
}

static void check_keys(const uint32_t *keys)
{
    static uint32_t again[COUNT];
    long halves[2] = {0, 0};
    isx_make_keys(again, COUNT, RANGE, 7);
    expect(memcmp(keys, again, sizeof again) == 0, "the same seed, the same keys");
    isx_make_keys(again, COUNT, RANGE, 8);
    expect(memcmp(keys, again, sizeof again) != 0, "another seed, other keys");
    for (int i = 0; i < COUNT; i++) {
        expect(keys[i] < RANGE, "keys are below the range");
        halves[keys[i] % 2]++;
    }
    expect(labs(halves[0] - halves[1]) < COUNT / 10, "as many even keys as odd ones");
}

static void check_sort(const uint32_t *keys, uint32_t *bucketed, size_t number)
{
    isx_buckets_t buckets = isx_buckets(RANGE, number);
    size_t starts[10];
    uint32_t *next[9], values[RANGE];
    isx_count_keys(keys, COUNT, buckets, starts);
    for (size_t b = 0; b < number; b++) {
        next[b] = bucketed + starts[b];
    }
    isx_bucketize(keys, COUNT, buckets, next);
    expect(starts[0] == 0 && starts[number] == COUNT, "buckets have all keys");
    isx_summary_t before = {0}, after = {0};
    isx_summarize(&before, keys, COUNT, buckets, 0);
    for (size_t b = 0; b < number; b++) {
        uint32_t first = (uint32_t)b * buckets.width;
        expect(next[b] == bucketed + starts[b + 1], "a bucket ends where the next one begins");
        isx_summarize(&after, bucketed + starts[b], starts[b + 1] - starts[b], buckets, b);
        memset(values, 0, sizeof values);
        isx_count_values(bucketed + starts[b], starts[b + 1] - starts[b], first, buckets.width,
                         values);
        for (uint32_t v = 0; v < buckets.width && v < RANGE; v += 13) {
            uint32_t expected = 0;
            for (int i = 0; i < COUNT; i++) {
                expected += keys[i] == first + v;
            }
            expect(values[v] == expected, "how often there is a key");
        }
    }
    expect(isx_fault(&before, &after) == NULL, "a right sort");
}

/* The check's words of keys that were broken by hand. */
static const char *fault_of(const uint32_t *keys, size_t count, const uint32_t *broken,
                            size_t broken_count)
{
    isx_buckets_t buckets = isx_buckets(RANGE, 2);
    isx_summary_t before = {0}, after = {0};
    isx_summarize(&before, keys, count, buckets, 0);
    isx_summarize(&after, broken, broken_count, buckets, 0);
    const char *fault = isx_fault(&before, &after);
    return fault != NULL ? fault : "nothing";
}

static void check_faults(void)
{
    const uint32_t right[] = {3, 400, 77, 12}, moved[] = {3, 500, 77, 12};
    const uint32_t changed[] = {3, 400, 77, 13}, balanced[] = {4, 399, 77, 12};
    const uint32_t outside[] = {3, 400, 77, RANGE}, permuted[] = {12, 77, 400, 3};
    expect(strcmp(fault_of(right, 4, permuted, 4), "nothing") == 0, "order does not matter");
    expect(strstr(fault_of(right, 4, right, 3), "missing") != NULL, "a missing key");
    expect(strstr(fault_of(right, 3, right, 4), "more") != NULL, "a key too many");
    expect(strstr(fault_of(right, 4, moved, 4), "wrong bucket") != NULL, "a key of another bucket");
    expect(strstr(fault_of(right, 4, outside, 4), "wrong bucket") != NULL, "a key out of range");
    expect(strstr(fault_of(right, 4, changed, 4), "changed") != NULL, "a changed key");
    expect(strstr(fault_of(right, 4, balanced, 4), "changed") != NULL, "the same sum");
}

int main(void)
{
    static uint32_t keys[COUNT], bucketed[COUNT];
    isx_make_keys(keys, COUNT, RANGE, 7);
    check_buckets();
    check_keys(keys);
    for (size_t number = 1; number <= 9; number++) {
        check_sort(keys, bucketed, number);
    }
    check_faults();
    return failures != 0;
}
