/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Series of times: median and interquartile range, which a few interrupts cannot move.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <stdlib.h>

bool calibrate_series_init(calibrate_series_t *series, unsigned capacity)
{
    *series = (calibrate_series_t){.values = calloc(capacity, sizeof *series->values),
                                   .capacity = capacity};
    return series->values != NULL;
}

void calibrate_series_free(calibrate_series_t *series)
{
    free(series->values);
    *series = (calibrate_series_t){0};
}

void calibrate_series_add(calibrate_series_t *series, uint64_t value)
{
    if (series->count < series->capacity) {
        series->values[series->count++] = value;
    }
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The smallest value that at least quarters/4 of the series do not exceed. */
static uint64_t quartile(calibrate_series_t *series, unsigned quarters)
{
    if (series->count == 0) {
        return 0;
    }
    qsort(series->values, series->count, sizeof *series->values, compare);
    unsigned rank = (unsigned)(((uint64_t)series->count * quarters + 3) / 4);
    return series->values[rank - 1];
}

uint64_t calibrate_series_median(calibrate_series_t *series)
{
    return quartile(series, 2);
}

uint64_t calibrate_series_spread(calibrate_series_t *series)
{
    return quartile(series, 3) - quartile(series, 1);
}

pwr_policy_row_t calibrate_series_row(calibrate_series_t *entry, calibrate_series_t *exit)
{
    return (pwr_policy_row_t){
        .origin = PWR_POLICY_MEASURED,
        .samples = exit->count < entry->count ? exit->count : entry->count,
        .entry_ns = calibrate_series_median(entry),
        .exit_ns = calibrate_series_median(exit),
        .entry_spread_ns = calibrate_series_spread(entry),
        .exit_spread_ns = calibrate_series_spread(exit),
        .power_w = PWR_POLICY_W_UNKNOWN,
    };
}
