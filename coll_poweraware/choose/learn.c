/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Scheme auto learns which algorithm is fastest (choose/learn.h).
 */
#include "choose/learn.h"

#include <stdlib.h>
#include <string.h>

#include "comm/state.h"
#include "device.h"
#include "pwr_ompi/process.h"
#include "repeat.h"

typedef const coll_poweraware_algorithm_t algorithm_t;
typedef coll_poweraware_asked_t asked_t;
typedef coll_poweraware_learning_t learning_t;
typedef coll_poweraware_trials_t trials_t;

int coll_poweraware_explores_ppm(const coll_poweraware_settings_t *settings,
                                 const pwr_scheme_t *scheme)
{
    double share = pwr_process.settings.max_slowdown / 100.0;
    if (!settings->explore || !scheme->audits) {
        return 0;
    }
    return (int)((share < 1.0 ? share : 1.0) * COLL_POWERAWARE_PPM);
}

/* ---- the experiments of a class ---- */

/* What earlier jobs have learnt of this class; NULL: nothing, or not the same on all ranks. */
static const pwr_knowledge_entry_t *known_entry(const asked_t *asked,
                                                const pwr_operation_t *operation, int size_class)
{
    const coll_poweraware_state_t *state = asked->module->state;
    const pwr_hierarchy_t *h = state->hierarchy;
    return state->knows ? pwr_known(operation->name, h->num_nodes, h->max_local, size_class) : NULL;
}

/* If it is about the best, and about all rivals: two pairs with each, on average. */
static void tell(const asked_t *asked, trials_t *t, const pwr_knowledge_entry_t *entry)
{
    enum { PAIRS_EACH = 2 };
    const char *best = coll_poweraware_candidate_name(t->candidates[t->best].algorithm);
    if (NULL == entry || 0 != strcmp(best, entry->algorithm) || entry->gain >= 1.0 ||
        entry->trials < PAIRS_EACH * coll_poweraware_candidates_rivals(asked, t)) {
        return;
    }
    double d = (1.0 - entry->gain) / (1.0 + entry->gain);
    int64_t d_ppm = (int64_t)(d * COLL_POWERAWARE_PPM);
    if (d_ppm > 0) {
        coll_poweraware_trials_tell(t, d_ppm, entry->trials);
    }
}

/* All ranks have memory for them, or none has. */
static trials_t *new_trials(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                            learning_t *class)
{
    coll_poweraware_learnings_t *all = m->state->learnings;
    if (all->num_ready < COLL_POWERAWARE_TRIALS_READY) {
        return &all->ready[all->num_ready++];
    }
    trials_t *t = malloc(sizeof *t);
    pwr_operation_set_up_begin(operation);
    bool have = coll_poweraware_all_agree(m, NULL != t);
    pwr_operation_set_up_end(operation);
    class->allocated = have;
    if (!have) {
        free(t);
    }
    return have ? t : NULL;
}

static void begin_trials(const asked_t *asked, pwr_operation_t *operation, int size_class,
                         learning_t *class, bool long_calls)
{
    mca_coll_poweraware_module_t *m = asked->module;
    const coll_poweraware_candidates_t candidates =
        coll_poweraware_candidates_find(asked, class->best);
    class->fixed = true;
    if (coll_poweraware_candidates_settled(asked, &candidates)) {
        return;
    }
    trials_t *t = new_trials(m, operation, class);
    class->fixed = NULL == t;
    if (class->fixed) {
        return;
    }
    coll_poweraware_trials_init(
        t, candidates.all, candidates.num, m->state->explores_ppm, long_calls,
        (uint64_t)asked->collective * PWR_SIZE_CLASSES + (uint64_t)size_class);
    coll_poweraware_candidates_expect(asked, t);
    if (!class->known) {
        tell(asked, t, known_entry(asked, operation, size_class));
    }
    class->trials = t;
}

/* Of a class before its experiments, behind so many calls: how many come before the next one that
   is timed, or decides. */
