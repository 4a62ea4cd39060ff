/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The shift benchmark of PASCoL (Vishnu et al.) over MPI windows, one program for each operation:
 *
 *     for i = 1 .. np - 1: dest = (me + i) mod np; operation(dest); MPI_Win_flush(dest)
 *
 * is one run.  Timed runs follow each other without regard to what other ranks have come to, as in
 * the paper, so several may write the same memory.  In checked runs all ranks make a step together:
 * what a target holds then comes from one rank.
 */
#include "config.h"

#include "../osu/harness.h"

#include <string.h>

enum { UNIT = sizeof(double), WIDE_BLOCK = 256, WIDE_FROM = 1024 };

/* What the two sides of an operation hold before and after a step. */
typedef struct operation {
    void (*start)(const pwr_osu_call_t *call, int dest);
    void (*fill)(const pwr_osu_call_t *call, int source, int dest);
    bool (*check)(const pwr_osu_call_t *call, int source, int dest, pwr_osu_error_t *error);
} operation_t;

static MPI_Win window;
static MPI_Datatype strided = MPI_DATATYPE_NULL; /* of the size that was filled last */
static bool is_wrong;                            /* in the checked run, and what */
static pwr_osu_error_t wrong;

static pwr_pattern_t message(const pwr_osu_call_t *call, int from, int to)
{
    return pwr_pattern(from, to, call->tag);
}

static bool check_bytes(pwr_pattern_t pattern, size_t first, const unsigned char *data, size_t size,
                        const char *where, int peer, pwr_osu_error_t *error)
{
    *error = (pwr_osu_error_t){.where = where, .peer = peer};
    return pwr_pattern_check(pattern, first, data, size, &error->byte);
}

/* ---- put and get ---- */

static void start_put(const pwr_osu_call_t *call, int dest)
{
    int count = (int)call->bytes;
    MPI_Put(call->send, count, MPI_BYTE, dest, PWR_BUFFER_GUARD, count, MPI_BYTE, window);
}

static void fill_put(const pwr_osu_call_t *call, int source, int dest)
{
    pwr_pattern_fill(message(call, call->rank, dest), 0, call->send, call->bytes);
    pwr_pattern_fill_wrong(message(call, source, call->rank), 0, call->recv, call->bytes);
}

static bool check_put(const pwr_osu_call_t *call, int source, int dest, pwr_osu_error_t *error)
{
    (void)dest;
    return check_bytes(message(call, source, call->rank), 0, call->recv, call->bytes,
                       "window, put by rank", source, error);
}

static void start_get(const pwr_osu_call_t *call, int dest)
{
    int count = (int)call->bytes;
    MPI_Get(call->send, count, MPI_BYTE, dest, PWR_BUFFER_GUARD, count, MPI_BYTE, window);
}

static void fill_get(const pwr_osu_call_t *call, int source, int dest)
{
    pwr_pattern_fill(message(call, call->rank, source), 0, call->recv, call->bytes);
    pwr_pattern_fill_wrong(message(call, dest, call->rank), 0, call->send, call->bytes);
}

static bool check_get(const pwr_osu_call_t *call, int source, int dest, pwr_osu_error_t *error)
{
    (void)source;
    return check_bytes(message(call, dest, call->rank), 0, call->send, call->bytes, "got from rank",
                       dest, error);
}

/* ---- accumulate: sums of whole numbers, which are exact ---- */

static void start_accumulate(const pwr_osu_call_t *call, int dest)
{
    int count = (int)(call->bytes / UNIT);
    MPI_Accumulate(call->send, count, MPI_DOUBLE, dest, PWR_BUFFER_GUARD, count, MPI_DOUBLE,
                   MPI_SUM, window);
}

/* Element k of what a rank adds to another one's window, or of what a window of its own begins
 * with. */
static double summand(const pwr_osu_call_t *call, int from, int to, size_t k)
{
    unsigned char number;
    pwr_pattern_fill(message(call, from, to), k, &number, 1);
    return number;
}

