/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a meter back end is (private to opal/meter and the back ends).
 */
#ifndef PWR_METER_BACKEND_H
#define PWR_METER_BACKEND_H

#include <stdbool.h>

#include "msr/msr.h"
#include "pwr/meter.h"
#include "why.h"

struct perf_event_attr;

/* What back ends ask of the world besides files below env->root.  NULL: not on this machine, as
   where root is set: that is another machine than the one the kernel and the driver run on. */
typedef struct pwr_meter_outside {
    /* perf_event_open(2) for all processes on one CPU; -1 and errno */
    int (*perf_event_open)(struct perf_event_attr *attr, unsigned cpu);
    const char *nvml_library; /* for dlopen */
} pwr_meter_outside_t;

extern const pwr_meter_outside_t pwr_meter_outside_real;

typedef struct pwr_meter_request {
    const pwr_env_t *env;
    const pwr_topo_t *topo;
    const pwr_why_t *why;
    const pwr_meter_outside_t *outside;
} pwr_meter_request_t;

/* One counter: where it is, what a count means, and how far it has been followed. */
typedef struct pwr_meter_counter {
    /* Filled in by the back end; zero what it does not need. */
    pwr_meter_domain_t domain; /* source is filled in for it, and of the others all but kind,
                                  package and provenance where they are "" or 0 */
    int fd;                    /* -1: none */
    uint64_t offset;           /* where to pread, or what the back end likes */
    void *state;               /* the back end's own */
    double unit_uj;            /* one count */
    uint64_t modulus;          /* counts run from 0 to modulus - 1, at least 2; 0: never wraps */
    double most_w;             /* beyond this it draws never; 0: what its kind may draw */
    double drift_share;        /* this share of all energy is uncertain */
    double drift_uj;           /* read may add what else is */
    /* Kept by meter_count.c. */
    uint64_t last;
    uint64_t total;           /* counts since open */
    uint64_t last_ns;         /* before the last count was read */
    uint64_t window_ns;       /* since then power is being averaged ... */
    uint64_t window_total;    /* ... from this total on */
    double first_w, lately_w; /* an upper bound of the mean power; 0: not known yet */
    unsigned resets;
    pwr_status_t status; /* of the last read */
} pwr_meter_counter_t;

typedef struct pwr_meter_backend pwr_meter_backend_t;

/* All that a back end has opened. */
typedef struct pwr_meter_counters {
    const pwr_meter_backend_t *backend;
    pwr_meter_counter_t *items;
    unsigned count;
    void *state; /* shared by all counters; the back end's own */
} pwr_meter_counters_t;

struct pwr_meter_backend {
    const char *name;
    const pwr_msr_access_t *access; /* of an MSR back end */
    /* Adds all counters that can be read, at least one of each package (or the platform, or a GPU).
       On failure a reason is added to request->why; the caller calls close. */
    pwr_status_t (*open)(const pwr_meter_request_t *request, pwr_meter_counters_t *counters);
    /* The count now; with modulus 0 it may start anywhere. */
    pwr_status_t (*read)(pwr_meter_counter_t *counter, uint64_t *count);
    /* Releases what the counters and their state hold, whatever open got to; not the list. */
    void (*close)(pwr_meter_counters_t *counters);
};

extern const pwr_meter_backend_t pwr_meter_powercap;
extern const pwr_meter_backend_t pwr_meter_msr_safe;
extern const pwr_meter_backend_t pwr_meter_msr;
extern const pwr_meter_backend_t pwr_meter_accessd;
extern const pwr_meter_backend_t pwr_meter_likwid;
extern const pwr_meter_backend_t pwr_meter_perf;
extern const pwr_meter_backend_t pwr_meter_model;
extern const pwr_meter_backend_t pwr_meter_nvml;

/* Reads the first count, fills in what the back end left out of the domain, and appends a copy. The
   list owns counter->fd; on failure it is closed.  Errors: those of reading; PARSE when the count
   is not below the modulus. */
pwr_status_t pwr_meter_counters_add(pwr_meter_counters_t *counters, pwr_meter_counter_t *counter);

/* The same for a register that not every CPU has.  Except for a package's it is no error when it
   cannot be read, and it is left out then, or where it shows an eternal 0. */
pwr_status_t pwr_meter_counters_add_register(pwr_meter_counters_t *counters,
                                             pwr_meter_counter_t *counter);

/* A back end's close where descriptors are all there is. */
void pwr_meter_counters_close_files(pwr_meter_counters_t *counters);

/* ---- what the kernel writes into the event files of a PMU (meter_perf.c) ---- */

/* "event=0x02": the one field of the power PMU, 8 bits at the bottom of perf_event_attr.config. */
bool pwr_perf_parse_config(const char *text, uint64_t *config);

/* A positive decimal fraction, at most 1, whatever the application's locale takes for a comma. */
bool pwr_perf_parse_scale(const char *text, double *scale);

/* ---- from counts to energy: pure arithmetic ---- */

/* The counter was at counter->last at now_ns (CLOCK_MONOTONIC, as below). */
void pwr_meter_count_begin(pwr_meter_counter_t *counter, uint64_t now_ns);

/* The counter is at count, read between before_ns and after_ns.

   1. A count below the last one has wrapped, once as far as anybody can know,
   2. unless that would take more power than the domain can draw since the last read: then the
      counter was reset (suspend, a reloaded driver).  The energy since the last read is unknown: it
      is not counted, and drift grows by the power seen lately over that time.  The same holds for
      a jump forward that no power explains.
   3. Power is averaged over at least four update intervals.
   4. When so much time passed that the counter may have wrapped unseen, drift grows by what those
      wraps would be.

   RANGE when count is not below the modulus; nothing has changed then. */
pwr_status_t pwr_meter_count_advance(pwr_meter_counter_t *counter, uint64_t count,
                                     uint64_t before_ns, uint64_t after_ns);

pwr_meter_reading_t pwr_meter_count_reading(const pwr_meter_counter_t *counter);

/* pwr_meter_open with another outside. */
pwr_status_t pwr_meter_open_with(const pwr_env_t *env, const pwr_topo_t *topo,
                                 const pwr_meter_outside_t *outside, char *why, unsigned why_size,
                                 pwr_meter_t **meter);

#endif
