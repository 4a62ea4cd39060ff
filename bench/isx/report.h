/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What PE 0 prints of isx, and its JSON document.
 */
#ifndef ISX_REPORT_H
#define ISX_REPORT_H

typedef enum isx_phase {
    ISX_COUNT,
    ISX_PLAN,
    ISX_BUCKETIZE,
    ISX_PUTS,
    ISX_BARRIER,
    ISX_VALUES,
    ISX_EXCHANGE, /* plan, puts and barrier */
    ISX_TOTAL,
    ISX_PHASES
} isx_phase_t;

/* The times of a sort; below iteration 0 they are left out.  fault: NULL where there is none. */
void isx_report_sort(int way, int iteration, const double *ms, const char *fault);
/* Prints the table and writes the document: the exit status. */
int isx_report_end(int pes);

#endif
