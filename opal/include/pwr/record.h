/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The record of a job on a node: a page of each of its processes, which they write, and a recorder,
 * which reads them.
 *
 * A page is a file of the run-time directory that is mapped, so to add to it costs what memory
 * costs, and what was added is there when the process is killed.  The recorder is a helper program
 * (poweraware-record) that one process of the node starts, its *leader*.  It reads the energy
 * counters over and over, adds up the pages, and outlives the processes if it has to:
 *
 *   in the end the leader asks for the node's ledger, and one process of the job, which has the sum
 *   of all nodes', for the document;
 *   a leader that dies without doing so leaves a recorder that writes what is known.
 */
#ifndef PWR_RECORD_H
#define PWR_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/account.h"
#include "pwr/env.h"

typedef struct pwr_record pwr_record_t;

typedef struct pwr_record_config {
    const char *run_directory; /* NULL: the default (as of claims and journals) */
    const char *job;           /* names the job among others of this user on this node */
    unsigned process;          /* of the job */
    uint64_t timeout_ns;       /* with a recorder that does nothing; 0: 20 s */
} pwr_record_config_t;

/* Makes this process's page; its time and CPU time count from here.  Where it cannot, one line says
   why, and the accounts stay with the process.  Errors: NOMEM. */
pwr_status_t pwr_record_open(const pwr_env_t *env, const pwr_record_config_t *config,
                             pwr_record_t **record);
/* Valid until record is closed. */
pwr_account_t *pwr_record_account(pwr_record_t *record);

/* What an operation's number in the account means, for whoever looks at the page (poweraware top). */
enum { PWR_RECORD_NAMES = 128, PWR_RECORD_NAME = 32 };
void pwr_record_name(pwr_record_t *record, unsigned operation, const char *name);

/* What else there is to say of a process that has ended well. */
typedef struct pwr_record_end {
    uint64_t setup_ns; /* of its time, what went to setting up this library and its users */
    pwr_lever_use_t levers[PWR_NUM_LEVERS];
} pwr_record_end_t;
/* This process's time ends here. */
void pwr_record_finish(pwr_record_t *record, const pwr_record_end_t *end);

/* What the node has used since the recorder's first reading, microjoules, as it read last; 0 where
   there is no recorder or no meter. */
uint64_t pwr_record_node_uj(const pwr_record_t *record);

/* Removes the page and, of a leader, dismisses the recorder.  NULL is allowed. */
void pwr_record_close(pwr_record_t *record);

/* ---- the leader of a node ---- */

/* Starts the recorder, which opens the energy counters at once, and does not wait for it.  The
   node's energy counts from the begin of the first of its pages: what is used until the counters
   are read is reckoned by the power at that time, and is part of the uncertainty.
   Errors: as pwr_helper_start, UNSUPPORTED where this process has no page; nothing is logged. */
pwr_status_t pwr_record_start(pwr_record_t *record);

/* Tells the recorder of the job.  A job that dies before that leaves no document.  about is taken
   over:

     directory                  where documents go; "": nowhere
     name                       of the job's document without its ending
     summary                    "off", "summary" or "full"
     processes                  of the whole job
     node_processes             of the job on this node
     collectives, algorithms    names of an account's numbers
     class_bytes                the largest call of each size class; null: unknown
     facts                      an object of objects that goes into the document: software, job,
                                settings; decisions, when they are known

   Errors: IO (there is no recorder), NOMEM (also where about is NULL); nothing is logged. */
pwr_status_t pwr_record_tell(pwr_record_t *record, json_t *about);
/* After that: more facts, or others of the same names, and "collectives", where there are more than
   there were; taken over.  Errors: as pwr_record_tell. */
pwr_status_t pwr_record_add_facts(pwr_record_t *record, json_t *facts);

/* Asks for the ledger of this node, which is complete when all pages are finished; the answer may
   take as long as that.  pwr_record_is_answered tells without waiting whether it is there, or never
   will be, as the recorder is gone or has done nothing for too long.  Then pwr_record_ledger gives
   it, packed and to be freed.  Errors: IO (there is no recorder any more), TIMEOUT, NOMEM. */
pwr_status_t pwr_record_ask_ledger(pwr_record_t *record);
bool pwr_record_is_answered(pwr_record_t *record);
pwr_status_t pwr_record_ledger(pwr_record_t *record, void **packed, size_t *bytes);

/* Hands over the ledger of all nodes.  The answer: the summary for people, to be freed, "" if none
   was wanted; and what went wrong in one line, "" if nothing did. */
pwr_status_t pwr_record_ask_document(pwr_record_t *record, const void *packed, size_t bytes);
pwr_status_t pwr_record_summary(pwr_record_t *record, char **summary, char *why, size_t why_size);

#endif
