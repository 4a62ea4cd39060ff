/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters: joules per domain of this machine.
 */
#ifndef PWR_METER_H
#define PWR_METER_H

#include <stdint.h>

#include "pwr/env.h"
#include "pwr/topo.h"

typedef struct pwr_meter pwr_meter_t;

typedef enum pwr_meter_domain_kind {
    PWR_DOMAIN_PACKAGE,
    PWR_DOMAIN_CORE,
    PWR_DOMAIN_DRAM,
    PWR_DOMAIN_PLATFORM /* RAPL psys: the whole node */
} pwr_meter_domain_kind_t;

typedef struct pwr_meter_domain {
    char name[32]; /* "package-0", "dram-1", "platform" */
    pwr_meter_domain_kind_t kind;
    unsigned package;     /* of package-scoped domains */
    uint64_t range_uj;    /* the counter wraps after this much */
    double resolution_uj; /* one count */
} pwr_meter_domain_t;

/* Opens the first back end that reads: powercap, then MSR RAPL (opal/meter/meter.c lists them).
   Errors as in lever.h; why[why_size] says what is missing and what grants it. */
pwr_status_t pwr_meter_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                            unsigned why_size, pwr_meter_t **meter);
const char *pwr_meter_backend(const pwr_meter_t *meter);
unsigned pwr_meter_num_domains(const pwr_meter_t *meter);
const pwr_meter_domain_t *pwr_meter_domain(const pwr_meter_t *meter, unsigned index);

/* Energy since open in microjoules, one per domain, in energy_uj[num_domains].  Call at least once
   per wrap (15 minutes at 280 W with the usual unit): at most one wrap between calls is undone. */
pwr_status_t pwr_meter_read(pwr_meter_t *meter, uint64_t *energy_uj);

void pwr_meter_close(pwr_meter_t *meter);

#endif
