/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What people see of a job's document on their terminal.
 */
#ifndef PWR_RECORD_SUMMARY_H
#define PWR_RECORD_SUMMARY_H

#include "pwr/ledger.h"
#include "tools/record/about.h"

/* To be freed; "" when about wants none; NULL without memory.  why_incomplete as of
   document_make. */
char *summary_make(const about_t *about, const pwr_ledger_t *ledger, const char *why_incomplete);

#endif