static void fill_accumulate(const pwr_osu_call_t *call, int source, int dest)
{
    double *mine = (double *)call->send;
    double *held = (double *)call->recv;
    (void)source;
    for (size_t k = 0; k < call->bytes / UNIT; k++) {
        mine[k] = summand(call, call->rank, dest, k);
        held[k] = summand(call, call->rank, call->rank, k);
    }
}

static bool check_accumulate(const pwr_osu_call_t *call, int source, int dest,
                             pwr_osu_error_t *error)
{
    (void)dest;
    *error = (pwr_osu_error_t){.where = "window, sum with what was added by rank", .peer = source};
    for (size_t p = 0; p < call->bytes; p++) {
        unsigned char expected[UNIT];
        size_t k = p / UNIT;
        double sum =
            summand(call, call->rank, call->rank, k) + summand(call, source, call->rank, k);
        memcpy(expected, &sum, UNIT);
        if (call->recv[p] != expected[p % UNIT]) {
            error->byte = (pwr_mismatch_t){
                .position = p, .expected = expected[p % UNIT], .found = call->recv[p]};
            return false;
        }
    }
    return true;
}

/* ---- strided put: blocks with gaps of their length, on both sides ---- */

static size_t block_of(size_t bytes)
{
    return bytes >= WIDE_FROM && bytes % WIDE_BLOCK == 0 ? WIDE_BLOCK : UNIT;
}

static void start_strided(const pwr_osu_call_t *call, int dest)
{
    MPI_Put(call->send, 1, strided, dest, PWR_BUFFER_GUARD, 1, strided, window);
}

static void make_strided(size_t bytes)
{
    int block = (int)block_of(bytes);
    if (strided != MPI_DATATYPE_NULL) {
        MPI_Type_free(&strided);
    }
    MPI_Type_vector((int)bytes / block, block, 2 * block, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
}

/* Of the gaps of the window, which must stay as they are. */
static pwr_pattern_t gaps(const pwr_osu_call_t *call)
{
    return message(call, call->rank, call->rank);
}

static void fill_strided(const pwr_osu_call_t *call, int source, int dest)
{
    size_t block = block_of(call->bytes);
    pwr_pattern_fill(gaps(call), 0, call->recv, 2 * call->bytes);
    memset(call->send, 0, 2 * call->bytes);
    for (size_t done = 0; done < call->bytes; done += block) {
        pwr_pattern_fill(message(call, call->rank, dest), done, call->send + 2 * done, block);
        pwr_pattern_fill_wrong(message(call, source, call->rank), done, call->recv + 2 * done,
                               block);
    }
}

static bool check_strided(const pwr_osu_call_t *call, int source, int dest, pwr_osu_error_t *error)
{
    size_t block = block_of(call->bytes);
    (void)dest;
    for (size_t done = 0; done < call->bytes; done += block) {
        size_t gap = 2 * done + block;
        if (!check_bytes(message(call, source, call->rank), done, call->recv + 2 * done, block,
                         "window, blocks put by rank", source, error) ||
            !check_bytes(gaps(call), gap, call->recv + gap, block,
                         "window, gaps between blocks put by rank", source, error)) {
            return false;
        }
    }
    return true;
}

/* ---- the shift ---- */

static void checked_step(const pwr_osu_call_t *call, const operation_t *operation, int source,
                         int dest)
{
    pwr_osu_error_t error;
    operation->fill(call, source, dest);
    MPI_Win_sync(window);
    MPI_Barrier(call->comm);
    operation->start(call, dest);
    MPI_Win_flush(dest, window);
    MPI_Barrier(call->comm);
    MPI_Win_sync(window);
    if (!operation->check(call, source, dest, &error) && !is_wrong) {
        is_wrong = true;
        wrong = error;
    }
}

/* Tag 0 is that of the timed runs. */
static void shift(const pwr_osu_call_t *call, const operation_t *operation)
{
    for (int i = 1; i < call->np; i++) {
        int dest = (call->rank + i) % call->np;
        if (call->tag > 0) {
            checked_step(call, operation, (call->rank + call->np - i) % call->np, dest);
            continue;
        }
        operation->start(call, dest);
        MPI_Win_flush(dest, window);
    }
}

/* What a timed run begins with, and all that is made once for a size. */
static void begin(const pwr_osu_call_t *call)
{
    is_wrong = false;
    make_strided(call->bytes);
    memset(call->send, 0, call->bytes);
}

static bool end(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    (void)call;
    *error = wrong;
    return !is_wrong;
}

static void put(const pwr_osu_call_t *call)
{
    shift(call, &(operation_t){start_put, fill_put, check_put});
}

static void get(const pwr_osu_call_t *call)
{
    shift(call, &(operation_t){start_get, fill_get, check_get});
}

static void accumulate(const pwr_osu_call_t *call)
{
    shift(call, &(operation_t){start_accumulate, fill_accumulate, check_accumulate});
}

static void put_strided(const pwr_osu_call_t *call)
{
    shift(call, &(operation_t){start_strided, fill_strided, check_strided});
}

/* ---- what the harness wants to know ---- */

static size_t message_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    (void)benchmark;
    (void)np;
    return bytes;
}

