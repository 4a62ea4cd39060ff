/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy meters: picks a back end for the CPUs, adds the GPUs and reads them all.
 */
#include "config.h"

#include "likwid/likwid.h"
#include "meter/meter_backend.h"
#include "meter/model_power.h"
#include "pwr/clock.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those of the CPUs in the order in which they are tried. */
static const pwr_meter_backend_t *const backends[] = {
    &pwr_meter_powercap, &pwr_meter_msr_safe, &pwr_meter_msr,   &pwr_meter_accessd,
    &pwr_meter_likwid,   &pwr_meter_perf,     &pwr_meter_model, /* the last: no counter at all */
    &pwr_meter_nvml,
};

enum {
    NUM_BACKENDS = sizeof backends / sizeof backends[0],
    GPUS = NUM_BACKENDS - 1, /* the back end of them; those before it are of the CPUs */
    MAX_SOURCES = 2
};

struct pwr_meter {
    const pwr_env_t *env;
    pwr_meter_counters_t sources[MAX_SOURCES]; /* CPUs and GPUs */
    unsigned num_sources;
};

/* ---- the real kernel and driver ---- */

static int open_on_cpu(struct perf_event_attr *attr, unsigned cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

const pwr_meter_outside_t pwr_meter_outside_real = {.perf_event_open = open_on_cpu,
                                                    .nvml_library = "libnvidia-ml.so.1"};

static const pwr_meter_outside_t *outside_of(const pwr_env_t *env)
{
    static const pwr_meter_outside_t none = {.perf_event_open = NULL, .nvml_library = NULL};
    return env->root[0] == '\0' ? &pwr_meter_outside_real : &none;
}

/* ---- open and close ---- */

static void close_source(pwr_meter_counters_t *source)
{
    source->backend->close(source);
    free(source->items);
    source->count = 0;
}

/* An emulator shows this file (bench/testbed/emulator).  The GPUs that an emulated machine shows
   are the real one's. */
static bool is_emulated(const pwr_env_t *env, const pwr_meter_backend_t *backend)
{
    char by[64];
    return backend != &pwr_meter_nvml &&
           pwr_env_read_text(env, "/sys/devices/system/cpu/emulated", by, sizeof by) == PWR_OK;
}

static pwr_status_t add_source(pwr_meter_t *meter, const pwr_meter_backend_t *backend,
                               const pwr_meter_request_t *request)
{
    pwr_meter_counters_t *source = &meter->sources[meter->num_sources];
    *source = (pwr_meter_counters_t){.backend = backend};
    uint64_t before_ns = pwr_env_now_ns(meter->env);
    pwr_status_t status = backend->open(request, source);
    if (status != PWR_OK) {
        close_source(source);
        return status;
    }
    bool emulated = is_emulated(meter->env, backend);
    for (unsigned i = 0; i < source->count; i++) {
        pwr_meter_domain_t *domain = &source->items[i].domain;
        if (emulated && domain->provenance == PWR_METER_MEASURED) {
            domain->provenance = PWR_METER_EMULATED;
        }
        pwr_meter_count_begin(&source->items[i], before_ns);
    }
    meter->num_sources++;
    return PWR_OK;
}

/* Modelled joules are never taken for measured ones in silence. */
static void warn_of_model(const pwr_meter_t *meter, const pwr_why_t *why)
{
    if (meter->num_sources > 0 && meter->sources[0].backend == &pwr_meter_model) {
        pwr_env_log(meter->env, PWR_LOG_WARN,
                    "energy is modelled from CPU time, +-%.0f %%, as no counter can be read: %s",
                    100 * pwr_model_error_share, why->size > 0 ? why->text : "");
    }
}

static pwr_status_t add_all(pwr_meter_t *meter, const pwr_meter_request_t *request)
{
    pwr_status_t failure = PWR_ERR_UNSUPPORTED;
    pwr_likwid_probe_begin();
    for (unsigned nth = 0; nth < GPUS && meter->num_sources == 0; nth++) {
        failure = pwr_why_worse(failure, add_source(meter, backends[nth], request));
    }
    pwr_likwid_probe_end();
    warn_of_model(meter, request->why);
    return pwr_why_worse(failure, add_source(meter, backends[GPUS], request));
}

enum { ALL = -1 };

static pwr_status_t open_meter(const pwr_meter_request_t *request, int nth, pwr_meter_t **meter)
{
    pwr_meter_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = request->env;
    pwr_status_t failure =
        nth == ALL ? add_all(made, request) : add_source(made, backends[nth], request);
    if (made->num_sources == 0) {
        free(made);
        return failure;
    }
    *meter = made;
    return PWR_OK;
}

pwr_status_t pwr_meter_open_with(const pwr_env_t *env, const pwr_topo_t *topo,
                                 const pwr_meter_outside_t *outside, char *why, unsigned why_size,
                                 pwr_meter_t **meter)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    return open_meter(&(pwr_meter_request_t){env, topo, &reasons, outside}, ALL, meter);
}

pwr_status_t pwr_meter_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                            unsigned why_size, pwr_meter_t **meter)
{
    return pwr_meter_open_with(env, topo, outside_of(env), why, why_size, meter);
}

const char *pwr_meter_backend_name(unsigned nth)
{
    return nth < NUM_BACKENDS ? backends[nth]->name : NULL;
}

pwr_status_t pwr_meter_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, unsigned nth,
                                char *why, unsigned why_size, pwr_meter_t **meter)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_meter_request_t request = {env, topo, &reasons, outside_of(env)};
    return nth < NUM_BACKENDS ? open_meter(&request, (int)nth, meter) : PWR_ERR_RANGE;
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
    return meter->sources[0].count + meter->sources[1].count;
}

static pwr_meter_counter_t *counter_at(const pwr_meter_t *meter, unsigned index)
{
    const pwr_meter_counters_t *first = &meter->sources[0];
    return index < first->count ? &first->items[index]
                                : &meter->sources[1].items[index - first->count];
}

const pwr_meter_domain_t *pwr_meter_domain(const pwr_meter_t *meter, unsigned index)
{
    return index < pwr_meter_num_domains(meter) ? &counter_at(meter, index)->domain : NULL;
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

/* False when no domain could be read. */
static bool read_counters(pwr_meter_t *meter)
{
    bool any = false;
    for (unsigned i = 0; i < meter->num_sources; i++) {
        pwr_meter_counters_t *source = &meter->sources[i];
        for (unsigned j = 0; j < source->count; j++) {
            read_counter(meter->env, source->backend, &source->items[j]);
            any = any || source->items[j].status == PWR_OK;
        }
    }
    return any;
}

pwr_status_t pwr_meter_read(pwr_meter_t *meter, pwr_meter_reading_t *readings)
{
    if (!read_counters(meter)) {
        return counter_at(meter, 0)->status;
    }
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); i++) {
        readings[i] = pwr_meter_count_reading(counter_at(meter, i));
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
        .edge_uj = !begin->unseen && begin->edge_uj > end->edge_uj ? begin->edge_uj : end->edge_uj,
        .drift_uj = end->drift_uj - begin->drift_uj,
        .unseen = end->unseen,
        .status = begin->status != PWR_OK ? begin->status : end->status,
    };
    between.uncertainty_uj = between.edge_uj + between.drift_uj;
    return between;
}
