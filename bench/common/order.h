/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Order statistics of repeated measurements: medians, and of paired ones the median ratio with its
 * 95 % interval.
 */
#ifndef PWR_BENCH_ORDER_H
#define PWR_BENCH_ORDER_H

#include <math.h>
#include <stdlib.h>

/* For qsort. */
static inline int pwr_order(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* The value of a rank, counted from 0; the lowest or highest one where there is no such rank. */
static inline double pwr_order_at(const double *sorted, int count, double rank)
{
    int i = (int)rank;
    return sorted[i < 0 ? 0 : i >= count ? count - 1 : i];
}

/* Sorts the values. */
static inline double pwr_order_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, pwr_order);
    return pwr_order_at(values, count, (count - 1) / 2.0);
}

typedef struct pwr_order_ratio {
    double median, low, high;
} pwr_order_ratio_t;

/* Of above[i] over below[i]; ratios: room for count numbers. */
static inline pwr_order_ratio_t pwr_order_ratio(const double *above, const double *below,
                                                double *ratios, int count)
{
    double middle = (count - 1) / 2.0, half = 0.98 * sqrt(count);
    for (int i = 0; i < count; i++) {
        ratios[i] = above[i] / below[i];
    }
    double median = pwr_order_median(ratios, count);
    return (pwr_order_ratio_t){median, pwr_order_at(ratios, count, floor(middle - half)),
                               pwr_order_at(ratios, count, ceil(middle + half))};
}

#endif
