/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one transition costs the process that makes it.
 */
#include "config.h"

#include "tools/info/info.h"

#include <stdlib.h>

enum { ROUNDS = 101, NS_PER_US = 1000 };

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

info_spread_t info_spread_of(uint64_t *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare_u64);
    unsigned quarter = count / 4;
    unsigned middle = count / 2;
    return (info_spread_t){.low_us = (double)values[quarter] / NS_PER_US,
                           .median_us = (double)values[middle] / NS_PER_US,
                           .high_us = (double)values[count - 1 - quarter] / NS_PER_US};
}

static pwr_status_t time_one(const pwr_env_t *env, info_move_t move, void *object, bool down,
                             uint64_t *took_ns)
{
    uint64_t before_ns = pwr_env_now_ns(env);
    pwr_status_t status = move(object, down);
    *took_ns = pwr_env_now_ns(env) - before_ns;
    return status;
}

/* The first pair is not counted: in it every new value is announced to the guardian. */
pwr_status_t info_cost_measure(const pwr_env_t *env, info_move_t move, void *object,
                               info_cost_t *cost)
{
    uint64_t down_ns[ROUNDS];
    uint64_t up_ns[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        unsigned slot = round < 0 ? 0 : (unsigned)round;
        pwr_status_t status = time_one(env, move, object, true, &down_ns[slot]);
        if (status == PWR_OK) {
            status = time_one(env, move, object, false, &up_ns[slot]);
        }
        if (status != PWR_OK) {
            snprintf(cost->why_not, sizeof cost->why_not, "%s", pwr_status_text(status));
            return status;
        }
    }
    cost->down = info_spread_of(down_ns, ROUNDS);
    cost->up = info_spread_of(up_ns, ROUNDS);
    cost->rounds = ROUNDS;
    return PWR_OK;
}
