/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a meter back end is (private to opal/meter).
 */
#ifndef PWR_METER_BACKEND_H
#define PWR_METER_BACKEND_H

#include "pwr/meter.h"
#include "why.h"

typedef struct pwr_meter_request {
    const pwr_env_t *env;
    const pwr_topo_t *topo;
    const pwr_why_t *why;
} pwr_meter_request_t;

/* One wrapping hardware counter behind a descriptor. */
typedef struct pwr_meter_counter {
    pwr_meter_domain_t domain;
    int fd;           /* owned by the list it is in */
    uint64_t offset;  /* where to pread */
    double unit_uj;   /* one count */
    uint64_t modulus; /* counts run from 0 to modulus - 1; at least 2 */
    uint64_t last;    /* the count seen last */
    uint64_t total;   /* counts since open */
} pwr_meter_counter_t;

typedef struct pwr_meter_counters {
    pwr_meter_counter_t *items;
    unsigned count;
} pwr_meter_counters_t;

typedef struct pwr_meter_backend pwr_meter_backend_t;

struct pwr_meter_backend {
    const char *name; /* of the MSR back ends also the device: /dev/cpu/N/<name> */
    /* Adds all counters that can be read, at least one of a package (or platform).  On failure a
       reason is added to request->why; the caller closes what is in the list. */
    pwr_status_t (*open)(const pwr_meter_backend_t *backend, const pwr_meter_request_t *request,
                         pwr_meter_counters_t *counters);
    pwr_status_t (*read)(const pwr_meter_counter_t *counter, uint64_t *count);
};

extern const pwr_meter_backend_t pwr_meter_powercap;
extern const pwr_meter_backend_t pwr_meter_msr_safe;
extern const pwr_meter_backend_t pwr_meter_msr;

/* Appends a copy; on success the list owns counter->fd. */
pwr_status_t pwr_meter_counters_add(pwr_meter_counters_t *counters,
                                    const pwr_meter_counter_t *counter);

#endif
