/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: picks the back end.
 */
#include "config.h"

#include "tstate/tstate_backend.h"

#include <stdbool.h>
#include <stdlib.h>

/* In the order in which they are tried: the one an administrator can open to users first. */
static const pwr_tstate_backend_t *const backends[] = {
    &pwr_tstate_msr_safe,
    &pwr_tstate_msr,
};

struct pwr_tstate {
    const pwr_tstate_backend_t *backend;
    void *state;
    bool changed; /* something was written since open or the last restore */
};

pwr_status_t pwr_tstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_tstate_t **tstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    pwr_tstate_request_t request = {env, topo, guard, &reasons};
    pwr_status_t failure = PWR_ERR_UNSUPPORTED;
    pwr_tstate_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        pwr_status_t status = backends[i]->open(backends[i], &request, &made->state);
        if (status == PWR_OK) {
            made->backend = backends[i];
            *tstate = made;
            return PWR_OK;
        }
        failure = pwr_why_worse(failure, status);
    }
    free(made);
    return failure;
}

const char *pwr_tstate_backend(const pwr_tstate_t *tstate)
{
    return tstate->backend->name;
}

pwr_status_t pwr_tstate_set(pwr_tstate_t *tstate, unsigned level)
{
    if (level > PWR_TSTATE_DEEPEST) {
        return PWR_ERR_RANGE;
    }
    if (level == PWR_TSTATE_FULL) {
        return pwr_tstate_restore(tstate);
    }
    tstate->changed = true;
    return tstate->backend->set(tstate->state, level);
}

pwr_status_t pwr_tstate_restore(pwr_tstate_t *tstate)
{
    if (!tstate->changed) {
        return PWR_OK;
    }
    pwr_status_t status = tstate->backend->restore(tstate->state);
    tstate->changed = status != PWR_OK;
    return status;
}

void pwr_tstate_close(pwr_tstate_t *tstate)
{
    if (tstate) {
        (void)pwr_tstate_restore(tstate);
        tstate->backend->close(tstate->state);
        free(tstate);
    }
}
