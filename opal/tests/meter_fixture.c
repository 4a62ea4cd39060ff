/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Meters on machines made of files, with a clock that the test moves.
 */
#include "config.h"

#include "meter_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const uint64_t meter_zone_range_uj = 262143328850;

static uint64_t frozen_ns;

static uint64_t frozen_now_ns(void *arg)
{
    (void)arg;
    return frozen_ns;
}

void meter_freeze(fixture_t *fixture)
{
    frozen_ns = UINT64_C(1000000000);
    fixture->env.now_ns = frozen_now_ns;
}

void meter_pass_us(uint64_t us)
{
    frozen_ns += us * 1000;
}

opened_t meter_open_on(fixture_t *fixture, const char *synthetic,
                       const pwr_meter_outside_t *outside)
{
    opened_t opened = {.topo = fixture_topo(fixture, synthetic, "0")};
    if (outside) {
        opened.status = pwr_meter_open_with(&fixture->env, opened.topo, outside, opened.why,
                                            sizeof opened.why, &opened.meter);
    } else {
        opened.status = pwr_meter_open(&fixture->env, opened.topo, opened.why, sizeof opened.why,
                                       &opened.meter);
    }
    return opened;
}

opened_t meter_open(fixture_t *fixture, const pwr_meter_outside_t *outside)
{
    return meter_open_on(fixture, NULL, outside);
}

void meter_close(opened_t *opened)
{
    pwr_meter_close(opened->meter);
    pwr_topo_close(opened->topo);
}

void meter_expect_refusal(fixture_t *fixture, const pwr_meter_outside_t *outside,
                          pwr_status_t status, const char *why)
{
    opened_t opened = meter_open(fixture, outside);
    assert_int_equal(opened.status, status);
    assert_null(opened.meter);
    if (!strstr(opened.why, why)) {
        fail_msg("\"%s\" is not in \"%s\"", why, opened.why);
    }
    meter_close(&opened);
}

void meter_expect_domain(const pwr_meter_t *meter, unsigned index, const char *name,
                         pwr_meter_domain_kind_t kind, unsigned package)
{
    const pwr_meter_domain_t *domain = pwr_meter_domain(meter, index);
    assert_non_null(domain);
    assert_string_equal(domain->name, name);
    assert_int_equal(domain->kind, kind);
    assert_int_equal(domain->package, package);
}

pwr_meter_reading_t meter_read(pwr_meter_t *meter, unsigned index)
{
    pwr_meter_reading_t readings[METER_MOST_DOMAINS];
    assert_true(pwr_meter_num_domains(meter) <= METER_MOST_DOMAINS);
    assert_int_equal(pwr_meter_read(meter, readings), PWR_OK);
    return readings[index];
}

void meter_expect_energy(pwr_meter_t *meter, unsigned index, uint64_t expected_uj)
{
    pwr_meter_reading_t reading = meter_read(meter, index);
    assert_int_equal(reading.status, PWR_OK);
    assert_int_equal(reading.energy_uj, expected_uj);
}

void meter_put_zone_file(fixture_t *fixture, const char *zone, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%s/%s", zone, file);
    fixture_put(fixture, path, text);
}

void meter_put_zone_energy(fixture_t *fixture, const char *zone, uint64_t energy_uj)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 "\n", energy_uj);
    meter_put_zone_file(fixture, zone, "energy_uj", text);
}

void meter_put_zone(fixture_t *fixture, const char *zone, const char *name)
{
    meter_put_zone_file(fixture, zone, "name", name);
    meter_put_zone_file(fixture, zone, "max_energy_range_uj", "262143328850\n");
    meter_put_zone_energy(fixture, zone, METER_ZONE_START_UJ);
}
