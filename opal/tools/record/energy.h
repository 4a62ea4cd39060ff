/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A node's energy while its recorder runs.
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
    uint64_t begin_ns; /* CLOCK_REALTIME of first and last */
    uint64_t end_ns;
    uint64_t counted_uj; /* what power has */
    pwr_series_t power;
} energy_t;

/* Where nothing can be read, why says so. */
void energy_open(energy_t *energy, const pwr_env_t *env);
void energy_close(energy_t *energy);
void energy_sample(energy_t *energy);
/* Until energy counters should be read again: more often than they wrap. */
uint64_t energy_interval_ns(const energy_t *energy);
/* Fills in what the node's entry says of energy and of the machine. */
void energy_describe(const energy_t *energy, pwr_ledger_node_t *node);

#endif
