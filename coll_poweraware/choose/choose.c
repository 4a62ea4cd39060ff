/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which algorithm a call takes, from what all ranks know equally.
 *
 *   scheme off, dvfs   the stock function
 *   scheme throttle    our first algorithm that can do the call, from min_bytes on
 *   scheme auto        the first row of the decision table for this layout and size whose algorithm
 *                      can do the call; none: the stock function.  Later what calls of this size
 *                      have taught (choose/learn.h)
 *   coll_poweraware_<collective>_algorithm = stock or a name: that one, whatever the scheme but off
 *   info key coll_poweraware_algorithm of the communicator: the same for all its collectives
 *
 * Only a call that some row might give to us builds the communicator's state.
 */
#include "choose/choose.h"

#include <string.h>

#include "choose/bytes.h"
#include "choose/learn.h"
#include "comm/state.h"
#include "device.h"
#include "pwr_ompi/process.h"
#include "repeat.h"

typedef const coll_poweraware_algorithm_t algorithm_t;

/* ---- once per communicator ---- */

static int index_of(int collective, const char *word)
{
    if (0 == strcmp("choose", word)) {
        return COLL_POWERAWARE_CHOOSE;
    }
    int index = coll_poweraware_algorithm_index(collective, word);
    return COLL_POWERAWARE_DECISION_UNKNOWN == index ? COLL_POWERAWARE_STOCK : index;
}

/* What the table says, as precisely as the layout is known; NULL: nothing is ours. */
static const coll_poweraware_choices_t *known_choices(const mca_coll_poweraware_module_t *m)
{
    if (m->state_tried) {
        return NULL == m->state ? NULL : m->state->choices;
    }
    return m->table->any;
}

/* From how many bytes on calls may be ours; UINT64_MAX: never. */
static uint64_t ours_from(const coll_poweraware_choices_t *choices, int collective)
{
    uint64_t from = coll_poweraware_choices_from(choices, collective);
    return coll_poweraware_bytes_known[collective] || UINT64_MAX == from ? from : 0;
}

/* Of any size, where that is not known. */
static bool names_another(const coll_poweraware_choices_t *choices, int collective, size_t bytes)
{
    return PWR_BYTES_UNKNOWN == bytes
               ? UINT64_MAX != coll_poweraware_choices_from(choices, collective)
               : COLL_POWERAWARE_DECISION_STOCK !=
                     coll_poweraware_choices_find(choices, collective, bytes)->algorithms[0];
}

/* Calls that the table leaves to the stock function may come to be ours. */
static bool may_learn(const mca_coll_poweraware_module_t *m)
{
    return m->state_tried ? NULL != m->state && NULL != m->state->learnings : m->settings->explore;
}

/* Until the ranks have agreed on a table, every call has to see to that.  Where ranks know only
   their own bytes, either none may be ours, or all. */
static size_t threshold(const mca_coll_poweraware_module_t *m, int collective)
{
    const coll_poweraware_settings_t *settings = m->settings;
    if (COLL_POWERAWARE_OFF == settings->scheme ||
        COLL_POWERAWARE_STOCK == m->algorithm[collective]) {
        return SIZE_MAX;
    }
    if (m->algorithm[collective] >= 0) {
        return 0;
    }
    if (COLL_POWERAWARE_THROTTLE == settings->scheme) {
        return coll_poweraware_bytes_known[collective] ? pwr_process.settings.min_bytes : 0;
    }
    if (COLL_POWERAWARE_AUTO != settings->scheme) {
        return SIZE_MAX;
    }
    if (NULL == m->table || may_learn(m) || m->gpu.on) {
        return 0;
    }
    const coll_poweraware_choices_t *choices = known_choices(m);
    return NULL == choices ? SIZE_MAX : (size_t)ours_from(choices, collective);
}

void coll_poweraware_find_thresholds(mca_coll_poweraware_module_t *m)
{
    coll_poweraware_end_all_repeats(m);
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        m->from_bytes[c] = threshold(m, c);
    }
}

