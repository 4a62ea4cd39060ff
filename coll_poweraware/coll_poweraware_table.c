/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The decision tables of scheme auto: loading them, and all ranks using the same one.
 *
 * The built-in table is part of this plug-in, hence the same everywhere.  A file may differ from
 * node to node, so the ranks of a communicator compare checksums in its first call; where they
 * differ, all use the built-in table.  This needs no state: most communicators never get one.
 */
#include "coll_poweraware.h"

#include <stdatomic.h>
#include <string.h>

#include "ompi/op/op.h"

#define SELF (&mca_coll_poweraware_component)

extern const char coll_poweraware_decision_builtin[]; /* made from decision.json */

typedef coll_poweraware_table_t table_t;

#define NAME(constant, name) #name,
static const char *const collectives[] = {COLL_POWERAWARE_HANDLED(NAME)};
#undef NAME

static const coll_poweraware_decision_words_t words = {
    .collectives = collectives,
    .num_collectives = COLL_POWERAWARE_NUM_COLLECTIVES,
    .algorithm = coll_poweraware_algorithm_index,
};

static void drop(table_t *table)
{
    coll_poweraware_decision_free(table->decision);
    coll_poweraware_choices_free(table->any);
    *table = (table_t){NULL, NULL};
}

static void take(table_t *table, coll_poweraware_decision_t *decision)
{
    drop(table);
    table->decision = decision;
    if (NULL != decision) {
        table->any = coll_poweraware_decision_compile(decision, 0, 0);
    }
    if (NULL == table->any) {
        drop(table);
    }
}

void coll_poweraware_tables_load(void)
{
    char why[512] = "";
    const char *path = SELF->params.decision_table;
    take(&SELF->builtin_table,
         coll_poweraware_decision_parse(coll_poweraware_decision_builtin, &words, why, sizeof why));
    if (NULL == SELF->builtin_table.decision) { /* out of memory, or not tested */
        coll_poweraware_say(0, "the built-in decision table cannot be used: %s", why);
    }
    if (NULL == path) {
        return;
    }
    take(&SELF->users_table, coll_poweraware_decision_load(path, &words, why, sizeof why));
    if (NULL == SELF->users_table.decision) {
        coll_poweraware_say(coll_poweraware_level_alike(1),
                            "coll_poweraware_decision_table %s is not used: %s", path, why);
    }
}

void coll_poweraware_tables_free(void)
{
    drop(&SELF->builtin_table);
    drop(&SELF->users_table);
}

static bool checksums_agree(const mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                            uint64_t checksum)
{
    uint64_t mine[2] = {checksum, ~checksum};
    uint64_t highest[2] = {0, 0};
    int rc = m->saved.coll_allreduce(mine, highest, 2, MPI_UINT64_T, MPI_MAX, comm,
                                     m->saved.coll_allreduce_module);
    return OMPI_SUCCESS == rc && highest[0] == ~highest[1];
}

static const table_t *agree(const mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const table_t *mine =
        NULL == SELF->users_table.decision ? &SELF->builtin_table : &SELF->users_table;
    uint64_t checksum =
        NULL == mine->decision ? 0 : coll_poweraware_decision_checksum(mine->decision);
    if (checksums_agree(m, comm, checksum)) {
        return mine;
    }
    if (!atomic_flag_test_and_set(&told)) {
        coll_poweraware_say(coll_poweraware_level_alike(1),
                            "coll_poweraware_decision_table %s is not the same on all ranks: the "
                            "built-in table is used; coll_poweraware_verbose 2 says who could not "
                            "read it",
                            SELF->params.decision_table);
    }
    return &SELF->builtin_table;
}

const coll_poweraware_table_t *coll_poweraware_table_of(mca_coll_poweraware_module_t *m,
                                                        struct ompi_communicator_t *comm)
{
    if (NULL == m->table && COLL_POWERAWARE_AUTO == SELF->params.scheme) {
        m->table = NULL == SELF->params.decision_table ? &SELF->builtin_table : agree(m, comm);
        coll_poweraware_find_thresholds(m);
    }
    return m->table;
}

bool coll_poweraware_table_compile(const coll_poweraware_table_t *table,
                                   const pwr_hierarchy_t *hierarchy,
                                   coll_poweraware_choices_t **choices)
{
    if (NULL == table || NULL == table->decision) {
        return true;
    }
    *choices = coll_poweraware_decision_compile(table->decision, hierarchy->num_nodes,
                                                hierarchy->max_local);
    return NULL != *choices;
}
