/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies of two packages made of files.
 */
#ifndef PWR_TEST_UNCORE_FIXTURE_H
#define PWR_TEST_UNCORE_FIXTURE_H

#include "fixture.h"

#include "pwr/claim.h"
#include "pwr/lever.h"

enum { UNCORE_RATIO_LIMIT = 0x620, UNCORE_LOWEST_KHZ = 1200000, UNCORE_FULL_KHZ = 2400000 };

/* A process with its lever. */
typedef struct uncore {
    pwr_topo_t *topo;
    pwr_claim_t *claim;
    pwr_guard_t *guard;
    pwr_lever_t *lever; /* NULL: did not open */
    pwr_status_t status;
    char why[1024];
} uncore_t;

/* The files of both packages: CPUs 0-3 and 4-7. */
void uncore_put_packages(fixture_t *fixture);

/* A process with these CPUs; its lever; both. */
uncore_t uncore_claim(fixture_t *fixture, const char *cpulist);
void uncore_open_lever(fixture_t *fixture, uncore_t *opened);
uncore_t uncore_open(fixture_t *fixture, const char *cpulist);
void uncore_close(uncore_t *opened);

pwr_lever_counts_t uncore_counts(const uncore_t *opened);
void uncore_expect(const fixture_t *fixture, unsigned package, unsigned long floor_khz,
                   unsigned long ceiling_khz);

#endif
