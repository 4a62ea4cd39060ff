/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Latency of MPI_Reduce: MPI_SUM of MPI_FLOAT.
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

static float expected_sum(const pwr_osu_call_t *call, size_t i)
{
    element_t element = element_of(call, i);
    return (float)(sum_of_weights(call->np) * element.step + call->np * element.base);
}

static size_t buffer_bytes(int np, size_t bytes)
{
    (void)np;
    return bytes;
}

static void run(const pwr_osu_call_t *call)
{
    int count = (int)(call->bytes / sizeof(float));
    MPI_Reduce(call->send, call->recv, count, MPI_FLOAT, MPI_SUM, call->root, call->comm);
}

static void fill(const pwr_osu_call_t *call)
{
    for (size_t i = 0; i < call->bytes / sizeof(float); i++) {
        float value = sent_by(call, call->rank, i);
        memcpy(call->send + i * sizeof value, &value, sizeof value);
    }
    memset(call->recv, NOT_A_RESULT, call->bytes);
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

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    for (size_t at = 0; at < call->bytes; at += sizeof(float)) {
        float own = sent_by(call, call->rank, at / sizeof own);
        error->where = "own send buffer, for root";
        error->peer = call->root;
        if (!bytes_equal(call->send, &own, at, sizeof own, &error->byte)) {
            return false;
        }
        /* Elsewhere the receive buffer is not significant, so nobody may write to it. */
        float result;
        memset(&result, NOT_A_RESULT, sizeof result);
        error->where = "receive buffer of a rank that is not root";
        if (call->rank == call->root) {
            result = expected_sum(call, at / sizeof result);
            error->where = "sum at root";
        }
        if (!bytes_equal(call->recv, &result, at, sizeof result, &error->byte)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const pwr_osu_benchmark_t reduce = {
        .name = "osu_reduce",
        .title = "Reduce",
        .datatype = "MPI_FLOAT",
        .unit = sizeof(float),
        .rooted = true,
        .send_bytes = buffer_bytes,
        .recv_bytes = buffer_bytes,
        .run = run,
        .fill = fill,
        .check = check,
    };
    return pwr_osu_main(&reduce, argc, argv);
}
