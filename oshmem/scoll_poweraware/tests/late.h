/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every call of OpenSHMEM that waits, with the last PE late.  What being late is says the program.
 */
#ifndef LATE_H
#define LATE_H

#include <stddef.h>

/* One call, with what the last PE does for it.  Every PE runs it, after a barrier. */
typedef struct late_kind {
    const char *name;
    void (*run)(void);
} late_kind_t;

/* The last row has no name. */
extern const late_kind_t late_kinds[];

/* By every PE, after shmem_init.  come: called by every PE at the place where the last one is late,
   and returns there when it may come. */
void late_begin(void (*come)(void));

/* Zeroed symmetric memory. */
void *late_symmetric(size_t count, size_t bytes);

/* How many results were wrong, on all PEs, which all call it.  Each has printed its own. */
long late_all_wrong(void);

/* What a get took on average by which this PE asked another one that waited, in the last run of a
   kind that asks; 0.0: there was none since this was called last. */
double late_served_us(void);

#endif