static uint32_t quiet_first_calls(uint32_t calls, int size_class)
{
    bool may_be_long = pwr_size_class_bytes(size_class) >= COLL_POWERAWARE_LONG_BYTES;
    if (may_be_long && calls < COLL_POWERAWARE_LONG_FROM) {
        return COLL_POWERAWARE_LONG_FROM - 1 - calls;
    }
    return may_be_long && calls == COLL_POWERAWARE_LONG_FROM ? 0
                                                             : COLL_POWERAWARE_TRIALS_FROM - calls;
}

/* A call before the experiments is timed if it is the one that shows whether they are long. */
static void number_first_call(const asked_t *asked, pwr_operation_t *operation, int size_class,
                              learning_t *class)
{
    mca_coll_poweraware_module_t *m = asked->module;
    pwr_operation_number(operation, class->calls);
    if (COLL_POWERAWARE_LONG_FROM == class->calls + 1 &&
        asked->bytes >= COLL_POWERAWARE_LONG_BYTES) {
        m->learning = class;
    }
    ++class->calls;
    class->quiet = class->skipped = quiet_first_calls(class->calls, size_class);
}

static void begin_class(const asked_t *asked, pwr_operation_t *operation, int size_class,
                        learning_t *class)
{
    const pwr_knowledge_entry_t *entry = known_entry(asked, operation, size_class);
    class->fixed = 0 == asked->module->state->explores_ppm;
    if (!class->known) {
        class->best = NULL == entry
                          ? COLL_POWERAWARE_BY_TABLE
                          : coll_poweraware_candidate_named(asked->collective, entry->algorithm);
    }
    if (NULL != entry) {
        pwr_operation_starts(operation, (pwr_audit_depth_t)entry->depth);
    }
    if (class->known || NULL != entry) {
        const pwr_choice_t choice = {.algorithm = coll_poweraware_candidate_name(class->best),
                                     .gain = 1.0};
        pwr_operation_choice(operation, &choice);
    }
}

/* Before call COLL_POWERAWARE_LONG_FROM of a class. */
static bool are_long(const asked_t *asked, pwr_operation_t *operation, const learning_t *class)
{
    mca_coll_poweraware_module_t *m = asked->module;
    int64_t sum_ns = (int64_t) class->timed_ns;
    if (asked->bytes < COLL_POWERAWARE_LONG_BYTES) {
        return false;
    }
    pwr_operation_set_up_begin(operation);
    bool added_up = coll_poweraware_add_up(m, &sum_ns, 1);
    pwr_operation_set_up_end(operation);
    return added_up && sum_ns / m->state->hierarchy->size >= COLL_POWERAWARE_LONG_NS;
}

/* Of a class that has no trials so far: whether they begin. */
static bool begins_trials(const asked_t *asked, pwr_operation_t *operation, int size_class,
                          learning_t *class)
{
    class->calls += class->skipped;
    class->skipped = 0;
    if (0 == class->calls) {
        begin_class(asked, operation, size_class, class);
    }
    bool long_calls =
        COLL_POWERAWARE_LONG_FROM == class->calls && are_long(asked, operation, class);
    if (!long_calls && class->calls < COLL_POWERAWARE_TRIALS_FROM) {
        number_first_call(asked, operation, size_class, class);
        return false;
    }
    begin_trials(asked, operation, size_class, class, long_calls);
    return NULL != class->trials;
}

/* Its time over that of the next best: of the least (1 + d) / (1 - d). */
static double gain_of(const trials_t *t)
{
    int64_t least_ppm = COLL_POWERAWARE_PPM;
    for (int i = 0; i < t->num_candidates; ++i) {
        const coll_poweraware_candidate_t *c = &t->candidates[i];
        if (i != t->best && 0 != c->pairs && c->d_ppm < least_ppm) {
            least_ppm = c->d_ppm;
        }
    }
    double d = (double)least_ppm / COLL_POWERAWARE_PPM;
    return d < 1.0 ? (1.0 - d) / (1.0 + d) : 1.0;
}

