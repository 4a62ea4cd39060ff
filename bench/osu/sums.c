/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Contributions and sums of the reductions.
 */
#include "config.h"

#include "sums.h"

#include <stdio.h>
#include <stdlib.h>
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

size_t pwr_osu_message(int np, size_t bytes)
{
    (void)np;
    return bytes;
}

void pwr_osu_sums_fill(const pwr_osu_call_t *call, size_t recv_bytes)
{
    for (size_t i = 0; i < call->bytes / sizeof(float); i++) {
        float value = sent_by(call, call->rank, i);
        memcpy(call->send + i * sizeof value, &value, sizeof value);
    }
    memset(call->recv, NOT_A_RESULT, recv_bytes);
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

static bool check_recv(const pwr_osu_call_t *call, const pwr_osu_result_t *result,
                       size_t recv_bytes, pwr_osu_error_t *error)
{
    for (size_t at = 0; at < recv_bytes; at += sizeof(float)) {
        float wanted;
        memset(&wanted, NOT_A_RESULT, sizeof wanted);
        error->where = "receive buffer where no result belongs, rank";
        error->peer = call->rank;
        if (at / sizeof wanted < result->count) {
            error->where = result->where;
            error->peer = result->peer;
            wanted = expected_sum(call, result->first + at / sizeof wanted);
        }
        if (!bytes_equal(call->recv, &wanted, at, sizeof wanted, &error->byte)) {
            return false;
        }
    }
    return true;
}

bool pwr_osu_sums_check(const pwr_osu_call_t *call, const pwr_osu_result_t *result,
                        size_t recv_bytes, pwr_osu_error_t *error)
{
    return check_recv(call, result, recv_bytes, error) && check_send(call, error);
}

const int *pwr_osu_parts(int np, size_t elements)
{
    static int made_np;
    static size_t made_elements;
    static int *parts;
    if (np == made_np && elements == made_elements) {
        return parts;
    }
    parts = realloc(parts, (size_t)np * sizeof *parts);
    if (!parts) {
        fprintf(stderr, "no memory for the counts of %d ranks\n", np);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < np; i++) {
        parts[i] = (int)(elements / (size_t)np + ((size_t)i < elements % (size_t)np));
    }
    made_np = np;
    made_elements = elements;
    return parts;
}