bool coll_poweraware_prepare(mca_coll_poweraware_module_t *m)
{
    char word[64];
    memcpy(m->algorithm, m->settings->algorithm, sizeof m->algorithm);
    if (pwr_ompi_comm_info(m->comm, "coll_poweraware_algorithm", word, sizeof word)) {
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

/* With scheme auto. */
static const coll_poweraware_table_t *table_of(mca_coll_poweraware_module_t *m,
                                               pwr_operation_t *operation)
{
    if (NULL == m->table) {
        pwr_operation_set_up_begin(operation);
        m->table = coll_poweraware_table_agreed(m);
        pwr_operation_set_up_end(operation);
        coll_poweraware_find_thresholds(m);
    }
    return m->table;
}

/* ---- per call ---- */

static algorithm_t *first_that_can(const coll_poweraware_call_t *call,
                                   coll_poweraware_collective_t collective,
                                   const coll_poweraware_args_t *args, size_t bytes)
{
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        algorithm_t *a = &coll_poweraware_algorithms[i];
        if (collective == a->collective && coll_poweraware_is_ours(a) &&
            coll_poweraware_can(a, call, args, bytes)) {
            return a;
        }
    }
    return NULL;
}

static bool has_part(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                     pwr_segment_part_t part, size_t slot_bytes)
{
    const coll_poweraware_state_t *state = m->state;
    if (COLL_POWERAWARE_NOT_SHARED == state->shared[part]) {
        return false;
    }
    if (coll_poweraware_is_shared(state, part, slot_bytes)) {
        return true;
    }
    pwr_operation_set_up_begin(operation);
    bool shared = coll_poweraware_share(m, operation, part, slot_bytes);
    pwr_operation_set_up_end(operation);
    return shared;
}

/* It can do the call in the longest slots: whether in those that there are. */
static bool fits(coll_poweraware_call_t *call, algorithm_t *a, const coll_poweraware_args_t *args,
                 size_t bytes)
{
    call->slot_bytes = call->segment->slot_bytes;
    bool can = coll_poweraware_can(a, call, args, bytes);
    call->slot_bytes = call->segment->shape.slot_bytes;
    return can;
}

static bool has_slots(mca_coll_poweraware_module_t *m, pwr_operation_t *operation, algorithm_t *a,
                      const coll_poweraware_args_t *args, size_t bytes)
{
    const coll_poweraware_state_t *state = m->state;
    size_t wanted = coll_poweraware_wanted_slots(state, bytes);
    return has_part(m, operation, PWR_SEGMENT_CHUNKS, wanted) &&
           (fits(state->call, a, args, bytes) ||
            has_part(m, operation, PWR_SEGMENT_CHUNKS, state->segment->shape.slot_bytes));
}

/* The memory it runs in; where there is none, the stock function. */
static bool has_memory(mca_coll_poweraware_module_t *m, pwr_operation_t *operation, algorithm_t *a,
                       const coll_poweraware_args_t *args, size_t bytes)
{
    return !coll_poweraware_is_ours(a) ||
           (has_part(m, operation, PWR_SEGMENT_BOXES, 0) &&
            (PWR_SEGMENT_BOXES == a->memory || has_slots(m, operation, a, args, bytes)));
}

/* A communicator whose calls are all left to stock functions is set up only if it is used a lot. */
enum { CALLS_TO_LEARN = 2 * COLL_POWERAWARE_TRIALS_FROM };

/* Whether this call might be ours, as far as that is known without the communicator's layout and
   beyond the threshold, which it has passed. */
static bool wanted(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                   coll_poweraware_collective_t collective, size_t bytes)
{
    if (COLL_POWERAWARE_CHOOSE != m->algorithm[collective] ||
        COLL_POWERAWARE_AUTO != m->settings->scheme) {
        return true;
    }
    const coll_poweraware_table_t *table = table_of(m, operation);
    return (NULL != table->any && names_another(table->any, collective, bytes)) ||
           (may_learn(m) && m->calls[collective] > CALLS_TO_LEARN);
}

static const coll_poweraware_state_t *first_state_of(mca_coll_poweraware_module_t *m,
                                                     pwr_operation_t *operation)
{
    bool automatic = COLL_POWERAWARE_AUTO == m->settings->scheme;
    const coll_poweraware_decision_t *decision =
        automatic ? table_of(m, operation)->decision : NULL;
    pwr_operation_set_up_begin(operation);
    const coll_poweraware_state_t *state = coll_poweraware_state_build(m, decision);
    pwr_operation_set_up_end(operation);
    coll_poweraware_find_thresholds(m); /* the layout is known now */
    if (NULL != state) {
        const pwr_hierarchy_t *h = state->hierarchy;
        size_t piece = coll_poweraware_chunk_bytes(state->call);
        pwr_say(2,
                "a communicator of %d ranks on %d nodes, at most %d on one, chooses; large "
                "messages move in pieces of up to %zu bytes",
                h->size, h->num_nodes, h->max_local, piece);
    }
    return state;
}

const coll_poweraware_algorithm_t *coll_poweraware_choose(mca_coll_poweraware_module_t *m,
                                                          pwr_operation_t *operation,
                                                          coll_poweraware_collective_t collective,
                                                          const coll_poweraware_args_t *args,
                                                          size_t bytes)
{
    if (!m->state_tried && !wanted(m, operation, collective, bytes)) {
        if (may_learn(m)) {
            m->choice_stays = false;
        }
        return NULL;
    }
    const coll_poweraware_state_t *state = m->state_tried ? m->state : first_state_of(m, operation);
    if (NULL == state || m->ended) {
        return NULL;
    }
    coll_poweraware_call_t *call = state->call;
    coll_poweraware_call_begin(call, operation, collective);
    algorithm_t *a = coll_poweraware_gpu_algorithm(m, collective, args, bytes);
    if (NULL != a) {
        m->choice_stays = false;
    } else if (m->algorithm[collective] >= 0) {
        a = &coll_poweraware_algorithms[m->algorithm[collective]];
        a = coll_poweraware_can(a, call, args, bytes) ? a : NULL;
    } else if (COLL_POWERAWARE_AUTO == m->settings->scheme) {
        if (!coll_poweraware_bytes_known[collective] &&
            !coll_poweraware_know_bytes(m, operation, collective)) {
            m->choice_stays = false;
            return NULL;
        }
        a = NULL == state->learnings
                ? coll_poweraware_by_table(state, collective, args, bytes)
                : coll_poweraware_learn(m, operation, collective, args, bytes, has_memory);
    } else {
        a = first_that_can(call, collective, args, bytes);
    }
    if (NULL != a && !has_memory(m, operation, a, args, bytes)) {
        m->choice_stays = false;
        return NULL;
    }
    return a;
}
