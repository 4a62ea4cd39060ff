/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Phases that a program marks (poweraware.h, the header for programs).
 *
 * Regions belong to the process.  They are nested: time, CPU time and calls count for the innermost
 * one that is open, whose name has those around it: "solve/halo".
 *
 * The header looks these functions up by name, so names and arguments do not change.
 */
#ifndef PWR_OMPI_REGION_H
#define PWR_OMPI_REGION_H

/* Of no effect where nobody wants a report.  Any thread, one at a time. */
void pwr_region_begin(const char *name);
/* Ends the innermost region of this name, and those that are open in it. */
void pwr_region_end(const char *name);

#endif
