/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Putting back what a journal knows; the guardian and poweraware-restore both do it here.
 *
 *   1. Ceilings before floors, and so on: the order of pwr_control_kind_t.
 *   2. Each control is read first.  Only a value that was ours is replaced; the original is left
 *      as it is, and so is anything else, which somebody else wrote.  So doing it twice, or again
 *      after being interrupted anywhere, is the same as doing it once.
 *   3. What fails is tried again after a pause, all controls in turn.
 *   4. The journal is removed when nothing has failed; else it stays for another attempt.
 */
#ifndef PWR_GUARD_RESTORE_H
#define PWR_GUARD_RESTORE_H

#include "guard/journal_file.h"

typedef enum pwr_restore_result {
    PWR_RESTORE_RESTORED, /* (or would be: dry run) */
    PWR_RESTORE_ALREADY,  /* had its original value */
    PWR_RESTORE_FOREIGN,  /* has somebody else's, and keeps it */
    PWR_RESTORE_OFFLINE,  /* the CPU or its device is not there; it may come back as it was */
    PWR_RESTORE_FAILED
} pwr_restore_result_t;

typedef struct pwr_restore_outcome {
    const pwr_journal_record_t *record;
    pwr_restore_result_t result;
    uint64_t found;   /* what it had; undefined for OFFLINE and FAILED */
    char reason[256]; /* of OFFLINE and FAILED, in one line */
} pwr_restore_outcome_t;

typedef struct pwr_restore_options {
    bool dry_run;           /* reads only */
    bool only_exclusive;    /* not what several processes move in turn (control/shared.h) */
    const char *helper_dir; /* as in pwr_env_t */
    /* Called once per control, with its last outcome. */
    void (*report)(void *arg, const pwr_restore_outcome_t *outcome);
    void *arg;
} pwr_restore_options_t;

/* Restores below the root that the journal names (1. to 3.).  PWR_OK: nothing is left to do, so
   the journal may go (4.); IO: some controls failed or are offline. */
pwr_status_t pwr_restore(const pwr_journal_t *journal, const pwr_restore_options_t *options);

#endif
