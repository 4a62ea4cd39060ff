/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Putting back what a journal knows; the numbers are those of restore.h.
 */
#include "config.h"

#include "guard/restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "likwid/likwid.h"

enum { ATTEMPTS = 6, FIRST_PAUSE_MS = 5, REASON_BYTES = 256 };

typedef struct attempt {
    const pwr_journal_record_t *record;
    pwr_restore_result_t result;
    uint64_t found;
    char reason[REASON_BYTES];
} attempt_t;

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

static pwr_restore_result_t fail(attempt_t *attempt, const char *step, pwr_status_t status)
{
    snprintf(attempt->reason, sizeof attempt->reason, "%s: %s", step, pwr_status_text(status));
    return status == PWR_ERR_UNSUPPORTED || status == PWR_ERR_GONE ? PWR_RESTORE_OFFLINE
                                                                   : PWR_RESTORE_FAILED;
}

/* 2.  The rest of a register belongs to others and stays as it is now. */
static pwr_restore_result_t put_back(attempt_t *attempt, const pwr_control_t *control, bool dry_run)
{
    const pwr_journal_record_t *record = attempt->record;
    uint64_t mask = pwr_control_mask(record->kind);
    uint64_t now;
    pwr_status_t status = record->access->read(control, &now);
    if (status != PWR_OK) {
        return fail(attempt, "reading", status);
    }
    attempt->found = now;
    pwr_restore_result_t verdict = judge(record, now);
    if (verdict != PWR_RESTORE_RESTORED || dry_run) {
        return verdict;
    }
    status = record->access->write(control, (now & ~mask) | (record->original & mask));
    if (status != PWR_OK) {
        return fail(attempt, "writing", status);
    }
    status = record->access->read(control, &now);
    if (status != PWR_OK) {
        return fail(attempt, "reading what was written", status);
    }
    /* Still ours: swallowed.  Somebody else's: they were faster than this look. */
    return judge(record, now) == PWR_RESTORE_RESTORED
               ? fail(attempt, "the write had no effect", PWR_ERR_RANGE)
               : PWR_RESTORE_RESTORED;
}

static void try_one(attempt_t *attempt, const pwr_env_t *env, bool dry_run)
{
    const pwr_journal_record_t *record = attempt->record;
    const pwr_why_t why = pwr_why_init(attempt->reason, sizeof attempt->reason);
    pwr_control_t control;
    pwr_status_t status =
        pwr_control_open(record->access, env, record->kind, record->cpu, &why, &control);
    if (status != PWR_OK) {
        if (attempt->reason[0] == '\0') {
            pwr_why_add(&why, "opening: %s", pwr_status_text(status));
        }
        attempt->result = status == PWR_ERR_UNSUPPORTED ? PWR_RESTORE_OFFLINE : PWR_RESTORE_FAILED;
        return;
    }
    attempt->result = put_back(attempt, &control, dry_run);
    record->access->close(&control);
}

/* ---- all controls ---- */

static int compare(const void *left, const void *right)
{
    const pwr_journal_record_t *a = ((const attempt_t *)left)->record;
    const pwr_journal_record_t *b = ((const attempt_t *)right)->record;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static void pause_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static bool is_unfinished(const attempt_t *attempt)
{
    return attempt->result == PWR_RESTORE_FAILED || attempt->result == PWR_RESTORE_OFFLINE;
}

/* True when none is left unfinished.  likwid's programs stay from one control to the next. */
static bool try_all(attempt_t *attempts, size_t count, const pwr_env_t *env, bool dry_run)
{
    bool finished = true;
    pwr_likwid_probe_begin();
    for (size_t i = 0; i < count; i++) {
        if (is_unfinished(&attempts[i])) {
            try_one(&attempts[i], env, dry_run);
        }
        finished = finished && !is_unfinished(&attempts[i]);
    }
    pwr_likwid_probe_end();
    return finished;
}

static void report_all(const attempt_t *attempts, size_t count,
                       const pwr_restore_options_t *options, pwr_restore_counts_t *counts)
{
    *counts = (pwr_restore_counts_t){{0}};
    for (size_t i = 0; i < count; i++) {
        const pwr_restore_outcome_t outcome = {.record = attempts[i].record,
                                               .result = attempts[i].result,
                                               .found = attempts[i].found,
                                               .reason = attempts[i].reason};
        counts->of[outcome.result]++;
        if (options->report) {
            options->report(options->arg, &outcome);
        }
    }
}

pwr_status_t pwr_restore(const pwr_journal_t *journal, const pwr_restore_options_t *options,
                         pwr_restore_counts_t *counts)
{
    pwr_env_t env = pwr_env_real;
    env.root = journal->header.root;
    env.helper_dir = options->helper_dir;
    attempt_t *attempts = calloc(journal->count + 1, sizeof *attempts);
    if (!attempts) {
        return PWR_ERR_NOMEM;
    }
    for (size_t i = 0; i < journal->count; i++) {
        attempts[i] = (attempt_t){.record = &journal->records[i], .result = PWR_RESTORE_FAILED};
    }
    qsort(attempts, journal->count, sizeof *attempts, compare); /* 1. */
    bool finished = try_all(attempts, journal->count, &env, options->dry_run);
    long wait_ms = FIRST_PAUSE_MS;
    for (int attempt = 1; !finished && attempt < ATTEMPTS; attempt++) { /* 3. */
        pause_ms(wait_ms);
        wait_ms *= 2;
        finished = try_all(attempts, journal->count, &env, options->dry_run);
    }
    report_all(attempts, journal->count, options, counts);
    free(attempts);
    return finished ? PWR_OK : PWR_ERR_IO;
}
