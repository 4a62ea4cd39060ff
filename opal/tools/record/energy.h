/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A node's energy since a job's begin, which is a little before the first reading: what was used
 * until then is reckoned by the power between the first two readings.
 */
#ifndef PWR_RECORD_ENERGY_H
#define PWR_RECORD_ENERGY_H

#include "pwr/ledger.h"
#include "pwr/meter.h"
#include "pwr/topo.h"

typedef struct energy {
    pwr_topo_t *topo;   /* NULL: unknown */
    pwr_meter_t *meter; /* NULL: there is none */
    char why[PWR_LEDGER_TEXT];
    pwr_meter_reading_t *first; /* [domains] */
    pwr_meter_reading_t *last;
    double *early_watts; /* [domains]; 0 before the second reading */
    uint64_t first_ns;   /* CLOCK_REALTIME of first and last */
    uint64_t last_ns;
    uint64_t counted_uj; /* what power has */
    pwr_series_t power;
} energy_t;

/* Where nothing can be read, why says so. */
void energy_open(energy_t *energy, const pwr_env_t *env);
void energy_close(energy_t *energy);
void energy_sample(energy_t *energy);
/* Until energy counters should be read again: more often than they wrap. */
uint64_t energy_interval_ns(const energy_t *energy);
/* Fills in what the node's entry says of energy since node->begin_ns and of the machine.  A begin
   that is not a little before the first reading (clocks jump) becomes that reading's. */
void energy_describe(const energy_t *energy, pwr_ledger_node_t *node);
/* That of the least sure domain; there is a meter. */
pwr_meter_provenance_t energy_provenance(const energy_t *energy);
/* Power over time since that begin. */
pwr_series_t energy_series(const energy_t *energy, uint64_t begin_ns);

#endif
