/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What likwid can do for us (private to the library).
 */
#ifndef PWR_LIKWID_H
#define PWR_LIKWID_H

/* Looking for a back end: pwr_link_probe_begin and _end for all of likwid's programs. */
void pwr_likwid_probe_begin(void);
void pwr_likwid_probe_end(void);

#endif
