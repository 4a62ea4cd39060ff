/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The access patterns of Jana, Schuchart and Chapman between two processes: a payload in f fragments,
 * by P (put or get), Q (quiet), M (memcpy), A (a signal, and the wait for it):
 *
 *   MPQMPQ   for each fragment: copy it into memory that can be reached, put, quiet
 *   MPMPQ    for each fragment: copy, put; at the end quiet
 *   PQPQ     the data are in such memory already: for each fragment put, quiet
 *   PPQ      for each fragment put; at the end quiet
 *   MMPQAMM  copy all fragments, one put, quiet, signal; the target copies all of them
 *   putv     pwr_shmem_putv, quiet (puts of OpenSHMEM)
 *
 * Of gets M follows Q, and in MMPQAMM the target packs when it is asked for.
 *
 * One call of a pattern takes the time from its begin to its end in process 0, and that of the
 * target's copies where there are any (each by its own clock).  Calls go through --cold bytes of
 * memory, so that none finds the data of an earlier one in the caches of a core.  Flushing them
 * before each call would take longer than the call, and its energy could not be told from the
 * call's.
 */
#include "config.h"

#include "transport.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GO = 1, STOP = 2, KEPT = 4096, LEARNING_CALLS = 64 };

typedef struct options {
    const char *json, *operations, *patterns;
    size_t bytes, cold, first, last;
    long least_ms, calls, most_ms;
} options_t;

/* Memory of a process: as many payloads as there are slots in each part. */
typedef struct memory {
    char *user;             /* cannot be reached by the other process */
    char *pinned, *landing; /* can */
    long *result;           /* reached, too: what the target has found */
    size_t slots;
} memory_t;

/* One payload. */
typedef struct call {
    char *user, *pinned, *landing;
    size_t bytes, each; /* of the payload, of a fragment */
} call_t;

typedef struct pattern {
    const char *name;
    bool is_put, is_get;
    bool has_target; /* the target takes part in each call */
    void (*put)(const call_t *call);
    void (*get)(const call_t *call);
} pattern_t;

/* What a point has come to; the last two are the target's. */
typedef struct point {
    long calls;
    double median_us, mean_us, cpu_us;
    uint64_t begin_ns, end_ns;
    double target_us, target_cpu_us;
    long wrong;
    const char *way;
} point_t;

static options_t options = {
    .operations = "put,get", .patterns = "", .bytes = 512 * 1024, .cold = 64 << 20,
    .first = 1, .last = 65536, .least_ms = 50, .most_ms = 20000, .calls = 5};
static int me;
static memory_t memory;
static bool is_learnt;
static const char *way;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the patterns, by process 0 ---- */

#define FOR_EACH(call, at) for (size_t at = 0; at < (call)->bytes; at += (call)->each)

static void mpqmpq_put(const call_t *call)
{
    FOR_EACH(call, at) {
        memcpy(call->pinned + at, call->user + at, call->each);
        pwr_transport_put(call->landing + at, call->pinned + at, call->each);
        pwr_transport_quiet();
    }
}

static void mpmpq_put(const call_t *call)
{
    FOR_EACH(call, at) {
        memcpy(call->pinned + at, call->user + at, call->each);
        pwr_transport_put(call->landing + at, call->pinned + at, call->each);
    }
    pwr_transport_quiet();
}

static void pqpq_put(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_put(call->landing + at, call->pinned + at, call->each);
        pwr_transport_quiet();
    }
}

static void ppq_put(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_put(call->landing + at, call->pinned + at, call->each);
    }
    pwr_transport_quiet();
}

static void copy_all(const call_t *call, char *to, const char *from)
{
    FOR_EACH(call, at) {
        memcpy(to + at, from + at, call->each);
    }
}

static void mmpqamm_put(const call_t *call)
{
    copy_all(call, call->pinned, call->user);
    pwr_transport_put(call->landing, call->pinned, call->bytes);
    pwr_transport_quiet();
    pwr_transport_tell(GO);
}

