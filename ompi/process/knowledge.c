/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What earlier jobs have learnt (pwr/knowledge.h), for all ranks of this one, and what this one
 * adds.
 *
 * 1. Before MPI_Init talks, the job's first process reads the file, and publishes what it knows of
 *    its type of machine.  No other process opens a file.
 * 2. In MPI_Init each process takes that, as it came.  Ranks of another type of machine, or whom it
 *    did not reach, know nothing; so whoever uses it compares checksums first.
 * 3. When the last component closes the process, the first one adds what its communicators have
 *    learnt.
 *
 * Meanwhile each process keeps what was learnt about algorithms, for communicators that are made
 * later in this job.
 */
#include "process_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr/checksum.h"
#include "pwr/knowledge.h"
#include "pwr_ompi/compat.h"
#include "pwr_ompi/modex.h"
#include "pwr_ompi/operation.h"
#include "pwr_ompi/params.h"

#include "ompi/mca/pml/base/base.h"

static const char modex_word[] = "knowledge";
static const char nothing[] = "{}"; /* is no knowledge */
static const char no_file[] = "off";

static pwr_knowledge_machine_t machine;
static pwr_knowledge_t *known;
static uint64_t known_checksum; /* 0: nothing */
static pwr_knowledge_t *learnt; /* in this job; NULL: nothing so far */

static bool is_first(void)
{
    return 0 == OPAL_PROC_MY_NAME.vpid;
}

/* Nothing is learnt without the audit, so nothing is known. */
static bool is_wanted(void)
{
    const char *file = pwr_process.settings.knowledge;
    return pwr_process_audits(&pwr_process.scheme) && !pwr_params_are_foreign() &&
           (NULL == file || 0 != strcmp(file, no_file));
}

