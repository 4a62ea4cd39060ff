/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The decision tables of scheme auto: loading them, and all ranks using the same one.
 *
 * The built-in table is part of this plug-in, hence the same everywhere.  A file may differ from
 * node to node, so the ranks of a communicator compare checksums in its first call; where they
 * differ, all use the built-in table.  This needs no state: most communicators never get one.
 *
 * The built-in table was measured where several ranks share a CPU.  Each step of an algorithm is a
 * change of process there, so linear ones of coll/basic are often the fastest: among many ranks
 * with a CPU each they are not.  So what it says of other components holds where all nodes have
 * more ranks than CPUs.
 */
#include "choose/choose.h"

#include <stdatomic.h>
#include <string.h>

#include "comm/state.h"
#include "pwr_ompi/process.h"

extern const char coll_poweraware_decision_builtin[]; /* made from decision.json */

typedef coll_poweraware_table_t table_t;

static table_t builtin_table;
static table_t users_table; /* if one is named and right */

static const coll_poweraware_decision_words_t words = {
    .collectives = coll_poweraware_names,
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

void coll_poweraware_tables_load(const char *path)
{
    char why[512] = "";
    /* again, if memory was short for a moment: all ranks must have it */
    for (int tries = 0; NULL == builtin_table.decision && tries < 2; ++tries) {
        take(&builtin_table, coll_poweraware_decision_parse(coll_poweraware_decision_builtin,
                                                            &words, why, sizeof why));
    }
    if (NULL == builtin_table.decision) { /* out of memory, or not tested */
        pwr_say(0, "the built-in decision table cannot be used: %s", why);
    }
    if (NULL == path) {
        return;
    }
    take(&users_table, coll_poweraware_decision_load(path, &words, why, sizeof why));
    if (NULL == users_table.decision) {
        pwr_say(pwr_level_alike(1), "coll_poweraware_decision_table %s is not used: %s", path, why);
    }
}

void coll_poweraware_tables_free(void)
{
    drop(&builtin_table);
    drop(&users_table);
}

static const table_t *agree(const mca_coll_poweraware_module_t *m)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const table_t *mine = NULL == users_table.decision ? &builtin_table : &users_table;
    uint64_t checksum =
        NULL == mine->decision ? 0 : coll_poweraware_decision_checksum(mine->decision);
    if (coll_poweraware_all_same(m, checksum)) {
        return mine;
    }
    if (!atomic_flag_test_and_set(&told)) {
        pwr_say(pwr_level_alike(1),
                "coll_poweraware_decision_table %s is not the same on all ranks: the built-in "
                "table is used; coll_poweraware_verbose 2 says who could not read it",
                m->settings->decision_table);
    }
    return &builtin_table;
}

const coll_poweraware_table_t *coll_poweraware_table_agreed(const mca_coll_poweraware_module_t *m)
{
    return NULL == m->settings->decision_table ? &builtin_table : agree(m);
}

bool coll_poweraware_table_is_builtin(const coll_poweraware_decision_t *decision)
{
    return decision == builtin_table.decision;
}

bool coll_poweraware_table_is_believed(const coll_poweraware_state_t *state,
                                       const coll_poweraware_algorithm_t *algorithm)
{
    return coll_poweraware_is_ours(algorithm) || state->trusts_others;
}

const coll_poweraware_algorithm_t *coll_poweraware_by_table(const coll_poweraware_state_t *state,
                                                            coll_poweraware_collective_t collective,
                                                            const coll_poweraware_args_t *args,
                                                            size_t bytes)
{
    if (NULL == state->choices) {
        return NULL;
    }
    const int *next = coll_poweraware_choices_find(state->choices, collective, bytes)->algorithms;
    for (; COLL_POWERAWARE_DECISION_STOCK != *next; ++next) {
        const coll_poweraware_algorithm_t *a = &coll_poweraware_algorithms[*next];
        if (coll_poweraware_table_is_believed(state, a) &&
            coll_poweraware_can(a, state->call, args, bytes)) {
            return a;
        }
    }
    return NULL;
}
