/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From counts to energy: wraps, resets and uncertainty.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <math.h>

enum {
    NS_PER_US = 1000,
    WINDOW_UPDATES = 4, /* the bound of the power is then a third too high at most */
    /* A counter may show what happened this many update intervals ago: with the filter against
       side channels RAPL's are three times as long (Intel, "Running Average Power Limit Energy
       Reporting", INTEL-SA-00389). */
    LATE_UPDATES = 10
};

/* The most that a domain can draw, in watts, with room to spare.  Thermal design power of the
   largest parts of 2025 is 500 W for a package and 1200 W for a GPU; peaks reach twice that. */
static const double most_w[] = {
    [PWR_DOMAIN_PACKAGE] = 2000,   [PWR_DOMAIN_CORE] = 2000, [PWR_DOMAIN_DRAM] = 1000,
    [PWR_DOMAIN_PLATFORM] = 20000, [PWR_DOMAIN_GPU] = 5000,
};

static double most_of(const pwr_meter_counter_t *counter)
{
    return counter->most_w > 0 ? counter->most_w : most_w[counter->domain.kind];
}

static double elapsed_us(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / NS_PER_US : 0.0;
}

/* Watts times microseconds are microjoules. */
static double lately_w(const pwr_meter_counter_t *counter)
{
    return counter->lately_w > 0 ? counter->lately_w : most_of(counter);
}

static void open_window(pwr_meter_counter_t *counter, uint64_t now_ns)
{
    counter->window_ns = now_ns;
    counter->window_total = counter->total;
}

void pwr_meter_count_begin(pwr_meter_counter_t *counter, uint64_t now_ns)
{
    counter->total = 0;
    counter->last_ns = now_ns;
    open_window(counter, now_ns);
}

/* Between the ends of the window at most one count and one update interval more was used than the
   counter moved by: P t <= moved + resolution + P u. */
static void close_window(pwr_meter_counter_t *counter, uint64_t before_ns, uint64_t after_ns)
{
    double update_us = counter->domain.update_us;
    double window_us = elapsed_us(counter->window_ns, before_ns);
    if (window_us <= WINDOW_UPDATES * update_us) {
        return;
    }
    double moved_uj = (double)(counter->total - counter->window_total) * counter->unit_uj;
    double power_w = (moved_uj + counter->domain.resolution_uj) / (window_us - update_us);
    counter->lately_w = fmin(power_w, most_of(counter));
    if (counter->first_w == 0) {
        counter->first_w = counter->lately_w;
    }
    open_window(counter, after_ns);
}

static void add_hidden_wraps(pwr_meter_counter_t *counter, double passed_us)
{
    if (counter->modulus != 0 && counter->lately_w > 0) {
        double range_uj = (double)counter->modulus * counter->unit_uj;
        counter->drift_uj += range_uj * floor(counter->lately_w * passed_us / range_uj);
    }
}

pwr_status_t pwr_meter_count_advance(pwr_meter_counter_t *counter, uint64_t count,
                                     uint64_t before_ns, uint64_t after_ns)
{
    if (counter->modulus != 0 && count >= counter->modulus) {
        return PWR_ERR_RANGE;
    }
    bool back = count < counter->last;
    uint64_t wrapped = back ? counter->modulus : 0; /* 1 */
    uint64_t step = wrapped + count - counter->last;
    double step_uj = (double)step * counter->unit_uj;
    double passed_us = elapsed_us(counter->last_ns, after_ns);
    double late_us = (double)LATE_UPDATES * counter->domain.update_us;
    double most_uj = most_of(counter) * (passed_us + late_us) + counter->domain.resolution_uj;
    counter->last = count;
    counter->last_ns = before_ns;
    if (step_uj > most_uj || (back && counter->modulus == 0)) { /* 2 */
        counter->resets++;
        counter->drift_uj += lately_w(counter) * passed_us;
        open_window(counter, after_ns);
        return PWR_OK;
    }
    add_hidden_wraps(counter, passed_us); /* 4 */
    counter->total += step;
    counter->drift_uj += step_uj * counter->drift_share;
    close_window(counter, before_ns, after_ns); /* 3 */
    return PWR_OK;
}

pwr_meter_reading_t pwr_meter_count_reading(const pwr_meter_counter_t *counter)
{
    double power_w = fmax(lately_w(counter), counter->first_w);
    double edge_uj = counter->domain.resolution_uj + power_w * counter->domain.update_us;
    pwr_meter_reading_t reading = {
        .energy_uj = (uint64_t)((double)counter->total * counter->unit_uj),
        .edge_uj = (uint64_t)ceil(edge_uj),
        .drift_uj = (uint64_t)ceil(counter->drift_uj),
        .unseen = counter->lately_w <= 0,
        .status = counter->status,
    };
    reading.uncertainty_uj = reading.edge_uj + reading.drift_uj;
    return reading;
}
