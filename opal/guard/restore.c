/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Putting back what a journal knows; the numbers are those of restore.h.
 */
#include "config.h"

#include "guard/restore.h"

#include <stdio.h>
#include <stdlib.h>

#include "likwid/likwid.h"
#include "pwr/clock.h"

enum { ATTEMPTS = 6, FIRST_PAUSE_NS = 5000000 };

/* ---- one control ---- */

static bool is_same(const pwr_journal_record_t *record, uint64_t left, uint64_t right)
{
    return ((left ^ right) & pwr_control_mask(record->kind)) == 0;
}

static pwr_restore_result_t judge(const pwr_journal_record_t *record, uint64_t now)
{
    if (is_same(record, record->original, now)) {
        return PWR_RESTORE_ALREADY;
    }
    for (unsigned i = 0; i < record->num_ours; i++) {
        if (is_same(record, record->ours[i], now)) {
            return PWR_RESTORE_RESTORED;
        }
    }
    return PWR_RESTORE_FOREIGN;
}

static pwr_restore_result_t fail(pwr_restore_outcome_t *outcome, const char *step,
                                 pwr_status_t status)
{
    snprintf(outcome->reason, sizeof outcome->reason, "%s: %s", step, pwr_status_text(status));
    return status == PWR_ERR_UNSUPPORTED || status == PWR_ERR_GONE ? PWR_RESTORE_OFFLINE
                                                                   : PWR_RESTORE_FAILED;
}

/* 2.  The rest of a register belongs to others and stays as it is now. */
static pwr_restore_result_t put_back(pwr_restore_outcome_t *outcome, const pwr_control_t *control,
                                     bool dry_run)
{
    const pwr_journal_record_t *record = outcome->record;
    uint64_t mask = pwr_control_mask(record->kind);
    uint64_t now;
    pwr_status_t status = record->access->read(control, &now);
    if (status != PWR_OK) {
        return fail(outcome, "reading", status);
    }
    outcome->found = now;
    pwr_restore_result_t verdict = judge(record, now);
    if (verdict != PWR_RESTORE_RESTORED || dry_run) {
        return verdict;
    }
    status = record->access->write(control, (now & ~mask) | (record->original & mask));
    if (status != PWR_OK) {
        return fail(outcome, "writing", status);
    }
    status = record->access->read(control, &now);
    if (status != PWR_OK) {
        return fail(outcome, "reading what was written", status);
    }
    /* Still ours: swallowed.  Somebody else's: they were faster than this look. */
    return judge(record, now) == PWR_RESTORE_RESTORED
               ? fail(outcome, "the write had no effect", PWR_ERR_RANGE)
               : PWR_RESTORE_RESTORED;
}

static void try_one(pwr_restore_outcome_t *outcome, const pwr_env_t *env, bool dry_run)
{
    const pwr_journal_record_t *record = outcome->record;
    const pwr_why_t why = pwr_why_init(outcome->reason, sizeof outcome->reason);
    pwr_control_t control;
    pwr_status_t status =
        pwr_control_open(record->access, env, record->kind, record->cpu, &why, &control);
    if (status != PWR_OK) {
        if (outcome->reason[0] == '\0') {
            pwr_why_add(&why, "opening: %s", pwr_status_text(status));
        }
        outcome->result = status == PWR_ERR_UNSUPPORTED ? PWR_RESTORE_OFFLINE : PWR_RESTORE_FAILED;
        return;
    }
    outcome->result = put_back(outcome, &control, dry_run);
    record->access->close(&control);
}

/* ---- all controls ---- */

static int compare(const void *left, const void *right)
{
    const pwr_journal_record_t *a = ((const pwr_restore_outcome_t *)left)->record;
    const pwr_journal_record_t *b = ((const pwr_restore_outcome_t *)right)->record;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static bool is_unfinished(const pwr_restore_outcome_t *outcome)
{
    return outcome->result == PWR_RESTORE_FAILED || outcome->result == PWR_RESTORE_OFFLINE;
}

/* True when none is left unfinished.  likwid's programs stay from one control to the next. */
static bool try_all(pwr_restore_outcome_t *outcomes, size_t count, const pwr_env_t *env,
                    bool dry_run)
{
    bool finished = true;
    pwr_likwid_probe_begin();
    for (size_t i = 0; i < count; i++) {
        if (is_unfinished(&outcomes[i])) {
            try_one(&outcomes[i], env, dry_run);
        }
        finished = finished && !is_unfinished(&outcomes[i]);
    }
    pwr_likwid_probe_end();
    return finished;
}

static bool is_exclusive(const pwr_journal_record_t *record)
{
    return record->access != &pwr_access_uncore && record->kind != PWR_CONTROL_UNCORE_RATIO;
}

/* How many. */
static size_t choose(const pwr_journal_t *journal, const pwr_restore_options_t *options,
                     pwr_restore_outcome_t *outcomes)
{
    size_t count = 0;
    for (size_t i = 0; i < journal->count; i++) {
        const pwr_journal_record_t *record = &journal->records[i];
        if (!options->only_exclusive || is_exclusive(record)) {
            outcomes[count++] =
                (pwr_restore_outcome_t){.record = record, .result = PWR_RESTORE_FAILED};
        }
    }
    return count;
}

pwr_status_t pwr_restore(const pwr_journal_t *journal, const pwr_restore_options_t *options)
{
    pwr_env_t env = pwr_env_real;
    env.root = journal->header.root;
    env.helper_dir = options->helper_dir;
    pwr_restore_outcome_t *outcomes = calloc(journal->count + 1, sizeof *outcomes);
    if (!outcomes) {
        return PWR_ERR_NOMEM;
    }
    size_t count = choose(journal, options, outcomes);
    qsort(outcomes, count, sizeof *outcomes, compare); /* 1. */
    bool finished = try_all(outcomes, count, &env, options->dry_run);
    uint64_t wait_ns = FIRST_PAUSE_NS;
    for (int attempt = 1; !finished && attempt < ATTEMPTS; attempt++) { /* 3. */
        pwr_sleep_ns(wait_ns);
        wait_ns *= 2;
        finished = try_all(outcomes, count, &env, options->dry_run);
    }
    for (size_t i = 0; i < count; i++) {
        options->report(options->arg, &outcomes[i]);
    }
    free(outcomes);
    return finished ? PWR_OK : PWR_ERR_IO;
}
