/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Kinds of traffic: what a transport must carry intact.
 */
#ifndef PWR_TRAFFIC_H
#define PWR_TRAFFIC_H

#include "load.h"

typedef struct pwr_traffic {
    const char *name;
    const char *help;
    /* One round with messages of about size bytes, every one of them verified; all ranks. */
    void (*run)(pwr_load_t *load, size_t size);
} pwr_traffic_t;

extern const pwr_traffic_t pwr_traffics[];
extern const size_t pwr_traffic_count;

#endif
