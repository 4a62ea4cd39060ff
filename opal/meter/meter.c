/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters: picks the back end and undoes the wrap of its counters.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <stdlib.h>
#include <unistd.h>

/* In the order in which they are tried. */
static const pwr_meter_backend_t *const backends[] = {
    &pwr_meter_powercap,
    &pwr_meter_msr_safe,
    &pwr_meter_msr,
};

struct pwr_meter {
    const pwr_meter_backend_t *backend;
    pwr_meter_counters_t counters;
};

pwr_status_t pwr_meter_counters_add(pwr_meter_counters_t *counters,
                                    const pwr_meter_counter_t *counter)
{
    pwr_meter_counter_t *items =
        realloc(counters->items, (counters->count + 1) * sizeof counters->items[0]);
    if (!items) {
        return PWR_ERR_NOMEM;
    }
    items[counters->count] = *counter;
    counters->items = items;
    counters->count++;
    return PWR_OK;
}

static void close_counters(pwr_meter_counters_t *counters)
{
    for (unsigned i = 0; i < counters->count; i++) {
        close(counters->items[i].fd);
    }
    free(counters->items);
    *counters = (pwr_meter_counters_t){0};
}

pwr_status_t pwr_meter_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                            unsigned why_size, pwr_meter_t **meter)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    pwr_meter_request_t request = {env, topo, &reasons};
    pwr_status_t failure = PWR_ERR_UNSUPPORTED;
    pwr_meter_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        pwr_status_t status = backends[i]->open(backends[i], &request, &made->counters);
        if (status == PWR_OK) {
            made->backend = backends[i];
            *meter = made;
            return PWR_OK;
        }
        close_counters(&made->counters);
        failure = pwr_why_worse(failure, status);
    }
    free(made);
    return failure;
}

const char *pwr_meter_backend(const pwr_meter_t *meter)
{
    return meter->backend->name;
}

unsigned pwr_meter_num_domains(const pwr_meter_t *meter)
{
    return meter->counters.count;
}

const pwr_meter_domain_t *pwr_meter_domain(const pwr_meter_t *meter, unsigned index)
{
    return index < meter->counters.count ? &meter->counters.items[index].domain : NULL;
}

static pwr_status_t advance(const pwr_meter_backend_t *backend, pwr_meter_counter_t *counter)
{
    uint64_t now;
    pwr_status_t status = backend->read(counter, &now);
    if (status != PWR_OK) {
        return status;
    }
    if (now >= counter->modulus) {
        return PWR_ERR_RANGE;
    }
    /* A count below the last one has wrapped, once as far as anybody can know. */
    uint64_t wrapped = now < counter->last ? counter->modulus : 0;
    counter->total += wrapped + now - counter->last;
    counter->last = now;
    return PWR_OK;
}

pwr_status_t pwr_meter_read(pwr_meter_t *meter, uint64_t *energy_uj)
{
    pwr_meter_counters_t *counters = &meter->counters;
    for (unsigned i = 0; i < counters->count; i++) {
        pwr_status_t status = advance(meter->backend, &counters->items[i]);
        if (status != PWR_OK) {
            return status;
        }
    }
    for (unsigned i = 0; i < counters->count; i++) {
        energy_uj[i] = (uint64_t)((double)counters->items[i].total * counters->items[i].unit_uj);
    }
    return PWR_OK;
}

void pwr_meter_close(pwr_meter_t *meter)
{
    if (meter) {
        close_counters(&meter->counters);
        free(meter);
    }
}
