/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Integer bucket sort with the communication of ISx: each PE has keys, and each PE wants a bucket.
 *
 *   count      keys of each bucket
 *   plan       where keys go, in one of the ways
 *   bucketize  keys by bucket
 *   puts       to each PE the keys of its bucket (exchange.c)
 *   barrier    all keys are there
 *   values     how often there is each key
 *
 * An iteration does so once in each way; which comes first changes.  A phase takes the time of the
 * PE that takes longest.  PEs meet before the first phase, before the plan and before the puts; how
 * long they wait there is in the total only.  After each sort the keys are checked.
 */
#include "config.h"

#include "exchange.h"
#include "keys.h"
#include "options.h"
#include "report.h"

#include "../../oshmem/shnode/shnode.h"

#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a PE tells PE 0 of a sort. */
typedef struct record {
    double ms[ISX_PHASES];
    isx_summary_t summary;
} record_t;

typedef struct memory {
    uint32_t *keys, *values;
    size_t count;
    record_t *records; /* symmetric: in PE 0, of each PE */
    isx_buckets_t buckets;
    isx_job_t job;
} memory_t;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- memory ---- */

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "isx: PE %d: no %zu bytes of memory\n", shmem_my_pe(), bytes);
        shmem_global_exit(1);
    }
    return memory;
}

/* All PEs ask for as much, so all of them come to the same result. */
static void *allocate_symmetric(size_t bytes)
{
    void *memory = shmem_align(64, bytes);
    if (memory == NULL) {
        if (shmem_my_pe() == 0) {
            fprintf(stderr, "isx: no %zu bytes of symmetric memory: set SHMEM_SYMMETRIC_SIZE=%zu\n",
                    bytes, 2 * bytes + (64 << 20));
        }
        shmem_barrier_all();
        shmem_global_exit(1);
    }
    return memory;
}

/* Received keys are distributed binomially: none of 10^12 buckets has more. */
static size_t capacity_of(size_t total, isx_buckets_t buckets)
{
    double mean = (double)total * buckets.width / buckets.range, deviation = 1;
    while (deviation * deviation < mean) {
        deviation *= 1.1;
    }
    return (size_t)(mean + 8 * deviation) + 64;
}

static void open_memory(memory_t *m)
{
    isx_job_t *job = &m->job;
    size_t pes = (size_t)job->pes;
    m->count = isx_options.is_weak
                   ? isx_options.keys
                   : isx_options.keys / pes + ((size_t)job->me < isx_options.keys % pes);
    m->buckets = isx_buckets(isx_options.range, pes);
    job->capacity = capacity_of(isx_options.is_weak ? isx_options.keys * pes : isx_options.keys,
                                m->buckets);
    job->received = allocate_symmetric(job->capacity * sizeof *job->received);
    job->inbox = allocate_symmetric(sizeof *job->inbox);
    job->counts = allocate_symmetric(pes * sizeof *job->counts);
    job->table = allocate_symmetric(pes * pes * sizeof *job->table);
    m->records = allocate_symmetric(pes * sizeof *m->records);
    m->keys = allocate(m->count * sizeof *m->keys);
    job->bucketed = allocate(m->count * sizeof *job->bucketed);
    m->values = allocate(m->buckets.width * sizeof *m->values);
    job->starts = allocate((pes + 1) * sizeof *job->starts);
    job->next = allocate(pes * sizeof *job->next);
    job->places = allocate(pes * sizeof *job->places);
    isx_make_keys(m->keys, m->count, isx_options.range, isx_options.seed << 20 | (uint64_t)job->me);
}

/* ---- a sort ---- */

static size_t keys_at_begin(const isx_job_t *job)
{
    return (size_t)job->inbox->low;
}

static size_t keys_at_end(const isx_job_t *job)
{
    return (size_t)atomic_load(&job->inbox->high);
}

/* Whether they fit; where they do not, some were not sent. */
static bool is_complete(const isx_job_t *job)
{
    return keys_at_begin(job) + keys_at_end(job) <= job->capacity;
}

static void count_values(memory_t *m)
{
    const isx_job_t *job = &m->job;
    uint32_t first = (uint32_t)job->me * m->buckets.width;
    memset(m->values, 0, m->buckets.width * sizeof *m->values);
    if (is_complete(job)) {
        isx_count_values(job->received, keys_at_begin(job), first, m->buckets.width, m->values);
        isx_count_values(job->received + job->capacity - keys_at_end(job), keys_at_end(job), first,
                         m->buckets.width, m->values);
    }
}