static void putv_put(const call_t *call)
{
    pwr_pieces_t pieces = {call->landing, call->pinned, call->each, call->bytes / call->each};
    if (pwr_transport_putv(&pieces, is_learnt ? NULL : &is_learnt, &way)) {
        pwr_transport_quiet();
    }
}

static void mpqmpq_get(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_get(call->landing + at, call->pinned + at, call->each);
        pwr_transport_quiet();
        memcpy(call->user + at, call->landing + at, call->each);
    }
}

static void mpmpq_get(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_get(call->landing + at, call->pinned + at, call->each);
    }
    pwr_transport_quiet();
    copy_all(call, call->user, call->landing);
}

static void pqpq_get(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_get(call->landing + at, call->pinned + at, call->each);
        pwr_transport_quiet();
    }
}

static void ppq_get(const call_t *call)
{
    FOR_EACH(call, at) {
        pwr_transport_get(call->landing + at, call->pinned + at, call->each);
    }
    pwr_transport_quiet();
}

static void mmpqamm_get(const call_t *call)
{
    pwr_transport_tell(GO);
    pwr_transport_hear(); /* packed */
    pwr_transport_get(call->landing, call->pinned, call->bytes);
    pwr_transport_quiet();
    copy_all(call, call->user, call->landing);
}

static const pattern_t patterns[] = {
    {"MPQMPQ", true, true, false, mpqmpq_put, mpqmpq_get},
    {"MPMPQ", true, true, false, mpmpq_put, mpmpq_get},
    {"PQPQ", true, true, false, pqpq_put, pqpq_get},
    {"PPQ", true, true, false, ppq_put, ppq_get},
    {"MMPQAMM", true, true, true, mmpqamm_put, mmpqamm_get},
    {"putv", true, false, false, putv_put, NULL},
};

/* ---- a point: process 0 calls, process 1 serves ---- */

static call_t call_of(long number, size_t each)
{
    size_t at = (size_t)number % memory.slots * options.bytes;
    return (call_t){memory.user + at, memory.pinned + at, memory.landing + at, options.bytes, each};
}

/* What process 0 has in a call, or the target of a get. */
static void fill(char *data, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (char)((i * 31 + i / 251 + seed) & 0xff);
    }
}

static long count_wrong(const char *data, size_t bytes, unsigned seed)
{
    long wrong = 0;
    for (size_t i = 0; i < bytes; i++) {
        wrong += data[i] != (char)((i * 31 + i / 251 + seed) & 0xff);
    }
    return wrong;
}

static bool copies(const pattern_t *pattern)
{
    return strchr(pattern->name, 'M') != NULL;
}

/* A call that is not timed. */
static void one(const pattern_t *pattern, bool is_put, const call_t *call)
{
    (is_put ? pattern->put : pattern->get)(call);
    if (pattern->has_target && is_put) {
        pwr_transport_hear(); /* the target has its copies */
    }
}

/* The target's part, until it is told to stop: how often it had one, and for how long. */
static long serve(bool is_put, size_t each, long number, uint64_t *spent_ns)
{
    long calls = 0;
    *spent_ns = 0;
    while (pwr_transport_hear() != STOP) {
        call_t call = call_of(number + calls++, each);
        uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
        if (is_put) {
            copy_all(&call, call.user, call.landing);
        } else {
            copy_all(&call, call.pinned, call.user);
        }
        *spent_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
        pwr_transport_tell(GO);
    }
    return calls;
}

