/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters: joules per domain of this machine, and how far they can be trusted.
 *
 * Sources: Intel SDM volume 3, "RAPL interfaces" (counters of 32 bits that move about once a
 * millisecond); Linux, Documentation/power/powercap/powercap.rst and perf_event_open(2); NVML API
 * reference, "Device Queries".
 */
#ifndef PWR_METER_H
#define PWR_METER_H

#include <stdint.h>

#include "pwr/env.h"
#include "pwr/topo.h"

typedef struct pwr_meter pwr_meter_t;

typedef enum pwr_meter_domain_kind {
    PWR_DOMAIN_PACKAGE,
    PWR_DOMAIN_CORE, /* all cores of a package: a part of it */
    PWR_DOMAIN_DRAM,
    PWR_DOMAIN_PLATFORM, /* RAPL psys: the whole node */
    PWR_DOMAIN_GPU       /* a whole accelerator board; part of no other domain */
} pwr_meter_domain_kind_t;

typedef enum pwr_meter_provenance {
    PWR_METER_MEASURED, /* a counter or sensor of this machine */
    PWR_METER_EMULATED, /* a counter of emulated hardware, which says that it is */
    PWR_METER_MODELLED  /* computed from what the CPUs did */
} pwr_meter_provenance_t;

typedef struct pwr_meter_domain {
    char name[32]; /* "package-0", "dram-1", "platform", "gpu-0" */
    pwr_meter_domain_kind_t kind;
    pwr_meter_provenance_t provenance;
    const char *source; /* "powercap", "msr", "likwid", "perf_event", "nvml", "model"; never NULL */
    unsigned package;   /* of package-scoped domains; of a GPU its number */
    uint64_t range_uj;  /* the counter wraps after this much; 0: never */
    double resolution_uj; /* one count */
    uint32_t update_us;   /* the counter moves this often */
} pwr_meter_domain_t;

/* Opens the first back end that reads all packages: powercap, MSR RAPL, likwid, perf_event, and as
   the last resort a model, which is logged as a warning (opal/meter/meter.c lists them); then adds
   the GPUs that NVML knows.  A machine without GPUs or without NVML is normal.

   why[why_size] gets one line: what was tried in vain, what is missing and what grants it; also on
   success, "" when nothing was.  Errors, when there is neither CPU nor GPU meter: as in lever.h. */
pwr_status_t pwr_meter_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                            unsigned why_size, pwr_meter_t **meter);
/* For those who want to know about all back ends: the name of one, those of the CPUs in the order
   in which pwr_meter_open tries them and behind them that of the GPUs, NULL behind the last; and an
   attempt at that one alone (RANGE: there is none). */
const char *pwr_meter_backend_name(unsigned nth);
pwr_status_t pwr_meter_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, unsigned nth,
                                char *why, unsigned why_size, pwr_meter_t **meter);
/* The source of the CPU domains (of the GPUs where there are no others). */
const char *pwr_meter_backend(const pwr_meter_t *meter);
unsigned pwr_meter_num_domains(const pwr_meter_t *meter); /* >= 1 */
const pwr_meter_domain_t *pwr_meter_domain(const pwr_meter_t *meter, unsigned index);
const char *pwr_meter_kind_text(pwr_meter_domain_kind_t kind);            /* "package" .. "gpu" */
const char *pwr_meter_provenance_text(pwr_meter_provenance_t provenance); /* "measured" .. */

/* Energy of one domain since open.

   Uncertainty is what cannot be known, not the calibration of RAPL's sensors (no vendor states it):
   - edge_uj: at either end of an interval the counter may be one count and one update interval
     behind, at the power seen lately (before any is known, at the most such a domain can draw).
     It does not grow: over long intervals it vanishes.
   - drift_uj: what was left open on the way and stays so.  It grows by a share of all energy where
     that is modelled or integrated from a power sensor, and by the energy of each gap: a counter
     that was reset, or one that nobody read for longer than it takes to wrap. */
typedef struct pwr_meter_reading {
    uint64_t energy_uj;
    uint64_t
        uncertainty_uj; /* edge_uj + drift_uj: energy_uj is that much off at most, up or down */
    uint64_t edge_uj;
    uint64_t drift_uj;
    bool unseen; /* no power is known yet: edge_uj is of the most that such a domain can draw */
    /* PWR_OK, or why the domain could not be read this time: the rest is then what was known last.
       It may be readable again later; nothing is lost then but what a wrap hides. */
    pwr_status_t status;
} pwr_meter_reading_t;

/* Reads all domains into readings[num_domains].  A domain that fails (a file that vanished, EIO) is
   marked in its reading and logged once as a warning; the others go on.  Call at least once per
   wrap (15 minutes at 280 W with the usual unit).  Errors: the first domain's, when all failed. */
pwr_status_t pwr_meter_read(pwr_meter_t *meter, pwr_meter_reading_t *readings);

/* The same, and when it was read: *at_ns of CLOCK_REALTIME is the middle of the time that it took.
   On a crowded machine a process may lose its CPU in between, which makes the time a guess: what
   took longer than longest_ns is read again, twice at most. */
pwr_status_t pwr_meter_read_at(pwr_meter_t *meter, uint64_t longest_ns,
                               pwr_meter_reading_t *readings, uint64_t *at_ns);

/* The energy between two readings of one domain, begin before end; with the status of whichever
   failed.  Sharper than subtracting: the edges count once, at the power that was seen first where
   none was at begin, and the drift before begin not at all. */
pwr_meter_reading_t pwr_meter_between(const pwr_meter_reading_t *begin,
                                      const pwr_meter_reading_t *end);

/* NULL is allowed. */
void pwr_meter_close(pwr_meter_t *meter);

#endif
