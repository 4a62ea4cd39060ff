/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What back ends share: names of domains, and the counters that one has opened.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <stdlib.h>
#include <unistd.h>

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

void pwr_meter_counters_close_files(pwr_meter_counters_t *counters)
{
    for (unsigned i = 0; i < counters->count; i++) {
        close(counters->items[i].fd);
    }
}
