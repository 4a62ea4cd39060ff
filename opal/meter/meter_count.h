/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From counts to energy: wraps, resets and uncertainty (pure arithmetic, private to opal/meter).
 */
#ifndef PWR_METER_COUNT_H
#define PWR_METER_COUNT_H

#include "meter/meter_backend.h"

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

#endif
