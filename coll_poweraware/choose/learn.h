/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What scheme auto learns about algorithms on one communicator, by collective and size class.
 *
 * The first calls of a class do what other communicators of the same layout have learnt, or earlier
 * jobs, else as the table says.  From COLL_POWERAWARE_TRIALS_FROM calls on, experiments
 * (choose/trials.h) compare that with what else the table has for such calls, with the stock
 * function and with our other algorithms (choose/candidates.h).  Classes take turns with them
 * (choose/turns.h).  The ranks add up what they have measured in one small Allreduce per
 * experiment, or for the first three, by the saved function: after 42, 74 or 106 calls of the
 * class, after 138, 170, 212 .., in the end each 16,384; later where others have their turn, where
 * that Allreduce takes as long as many calls, or, the first time, where the table tells what
 * experiments take.
 *
 * Calls of COLL_POWERAWARE_LONG_BYTES and more may be long: programs make few of them.  There the
 * ranks add up what the last one before COLL_POWERAWARE_LONG_FROM took, and if that was
 * COLL_POWERAWARE_LONG_NS on average, experiments begin at once.
 */
#ifndef COLL_POWERAWARE_LEARN_H
#define COLL_POWERAWARE_LEARN_H

#include "algorithms/algorithms.h"
#include "choose/candidates.h"
#include "choose/trials.h"
#include "module.h"
#include "pwr_ompi/process.h"

enum {
    COLL_POWERAWARE_LONG_FROM = 16, /* calls before the first experiment, where they are long */
    COLL_POWERAWARE_LONG_BYTES = 4096,
    COLL_POWERAWARE_LONG_NS = 10 * 1000 * 1000
};

/* Of one class. */
typedef struct coll_poweraware_learning {
    int best;                         /* candidate of all calls but those of experiments */
    bool fixed;                       /* there will be no experiments */
    bool known;                       /* best is, from another communicator */
    uint32_t calls;                   /* before the experiments */
    uint64_t timed_ns;                /* what the last one of these took here */
    uint32_t quiet;                   /* calls to come without one, ... */
    uint32_t skipped;                 /* ... of so many, which trials, or calls, do not count yet */
    coll_poweraware_trials_t *trials; /* NULL: not yet, or none */
    bool allocated;                   /* trials are, by themselves */
} coll_poweraware_learning_t;

/* Of a communicator, zeroed. */
enum { COLL_POWERAWARE_TRIALS_READY = 16 };
typedef struct coll_poweraware_learnings {
    coll_poweraware_learning_t class[COLL_POWERAWARE_NUM_COLLECTIVES][PWR_SIZE_CLASSES];
    int64_t sum_ns; /* the last time that all ranks together took to add up; 0: not known */
    int num_ready;  /* of the first classes that have experiments: all ranks have memory for them */
    coll_poweraware_trials_t ready[COLL_POWERAWARE_TRIALS_READY];
} coll_poweraware_learnings_t;

/* NULL: out of memory.  learnt: with what this process has learnt on other communicators of this
   layout, the same on all ranks. */
coll_poweraware_learnings_t *coll_poweraware_learnings_new(const pwr_hierarchy_t *hierarchy,
                                                           bool learnt);

/* What experiments may lose, in millionths of all calls; 0: this rank makes none. */
int coll_poweraware_explores_ppm(const coll_poweraware_settings_t *settings,
                                 const pwr_scheme_t *scheme);

/* Whether a candidate's algorithm has the memory in which it does this call. */
typedef bool coll_poweraware_has_memory_t(mca_coll_poweraware_module_t *module,
                                          pwr_operation_t *operation,
                                          const coll_poweraware_algorithm_t *algorithm,
                                          const coll_poweraware_args_t *args, size_t bytes);

/* The algorithm of a call whose class learns; NULL: the stock function.  Collective; the same on
   all ranks.  coll_poweraware_learn_end follows after the call. */
const coll_poweraware_algorithm_t *
coll_poweraware_learn(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                      coll_poweraware_collective_t collective, const coll_poweraware_args_t *args,
                      size_t bytes, coll_poweraware_has_memory_t *has_memory);

/* Around what any call does once its algorithm was chosen. */
void coll_poweraware_learn_end_call(mca_coll_poweraware_module_t *module);
static inline bool coll_poweraware_is_timed(const mca_coll_poweraware_module_t *module)
{
    return NULL != module->learning || NULL != module->turns.of;
}
static inline void coll_poweraware_learn_begin(mca_coll_poweraware_module_t *module)
{
    if (coll_poweraware_is_timed(module)) {
        module->began_ns = pwr_env_now_ns(&pwr_process.env);
    }
}
static inline void coll_poweraware_learn_end(mca_coll_poweraware_module_t *module)
{
    if (coll_poweraware_is_timed(module)) {
        coll_poweraware_learn_end_call(module);
    }
}

/* Whether this call is one of a class whose calls are long, as all ranks know. */
static inline bool
coll_poweraware_learns_of_long_calls(const mca_coll_poweraware_module_t *module)
{
    return NULL != module->learning && NULL != module->learning->trials &&
           module->learning->trials->long_calls;
}

void coll_poweraware_learnings_free(coll_poweraware_learnings_t *learnings);

#endif