static void sort(memory_t *m, const isx_way_t *way, double *ms)
{
    isx_job_t *job = &m->job;
    double at[9];
    job->inbox->low = 0;
    atomic_store(&job->inbox->high, 0);
    shmem_barrier_all();
    at[0] = now_ms();
    isx_count_keys(m->keys, m->count, m->buckets, job->starts);
    at[1] = now_ms();
    for (int pe = 0; pe < job->pes; pe++) {
        job->next[pe] = job->bucketed + job->starts[pe];
    }
    at[2] = at[3] = now_ms();
    if (way->plan != NULL) {
        shmem_barrier_all();
        at[2] = now_ms();
        way->plan(job);
        at[3] = now_ms();
    }
    isx_bucketize(m->keys, m->count, m->buckets, job->next);
    at[4] = now_ms();
    shmem_barrier_all();
    at[5] = now_ms();
    way->exchange(job);
    at[6] = now_ms();
    way->meet();
    at[7] = now_ms();
    count_values(m);
    at[8] = now_ms();
    ms[ISX_COUNT] = at[1] - at[0];
    ms[ISX_PLAN] = at[3] - at[2];
    ms[ISX_BUCKETIZE] = at[4] - at[3];
    ms[ISX_PUTS] = at[6] - at[5];
    ms[ISX_BARRIER] = at[7] - at[6];
    ms[ISX_VALUES] = at[8] - at[7];
    ms[ISX_EXCHANGE] = ms[ISX_PLAN] + at[7] - at[5];
    ms[ISX_TOTAL] = at[8] - at[0];
}

/* ---- what PE 0 gets to know ---- */

static void summarize_received(const memory_t *m, isx_summary_t *summary)
{
    const isx_job_t *job = &m->job;
    long counted = 0;
    if (is_complete(job)) {
        isx_summarize(summary, job->received, keys_at_begin(job), m->buckets, (size_t)job->me);
        isx_summarize(summary, job->received + job->capacity - keys_at_end(job), keys_at_end(job),
                      m->buckets, (size_t)job->me);
    }
    for (size_t v = 0; v < m->buckets.width; v++) {
        counted += m->values[v];
    }
    summary->outside += summary->count - counted; /* none, where all are of the bucket */
}

/* All PEs' records: the longest times, the sum of all summaries.  Of use in PE 0. */
static record_t collect(const memory_t *m, const record_t *mine)
{
    record_t all = {.summary = {0}};
    shmem_barrier_all(); /* PE 0 has read the last ones */
    shmem_putmem(&m->records[m->job.me], mine, sizeof *mine, 0);
    shmem_barrier_all();
    for (int pe = 0; pe < m->job.pes && m->job.me == 0; pe++) {
        for (int phase = 0; phase < ISX_PHASES; phase++) {
            double ms = m->records[pe].ms[phase];
            all.ms[phase] = ms > all.ms[phase] ? ms : all.ms[phase];
        }
        isx_add(&all.summary, &m->records[pe].summary);
    }
    return all;
}

/* Before the sorts no key is in its bucket, and that is no fault. */
static isx_summary_t summarize_sources(const memory_t *m)
{
    record_t mine = {.summary = {0}};
    isx_summarize(&mine.summary, m->keys, m->count, m->buckets, 0);
    return collect(m, &mine).summary;
}

static void one(memory_t *m, int way, int iteration, const isx_summary_t *before)
{
    record_t mine = {.summary = {0}};
    sort(m, &isx_ways[way], mine.ms);
    summarize_received(m, &mine.summary);
    record_t all = collect(m, &mine);
    if (m->job.me == 0) {
        isx_report_sort(way, iteration, all.ms, isx_fault(before, &all.summary));
    }
}

static void run(memory_t *m)
{
    isx_summary_t before = summarize_sources(m);
    for (int i = -isx_options.warmup; i < isx_options.iterations; i++) {
        for (int w = 0; w < ISX_WAYS; w++) {
            int way = (w + i + isx_options.warmup) % ISX_WAYS;
            if (isx_options.ways[way]) {
                one(m, way, i, &before);
            }
        }
    }
}

/* Where it is not allowed, times scatter more. */
static void pin(int pe)
{
    cpu_set_t one_cpu;
    CPU_ZERO(&one_cpu);
    CPU_SET((size_t)pe % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &one_cpu);
    sched_setaffinity(0, sizeof one_cpu, &one_cpu);
}

int main(int argc, char **argv)
{
    memory_t memory = {.job = {0}};
    int status = isx_read_options(argc, argv);
    if (status >= 0) {
        return status;
    }
    shmem_init();
    memory.job.me = shmem_my_pe();
    memory.job.pes = shmem_n_pes();
    if (isx_options.is_pinned) {
        pin(memory.job.me);
    }
    open_memory(&memory);
    if (shnode_init() != SHNODE_SUCCESS ||
        shnode_create_team(memory.job.received) != SHNODE_SUCCESS ||
        shnode_add_data(memory.job.inbox) != SHNODE_SUCCESS) {
        fprintf(stderr, "isx: PE %d: no team of a node\n", memory.job.me);
        shmem_global_exit(1);
    }
    run(&memory);
    status = memory.job.me == 0 ? isx_report_end(memory.job.pes) : 0;
    shnode_finalize();
    shmem_finalize();
    return status;
}
