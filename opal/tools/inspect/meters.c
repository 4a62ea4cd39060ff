/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every energy meter, tried by itself.  Reading disturbs nobody, so there is nothing to guard.
 */
#include "config.h"

#include "tools/inspect/inspect.h"

#include <stdlib.h>

#include "pwr/meter.h"

typedef struct part {
    inspect_backends_t backends;
    json_t *cost;
    json_t *domains; /* of those that are used */
} part_t;

static void keep_domains(const pwr_meter_t *meter, json_t *domains)
{
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); i++) {
        const pwr_meter_domain_t *domain = pwr_meter_domain(meter, i);
        json_t *range = domain->range_uj > 0 ? json_integer((json_int_t)domain->range_uj) : NULL;
        json_array_append_new(
            domains, json_pack("{s:s, s:s, s:s, s:s, s:o?, s:f, s:i}", "name", domain->name, "kind",
                               pwr_meter_kind_text(domain->kind), "provenance",
                               pwr_meter_provenance_text(domain->provenance), "source",
                               domain->source, "range_uj", range, "resolution_uj",
                               domain->resolution_uj, "update_us", (int)domain->update_us));
    }
}

typedef struct read_job {
    pwr_meter_t *meter;
    pwr_meter_reading_t *readings;
} read_job_t;

/* A reading has no way back: the second half of the pair does nothing. */
static pwr_status_t read_meter(void *object, bool down)
{
    read_job_t *job = object;
    return down ? pwr_meter_read(job->meter, job->readings) : PWR_OK;
}

static json_t *measure(const pwr_env_t *env, pwr_meter_t *meter)
{
    read_job_t job = {.meter = meter,
                      .readings = calloc(pwr_meter_num_domains(meter), sizeof *job.readings)};
    json_t *cost = job.readings ? inspect_cost(env, read_meter, &job, 0)
                                : inspect_why_not(pwr_status_text(PWR_ERR_NOMEM));
    free(job.readings);
    return cost;
}

static void inspect_one(const inspect_request_t *request, const pwr_topo_t *topo, unsigned nth,
                        part_t *part)
{
    pwr_meter_t *meter;
    char reason[INSPECT_REASON_BYTES] = "";
    const char *name = pwr_meter_backend_name(nth);
    pwr_status_t status =
        pwr_meter_open_nth(&request->env, topo, nth, reason, sizeof reason, &meter);
    if (status != PWR_OK) {
        inspect_backends_add(&part->backends, name, status, reason, NULL, NULL);
        return;
    }
    /* GPUs are read beside whatever is used for the CPUs. */
    bool is_gpu = pwr_meter_domain(meter, 0)->kind == PWR_DOMAIN_GPU;
    bool used = is_gpu || part->backends.best < 0;
    inspect_backends_add(&part->backends, name, status, reason, "used", used ? "used" : "works");
    if (used) {
        keep_domains(meter, part->domains);
    }
    if (part->backends.best == (int)nth) {
        part->cost = measure(&request->env, meter);
    }
    pwr_meter_close(meter);
}

json_t *inspect_meters(const inspect_request_t *request, const pwr_topo_t *topo)
{
    part_t part = {.backends = {.rows = json_array(), .best = -1}, .domains = json_array()};
    const char *name;
    for (unsigned nth = 0; (name = pwr_meter_backend_name(nth)); nth++) {
        inspect_progress_at(name);
        inspect_one(request, topo, nth, &part);
    }
    return json_pack("{s:o?, s:o, s:o}", "cost", part.cost, "backends", part.backends.rows,
                     "domains", part.domains);
}
