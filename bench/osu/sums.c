/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of the reductions: MPI_SUM of MPI_FLOAT with sums that are known and exact.
 *
 * Element i of rank r is weight(r) * step(i) + base(i, tag), all whole numbers.  The sum over all
 * ranks is step * (sum of weights) + np * base, in closed form, so nothing is added up here; and
 * every partial sum in any order is a whole number up to 2^24, which a float holds exactly: the
 * result must be right to the last bit whatever tree the library used.
 */
#include "config.h"

#include "osu.h"

#include <string.h>

enum {
    HALF_EXACT = 1 << 23, /* each of the sum's two terms stays at or below this */
    STEP_MAX = 16,
    BASE_MAX = 1 << 16,
    /* weight(r) = r mod WEIGHTS + 1.  A prime, so that ranks which a tree may confuse (a power of
       two apart) differ; small, so that sums stay exact up to 270,000 ranks. */
    WEIGHTS = 61,
    /* No correct sum has these bytes: it is a NaN. */
    NOT_A_RESULT = 0xff,
};

typedef struct element {
    long step;
    long base;
} element_t;

static long weight_of(int rank)
{
    return rank % WEIGHTS + 1;
}

static long sum_of_weights(long np)
{
    long rest = np % WEIGHTS;
    return np / WEIGHTS * (WEIGHTS * (WEIGHTS + 1) / 2) + rest * (rest + 1) / 2;
}

static long between_one_and(long limit, long value)
{
    return value > limit ? limit : value < 1 ? 1 : value;
}

static element_t element_of(const pwr_osu_call_t *call, size_t i)
{
    unsigned long steps =
        (unsigned long)between_one_and(STEP_MAX, HALF_EXACT / sum_of_weights(call->np));
    unsigned long bases = (unsigned long)between_one_and(BASE_MAX, HALF_EXACT / call->np);
    /* The tag is added after the hash: no element stays the same from one tag to the next. */
    return (element_t){
        .step = 1 + (long)(i % steps),
        .base = (long)((pwr_pattern_hash(i) % bases + call->tag) % bases),
    };
}

static float sent_by(const pwr_osu_call_t *call, int rank, size_t i)
{
    element_t element = element_of(call, i);
    return (float)(weight_of(rank) * element.step + element.base);
}

static int summed(const pwr_osu_call_t *call)
{
    return call->benchmark->summed ? call->benchmark->summed(call->rank) : call->np;
}

static float expected_sum(const pwr_osu_call_t *call, size_t i)
{
    element_t element = element_of(call, i);
    return (float)(sum_of_weights(summed(call)) * element.step + summed(call) * element.base);
}

static size_t send_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    (void)benchmark;
    (void)np;
    return bytes;
}

static pwr_osu_part_t part_of(const pwr_osu_benchmark_t *benchmark, int np, int rank, size_t bytes)
{
    size_t elements = bytes / sizeof(float);
    return benchmark->part ? benchmark->part(np, rank, elements)
                           : (pwr_osu_part_t){.count = elements};
}

static size_t recv_bytes(const pwr_osu_benchmark_t *benchmark, int np, size_t bytes)
{
    return part_of(benchmark, np, 0, bytes).count * sizeof(float);
}

static void fill(const pwr_osu_call_t *call)
{
    for (size_t i = 0; i < call->bytes / sizeof(float); i++) {
        float value = sent_by(call, call->rank, i);
        memcpy(call->send + i * sizeof value, &value, sizeof value);
    }
    memset(call->recv, NOT_A_RESULT, recv_bytes(call->benchmark, call->np, call->bytes));
}

static bool bytes_equal(const unsigned char *found, const void *wanted, size_t position,
                        size_t size, pwr_mismatch_t *mismatch)
{
    const unsigned char *expected = wanted;
    for (size_t i = 0; i < size; i++) {
        if (found[position + i] != expected[i]) {
            *mismatch = (pwr_mismatch_t){
                .position = position + i, .expected = expected[i], .found = found[position + i]};
            return false;
        }
    }
    return true;
}

static bool check_send(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    error->where = "own send buffer of rank";
    error->peer = call->rank;
    for (size_t at = 0; at < call->bytes; at += sizeof(float)) {
        float own = sent_by(call, call->rank, at / sizeof own);
        if (!bytes_equal(call->send, &own, at, sizeof own, &error->byte)) {
            return false;
        }
    }
    return true;
}

/* The result, and behind it nothing may have changed. */
static bool check_recv(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    pwr_osu_part_t result = {0, 0};
    bool rooted = call->benchmark->rooted;
    if ((!rooted || call->rank == call->root) && summed(call) > 0) {
        result = part_of(call->benchmark, call->np, call->rank, call->bytes);
    }
    error->peer = call->rank;
    for (size_t i = 0; i < recv_bytes(call->benchmark, call->np, call->bytes) / sizeof(float);
         i++) {
        float wanted;
        memset(&wanted, NOT_A_RESULT, sizeof wanted);
        error->where = "receive buffer where no result belongs, rank";
        if (i < result.count) {
            error->where = rooted ? "sum at root" : "sum at rank";
            wanted = expected_sum(call, result.first + i);
        }
        if (!bytes_equal(call->recv, &wanted, i * sizeof wanted, sizeof wanted, &error->byte)) {
            return false;
        }
    }
    return true;
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    return check_recv(call, error) && check_send(call, error);
}

const pwr_osu_data_t pwr_osu_sums = {
    .datatype = "MPI_FLOAT",
    .unit = sizeof(float),
    .send_bytes = send_bytes,
    .recv_bytes = recv_bytes,
    .fill = fill,
    .check = check,
};
