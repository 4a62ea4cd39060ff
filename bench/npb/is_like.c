/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * IS's communication: integers sorted into buckets by MPI_Allreduce (how full the buckets are),
 * MPI_Alltoall (how many keys for whom) and MPI_Alltoallv (the keys).
 *
 * Each iteration changes two keys and ranks all of them anew.  At the end the keys are sorted, and
 * it is checked that they ascend from rank to rank and are the keys there were at first.
 * The phases of an iteration are regions: count, exchange, rank.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "../../regions/poweraware.h"

typedef int32_t sort_key_t;

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS, NUMBERS_PER_KEY = 4, ITERATIONS = 10 };

static const pwr_npb_class_t classes[] = {
    {'S', ITERATIONS, {16, 11}}, {'W', ITERATIONS, {20, 16}}, {'A', ITERATIONS, {23, 19}},
    {'B', ITERATIONS, {25, 21}}, {'C', ITERATIONS, {27, 23}}, {0, 0, {0}},
};

typedef struct sorter {
    int rank;
    int np;
    int bucket_shift; /* a key's bucket is the key >> bucket_shift */
    int64_t total;
    sort_key_t *keys; /* of this rank */
    int count;
    sort_key_t *by_bucket;
    sort_key_t *received; /* all of this rank's buckets */
    int received_count;
    int received_room;
    int sizes[BUCKETS]; /* of this rank's keys */
    int64_t all_sizes[BUCKETS];
    int first_bucket; /* of those that this rank sorts */
    int end_bucket;
    int *send_counts, *send_starts, *recv_counts, *recv_starts;
    int *ranks; /* how many of the received keys are at most this one, by key - lowest */
} sorter_t;

static int64_t start_of(const sorter_t *s, int rank)
{
    return s->total * rank / s->np;
}

static sorter_t make_sorter(const pwr_npb_run_t *run)
{
    int key_bits = run->class->size[1];
    sorter_t s = {.rank = run->rank,
                  .np = run->np,
                  .bucket_shift = key_bits - BUCKET_BITS,
                  .total = (int64_t)1 << run->class->size[0]};
    if (s.np > BUCKETS) {
        pwr_npb_refuse(run, "%d processes for %d buckets: take at most as many", s.np, BUCKETS);
    }
    s.count = (int)(start_of(&s, s.rank + 1) - start_of(&s, s.rank));
    if (s.count < 2 * ITERATIONS) {
        pwr_npb_refuse(run,
                       "%d keys for a process are too few: take fewer processes or a larger class",
                       s.count);
    }
    s.keys = pwr_npb_allocate((size_t)s.count * sizeof *s.keys);
    s.by_bucket = pwr_npb_allocate((size_t)s.count * sizeof *s.by_bucket);
    s.ranks = pwr_npb_allocate(((size_t)1 << key_bits) * sizeof *s.ranks);
    int **tables[] = {&s.send_counts, &s.send_starts, &s.recv_counts, &s.recv_starts};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        *tables[i] = pwr_npb_allocate((size_t)s.np * sizeof **tables[i]);
    }
    return s;
}

static void free_sorter(sorter_t *s)
{
    free(s->keys);
    free(s->by_bucket);
    free(s->received);
    free(s->ranks);
    free(s->send_counts);
    free(s->send_starts);
    free(s->recv_counts);
    free(s->recv_starts);
}

/* The mean of four numbers, so that middle keys are more frequent. */
static void set_keys(sorter_t *s, int key_bits)
{
    double scale = (double)((int64_t)1 << key_bits) / NUMBERS_PER_KEY;
    pwr_npb_random_t random = pwr_npb_random_at((uint64_t)start_of(s, s->rank) * NUMBERS_PER_KEY);
    for (int i = 0; i < s->count; i++) {
        double sum = 0;
        for (int k = 0; k < NUMBERS_PER_KEY; k++) {
            sum += pwr_npb_random(&random);
        }
        s->keys[i] = (sort_key_t)(scale * sum);
    }
}

/* ---- an iteration ---- */

static int bucket_of(const sorter_t *s, sort_key_t key)
{
    return key >> s->bucket_shift;
}

static void put_into_buckets(sorter_t *s)
{
    int ends[BUCKETS];
    memset(s->sizes, 0, sizeof s->sizes);
    for (int i = 0; i < s->count; i++) {
        s->sizes[bucket_of(s, s->keys[i])]++;
    }
    int end = 0;
    for (int b = 0; b < BUCKETS; b++) {
        end += s->sizes[b];
        ends[b] = end;
    }
    for (int i = s->count; i-- > 0;) {
        s->by_bucket[--ends[bucket_of(s, s->keys[i])]] = s->keys[i];
    }
}

