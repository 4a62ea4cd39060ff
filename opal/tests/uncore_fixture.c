/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies of two packages made of files.
 */
#include "config.h"

#include "uncore_fixture.h"

uncore_t uncore_claim(fixture_t *fixture, const char *cpulist)
{
    uncore_t opened = {.topo = fixture_topo(fixture, NULL, cpulist)};
    assert_int_equal(pwr_claim_take(&fixture->env, opened.topo, NULL, &opened.claim), PWR_OK);
    return opened;
}

void uncore_open_lever(fixture_t *fixture, uncore_t *opened)
{
    opened->guard = fixture_guard(fixture);
    opened->status = pwr_lever_open(PWR_LEVER_UNCORE, &fixture->env, opened->topo, opened->guard,
                                    opened->why, sizeof opened->why, &opened->lever);
}

uncore_t uncore_open(fixture_t *fixture, const char *cpulist)
{
    uncore_t opened = uncore_claim(fixture, cpulist);
    uncore_open_lever(fixture, &opened);
    return opened;
}

void uncore_close(uncore_t *opened)
{
    pwr_lever_close(opened->lever);
    pwr_guard_stop(opened->guard);
    pwr_claim_release(opened->claim);
    pwr_topo_close(opened->topo);
}

pwr_lever_counts_t uncore_counts(const uncore_t *opened)
{
    pwr_lever_counts_t counts = {0};
    pwr_lever_count(opened->lever, &counts);
    return counts;
}

void uncore_put_packages(fixture_t *fixture)
{
    fixture_put_uncore(fixture, 0, 0, 3);
    fixture_put_uncore(fixture, 1, 4, 7);
}

void uncore_expect(const fixture_t *fixture, unsigned package, unsigned long floor_khz,
                   unsigned long ceiling_khz)
{
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "min_freq_khz"), floor_khz);
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "max_freq_khz"), ceiling_khz);
}
