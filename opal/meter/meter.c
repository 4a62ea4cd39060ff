/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters: picks a back end for the CPUs, adds the GPUs and reads them all.
 */
#include "config.h"

#include "likwid/likwid.h"
#include "meter/meter_count.h"
#include "meter/model_power.h"
#include "pwr/clock.h"

#include <stdlib.h>

/* In the order in which they are tried for the CPUs. */
static const pwr_meter_backend_t *const backends[] = {
    &pwr_meter_powercap, &pwr_meter_msr_safe, &pwr_meter_msr,   &pwr_meter_accessd,
    &pwr_meter_likwid,   &pwr_meter_perf,     &pwr_meter_model, /* always last: no counter at all */
};

enum { DEFAULT_UPDATE_US = 1000 /* RAPL's */, MAX_SOURCES = 2 /* CPUs and GPUs */ };

typedef struct source {
    const pwr_meter_backend_t *backend;
    pwr_meter_counters_t counters;
} source_t;

struct pwr_meter {
    const pwr_env_t *env;
    source_t sources[MAX_SOURCES];
    unsigned num_sources;
};

/* ---- open and close ---- */

static void close_source(source_t *source)
{
    source->backend->close(&source->counters);
    free(source->counters.items);
}

/* An emulator shows this file (bench/testbed/emulator).  The GPUs that an emulated machine shows are the
   real one's. */
static bool is_emulated(const pwr_env_t *env, const pwr_meter_backend_t *backend)
{
    char by[64];
    return backend != &pwr_meter_nvml &&
           pwr_env_read_text(env, "/sys/devices/system/cpu/emulated", by, sizeof by) == PWR_OK;
}

static pwr_status_t add_source(pwr_meter_t *meter, const pwr_meter_backend_t *backend,
                               const pwr_meter_request_t *request)
{
    source_t *source = &meter->sources[meter->num_sources];
    *source = (source_t){.backend = backend};
    uint64_t before_ns = pwr_env_now_ns(meter->env);
    pwr_status_t status = backend->open(backend, request, &source->counters);
    if (status != PWR_OK) {
        close_source(source);
        return status;
    }
    bool emulated = is_emulated(meter->env, backend);
    for (unsigned i = 0; i < source->counters.count; i++) {
        pwr_meter_counter_t *counter = &source->counters.items[i];
        counter->domain.source = backend->name;
        if (emulated && counter->domain.provenance == PWR_METER_MEASURED) {
            counter->domain.provenance = PWR_METER_EMULATED;
        }
        if (counter->domain.update_us == 0) {
            counter->domain.update_us = DEFAULT_UPDATE_US;
        }
        pwr_meter_count_begin(counter, before_ns);
    }
    meter->num_sources++;
    return PWR_OK;
}

/* Modelled joules are never taken for measured ones in silence. */
static void warn_of_model(const pwr_meter_t *meter, const char *why)
{
    if (meter->num_sources > 0 && meter->sources[0].backend == &pwr_meter_model) {
        pwr_env_log(meter->env, PWR_LOG_WARN,
                    "energy is modelled from CPU time, +-%.0f %%, as no counter can be read: %s",
                    100 * pwr_model_error_share, why);
    }
}

pwr_status_t pwr_meter_open_with(const pwr_env_t *env, const pwr_topo_t *topo,
                                 const pwr_meter_outside_t *outside, char *why, unsigned why_size,
                                 pwr_meter_t **meter)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    pwr_meter_request_t request = {env, topo, &reasons, outside};
    pwr_status_t failure = PWR_ERR_UNSUPPORTED;
    pwr_meter_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    pwr_likwid_probe_begin();
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && made->num_sources == 0; i++) {
        failure = pwr_why_worse(failure, add_source(made, backends[i], &request));
    }
    pwr_likwid_probe_end();
    warn_of_model(made, why_size > 0 ? why : "");
    failure = pwr_why_worse(failure, add_source(made, &pwr_meter_nvml, &request));
    if (made->num_sources == 0) {
        free(made);
        return failure;
    }
    *meter = made;
    return PWR_OK;
}

static const pwr_meter_outside_t *outside_of(const pwr_env_t *env)
{
    return env->root[0] == '\0' ? &pwr_meter_outside_real : &pwr_meter_outside_none;
}

pwr_status_t pwr_meter_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                            unsigned why_size, pwr_meter_t **meter)
{
    return pwr_meter_open_with(env, topo, outside_of(env), why, why_size, meter);
}

const char *pwr_meter_backend_name(unsigned nth)
{
    const unsigned cpu_backends = sizeof backends / sizeof backends[0];
    if (nth < cpu_backends) {
        return backends[nth]->name;
    }
    return nth == cpu_backends ? pwr_meter_nvml.name : NULL;
}