static int ascending(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Sources of a checked call, and what must be written over. */
static void prepare(const pattern_t *pattern, bool is_put, const call_t *call, unsigned seed)
{
    bool is_source = is_put == (me == 0);
    bool is_copied = is_put ? copies(pattern) : pattern->has_target;
    memset(call->landing, 0x55, call->bytes);
    memset(call->pinned, 0x55, call->bytes);
    memset(call->user, 0x55, call->bytes);
    if (is_source) {
        fill(is_copied ? call->user : call->pinned, call->bytes, seed);
    }
}

static long check(const pattern_t *pattern, bool is_put, const call_t *call, unsigned seed)
{
    bool is_copied = is_put ? pattern->has_target : copies(pattern);
    if (is_put == (me == 0)) {
        return 0;
    }
    return count_wrong(is_copied ? call->user : call->landing, call->bytes, seed);
}

/* Both.  Process 0's result is that of both. */
static long checked(const pattern_t *pattern, bool is_put, size_t each, unsigned seed)
{
    call_t call = call_of(0, each);
    uint64_t spent_ns;
    prepare(pattern, is_put, &call, seed);
    pwr_transport_meet();
    if (me == 0) {
        one(pattern, is_put, &call);
        pwr_transport_tell(STOP);
    } else {
        serve(is_put, each, 0, &spent_ns);
    }
    pwr_transport_meet();
    memory.result[1] = check(pattern, is_put, &call, seed);
    if (me == 1) {
        pwr_transport_put((char *)&memory.result[0], (const char *)&memory.result[1],
                          sizeof memory.result[0]);
        pwr_transport_quiet();
    }
    pwr_transport_meet();
    return me == 0 ? memory.result[0] + memory.result[1] : 0;
}

/* Process 0: enough calls, the median of the latest ones. */
static void time_calls(const pattern_t *pattern, bool is_put, size_t each, long number,
                       point_t *point)
{
    static double us[KEPT];
    uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), sum_ns = 0;
    uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), now_ns = start_ns;
    point->begin_ns = clock_ns(CLOCK_REALTIME);
    while ((point->calls < options.calls ||
            now_ns - start_ns < (uint64_t)options.least_ms * 1000000) &&
           now_ns - start_ns < (uint64_t)options.most_ms * 1000000) {
        call_t call = call_of(number + point->calls, each);
        uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
        (is_put ? pattern->put : pattern->get)(&call);
        now_ns = clock_ns(CLOCK_MONOTONIC);
        if (pattern->has_target && is_put) {
            pwr_transport_hear();
        }
        us[point->calls++ % KEPT] = (double)(now_ns - begin_ns) / 1000;
        sum_ns += now_ns - begin_ns;
    }
    point->end_ns = clock_ns(CLOCK_REALTIME);
    size_t kept = point->calls < KEPT ? (size_t)point->calls : KEPT;
    qsort(us, kept, sizeof us[0], ascending);
    point->median_us = us[kept / 2];
    point->mean_us = (double)sum_ns / 1000 / (double)point->calls;
    point->cpu_us =
        (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1000 / (double)point->calls;
}

/* Untimed calls: connections, and what pwr_shmem_putv has to learn.  Returns their number. */
static long warm_up(const pattern_t *pattern, bool is_put, size_t each)
{
    long calls = 0;
    is_learnt = false;
    way = NULL;
    do {
        call_t call = call_of(calls, each);
        one(pattern, is_put, &call);
        calls++;
    } while (calls < 2 || (pattern->put == putv_put && !is_learnt && calls < LEARNING_CALLS));
    return calls;
}

/* What process 1 has measured comes by memory.result, in ns and in ns per call. */
static void exchange(point_t *point, bool is_put)
{
    pwr_transport_meet();
    if (me == 1) {
        memory.result[2] = (long)(point->target_us * 1000);
        memory.result[3] = (long)(point->target_cpu_us * 1000);
        pwr_transport_put((char *)&memory.result[2], (const char *)&memory.result[2],
                          2 * sizeof memory.result[0]);
        pwr_transport_quiet();
    }
    pwr_transport_meet();
    point->target_us = (double)memory.result[2] / 1000;
    point->target_cpu_us = (double)memory.result[3] / 1000 / (double)(point->calls ? point->calls : 1);
    if (me == 0 && is_put) { /* of gets it is in process 0's time already */
        point->mean_us += point->target_us;
        point->median_us += point->target_us;
    }
}