static void find_machine(void)
{
    machine = (pwr_knowledge_machine_t){.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    (void)pwr_cpu_model_read(&pwr_process.env, &machine.cpu); /* "" is a type, too */
    snprintf(machine.mpi, sizeof machine.mpi, "Open MPI %d.%d.%d", OMPI_MAJOR_VERSION,
             OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
}

/* ---- 1. ---- */

static pwr_knowledge_t *load(void)
{
    char why[PWR_KNOWLEDGE_WHY] = "";
    pwr_knowledge_t *loaded = NULL;
    pwr_status_t status = pwr_knowledge_load(&pwr_process.env, pwr_process.settings.knowledge,
                                             &machine, why, sizeof why, &loaded);
    if ('\0' != why[0]) {
        pwr_say(PWR_ERR_UNSUPPORTED == status ? 2 : 1,
                "what earlier jobs have learnt is not used: %s", why);
    }
    return PWR_OK == status ? loaded : NULL;
}

void pwr_known_publish(void)
{
    if (!is_first() || !is_wanted()) {
        return;
    }
    find_machine();
    unsigned count = 0;
    pwr_knowledge_t *loaded = load();
    if (NULL != loaded) {
        (void)pwr_knowledge_entries(loaded, &count);
    }
    char *text = NULL;
    bool ok = 0 != count && PWR_OK == pwr_knowledge_format(loaded, &machine, &text);
    pwr_modex_send(modex_word, PWR_MODEX_JOB, ok ? text : nothing, strlen(ok ? text : nothing));
    free(text);
    pwr_knowledge_free(loaded);
}

/* ---- 2. ---- */

void pwr_known_open(void)
{
    char why[PWR_KNOWLEDGE_WHY] = "";
    size_t bytes = 0;
    if (!is_wanted()) {
        return;
    }
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    first.vpid = 0;
    char *text = pwr_modex_receive(modex_word, &first, &bytes);
    if (NULL == text) {
        return;
    }
    find_machine();
    if (PWR_OK == pwr_knowledge_parse(text, bytes, &machine, why, sizeof why, &known)) {
        unsigned count = 0;
        (void)pwr_knowledge_entries(known, &count);
        known_checksum = 0 == count ? 0 : pwr_checksum_add(PWR_CHECKSUM_OF_NOTHING, text, bytes);
        pwr_say(2, "%u classes of calls are known from earlier jobs", count);
    }
    free(text);
}

uint64_t pwr_known_checksum(void)
{
    return known_checksum;
}

static pwr_knowledge_key_t key_of(unsigned operation, int nodes, int ranks_per_node, int size_class)
{
    pwr_knowledge_key_t key = {.nodes = (unsigned)nodes,
                               .ranks_per_node = (unsigned)ranks_per_node,
                               .size_class = (unsigned)size_class};
    snprintf(key.operation, sizeof key.operation, "%.23s",
             pwr_process_name(PWR_OPERATION, (int)operation));
    snprintf(key.transport, sizeof key.transport, "%.15s",
             mca_pml_base_selected_component.pmlm_version.mca_component_name);
    return key;
}

const pwr_knowledge_entry_t *pwr_known(unsigned operation, int nodes, int ranks_per_node,
                                       int size_class)
{
    const pwr_knowledge_key_t key = key_of(operation, nodes, ranks_per_node, size_class);
    return NULL == known ? NULL : pwr_knowledge_find(known, &key);
}

/* ---- in this job ---- */

/* What was seen too few times would only replace what is known better. */
static bool is_learnt(const pwr_choice_t *choice)
{
    enum { ENOUGH_TRIALS = 2 };
    return NULL != choice->algorithm && 0 != choice->trials &&
           choice->trials + choice->told >= ENOUGH_TRIALS;
}

static pwr_knowledge_entry_t entry_of(const pwr_knowledge_key_t *key, const pwr_choice_t *choice)
{
    uint64_t trials = (uint64_t)choice->trials + choice->told;
    pwr_knowledge_entry_t entry = {
        .key = *key,
        .trials = trials < PWR_KNOWLEDGE_COUNT_MOST ? (unsigned)trials : PWR_KNOWLEDGE_COUNT_MOST,
        .gain = choice->gain,
    };
    snprintf(entry.algorithm, sizeof entry.algorithm, "%.15s", choice->algorithm);
    return entry;
}

void pwr_learnt(unsigned operation, int nodes, int ranks_per_node, int size_class,
                const pwr_choice_t *choice)
{
    if (pwr_process.mpi_threads || !is_learnt(choice)) {
        return;
    }
    const pwr_knowledge_key_t key = key_of(operation, nodes, ranks_per_node, size_class);
    const pwr_knowledge_entry_t entry = entry_of(&key, choice);
    learnt = NULL == learnt ? pwr_knowledge_new() : learnt;
    if (NULL != learnt) {
        (void)pwr_knowledge_note(learnt, &entry);
    }
}

uint64_t pwr_learnt_checksum(int ranks)
{
    return NULL == learnt ? 0 : pwr_knowledge_checksum(learnt, (unsigned)ranks);
}

void pwr_learnt_tell(int nodes, int ranks_per_node,
                     void (*tell)(void *to, const pwr_knowledge_entry_t *entry), void *to)
{
    unsigned count = 0;
    const pwr_knowledge_entry_t *entries =
        NULL == learnt ? NULL : pwr_knowledge_entries(learnt, &count);
    for (unsigned i = 0; i < count; ++i) {
        const pwr_knowledge_key_t *key = &entries[i].key;
        if (key->nodes == (unsigned)nodes && key->ranks_per_node == (unsigned)ranks_per_node) {
            tell(to, &entries[i]);
        }
    }
}

/* ---- 3. ---- */

static void note(void *to, const pwr_decided_t *decided)
{
    const pwr_audit_result_t *audit = &decided->audit;
    if (0 == decided->nodes || !is_learnt(&decided->choice)) {
        return;
    }
    const pwr_knowledge_key_t key =
        key_of(decided->operation, decided->nodes, decided->ranks_per_node, decided->size_class);
    pwr_knowledge_entry_t entry = entry_of(&key, &decided->choice);
    entry.depth = (uint8_t)audit->depth;
    entry.pairs = audit->pairs;
    entry.slowdown = audit->slowdown.middle;
    entry.calls = audit->calls;
    entry.day = pwr_knowledge_today();
    (void)pwr_knowledge_note(to, &entry);
}

static void save(pwr_knowledge_t *all)
{
    char why[PWR_KNOWLEDGE_WHY] = "";
    pwr_status_t status = pwr_knowledge_save(&pwr_process.env, pwr_process.settings.knowledge,
                                             &machine, all, why, sizeof why);
    if (PWR_OK != status) {
        pwr_say(PWR_ERR_UNSUPPORTED == status ? 2 : 1,
                "what this job has learnt is not kept: %s; coll_poweraware_knowledge names another "
                "file, or is off",
                why);
    }
}

void pwr_known_close(void)
{
    unsigned count = 0;
    pwr_knowledge_t *all = is_first() && is_wanted() ? pwr_knowledge_new() : NULL;
    if (NULL != all) {
        (void)pwr_decided(note, all);
        (void)pwr_knowledge_entries(all, &count);
    }
    if (0 != count) {
        save(all);
    }
    pwr_knowledge_free(all);
    pwr_knowledge_free(learnt);
    pwr_knowledge_free(known);
    learnt = known = NULL;
    known_checksum = 0;
}
