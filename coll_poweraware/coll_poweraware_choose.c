/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which algorithm a call takes, from what all ranks know equally.
 *
 *   scheme off, dvfs   the stock function
 *   scheme throttle    our first algorithm that can do the call, from min_bytes on
 *   scheme auto        the first row of the decision table for this layout and size whose algorithm
 *                      can do the call; none: the stock function
 *   coll_poweraware_<collective>_algorithm = stock or a name: that one, whatever the scheme but off
 *   info key coll_poweraware_algorithm of the communicator: the same for all its collectives
 *
 * Only a call that some row might give to us builds the communicator's state.
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

const char *coll_poweraware_what_name(int what)
{
    int counted = what - COLL_POWERAWARE_NUM_COLLECTIVES;
    return counted < 0 ? coll_poweraware_collective_name((coll_poweraware_collective_t)what)
                       : coll_poweraware_counted_name((coll_poweraware_counted_t)counted);
}

/* ---- once per communicator ---- */

static int index_of(int collective, const char *word)
{
    if (0 == strcmp("choose", word)) {
        return COLL_POWERAWARE_CHOOSE;
    }
    int index = coll_poweraware_algorithm_index(collective, word);
    return COLL_POWERAWARE_DECISION_UNKNOWN == index ? COLL_POWERAWARE_STOCK : index;
}

bool coll_poweraware_prepare(mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm)
{
    char word[64];
    memcpy(m->algorithm, SELF->params.algorithm, sizeof m->algorithm);
    if (pwr_ompi_comm_info(comm, "coll_poweraware_algorithm", word, sizeof word)) {
        if (0 == strcmp("off", word)) {
            return false;
        }
        for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
            m->algorithm[c] = index_of(c, word);
        }
    }
    coll_poweraware_find_thresholds(m);
    return true;
}

/* What the table says, as precisely as the layout is known; NULL: nothing is ours. */
static const coll_poweraware_choices_t *known_choices(const mca_coll_poweraware_module_t *m)
{
    if (m->state_tried) {
        return NULL == m->state ? NULL : m->state->choices;
    }
    return m->table->any;
}

static bool is_stock(const coll_poweraware_choices_t *choices, int collective, size_t bytes)
{
    return COLL_POWERAWARE_DECISION_STOCK ==
           coll_poweraware_choices_find(choices, collective, bytes)->algorithms[0];
}

static bool bytes_are_known(int collective)
{
    return COLL_POWERAWARE_ALLTOALLV != collective && COLL_POWERAWARE_ALLTOALLW != collective;
}

/* From how many bytes on calls may be ours; UINT64_MAX: never. */
static uint64_t ours_from(const coll_poweraware_choices_t *choices, int collective)
{
    if (bytes_are_known(collective)) {
        return coll_poweraware_choices_from(choices, collective);
    }
    return is_stock(choices, collective, COLL_POWERAWARE_BYTES_UNKNOWN) ? UINT64_MAX : 0;
}

/* Until the ranks have agreed on a table, every call has to see to that.  Where ranks know only
   their own bytes, either none may be ours that is smaller than min_bytes, or all. */
static size_t threshold(const mca_coll_poweraware_module_t *m, int collective)
{
    const coll_poweraware_params_t *params = &SELF->params;
    if (COLL_POWERAWARE_OFF == params->scheme) {
        return SIZE_MAX;
    }
    if (m->algorithm[collective] >= 0) {
        return 0;
    }
    if (COLL_POWERAWARE_STOCK == m->algorithm[collective]) {
        return params->min_bytes;
    }
    if (COLL_POWERAWARE_AUTO != params->scheme) {
        bool any = COLL_POWERAWARE_THROTTLE == params->scheme && !bytes_are_known(collective);
        return any ? 0 : params->min_bytes;
    }
    if (NULL == m->table) {
        return 0;
    }
    const coll_poweraware_choices_t *choices = known_choices(m);
    if (NULL == choices) {
        return params->min_bytes;
    }
    uint64_t from = ours_from(choices, collective);
    return from < params->min_bytes ? (size_t)from : params->min_bytes;
}

void coll_poweraware_find_thresholds(mca_coll_poweraware_module_t *m)
{
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        m->from_bytes[c] = threshold(m, c);
    }
}

/* ---- per call ---- */