static point_t measure(const pattern_t *pattern, bool is_put, size_t each)
{
    point_t point = {.wrong = checked(pattern, is_put, each, (unsigned)each)};
    uint64_t spent_ns = 0;
    long before = 0;
    pwr_transport_meet();
    if (me == 0) {
        before = warm_up(pattern, is_put, each);
        pwr_transport_tell(STOP);
        pwr_transport_meet();
        time_calls(pattern, is_put, each, before, &point);
        pwr_transport_tell(STOP);
    } else {
        before = serve(is_put, each, 0, &spent_ns);
        pwr_transport_meet();
        uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        long calls = serve(is_put, each, before, &spent_ns);
        point.target_us = calls > 0 ? (double)spent_ns / 1000 / (double)calls : 0;
        point.target_cpu_us = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1000;
    }
    exchange(&point, is_put);
    point.way = way;
    return point;
}

/* ---- output ---- */

static bool names(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return list[0] == '\0';
}

static void write_point(FILE *json, const char *operation, const pattern_t *pattern,
                        size_t fragments, const point_t *point)
{
    static bool is_next;
    printf("%-4s %-8s %6zu %8ld %12.2f %12.2f %12.2f %12.2f %s\n", operation, pattern->name,
           fragments, point->calls, point->median_us, point->mean_us, point->cpu_us,
           point->target_cpu_us, point->wrong == 0 ? point->way ? point->way : "" : "WRONG DATA");
    fflush(stdout);
    if (json == NULL) {
        return;
    }
    fprintf(json,
            "%s  {\"operation\": \"%s\", \"pattern\": \"%s\", \"fragments\": %zu, \"bytes\": %zu, "
            "\"calls\": %ld, \"median_us\": %.3f, \"mean_us\": %.3f, \"sender_cpu_us\": %.3f, "
            "\"target_cpu_us\": %.3f, \"t_begin_ns\": %llu, \"t_end_ns\": %llu, \"way\": %s%s%s, "
            "\"validated\": %s}",
            is_next ? ",\n" : "", operation, pattern->name, fragments, options.bytes, point->calls,
            point->median_us, point->mean_us, point->cpu_us, point->target_cpu_us,
            (unsigned long long)point->begin_ns, (unsigned long long)point->end_ns,
            point->way ? "\"" : "", point->way ? point->way : "null", point->way ? "\"" : "",
            point->wrong == 0 ? "true" : "false");
    is_next = true;
}

static bool has(const pattern_t *pattern, bool is_put)
{
    return (is_put ? pattern->is_put : pattern->is_get) && names(options.patterns, pattern->name) &&
           (pattern->put != putv_put || strcmp(pwr_transport_library, "OpenSHMEM") == 0);
}

static long measure_all(FILE *json)
{
    long wrong = 0;
    for (int is_put = 1; is_put >= 0; is_put--) {
        const char *operation = is_put ? "put" : "get";
        for (size_t f = options.first; names(options.operations, operation) && f <= options.last;
             f *= 4) {
            for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
                if (options.bytes % f != 0 || !has(&patterns[i], is_put)) {
                    continue;
                }
                point_t point = measure(&patterns[i], is_put, options.bytes / f);
                wrong += point.wrong;
                if (me == 0) {
                    write_point(json, operation, &patterns[i], f, &point);
                }
            }
        }
    }
    return wrong;
}

/* The first access to a page of the other process maps it, which is no pattern's cost. */
static void touch_all(void)
{
    for (size_t at = 0; at < memory.slots * options.bytes; at += options.bytes) {
        pwr_transport_put(memory.landing + at, memory.pinned + at, options.bytes);
        pwr_transport_put(memory.pinned + at, memory.landing + at, options.bytes);
        pwr_transport_quiet();
    }
    pwr_transport_meet();
}

