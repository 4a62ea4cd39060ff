/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which algorithm a call takes.
 */
#ifndef COLL_POWERAWARE_CHOOSE_H
#define COLL_POWERAWARE_CHOOSE_H

#include "algorithms/algorithms.h"
#include "choose/decision.h"
#include "module.h"

/* What calls of this communicator may take, from parameters and the communicator's info.  False:
   it is to be left alone. */
bool coll_poweraware_prepare(mca_coll_poweraware_module_t *module);

/* Once more, when what they depend on has changed. */
void coll_poweraware_find_thresholds(mca_coll_poweraware_module_t *module);

/* For a call of at least module->from_bytes.  Returns NULL for the stock function, else the
   communicator has a state, and its call is ready for the algorithm; the same on every rank. */
const coll_poweraware_algorithm_t *coll_poweraware_choose(mca_coll_poweraware_module_t *module,
                                                          pwr_operation_t *operation,
                                                          coll_poweraware_collective_t collective,
                                                          const coll_poweraware_args_t *args,
                                                          size_t bytes);

/* ---- the decision tables of scheme auto (table.c) ---- */

/* All NULL: there is none. */
typedef struct coll_poweraware_table {
    coll_poweraware_decision_t *decision;
    coll_poweraware_choices_t *any; /* of any layout: what is stock here is so everywhere */
} coll_poweraware_table_t;

/* Of this process; users_path: NULL for the built-in one alone.  A table that is wrong is named,
   and none of it used. */
void coll_poweraware_tables_load(const char *users_path);
void coll_poweraware_tables_free(void);

bool coll_poweraware_table_is_builtin(const coll_poweraware_decision_t *decision);

/* The table all ranks of the communicator use.  Collective where the user has named one. */
const coll_poweraware_table_t *
coll_poweraware_table_agreed(const mca_coll_poweraware_module_t *module);
/* Whether its rows of this algorithm count on a communicator. */
bool coll_poweraware_table_is_believed(const struct coll_poweraware_state *state,
                                       const coll_poweraware_algorithm_t *algorithm);
/* The algorithm that it gives to a call, NULL for the stock function. */
const coll_poweraware_algorithm_t *
coll_poweraware_by_table(const struct coll_poweraware_state *state,
                         coll_poweraware_collective_t collective,
                         const coll_poweraware_args_t *args, size_t bytes);

#endif
