/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * "Why not": one line collected from all back ends that were tried (private to the library).
 */
#ifndef PWR_WHY_H
#define PWR_WHY_H

#include "pwr/status.h"

typedef struct pwr_why {
    char *text; /* NUL terminated, never overrun; a line that does not fit is cut */
    unsigned size;
} pwr_why_t;

/* An empty line in text[size], which the caller owns. */
pwr_why_t pwr_why_init(char *text, unsigned size);

/* Appends a reason, with ", " before it unless it is the first.  One that is there already (several
   back ends need the same file) is not repeated. */
void pwr_why_add(const pwr_why_t *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends "<path>: <status in words>" and, for missing rights, the remedy. */
void pwr_why_add_file(const pwr_why_t *why, const char *path, pwr_status_t status,
                      const char *remedy);

/* What several back ends that all failed amount to: the most informative of two results.  "No
   permission" says that the hardware is there, "not supported" is only the last word. */
pwr_status_t pwr_why_worse(pwr_status_t left, pwr_status_t right);

#endif
