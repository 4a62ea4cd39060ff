/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: picks the back end and keeps its limits.
 */
#include "config.h"

#include "pstate/pstate_backend.h"

#include <stdbool.h>
#include <stdlib.h>

/* In the order in which they are tried. */
static const pwr_pstate_backend_t *const backends[] = {
    &pwr_pstate_cpufreq,
};

struct pwr_pstate {
    const pwr_pstate_backend_t *backend;
    void *state;
    pwr_pstate_limits_t limits;
    bool changed; /* something was written since open or the last restore */
};

pwr_status_t pwr_pstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_pstate_t **pstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    pwr_pstate_request_t request = {env, topo, guard, &reasons};
    pwr_status_t failure = PWR_ERR_UNSUPPORTED;
    pwr_pstate_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        pwr_status_t status = backends[i]->open(&request, &made->state, &made->limits);
        if (status == PWR_OK) {
            made->backend = backends[i];
            *pstate = made;
            return PWR_OK;
        }
        failure = pwr_why_worse(failure, status);
    }
    free(made);
    return failure;
}

const char *pwr_pstate_backend(const pwr_pstate_t *pstate)
{
    return pstate->backend->name;
}

uint32_t pwr_pstate_min_khz(const pwr_pstate_t *pstate)
{
    return pstate->limits.min_khz;
}

uint32_t pwr_pstate_max_khz(const pwr_pstate_t *pstate)
{
    return pstate->limits.max_khz;
}

pwr_status_t pwr_pstate_set(pwr_pstate_t *pstate, uint32_t khz)
{
    if (khz < pstate->limits.min_khz || khz > pstate->limits.max_khz) {
        return PWR_ERR_RANGE;
    }
    pstate->changed = true;
    return pstate->backend->set(pstate->state, khz);
}

pwr_status_t pwr_pstate_restore(pwr_pstate_t *pstate)
{
    if (!pstate->changed) {
        return PWR_OK;
    }
    pwr_status_t status = pstate->backend->restore(pstate->state);
    pstate->changed = status != PWR_OK;
    return status;
}

void pwr_pstate_close(pwr_pstate_t *pstate)
{
    if (pstate) {
        (void)pwr_pstate_restore(pstate);
        pstate->backend->close(pstate->state);
        free(pstate);
    }
}
