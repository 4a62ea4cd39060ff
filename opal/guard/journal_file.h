/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Journals on disk: who may write one, who may act on one, and what a full disk does.
 *
 * A journal is the file journal-<job>-<pid>-<random> of the run-time directory.  Two locks in it
 * say who lives: the guardian holds one on its first byte, the client one on its second.
 *
 *   1. A guardian has its lock before the journal has a line.
 *   2. Whoever restores from outside takes both locks first.  So a living job is never touched, two
 *      restorers never meet, and a journal is whole while it is read.
 *   3. A file that has lost its name was removed by a restorer between opening and locking.
 *
 * The guardian's lock belongs to the open file (F_OFD_SETLK).  The client's belongs to the process
 * (F_SETLK): children that an application forks would inherit the other kind and keep it held.
 */
#ifndef PWR_GUARD_JOURNAL_FILE_H
#define PWR_GUARD_JOURNAL_FILE_H

#include "guard/journal.h"
#include "rundir.h"

#define PWR_JOURNAL_PREFIX "journal-"

/* Others read its name and what it says. */
typedef struct pwr_journal_file {
    const pwr_rundir_t *rundir;
    char name[NAME_MAX + 1];
    int fd;
    bool broken; /* has half a line at its end that could not be taken away */
    pwr_journal_t journal;
} pwr_journal_file_t;

/* The functions below say in why[why_size], in one line with the file's name, why they failed. */

/* For a guardian: a new journal with its first line, locked (1.).  Errors: NOMEM, IO (disk full,
   and the like), PERM. */
pwr_status_t pwr_journal_create(const pwr_rundir_t *rundir, const pwr_journal_header_t *header,
                                char *why, unsigned why_size, pwr_journal_file_t **file);

/* For a restorer (2.; header NULL): waits up to two seconds for a guardian whose client is gone: it
   is at work.  For a guardian whose predecessor was killed (header: what the client would begin a
   new one with): the same journal, with all it says.  Errors: SHARED (in use), TIMEOUT (a guardian
   whose client is gone does not end: it is stopped), UNSUPPORTED (gone meanwhile), PARSE (damaged:
   file, line and reason; another client's), PERM (not a file of ours), IO, NOMEM. */
pwr_status_t pwr_journal_open(const pwr_rundir_t *rundir, const char *name,
                              const pwr_journal_header_t *header, char *why, unsigned why_size,
                              pwr_journal_file_t **file);

/* Takes no lock: only to tell what it says.  Errors: as those of pwr_journal_open. */
pwr_status_t pwr_journal_look(const pwr_rundir_t *rundir, const char *name, char *why,
                              unsigned why_size, pwr_journal_file_t **file);

/* For a client: opens the journal that its guardian made and holds the client's lock, until fd is
   closed or the process ends.  Errors: PERM, UNSUPPORTED, TIMEOUT, IO. */
pwr_status_t pwr_journal_hold(const pwr_rundir_t *rundir, const char *name, char *why,
                              unsigned why_size, int *fd);

/* Appends a line; it is in the file when this returns PWR_OK.  When it cannot be written whole
   nothing of it stays, and *cause is errno (else 0).  Errors: IO, and those of
   pwr_journal_admit and pwr_journal_format. */
pwr_status_t pwr_journal_add(pwr_journal_file_t *file, const pwr_journal_entry_t *entry,
                             int *cause);

/* Removes the file from the directory: nothing is left to restore. */
pwr_status_t pwr_journal_remove(const pwr_journal_file_t *file);
/* Gives the locks back; the file stays.  NULL is allowed. */
void pwr_journal_close(pwr_journal_file_t *file);

#endif