static void add_up_buckets(sorter_t *s)
{
    int64_t mine[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) {
        mine[b] = s->sizes[b];
    }
    MPI_Allreduce(mine, s->all_sizes, BUCKETS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* Buckets go to ranks in order, so that each gets about as many keys. */
static void share_buckets(sorter_t *s)
{
    int64_t keys = 0;
    int bucket = 0;
    for (int rank = 0; rank < s->np; rank++) {
        int first = bucket;
        s->send_counts[rank] = 0;
        while (bucket < BUCKETS && (rank == s->np - 1 || keys < start_of(s, rank + 1))) {
            keys += s->all_sizes[bucket];
            s->send_counts[rank] += s->sizes[bucket++];
        }
        if (rank == s->rank) {
            s->first_bucket = first;
            s->end_bucket = bucket;
        }
    }
}

static int set_starts(int np, const int *counts, int *starts)
{
    int end = 0;
    for (int i = 0; i < np; i++) {
        starts[i] = end;
        end += counts[i];
    }
    return end;
}

static void exchange_keys(sorter_t *s, pwr_npb_run_t *run)
{
    double begin = MPI_Wtime();
    MPI_Alltoall(s->send_counts, 1, MPI_INT, s->recv_counts, 1, MPI_INT, MPI_COMM_WORLD);
    set_starts(s->np, s->send_counts, s->send_starts);
    s->received_count = set_starts(s->np, s->recv_counts, s->recv_starts);
    if (s->received_count > s->received_room) {
        free(s->received);
        s->received_room = s->received_count;
        s->received = pwr_npb_allocate((size_t)s->received_room * sizeof *s->received);
    }
    MPI_Alltoallv(s->by_bucket, s->send_counts, s->send_starts, MPI_INT32_T, s->received,
                  s->recv_counts, s->recv_starts, MPI_INT32_T, MPI_COMM_WORLD);
    run->inside_s += MPI_Wtime() - begin;
}

static sort_key_t lowest_key(const sorter_t *s)
{
    return (sort_key_t)(s->first_bucket << s->bucket_shift);
}

static int range_of_keys(const sorter_t *s)
{
    return (s->end_bucket - s->first_bucket) << s->bucket_shift;
}

/* Keys that are not of this rank's buckets were damaged on their way: without them the number of
   keys is wrong, which the verification sees. */
static void drop_strays(sorter_t *s)
{
    int kept = 0;
    for (int i = 0; i < s->received_count; i++) {
        int bucket = bucket_of(s, s->received[i]);
        if (s->first_bucket <= bucket && bucket < s->end_bucket) {
            s->received[kept++] = s->received[i];
        }
    }
    s->received_count = kept;
}

static void rank_keys(sorter_t *s)
{
    int range = range_of_keys(s);
    drop_strays(s);
    memset(s->ranks, 0, (size_t)range * sizeof *s->ranks);
    for (int i = 0; i < s->received_count; i++) {
        s->ranks[s->received[i] - lowest_key(s)]++;
    }
    for (int k = 1; k < range; k++) {
        s->ranks[k] += s->ranks[k - 1];
    }
}

static void iterate(sorter_t *s, pwr_npb_run_t *run, int iteration)
{
    if (s->rank == 0) {
        s->keys[iteration] = iteration;
        s->keys[iteration + ITERATIONS] =
            (sort_key_t)(((int64_t)1 << run->class->size[1]) - iteration);
    }
    poweraware_region_begin("count");
    put_into_buckets(s);
    poweraware_region_end("count");
    poweraware_region_begin("exchange");
    add_up_buckets(s);
    share_buckets(s);
    exchange_keys(s, run);
    poweraware_region_end("exchange");
    poweraware_region_begin("rank");
    rank_keys(s);
    poweraware_region_end("rank");
}

/* ---- verification ---- */

/* What does not depend on the order of keys. */
typedef struct content {
    uint64_t number;
    uint64_t sum;
    uint64_t scrambled; /* two different sets of as many keys and the same sum hardly share it */
} content_t;

static content_t content_of(const sort_key_t *keys, int count)
{
    content_t found = {.number = (uint64_t)count};
    for (int i = 0; i < count; i++) {
        uint64_t x = (uint64_t)keys[i] + 1;
        x *= 0x9e3779b97f4a7c15U;
        x ^= x >> 29;
        found.sum += (uint64_t)keys[i];
        found.scrambled += x * x;
    }
    MPI_Allreduce(MPI_IN_PLACE, &found, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return found;
}

static sort_key_t *sorted_keys(sorter_t *s)
{
    sort_key_t *sorted = pwr_npb_allocate((size_t)s->received_count * sizeof *sorted);
    for (int i = s->received_count; i-- > 0;) {
        sorted[--s->ranks[s->received[i] - lowest_key(s)]] = s->received[i];
    }
    return sorted;
}

/* Also from the last key of a rank to the first one of the next that has any. */
static bool ascend(const sorter_t *s, const sort_key_t *sorted)
{
    bool right = true;
    for (int i = 1; i < s->received_count; i++) {
        right = right && sorted[i - 1] <= sorted[i];
    }
    int ends[2] = {INT_MAX, INT_MIN}; /* of no keys */
    if (s->received_count > 0) {
        ends[0] = sorted[0];
        ends[1] = sorted[s->received_count - 1];
    }
    int *all = pwr_npb_allocate((size_t)s->np * sizeof ends);
    MPI_Allgather(ends, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    for (int rank = 0; rank < s->rank; rank++) {
        right = right && all[2 * rank + 1] <= ends[0];
    }
    free(all);
    return right;
}

static bool is_sorted(sorter_t *s)
{
    content_t before = content_of(s->keys, s->count);
    sort_key_t *sorted = sorted_keys(s);
    content_t after = content_of(sorted, s->received_count);
    bool right = before.number == (uint64_t)s->total && after.number == before.number &&
                 after.sum == before.sum && after.scrambled == before.scrambled;
    right = ascend(s, sorted) && right;
    free(sorted);
    return right;
}

int main(int argc, char **argv)
{
    pwr_npb_run_t run = pwr_npb_start("IS", classes, argc, argv);
    sorter_t s = make_sorter(&run);
    set_keys(&s, run.class->size[1]);
    pwr_npb_begin(&run);
    for (int iteration = 1; iteration <= run.class->iterations; iteration++) {
        iterate(&s, &run, iteration);
    }
    pwr_npb_end(&run);
    int status = pwr_npb_report(&run, is_sorted(&s));
    free_sorter(&s);
    MPI_Finalize();
    return status;
}
