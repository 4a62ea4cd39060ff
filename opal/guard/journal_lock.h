/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The two locks in a journal that say who lives: the guardian on its first byte, the client on its
 * second (rules: journal_file.h).
 */
#ifndef PWR_GUARD_JOURNAL_LOCK_H
#define PWR_GUARD_JOURNAL_LOCK_H

#include "pwr/status.h"

typedef enum pwr_journal_patience {
    PWR_JOURNAL_AT_ONCE,
    PWR_JOURNAL_PATIENTLY /* up to two seconds */
} pwr_journal_patience_t;

/* SHARED: another holds one of them.  All locks end when fd is closed. */
pwr_status_t pwr_journal_lock_guardian(int fd, pwr_journal_patience_t patience);
/* Waits for a restorer that holds it for a moment, to find out that the journal is in use. */
pwr_status_t pwr_journal_lock_client(int fd);
/* Both, for a restorer: waits for a guardian that lives, but not for a client. */
pwr_status_t pwr_journal_lock_both(int fd);

#endif
