/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Costs of one-sided transfers (pwr/transfer.h).
 */
#include "config.h"

#include "pwr/transfer.h"

enum { ENOUGH = 2, MOST_TIMES = 4 };

static const double fading = 1.0 - 1.0 / 16.0;
static const double longest_ns = 1e15;
/* Sizes that differ by less than this part of their mean are one size. */
static const double one_size = 1e-3;

typedef struct line {
    double at_zero, slope;
} line_t;

/* Neither latency nor bandwidth is negative, whatever noise says. */
static line_t line_of(const pwr_transfer_costs_t *c)
{
    double bytes = c->bytes / c->weight;
    double ns = c->ns / c->weight;
    double variance = c->bytes2 / c->weight - bytes * bytes;
    double slope = 0.0;
    if (variance > one_size * bytes * bytes) {
        slope = (c->bytes_ns / c->weight - bytes * ns) / variance;
    }
    if (slope < 0.0) {
        slope = 0.0;
    } else if (slope * bytes > ns) {
        slope = c->bytes_ns / c->bytes2; /* through 0 */
        return (line_t){0.0, slope};
    }
    return (line_t){ns - slope * bytes, slope};
}

static double expected(const pwr_transfer_costs_t *c, double bytes)
{
    if (c->weight <= 0.0) {
        return 0.0;
    }
    line_t line = line_of(c);
    double ns = line.at_zero + line.slope * bytes;
    return ns < longest_ns ? ns : longest_ns;
}

void pwr_transfer_took(pwr_transfer_costs_t *c, uint64_t bytes, uint64_t ns)
{
    double x = (double)bytes;
    double y = (double)ns < longest_ns ? (double)ns : longest_ns;
    double most = MOST_TIMES * expected(c, x);
    if (c->weight > ENOUGH && y > most && most > 0.0) {
        y = most;
    }
    c->weight = fading * c->weight + 1.0;
    c->bytes = fading * c->bytes + x;
    c->ns = fading * c->ns + y;
    c->bytes2 = fading * c->bytes2 + x * x;
    c->bytes_ns = fading * c->bytes_ns + x * y;
}

uint64_t pwr_transfer_expected_ns(const pwr_transfer_costs_t *costs, uint64_t bytes)
{
    return (uint64_t)expected(costs, (double)bytes);
}