pwr_status_t pwr_meter_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, unsigned nth,
                                char *why, unsigned why_size, pwr_meter_t **meter)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_meter_request_t request = {env, topo, &reasons, outside_of(env)};
    if (!pwr_meter_backend_name(nth)) {
        return PWR_ERR_RANGE;
    }
    pwr_meter_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    bool is_gpu = nth == sizeof backends / sizeof backends[0];
    pwr_status_t status = add_source(made, is_gpu ? &pwr_meter_nvml : backends[nth], &request);
    if (status != PWR_OK) {
        free(made);
        return status;
    }
    *meter = made;
    return PWR_OK;
}

void pwr_meter_close(pwr_meter_t *meter)
{
    for (unsigned i = 0; meter && i < meter->num_sources; i++) {
        close_source(&meter->sources[i]);
    }
    free(meter);
}

/* ---- what it has ---- */

const char *pwr_meter_backend(const pwr_meter_t *meter)
{
    return meter->sources[0].backend->name;
}

unsigned pwr_meter_num_domains(const pwr_meter_t *meter)
{
    unsigned count = 0;
    for (unsigned i = 0; i < meter->num_sources; i++) {
        count += meter->sources[i].counters.count;
    }
    return count;
}

const pwr_meter_domain_t *pwr_meter_domain(const pwr_meter_t *meter, unsigned index)
{
    for (unsigned i = 0; i < meter->num_sources; i++) {
        const pwr_meter_counters_t *counters = &meter->sources[i].counters;
        if (index < counters->count) {
            return &counters->items[index].domain;
        }
        index -= counters->count;
    }
    return NULL;
}

/* ---- reading ---- */

static void read_counter(const pwr_env_t *env, const pwr_meter_backend_t *backend,
                         pwr_meter_counter_t *counter)
{
    uint64_t count;
    unsigned resets = counter->resets;
    uint64_t before_ns = pwr_env_now_ns(env);
    pwr_status_t status = backend->read(counter, &count);
    if (status == PWR_OK) {
        status = pwr_meter_count_advance(counter, count, before_ns, pwr_env_now_ns(env));
    }
    if (status != PWR_OK && counter->status == PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN, "energy of %s cannot be read any more through %s: %s",
                    counter->domain.name, backend->name, pwr_status_text(status));
    }
    if (resets == 0 && counter->resets > 0) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "energy counter of %s (%s) jumped: it was reset; the energy around it is "
                    "unknown",
                    counter->domain.name, backend->name);
    }
    counter->status = status;
}

pwr_status_t pwr_meter_read(pwr_meter_t *meter, pwr_meter_reading_t *readings)
{
    bool any = false;
    unsigned index = 0;
    for (unsigned i = 0; i < meter->num_sources; i++) {
        source_t *source = &meter->sources[i];
        for (unsigned j = 0; j < source->counters.count; j++) {
            read_counter(meter->env, source->backend, &source->counters.items[j]);
            any = any || source->counters.items[j].status == PWR_OK;
        }
    }
    if (!any) {
        return meter->sources[0].counters.items[0].status;
    }
    for (unsigned i = 0; i < meter->num_sources; i++) {
        for (unsigned j = 0; j < meter->sources[i].counters.count; j++) {
            readings[index] = pwr_meter_count_reading(&meter->sources[i].counters.items[j]);
            index++;
        }
    }
    return PWR_OK;
}

pwr_status_t pwr_meter_read_at(pwr_meter_t *meter, uint64_t longest_ns,
                               pwr_meter_reading_t *readings, uint64_t *at_ns)
{
    enum { ATTEMPTS = 3 };
    for (int attempt = 1;; attempt++) {
        uint64_t before = pwr_clock_ns(CLOCK_REALTIME);
        pwr_status_t status = pwr_meter_read(meter, readings);
        uint64_t took = pwr_clock_ns(CLOCK_REALTIME) - before;
        if (status != PWR_OK || took <= longest_ns || attempt == ATTEMPTS) {
            *at_ns = before + took / 2;
            return status;
        }
    }
}

pwr_meter_reading_t pwr_meter_between(const pwr_meter_reading_t *begin,
                                      const pwr_meter_reading_t *end)
{
    pwr_meter_reading_t between = {
        .energy_uj = end->energy_uj - begin->energy_uj,
        .edge_uj = begin->edge_uj > end->edge_uj ? begin->edge_uj : end->edge_uj,
        .drift_uj = end->drift_uj - begin->drift_uj,
        .status = begin->status != PWR_OK ? begin->status : end->status,
    };
    between.uncertainty_uj = between.edge_uj + between.drift_uj;
    return between;
}