static size_t span_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    (void)benchmark;
    (void)np;
    return 2 * bytes;
}

#define DATA(type, size)                                                                           \
    {                                                                                              \
        .datatype = (type), .unit = UNIT, .send_bytes = (size), .recv_bytes = (size),              \
        .fill = begin, .check = end                                                                \
    }
static const pwr_osu_data_t bytes = DATA("MPI_BYTE", message_bytes);
static const pwr_osu_data_t doubles = DATA("MPI_DOUBLE", message_bytes);
static const pwr_osu_data_t blocks = DATA("MPI_Type_vector of MPI_BYTE", span_bytes);

const pwr_osu_benchmark_t pwr_osu_benchmarks[] = {
    {"accumulate", "MPI_Accumulate", &doubles, .run = accumulate},
    {"get", "MPI_Get", &bytes, .run = get},
    {"put", "MPI_Put", &bytes, .run = put},
    {"strided", "strided MPI_Put", &blocks, .run = put_strided},
};
const int pwr_osu_num_benchmarks = sizeof pwr_osu_benchmarks / sizeof pwr_osu_benchmarks[0];

static int operations(int np)
{
    return np - 1;
}

/* Why Open MPI makes no window; without our handler it would end the job and say only that it
   failed. */
static bool allocate_window(size_t size, unsigned char **base)
{
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int status =
        MPI_Win_allocate((MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)base, &window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (status == MPI_SUCCESS) {
        return true;
    }
    MPI_Error_string(status, reason, &length);
    fprintf(stderr,
            "shift: MPI_Win_allocate of %zu bytes: %s: is there a component for these ranks? "
            "(--mca osc pt2pt with Open MPI 4.1 over TCP)\n",
            size, reason);
    return false;
}

/* The receive buffer with its guard zones is the window. */
static bool open_window(pwr_buffer_t *buffer, size_t capacity)
{
    unsigned char *base;
    if (!allocate_window(capacity + 2 * (size_t)PWR_BUFFER_GUARD, &base)) {
        return false;
    }
    *buffer = (pwr_buffer_t){.data = base + PWR_BUFFER_GUARD, .capacity = capacity};
    memset(buffer->data, 0, capacity);
    pwr_buffer_use(buffer, capacity);
    MPI_Win_lock_all(0, window);
    return true;
}

static void close_window(pwr_buffer_t *buffer)
{
    (void)buffer;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Type_free(&strided);
}

const pwr_osu_suite_t pwr_osu_suite = {
    .prefix = "shift_",
    .owner = "PASCoL",
    .kind = "PASCoL Shift",
    .note = "An operation and MPI_Win_flush to each other rank in turn, me + 1 first: one call.",
    .fewest_ranks = 2,
    .operations = operations,
    .open = open_window,
    .release = close_window,
};
