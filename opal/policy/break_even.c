/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From which length of a phase on a lever pays (pwr/break_even.h).
 */
#include "pwr/break_even.h"

static uint64_t length_of(const pwr_break_even_t *b)
{
    double entry_ns = b->seen_ns[PWR_LEVER_ENTRY], exit_ns = b->seen_ns[PWR_LEVER_EXIT];
    double length_ns = entry_ns + b->settling_ns + (entry_ns + exit_ns) * b->price;
    return b->price < 0.0 || length_ns > 1e18 ? PWR_BREAK_EVEN_NEVER : (uint64_t)length_ns;
}

pwr_break_even_t pwr_break_even(double price, double settling_ns, double entry_ns, double exit_ns)
{
    pwr_break_even_t b = {
        .price = price, .settling_ns = settling_ns, .seen_ns = {entry_ns, exit_ns}};
    b.ns = b.by_table_ns = length_of(&b);
    return b;
}

bool pwr_break_even_pays(pwr_break_even_t *b, uint64_t expected_ns)
{
    if (expected_ns >= b->ns) {
        return true;
    }
    b->skipped_ns += (double)expected_ns;
    double calls_ns = b->seen_ns[PWR_LEVER_ENTRY] + b->seen_ns[PWR_LEVER_EXIT];
    return expected_ns >= b->by_table_ns && b->skipped_ns >= PWR_BREAK_EVEN_TRIES * calls_ns;
}

void pwr_break_even_saw(pwr_break_even_t *b, pwr_lever_call_t call, uint64_t ns)
{
    static const double most_times = 16.0, least_ns = 1000.0, up = 1.0 / 2.0, down = 1.0 / 8.0;
    if (b->by_table_ns == 0) {
        return; /* nothing is known */
    }
    double *seen_ns = &b->seen_ns[call];
    double most_ns = most_times * (*seen_ns > least_ns ? *seen_ns : least_ns);
    double took_ns = (double)ns < most_ns ? (double)ns : most_ns;
    *seen_ns += (took_ns - *seen_ns) * (took_ns > *seen_ns ? up : down);
    b->ns = length_of(b);
    b->skipped_ns = 0.0;
}
