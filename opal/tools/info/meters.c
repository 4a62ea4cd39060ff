/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every energy meter, tried by itself.  Reading disturbs nobody, so there is nothing to guard.
 */
#include "config.h"

#include "tools/info/info.h"

#include <stdlib.h>

static void keep_domains(const pwr_meter_t *meter, info_part_t *part)
{
    for (unsigned i = 0; i < pwr_meter_num_domains(meter) && part->num_domains < INFO_DOMAINS;
         i++) {
        part->domains[part->num_domains++] = *pwr_meter_domain(meter, i);
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

static void measure(const pwr_env_t *env, pwr_meter_t *meter, info_cost_t *cost)
{
    read_job_t job = {.meter = meter,
                      .readings = calloc(pwr_meter_num_domains(meter), sizeof *job.readings)};
    if (job.readings) {
        (void)info_cost_measure(env, read_meter, &job, cost);
    } else {
        snprintf(cost->why_not, sizeof cost->why_not, "%s", pwr_status_text(PWR_ERR_NOMEM));
    }
    free(job.readings);
}

static void gather_one(const info_request_t *request, const pwr_topo_t *topo, unsigned nth,
                       info_part_t *part, info_backend_t *backend)
{
    pwr_meter_t *meter;
    pwr_status_t status = pwr_meter_open_nth(request->env, topo, nth, backend->reason,
                                             sizeof backend->reason, &meter);
    info_part_enter(part, backend, status, INFO_USED);
    if (status != PWR_OK) {
        return;
    }
    if (pwr_meter_domain(meter, 0)->kind == PWR_DOMAIN_GPU) {
        backend->state = INFO_USED; /* beside whichever is used for the CPUs */
    }
    if (backend->state == INFO_USED) {
        keep_domains(meter, part);
    }
    if (part->best == (int)nth) {
        measure(request->env, meter, &part->cost);
    }
    pwr_meter_close(meter);
}

void info_gather_meters(const info_request_t *request, const pwr_topo_t *topo, info_part_t *part)
{
    const char *name;
    for (unsigned nth = 0; (name = pwr_meter_backend_name(nth)); nth++) {
        info_progress_at(name);
        info_backend_t *backend = info_part_add(part, name);
        if (!backend) {
            return;
        }
        gather_one(request, topo, nth, part, backend);
    }
}
