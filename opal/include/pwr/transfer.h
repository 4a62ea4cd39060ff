/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How long one-sided transfers to one target will still be under way.
 *
 * PASCoL (Vishnu et al.) lowers the frequency while it waits for a transfer, where that is worth
 * it, and leaves open how to know beforehand.  Here the time from the first call to completion is
 * taken for latency + bytes / bandwidth, which is learnt from those that are over (weighted least
 * squares; older ones fade).  What remains is that less the time that has passed since the first
 * call: who computes in between waits less.
 */
#ifndef PWR_TRANSFER_H
#define PWR_TRANSFER_H

#include <stdint.h>

/* Zeroed memory is a target of which nothing is known. */
typedef struct pwr_transfer_costs {
    double weight, bytes, ns, bytes2, bytes_ns; /* faded sums */
} pwr_transfer_costs_t;

/* What a transfer, or several that were under way at the same time, took from the first call on.
   What took much longer than usual counts as four times the usual: a target that came late says
   nothing about the network. */
void pwr_transfer_took(pwr_transfer_costs_t *costs, uint64_t bytes, uint64_t ns);

/* For so many bytes; 0: not known.  Of sizes that nobody has seen it knows no more than a mean,
   until two different ones were. */
uint64_t pwr_transfer_expected_ns(const pwr_transfer_costs_t *costs, uint64_t bytes);

/* What is left of that, so long after the first call. */
static inline uint64_t pwr_transfer_remaining_ns(const pwr_transfer_costs_t *costs, uint64_t bytes,
                                                 uint64_t passed_ns)
{
    uint64_t expected_ns = pwr_transfer_expected_ns(costs, bytes);
    return expected_ns > passed_ns ? expected_ns - passed_ns : 0;
}

#endif
