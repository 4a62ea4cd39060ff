/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy over time (pwr/series.h).
 */
#include "config.h"

#include "pwr/series.h"

#include <string.h>

static const uint64_t widest_ns = (uint64_t)PWR_SERIES_FINEST_NS << 32; /* 17 years */

static void double_width(pwr_series_t *series)
{
    pwr_series_t wider = {.width_ns = 2 * series->width_ns, .first = series->first / 2};
    for (uint64_t i = 0; i < series->num; i++) {
        uint64_t bin = (series->first + i) / 2 - wider.first;
        wider.uj[bin] += series->uj[i];
        wider.num = bin + 1;
    }
    *series = wider;
}

static void widen_to(pwr_series_t *series, uint64_t width_ns)
{
    while (series->width_ns < width_ns) {
        double_width(series);
    }
}

/* Bins from the one of begin_ns to that of end_ns; earlier ones are moved up. */
static void make_room(pwr_series_t *series, uint64_t begin_ns, uint64_t end_ns)
{
    if (series->num == 0) {
        *series = (pwr_series_t){
            .width_ns = PWR_SERIES_FINEST_NS, .first = begin_ns / PWR_SERIES_FINEST_NS, .num = 1};
    }
    for (;;) {
        uint64_t first = begin_ns / series->width_ns;
        uint64_t last = end_ns / series->width_ns;
        uint64_t my_last = series->first + series->num - 1;
        first = first < series->first ? first : series->first;
        last = last > my_last ? last : my_last;
        if (last - first < PWR_SERIES_BINS) {
            uint64_t up = series->first - first;
            memmove(&series->uj[up], series->uj, series->num * sizeof series->uj[0]);
            memset(series->uj, 0, up * sizeof series->uj[0]);
            series->first = first;
            series->num = last - first + 1;
            return;
        }
        double_width(series);
    }
}

/* That much of uj, at least what was before.  What falls into each bin is the difference of two
   such roundings, so the sum is exact. */
static uint64_t rounded(uint64_t uj, double part, uint64_t before)
{
    uint64_t upto = (uint64_t)((double)uj * part);
    return upto < before ? before : upto > uj ? uj : upto;
}

static void spread(pwr_series_t *series, uint64_t begin_ns, uint64_t end_ns, uint64_t uj)
{
    double length = (double)(end_ns - begin_ns);
    uint64_t bin = begin_ns / series->width_ns;
    uint64_t done = 0;
    while (bin < end_ns / series->width_ns) {
        double passed = (double)((bin + 1) * series->width_ns - begin_ns);
        uint64_t upto = rounded(uj, passed / length, done);
        series->uj[bin - series->first] += upto - done;
        done = upto;
        bin++;
    }
    series->uj[bin - series->first] += uj - done;
}

void pwr_series_add(pwr_series_t *series, uint64_t begin_ns, uint64_t end_ns, uint64_t uj)
{
    if (begin_ns > end_ns || end_ns - begin_ns >= widest_ns) {
        begin_ns = end_ns;
    }
    make_room(series, begin_ns, end_ns);
    spread(series, begin_ns, end_ns, uj);
}

void pwr_series_merge(pwr_series_t *into, const pwr_series_t *from)
{
    if (from->num == 0) {
        return;
    }
    if (into->num == 0) {
        *into = *from;
        return;
    }
    pwr_series_t other = *from;
    widen_to(&other, into->width_ns);
    widen_to(into, other.width_ns);
    make_room(into, other.first * other.width_ns, (other.first + other.num) * other.width_ns - 1);
    widen_to(&other, into->width_ns);
    for (uint64_t i = 0; i < other.num; i++) {
        into->uj[other.first + i - into->first] += other.uj[i];
    }
}

void pwr_series_scale(pwr_series_t *series, uint64_t uj)
{
    double whole = (double)pwr_series_sum(series);
    uint64_t passed = 0, done = 0;
    for (uint64_t i = 0; i < series->num && whole > 0.0; i++) {
        passed += series->uj[i];
        uint64_t upto = rounded(uj, (double)passed / whole, done);
        series->uj[i] = upto - done;
        done = upto;
    }
}

static bool is_width(uint64_t width_ns)
{
    uint64_t times = width_ns / PWR_SERIES_FINEST_NS;
    return width_ns % PWR_SERIES_FINEST_NS == 0 && times > 0 && (times & (times - 1)) == 0 &&
           width_ns <= widest_ns;
}

bool pwr_series_is_sound(const pwr_series_t *series)
{
    return series->num == 0 ||
           (series->num <= PWR_SERIES_BINS && is_width(series->width_ns) &&
            series->first <= UINT64_MAX / series->width_ns - PWR_SERIES_BINS - 1);
}

uint64_t pwr_series_sum(const pwr_series_t *series)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < series->num; i++) {
        sum += series->uj[i];
    }
    return sum;
}
