/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What liblikwid can do for us, in a process of its own (private to the library).
 *
 * liblikwid forks children that end with exit(), starts a shell, un-pins its caller, prints, and
 * ends the process when something is missing.  None of that may happen to an application, so only
 * the program poweraware-likwid is linked with it; this is its client.  A process has at most one
 * such program for frequencies and one for energy, which its users acquire and release
 * (link.h).
 *
 * All calls: UNSUPPORTED under another env->root than "", because liblikwid always acts on the
 * machine it runs on.
 */
#ifndef PWR_LIKWID_H
#define PWR_LIKWID_H

#include <stdbool.h>
#include <stdint.h>

#include "likwid/likwid_wire.h"
#include "likwid/link.h"
#include "pwr/env.h"
#include "why.h"

/* ---- frequencies ---- */

/* Errors of pwr_link_acquire: UNSUPPORTED (not built with likwid), PERM (likwid gave up; why has
   its last words), IO, TIMEOUT; a reason is added to why. */
extern pwr_link_t pwr_likwid_frequency;
/* Sets the lowest or (ceiling) highest frequency of a CPU with freq_setCpuClock{Min,Max}, and looks
   whether it came to pass, which likwid does not.  Errors: PERM (likwid refused: its daemon has no
   rights, or takes only values of the kernel's list of frequencies), UNSUPPORTED (no such CPU), IO.
 */
pwr_status_t pwr_likwid_freq_set(bool ceiling, unsigned cpu, uint64_t khz);

/* ---- energy ---- */

typedef struct pwr_likwid_domain {
    char name[PWR_LIKWID_NAME_BYTES]; /* likwid's: "PKG", "PP0", "CORE", "DRAM", "PLATFORM" .. */
    double unit_j;                    /* one count */
    unsigned bits;                    /* the counter wraps at 2^bits; 0: not readable here */
} pwr_likwid_domain_t;

/* The same errors; UNSUPPORTED also: likwid knows no energy counters of this CPU. */
extern pwr_link_t pwr_likwid_energy;
/* By index from 0; RANGE: there are no more. */
pwr_status_t pwr_likwid_energy_domain(unsigned index, pwr_likwid_domain_t *domain);
/* The counter of that domain, read on a CPU of the package in question. */
pwr_status_t pwr_likwid_energy_count(unsigned index, unsigned cpu, uint64_t *count);

/* ---- both, and the access daemon ---- */

/* Looking for a back end: pwr_link_probe_begin and _end for all of likwid's programs. */
void pwr_likwid_probe_begin(void);
void pwr_likwid_probe_end(void);

#endif
