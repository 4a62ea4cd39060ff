/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What back ends share: names of domains, and the counters that one has opened.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_UPDATE_US = 1000 /* RAPL's */ };

const char *pwr_meter_kind_text(pwr_meter_domain_kind_t kind)
{
    static const char *const texts[] = {
        [PWR_DOMAIN_PACKAGE] = "package",   [PWR_DOMAIN_CORE] = "core", [PWR_DOMAIN_DRAM] = "dram",
        [PWR_DOMAIN_PLATFORM] = "platform", [PWR_DOMAIN_GPU] = "gpu",
    };
    return texts[kind];
}

const char *pwr_meter_provenance_text(pwr_meter_provenance_t provenance)
{
    static const char *const texts[] = {
        [PWR_METER_MEASURED] = "measured",
        [PWR_METER_EMULATED] = "emulated",
        [PWR_METER_MODELLED] = "modelled",
    };
    return texts[provenance];
}

static void name_domain(pwr_meter_domain_t *domain)
{
    const char *kind = pwr_meter_kind_text(domain->kind);
    if (domain->kind == PWR_DOMAIN_PLATFORM) {
        snprintf(domain->name, sizeof domain->name, "%s", kind);
    } else {
        snprintf(domain->name, sizeof domain->name, "%s-%u", kind, domain->package);
    }
}

static void fill_in(const pwr_meter_counter_t *counter, pwr_meter_domain_t *domain)
{
    if (domain->name[0] == '\0') {
        name_domain(domain);
    }
    if (domain->range_uj == 0) {
        domain->range_uj = (uint64_t)((double)counter->modulus * counter->unit_uj);
    }
    if (domain->resolution_uj <= 0) {
        domain->resolution_uj = counter->unit_uj;
    }
    if (domain->update_us == 0) {
        domain->update_us = DEFAULT_UPDATE_US;
    }
}

static pwr_status_t append(pwr_meter_counters_t *counters, pwr_meter_counter_t *counter)
{
    if (counter->modulus != 0 && counter->last >= counter->modulus) {
        return PWR_ERR_PARSE;
    }
    pwr_meter_counter_t *items =
        realloc(counters->items, (counters->count + 1) * sizeof counters->items[0]);
    if (!items) {
        return PWR_ERR_NOMEM;
    }
    counter->domain.source = counters->backend->name;
    fill_in(counter, &counter->domain);
    items[counters->count] = *counter;
    counters->items = items;
    counters->count++;
    return PWR_OK;
}

pwr_status_t pwr_meter_counters_add(pwr_meter_counters_t *counters, pwr_meter_counter_t *counter)
{
    pwr_status_t status = counters->backend->read(counter, &counter->last);
    if (status == PWR_OK) {
        status = append(counters, counter);
    }
    if (status != PWR_OK && counter->fd >= 0) {
        close(counter->fd);
    }
    return status;
}

pwr_status_t pwr_meter_counters_add_register(pwr_meter_counters_t *counters,
                                             pwr_meter_counter_t *counter)
{
    pwr_status_t status = counters->backend->read(counter, &counter->last);
    if (counter->domain.kind != PWR_DOMAIN_PACKAGE && (status != PWR_OK || counter->last == 0)) {
        return PWR_OK;
    }
    return status == PWR_OK ? append(counters, counter) : status;
}

void pwr_meter_counters_close_files(pwr_meter_counters_t *counters)
{
    for (unsigned i = 0; i < counters->count; i++) {
        close(counters->items[i].fd);
    }
}
