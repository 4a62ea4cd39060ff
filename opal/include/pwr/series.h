/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy over time in a fixed number of bins, which double their width when time outgrows them.
 *
 * Bins are multiples of their width in CLOCK_REALTIME, and widths are powers of two times the
 * finest: so series of several nodes, whatever they have been through, can be added without
 * dividing a bin.  What does not fall into a bin is not lost: the sum over bins is the energy.
 */
#ifndef PWR_SERIES_H
#define PWR_SERIES_H

#include <stdbool.h>
#include <stdint.h>

enum { PWR_SERIES_BINS = 256, PWR_SERIES_FINEST_NS = 125000000 };

/* Zeroed: empty. */
typedef struct pwr_series {
    uint64_t width_ns; /* of a bin */
    uint64_t first;    /* bin 0 begins at first * width_ns */
    uint64_t num;      /* of bins in use */
    uint64_t uj[PWR_SERIES_BINS];
} pwr_series_t;

/* Energy that was used evenly from begin_ns to end_ns, both of CLOCK_REALTIME, which may jump: an
   interval that is no interval counts in the bin in which it ends. */
void pwr_series_add(pwr_series_t *series, uint64_t begin_ns, uint64_t end_ns, uint64_t uj);
/* Adds a sound one. */
void pwr_series_merge(pwr_series_t *into, const pwr_series_t *from);
/* Brings the sum to uj, every bin in proportion; of one without energy nothing. */
void pwr_series_scale(pwr_series_t *series, uint64_t uj);
/* Whether bytes that came from outside are one. */
bool pwr_series_is_sound(const pwr_series_t *series);
uint64_t pwr_series_sum(const pwr_series_t *series);

#endif
