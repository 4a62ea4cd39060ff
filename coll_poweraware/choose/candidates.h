/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What may take the calls of a class that learns (choose/learn.h): what the decision table says,
 * the stock function, each algorithm that can do such calls.
 *
 * Those that the table has not were slower where it was measured: unless some rival is faster than
 * what the table says, they wait for call COLL_POWERAWARE_UNLIKELY_FROM.  Functions of other
 * components that it has not are rarely the fastest, and may take many times as long: they wait for
 * call COLL_POWERAWARE_OTHERS_FROM.  Where all nodes have more ranks than CPUs, as when the
 * built-in table was measured, the times that a table tells say how long each one waits.
 */
#ifndef COLL_POWERAWARE_CANDIDATES_H
#define COLL_POWERAWARE_CANDIDATES_H

#include "algorithms/algorithms.h"
#include "choose/trials.h"
#include "module.h"

/* A candidate is an algorithm's index, COLL_POWERAWARE_STOCK, or this. */
enum { COLL_POWERAWARE_BY_TABLE = COLL_POWERAWARE_CHOOSE };
enum { COLL_POWERAWARE_UNLIKELY_FROM = 96, COLL_POWERAWARE_OTHERS_FROM = 1024 };

typedef struct coll_poweraware_candidates {
    int all[COLL_POWERAWARE_MOST_CANDIDATES];
    int num;
} coll_poweraware_candidates_t;

/* A call, for the functions below; bytes: as all ranks know them. */
typedef struct coll_poweraware_asked {
    mca_coll_poweraware_module_t *module;
    const coll_poweraware_args_t *args;
    coll_poweraware_collective_t collective;
    size_t bytes;
} coll_poweraware_asked_t;

/* A name that is not known here is that of another version: the table decides. */
int coll_poweraware_candidate_named(int collective, const char *name);
const char *coll_poweraware_candidate_name(int candidate);

/* NULL: the stock function.  *can_do: whether the candidate can do this call; else the table
   decides. */
const coll_poweraware_algorithm_t *
coll_poweraware_candidate_algorithm(const coll_poweraware_asked_t *asked, int candidate,
                                    bool *can_do);

/* Those for such calls; known comes first. */
coll_poweraware_candidates_t coll_poweraware_candidates_find(const coll_poweraware_asked_t *asked,
                                                             int known);
/* Whether they all do the same. */
bool coll_poweraware_candidates_settled(const coll_poweraware_asked_t *asked,
                                        const coll_poweraware_candidates_t *candidates);

/* Of trials, whose candidates were found so; the same on all ranks. */
/* At once after coll_poweraware_trials_init: what the table says of them. */
void coll_poweraware_candidates_expect(const coll_poweraware_asked_t *asked,
                                       coll_poweraware_trials_t *trials);
/* How many rivals the best has, without those that come last. */
unsigned coll_poweraware_candidates_rivals(const coll_poweraware_asked_t *asked,
                                           const coll_poweraware_trials_t *trials);
/* Whether trials->candidates[i] may be the best one's rival in this call. */
bool coll_poweraware_candidates_may(const coll_poweraware_asked_t *asked,
                                    const coll_poweraware_trials_t *trials, int i);

#endif
