/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which algorithm a call takes, from what all ranks know equally.
 *
 *   scheme off, dvfs   the stock function
 *   scheme throttle    our first algorithm that can do the call, from min_bytes on
 *   coll_poweraware_<collective>_algorithm = stock or a name: that one, whatever the scheme but off
 */
#include "coll_poweraware.h"

#include <string.h>

#include "algorithms/algorithms.h"

#define SELF (&mca_coll_poweraware_component)

typedef const coll_poweraware_algorithm_t algorithm_t;

const char *coll_poweraware_collective_name(coll_poweraware_collective_t collective)
{
#define NAME(constant, name) [COLL_POWERAWARE_##constant] = #name,
    static const char *const names[COLL_POWERAWARE_NUM_COLLECTIVES] = {
        COLL_POWERAWARE_HANDLED(NAME)};
#undef NAME
    return names[collective];
}

/* forced: NULL for the first that can. */
static algorithm_t *find(const coll_poweraware_call_t *call,
                         coll_poweraware_collective_t collective, algorithm_t *forced,
                         const coll_poweraware_args_t *args, size_t bytes)
{
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        algorithm_t *a = &coll_poweraware_algorithms[i];
        if (collective == a->collective && (NULL == forced || forced == a) &&
            (NULL == a->can || a->can(call, args, bytes))) {
            return a;
        }
    }
    return NULL;
}

/* The memory it runs in; where there is none, the stock function. */
static bool has_memory(mca_coll_poweraware_module_t *m, const coll_poweraware_call_t *call,
                       algorithm_t *a)
{
    return coll_poweraware_share(m, call->comm, PWR_SEGMENT_BOXES) &&
           (0 == strcmp("box", a->name) ||
            coll_poweraware_share(m, call->comm, PWR_SEGMENT_CHUNKS));
}

static bool wanted(coll_poweraware_collective_t collective, size_t bytes)
{
    if (COLL_POWERAWARE_OFF == SELF->params.scheme ||
        COLL_POWERAWARE_STOCK == SELF->params.algorithm[collective]) {
        return false;
    }
    return COLL_POWERAWARE_CHOOSE != SELF->params.algorithm[collective] ||
           (COLL_POWERAWARE_THROTTLE == SELF->params.scheme && bytes >= SELF->params.min_bytes);
}

const coll_poweraware_algorithm_t *coll_poweraware_choose(mca_coll_poweraware_module_t *m,
                                                          coll_poweraware_call_t *call,
                                                          coll_poweraware_collective_t collective,
                                                          const coll_poweraware_args_t *args,
                                                          size_t bytes)
{
    if (!wanted(collective, bytes)) {
        return NULL;
    }
    coll_poweraware_state_t *state = coll_poweraware_state_get(m, call->comm);
    if (NULL == state) {
        return NULL;
    }
    call->hierarchy = state->hierarchy;
    call->segment = state->segment;
    call->wait_policy = &state->wait_policy;
    call->wait_stats = &state->wait_stats;
    call->messages = state->messages;
    int forced = SELF->params.algorithm[collective];
    algorithm_t *a = find(call, collective, forced < 0 ? NULL : &coll_poweraware_algorithms[forced],
                          args, bytes);
    return NULL != a && has_memory(m, call, a) ? a : NULL;
}
