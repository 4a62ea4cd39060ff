/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whose are the CPUs: claims, neighbours, binding and threads, asked in one place.
 */
#include "config.h"

#include "ownership.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "pwr/claim.h"
#include "pwr/neighbours.h"

struct pwr_ownership {
    const pwr_env_t *env;
    const pwr_topo_t *topo;
    pwr_claim_t *claim; /* NULL: the registry could not be used */
    pwr_watch_t watch;
};

bool pwr_ownership_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

pwr_status_t pwr_ownership_open(const pwr_env_t *env, const pwr_topo_t *topo,
                                const char *run_directory, const pwr_watch_kernel_t *kernel,
                                pwr_ownership_t **ownership)
{
    pwr_ownership_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    made->topo = topo;
    made->watch = pwr_watch_init(env, topo, kernel);
    /* With an owner's rights nothing is made where the caller says. */
    if (pwr_ownership_is_privileged() ||
        pwr_claim_take(env, topo, run_directory, &made->claim) != PWR_OK) {
        made->claim = NULL; /* said by the claim, or when it is asked */
    }
    *ownership = made;
    return PWR_OK;
}

void pwr_ownership_close(pwr_ownership_t *ownership)
{
    if (ownership) {
        pwr_claim_release(ownership->claim);
        free(ownership);
    }
}

static bool is_claimed_alone(const pwr_ownership_t *ownership,
                             char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    unsigned shared_cpu = 0;
    if (!ownership->claim) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES, "the registry of claimed CPUs cannot be used");
        return false;
    }
    if (!pwr_claim_is_exclusive(ownership->claim, &shared_cpu)) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES,
                 "CPU %u, ours or an SMT sibling of ours, is also another process's", shared_cpu);
        return false;
    }
    return true;
}

static bool has_no_neighbour(const pwr_ownership_t *ownership,
                             char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    pwr_neighbours_t found;
    char text[PWR_OWNERSHIP_REASON_BYTES];
    pwr_status_t status = pwr_neighbours_scan(ownership->env, ownership->topo, &found);
    if (status != PWR_OK) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES,
                 "/proc does not tell who else is bound to these CPUs: %s",
                 pwr_status_text(status));
        return false;
    }
    pwr_neighbours_describe(&found, text, sizeof text);
    if (found.found) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES, "%s", text);
        return false;
    }
    if (text[0] != '\0') {
        pwr_env_log(ownership->env, PWR_LOG_DEBUG, "%s", text);
    }
    return true;
}

bool pwr_ownership_ask(const pwr_ownership_t *ownership, char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    if (!pwr_topo_is_bound(ownership->topo)) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES,
                 "this process is not bound to CPUs of its own (mpirun --bind-to core)");
        return false;
    }
    return is_claimed_alone(ownership, reason) && has_no_neighbour(ownership, reason);
}

bool pwr_ownership_recheck(const pwr_ownership_t *ownership,
                           char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    unsigned cpu = 0;
    pwr_binding_t binding = pwr_watch_binding(&ownership->watch, &cpu);
    if (binding != PWR_BINDING_SAME) {
        pwr_watch_describe(&ownership->watch, binding, cpu, reason, PWR_OWNERSHIP_REASON_BYTES);
        return false;
    }
    return is_claimed_alone(ownership, reason);
}

void pwr_ownership_begin_hold(pwr_ownership_t *ownership)
{
    pwr_watch_begin(&ownership->watch);
}

bool pwr_ownership_end_hold(pwr_ownership_t *ownership, char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    double others = 0;
    if (!pwr_watch_end(&ownership->watch, &others)) {
        return true;
    }
    snprintf(reason, PWR_OWNERSHIP_REASON_BYTES,
             "other threads of this process compute while it waits (%.0f %% of the time)",
             100 * others);
    return false;
}
