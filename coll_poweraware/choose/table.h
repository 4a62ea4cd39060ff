/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The decision tables of scheme auto.
 */
#ifndef COLL_POWERAWARE_TABLE_H
#define COLL_POWERAWARE_TABLE_H

#include "choose/decision.h"
#include "module.h"

/* All NULL: there is none. */
typedef struct coll_poweraware_table {
    coll_poweraware_decision_t *decision;
    coll_poweraware_choices_t *any; /* of any layout: what is stock here is so everywhere */
} coll_poweraware_table_t;

/* Of this process; users_path: NULL for the built-in one alone.  A table that is wrong is named,
   and none of it used. */
void coll_poweraware_tables_load(const char *users_path);
void coll_poweraware_tables_free(void);

/* The table all ranks of the communicator use.  Collective where the user has named one. */
const coll_poweraware_table_t *
coll_poweraware_table_agreed(const mca_coll_poweraware_module_t *module);

#endif