static void report(const pwr_operation_t *operation, const trials_t *t)
{
    const pwr_choice_t choice = {
        .algorithm = coll_poweraware_candidate_name(t->candidates[t->best].algorithm),
        .trials = t->pairs,
        .told = t->told,
        .take_overs = t->take_overs,
        .gain = gain_of(t),
        .lost_ns = t->lost_ns,
    };
    pwr_operation_choice(operation, &choice);
}

/* What ranks add up behind pairs. */
enum { GPU_WANTED = COLL_POWERAWARE_TRIALS_SUMS, SUMS };

/* A class whose ranks add up for the first time learns it from others. */
static void tell_what_sums_take(coll_poweraware_learnings_t *all, int64_t *sum_ns)
{
    if (0 != *sum_ns) {
        all->sum_ns = *sum_ns;
    } else {
        *sum_ns = all->sum_ns;
    }
}

static void add_up(const asked_t *asked, pwr_operation_t *operation, learning_t *class,
                   int64_t sums[SUMS])
{
    trials_t *t = class->trials;
    uint64_t begin_ns = pwr_env_now_ns(&pwr_process.env);
    sums[GPU_WANTED] = asked->module->gpu.wanted;
    pwr_operation_set_up_begin(operation);
    bool added_up = coll_poweraware_add_up(asked->module, sums, SUMS);
    pwr_operation_set_up_end(operation);
    t->sum_ns = pwr_env_now_ns(&pwr_process.env) - begin_ns;
    if (added_up) {
        tell_what_sums_take(asked->module->state->learnings, &sums[COLL_POWERAWARE_TRIALS_SUM_NS]);
        coll_poweraware_hear_gpu_wanted(asked->module, sums[GPU_WANTED]);
    }
    if (coll_poweraware_trials_agree(t, added_up ? sums : NULL)) {
        class->best = t->candidates[t->best].algorithm;
        pwr_operation_changes(operation);
        pwr_say(2, "%s of up to %zu bytes: candidate %s is faster, and taken from now on",
                pwr_process_name(PWR_OPERATION, (int)operation->name),
                pwr_size_class_bytes(pwr_size_class(asked->bytes)),
                coll_poweraware_candidate_name(class->best));
    }
}

/* Behind a pair. */
static void meet(const asked_t *asked, pwr_operation_t *operation, learning_t *class)
{
    int64_t sums[SUMS];
    if (coll_poweraware_trials_have(class->trials, sums)) {
        add_up(asked, operation, class, sums);
    }
    report(operation, class->trials);
}

/* Its memory may be made in small parts, in each call that asks for it.  Returns whether there is
   nothing to be made. */
static bool prepare_rival(const asked_t *asked, pwr_operation_t *operation, const trials_t *t,
                          coll_poweraware_has_memory_t *has_memory)
{
    bool can_do;
    if (COLL_POWERAWARE_NO_RIVAL == t->rival) {
        return true;
    }
    algorithm_t *a =
        coll_poweraware_candidate_algorithm(asked, t->candidates[t->rival].algorithm, &can_do);
    return NULL == a || !can_do ||
           has_memory(asked->module, operation, a, asked->args, asked->bytes);
}

typedef struct rivals {
    const asked_t *asked;
    const trials_t *trials;
} rivals_t;

static bool may_be_rival(void *arg, int candidate)
{
    const rivals_t *rivals = arg;
    return coll_poweraware_candidates_may(rivals->asked, rivals->trials, candidate);
}

/* Before a call that may begin a block, or belong to an experiment.  Returns false: it has to wait
   for other classes (choose/turns.h). */
