/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one transition costs the process that makes it.
 */
#include "config.h"

#include "tools/inspect/inspect.h"

#include <stdlib.h>

enum { ROUNDS = 101, NS_PER_US = 1000 };

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

json_t *inspect_spread(uint64_t *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare_u64);
    unsigned quarter = count / 4;
    unsigned middle = count / 2;
    return json_pack("{s:f, s:f, s:f}", "low", (double)values[quarter] / NS_PER_US, "median",
                     (double)values[middle] / NS_PER_US, "high",
                     (double)values[count - 1 - quarter] / NS_PER_US);
}

static pwr_status_t time_one(const pwr_env_t *env, inspect_move_t move, void *object, bool down,
                             uint64_t *took_ns)
{
    uint64_t before_ns = pwr_env_now_ns(env);
    pwr_status_t status = move(object, down);
    *took_ns = pwr_env_now_ns(env) - before_ns;
    return status;
}

json_t *inspect_why_not(const char *why_not)
{
    return json_pack("{s:s}", "why_not", why_not);
}

/* The first pair is not counted: in it every new value is announced to the guardian. */
json_t *inspect_cost(const pwr_env_t *env, inspect_move_t move, void *object, unsigned cpus)
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
            return inspect_why_not(pwr_status_text(status));
        }
    }
    if (cpus == 0) {
        return json_pack("{s:i, s:o}", "rounds", ROUNDS, "read_us",
                         inspect_spread(down_ns, ROUNDS));
    }
    return json_pack("{s:i, s:i, s:o, s:o}", "rounds", ROUNDS, "cpus", (int)cpus, "lower_us",
                     inspect_spread(down_ns, ROUNDS), "restore_us", inspect_spread(up_ns, ROUNDS));
}
