/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The levers of the process around operations, and in the trace (private to ompi/operation).
 */
#ifndef PWR_OMPI_LEVERS_H
#define PWR_OMPI_LEVERS_H

#include <stdbool.h>
#include <stddef.h>

/* The lowest frequency, for an operation that moves so many bytes.  Returns whether it is large
   enough for levers; they may be missing all the same. */
bool pwr_levers_low(size_t own_bytes);
void pwr_levers_full(void);

/* Where there are T-states. */
void pwr_levers_throttle(unsigned level);
void pwr_levers_unthrottle(void);

#endif