static bool set_up(int *processes)
{
    memory.slots = options.cold > options.bytes ? options.cold / options.bytes : 1;
    size_t part = memory.slots * options.bytes;
    char *reached = pwr_transport_open(2 * part + 64, &me, processes);
    memory.user = malloc(part);
    if (reached == NULL || memory.user == NULL || *processes != 2) {
        fprintf(stderr, "patterns: two processes and %zu bytes are needed\n", 3 * part);
        return false;
    }
    memory.pinned = reached;
    memory.landing = reached + part;
    memory.result = (long *)(void *)(reached + 2 * part);
    memset(reached, 1, 2 * part);
    memset(memory.user, 1, part);
    memset(memory.result, 0, 64);
    pwr_transport_meet();
    touch_all();
    return true;
}

static const char usage[] =
    "usage: patterns [options]    with two processes; see bench/patterns/README.md\n"
    "  --bytes N              payload (524288)\n"
    "  --fragments MIN:MAX    numbers of fragments: MIN, 4 MIN, ... (1:65536)\n"
    "  --operations put,get   which ones (both)\n"
    "  --patterns P,...       which ones (all)\n"
    "  --least-ms N           a point is measured for so long (50),\n"
    "  --calls N              by so many calls at least (5),\n"
    "  --most-ms N            but no longer than this (20000)\n"
    "  --cold BYTES           memory that calls go through (64 MiB)\n"
    "  --json FILE            results of process 0\n"
    "  --help                 this\n";

static bool take_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"bytes", 1, NULL, 'b'},    {"fragments", 1, NULL, 'f'}, {"operations", 1, NULL, 'o'},
        {"patterns", 1, NULL, 'p'}, {"least-ms", 1, NULL, 'l'},  {"most-ms", 1, NULL, 'm'},
        {"calls", 1, NULL, 'c'},    {"cold", 1, NULL, 'C'},      {"json", 1, NULL, 'j'},
        {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0}};
    for (int each; (each = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (each) {
        case 'h':
            fputs(usage, stdout);
            exit(0);
        case 'b':
            options.bytes = strtoul(optarg, NULL, 10);
            break;
        case 'f':
            if (sscanf(optarg, "%zu:%zu", &options.first, &options.last) != 2) {
                return false;
            }
            break;
        case 'o':
            options.operations = optarg;
            break;
        case 'p':
            options.patterns = optarg;
            break;
        case 'l':
            options.least_ms = atol(optarg);
            break;
        case 'm':
            options.most_ms = atol(optarg);
            break;
        case 'c':
            options.calls = atol(optarg);
            break;
        case 'C':
            options.cold = strtoul(optarg, NULL, 10);
            break;
        case 'j':
            options.json = optarg;
            break;
        default:
            return false;
        }
    }
    return optind == argc && options.bytes > 0 && options.first > 0 && options.calls > 0 &&
           options.bytes <= 1 << 30;
}

int main(int argc, char **argv)
{
    int processes;
    if (!take_options(argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    if (!set_up(&processes)) {
        return 1;
    }
    FILE *json = me == 0 && options.json != NULL ? fopen(options.json, "w") : NULL;
    if (me == 0 && options.json != NULL && json == NULL) {
        perror(options.json);
        return 1;
    }
    if (me == 0) {
        printf("# %s, %zu bytes\n# oper pattern  fragments  calls    median_us      mean_us  "
               "sender_cpu   target_cpu\n", pwr_transport_library, options.bytes);
    }
    if (json != NULL) {
        fprintf(json, "{\"library\": \"%s\", \"rows\": [\n", pwr_transport_library);
    }
    long wrong = measure_all(json);
    if (json != NULL) {
        fprintf(json, "\n]}\n");
        fclose(json);
    }
    pwr_transport_close();
    return wrong != 0;
}
