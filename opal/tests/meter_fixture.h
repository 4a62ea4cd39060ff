/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Meters on machines made of files, with a clock that the test moves.
 */
#ifndef PWR_TEST_METER_FIXTURE_H
#define PWR_TEST_METER_FIXTURE_H

#include "fixture.h"

#include "meter/meter_backend.h"

enum { METER_MOST_DOMAINS = 16 };

typedef struct opened {
    pwr_topo_t *topo;
    pwr_meter_t *meter; /* NULL: did not open */
    pwr_status_t status;
    char why[1024];
} opened_t;

/* From now on the fixture's time stands still but for these steps. */
void meter_freeze(fixture_t *fixture);
void meter_pass_us(uint64_t us);

/* On two packages of four cores, with this outside (NULL: the one for another root). */
opened_t meter_open(fixture_t *fixture, const pwr_meter_outside_t *outside);
/* On another machine (hwloc's notation). */
opened_t meter_open_on(fixture_t *fixture, const char *synthetic,
                       const pwr_meter_outside_t *outside);
void meter_close(opened_t *opened);

void meter_expect_refusal(fixture_t *fixture, const pwr_meter_outside_t *outside,
                          pwr_status_t status, const char *why);
void meter_expect_domain(const pwr_meter_t *meter, unsigned index, const char *name,
                         pwr_meter_domain_kind_t kind, unsigned package);
pwr_meter_reading_t meter_read(pwr_meter_t *meter, unsigned index);
void meter_expect_energy(pwr_meter_t *meter, unsigned index, uint64_t expected_uj);

/* A powercap zone ("0", "0:1") with 1000 uJ on its counter. */
enum { METER_ZONE_START_UJ = 1000 };
extern const uint64_t meter_zone_range_uj;
void meter_put_zone(fixture_t *fixture, const char *zone, const char *name);
void meter_put_zone_file(fixture_t *fixture, const char *zone, const char *file, const char *text);
void meter_put_zone_energy(fixture_t *fixture, const char *zone, uint64_t energy_uj);

#endif
