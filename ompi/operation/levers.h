/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The levers of the process around operations, and in the trace (private to ompi/operation).
 */
#ifndef PWR_OMPI_LEVERS_H
#define PWR_OMPI_LEVERS_H

#include <stdbool.h>

#include "pwr/history.h"

/* expected: of how long the phase will last.  Without weighs_levers, or where that is not known, a
   lever moves all the same.  NULL: not known. */

/* The lowest frequency.  Levers may be missing. */
void pwr_levers_low(const pwr_history_t *expected);
void pwr_levers_full(void);

/* Where there are T-states.  Returns whether the clock is throttled now. */
bool pwr_levers_throttle(unsigned level, const pwr_history_t *expected);
void pwr_levers_unthrottle(void);

#endif