static bool can(algorithm_t *a, const coll_poweraware_call_t *call,
                const coll_poweraware_args_t *args, size_t bytes)
{
    return NULL == a->can || a->can(call, args, bytes);
}

static algorithm_t *first_that_can(const coll_poweraware_call_t *call,
                                   coll_poweraware_collective_t collective,
                                   const coll_poweraware_args_t *args, size_t bytes)
{
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        algorithm_t *a = &coll_poweraware_algorithms[i];
        if (collective == a->collective && can(a, call, args, bytes)) {
            return a;
        }
    }
    return NULL;
}

static bool shares(mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                   pwr_segment_part_t part)
{
    return COLL_POWERAWARE_SHARED == m->state->shared[part] || coll_poweraware_share(m, comm, part);
}

/* The memory it runs in; where there is none, the stock function. */
static bool has_memory(mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                       algorithm_t *a)
{
    return shares(m, comm, PWR_SEGMENT_BOXES) &&
           (PWR_SEGMENT_BOXES == a->memory || shares(m, comm, PWR_SEGMENT_CHUNKS));
}

static algorithm_t *of_table(const coll_poweraware_choices_t *choices,
                             const coll_poweraware_call_t *call,
                             coll_poweraware_collective_t collective,
                             const coll_poweraware_args_t *args, size_t bytes)
{
    if (NULL == choices) {
        return NULL;
    }
    const int *next = coll_poweraware_choices_find(choices, collective, bytes)->algorithms;
    for (; COLL_POWERAWARE_DECISION_STOCK != *next; ++next) {
        if (can(&coll_poweraware_algorithms[*next], call, args, bytes)) {
            return &coll_poweraware_algorithms[*next];
        }
    }
    return NULL;
}

/* Whether this call might be ours, as far as that is known without the communicator's layout. */
static bool wanted(mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                   coll_poweraware_collective_t collective, size_t bytes)
{
    if (COLL_POWERAWARE_OFF == SELF->params.scheme ||
        COLL_POWERAWARE_STOCK == m->algorithm[collective]) {
        return false;
    }
    if (COLL_POWERAWARE_CHOOSE != m->algorithm[collective]) {
        return true;
    }
    if (COLL_POWERAWARE_AUTO != SELF->params.scheme) {
        return COLL_POWERAWARE_THROTTLE == SELF->params.scheme && bytes >= SELF->params.min_bytes;
    }
    const coll_poweraware_table_t *table = coll_poweraware_table_of(m, comm);
    return NULL != table->any && !is_stock(table->any, collective, bytes);
}

static const coll_poweraware_state_t *first_state_of(mca_coll_poweraware_module_t *m,
                                                     struct ompi_communicator_t *comm)
{
    const coll_poweraware_state_t *state = coll_poweraware_state_build(m, comm);
    coll_poweraware_find_thresholds(m); /* the layout is known now */
    if (NULL != state) {
        coll_poweraware_say(2, "a communicator of %d ranks on %d nodes, at most %d on one, chooses",
                            state->hierarchy->size, state->hierarchy->num_nodes,
                            state->hierarchy->max_local);
    }
    return state;
}

const coll_poweraware_algorithm_t *coll_poweraware_choose(mca_coll_poweraware_module_t *m,
                                                          struct ompi_communicator_t *comm,
                                                          coll_poweraware_collective_t collective,
                                                          const coll_poweraware_args_t *args,
                                                          size_t bytes)
{
    if (!wanted(m, comm, collective, bytes)) {
        return NULL;
    }
    const coll_poweraware_state_t *state = m->state_tried ? m->state : first_state_of(m, comm);
    if (NULL == state || m->ended) {
        return NULL;
    }
    coll_poweraware_call_t *call = state->call;
    call->collective = collective;
    algorithm_t *a = NULL;
    if (m->algorithm[collective] >= 0) {
        a = &coll_poweraware_algorithms[m->algorithm[collective]];
        a = can(a, call, args, bytes) ? a : NULL;
    } else if (COLL_POWERAWARE_AUTO == SELF->params.scheme) {
        a = of_table(state->choices, call, collective, args, bytes);
    } else {
        a = first_that_can(call, collective, args, bytes);
    }
    return NULL != a && has_memory(m, comm, a) ? a : NULL;
}