static bool has_turn(const asked_t *asked, pwr_operation_t *operation, learning_t *class)
{
    mca_coll_poweraware_module_t *m = asked->module;
    trials_t *t = class->trials;
    coll_poweraware_trials_skip(t, class->skipped);
    class->skipped = 0;
    if (coll_poweraware_trials_meet(t)) {
        meet(asked, operation, class);
        coll_poweraware_turns_end(&m->turns, t);
    }
    pwr_operation_number(operation, t->at.call);
    if (coll_poweraware_trials_begin(t)) {
        if (coll_poweraware_turns_wait(&m->turns, t)) {
            return false;
        }
        meet(asked, operation, class);
        pwr_operation_number(operation, t->at.call);
        coll_poweraware_trials_find_rival(t, may_be_rival,
                                          &(rivals_t){.asked = asked, .trials = t});
        if (coll_poweraware_trials_experiment(t)) {
            coll_poweraware_end_all_repeats(m); /* they are not timed */
        }
    }
    return true;
}

static algorithm_t *experiment(const asked_t *asked, pwr_operation_t *operation, learning_t *class,
                               coll_poweraware_has_memory_t *has_memory)
{
    mca_coll_poweraware_module_t *m = asked->module;
    trials_t *t = class->trials;
    bool can_do;
    m->learning = class;
    m->ready = prepare_rival(asked, operation, t, has_memory);
    int candidate = t->candidates[coll_poweraware_trials_candidate(t)].algorithm;
    algorithm_t *a = coll_poweraware_candidate_algorithm(asked, candidate, &can_do);
    if (coll_poweraware_trials_measure(t) &&
        (!can_do || (NULL != a && !has_memory(m, operation, a, asked->args, asked->bytes)))) {
        coll_poweraware_trials_spoil(t);
    }
    return a;
}

const coll_poweraware_algorithm_t *
coll_poweraware_learn(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                      coll_poweraware_collective_t collective, const coll_poweraware_args_t *args,
                      size_t bytes, coll_poweraware_has_memory_t *has_memory)
{
    int size_class = pwr_size_class(bytes);
    learning_t *class = &m->state->learnings->class[collective][size_class];
    const asked_t asked = {m, args, collective, bytes};
    m->quiet = class->fixed ? NULL : class;
    if (0 != class->quiet) {
        --class->quiet;
    } else if (!class->fixed) {
        if (NULL != class->trials || begins_trials(&asked, operation, size_class, class)) {
            m->choice_stays = false;
            if (has_turn(&asked, operation, class)) {
                return experiment(&asked, operation, class, has_memory);
            }
        }
    }
    bool can_do;
    return coll_poweraware_candidate_algorithm(&asked, class->best, &can_do);
}

void coll_poweraware_learn_end_call(mca_coll_poweraware_module_t *m)
{
    uint64_t ns = pwr_env_now_ns(&pwr_process.env) - m->began_ns;
    learning_t *class = m->learning;
    trials_t *t = NULL == class ? NULL : class->trials;
    m->learning = NULL;
    coll_poweraware_turns_over(&m->turns, t, ns);
    if (NULL != t) {
        coll_poweraware_trials_over(t);
        class->quiet = class->skipped = m->ready ? coll_poweraware_trials_quiet(t) : 0;
    } else if (NULL != class) {
        class->timed_ns = ns;
    }
}

static void take(void *to, const pwr_knowledge_entry_t *entry)
{
    coll_poweraware_learnings_t *all = to;
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        if (0 == strcmp(coll_poweraware_names[c], entry->key.operation)) {
            learning_t *class = &all->class[c][entry->key.size_class];
            class->best = coll_poweraware_candidate_named(c, entry->algorithm);
            class->known = true;
        }
    }
}

coll_poweraware_learnings_t *coll_poweraware_learnings_new(const pwr_hierarchy_t *h, bool learnt)
{
    coll_poweraware_learnings_t *all = calloc(1, sizeof *all);
    if (NULL != all && learnt) {
        pwr_learnt_tell(h->num_nodes, h->max_local, take, all);
    }
    return all;
}

void coll_poweraware_learnings_free(coll_poweraware_learnings_t *all)
{
    for (int c = 0; NULL != all && c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        for (int s = 0; s < PWR_SIZE_CLASSES; ++s) {
            if (all->class[c][s].allocated) {
                free(all->class[c][s].trials);
            }
        }
    }
    free(all);
}
