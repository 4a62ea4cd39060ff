/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of ompi/operation share.
 */
#ifndef PWR_OMPI_OPERATION_PRIVATE_H
#define PWR_OMPI_OPERATION_PRIVATE_H

#include "pwr_ompi/operation.h"

/* class.c: NULL when nothing is ever saved, the name has no classes, or out of memory.  Every rank
   asks for the same classes in the same order. */
pwr_class_t *pwr_class_of(pwr_operations_t *of, unsigned name, size_t bytes);
void pwr_classes_free(pwr_operations_t *of);
/* Whether operations of so many bytes may move levers: those that do in waits know how long these
   will be. */
static inline bool pwr_operations_move_enough(const pwr_operations_t *of, size_t bytes)
{
    return PWR_LEVERS_IN_WAITS == of->levers || bytes >= pwr_process.settings.min_bytes;
}
/* account.c: of its communicator or window, for people. */
void pwr_operations_name(const pwr_operations_t *of, char *name, size_t room);
/* decided.c: pwr_decided tells of those that are enlisted, and of what is kept. */
void pwr_decided_enlist(pwr_operations_t *of);
void pwr_decided_delist(pwr_operations_t *of);
void pwr_decided_keep(const pwr_operations_t *of);
/* Of an operation; class may be NULL.  Whether what is known of its sites may shorten waits; and
   what the usual policy is in it. */
bool pwr_class_may_move_levers(const pwr_class_t *class);
bool pwr_class_knows_sites(const pwr_class_t *class);
void pwr_class_adjust(const pwr_class_t *class, pwr_wait_policy_t *policy);
void pwr_class_slept(pwr_class_t *class, uint64_t sleeps);
void pwr_class_end(pwr_class_t *class, uint64_t sleeps);
uint32_t pwr_class_repeats(const pwr_class_t *class); /* pwr_operation_repeats */

/* levers.c: the levers of the process, in the trace, too; they may be missing.  expected: of how
   long the phase will last.  Where that is not known (NULL; PWR_POWER_LENGTH_UNKNOWN), or the
   scheme does not weigh levers, one moves all the same. */
uint64_t pwr_levers_expected_ns(const pwr_scheme_t *scheme, const pwr_history_t *expected);
void pwr_levers_low(uint64_t expected_ns); /* the lowest frequency */
void pwr_levers_full(void);
/* Where there are T-states.  Returns whether the clock is throttled now. */
bool pwr_levers_throttle(const pwr_scheme_t *scheme, unsigned level, const pwr_history_t *expected);
void pwr_levers_unthrottle(void);

/* wait.c: how an operation that a stock function does waits.  within: the first member of the
   pwr_operation_t. */
void pwr_wait_in_stock(pwr_idle_within_t *within, const pwr_idle_awaited_t *awaited);

/* account.c: where the process has an account. */
void pwr_operation_account_open(pwr_operation_t *operation);
/* Before levers move: of operations that move none nobody asks what they came to. */
void pwr_operation_account_levers(pwr_operation_t *operation);
void pwr_operation_account_close(pwr_operation_t *operation);

#endif
