/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: IA32_CLOCK_MODULATION of every own CPU, by the first access that works for all.
 *
 * Source: Intel SDM volume 3, "Software Controlled Clock Modulation".
 */
#include "config.h"

#include "control/held.h"
#include "likwid/likwid.h"
#include "pwr/lever.h"

#include <stdbool.h>
#include <stdlib.h>

/* In the order in which they are tried: the one an administrator can open to users first. */
static const pwr_access_t *const accesses[] = {
    &pwr_access_msr_safe,
    &pwr_access_msr,
    &pwr_access_accessd,
};

struct pwr_tstate {
    const pwr_access_t *access;
    unsigned step; /* 0: not yet asked for */
    unsigned count;
    pwr_held_t cpus[];
};

static void close_all(pwr_tstate_t *tstate)
{
    for (unsigned i = 0; i < tstate->count; i++) {
        pwr_held_close(&tstate->cpus[i]);
    }
    free(tstate);
}

static pwr_status_t open_access(const pwr_access_t *access, const pwr_held_request_t *request,
                                const pwr_topo_t *topo, pwr_tstate_t **tstate)
{
    unsigned cpus = pwr_topo_num_my_cpus(topo);
    pwr_tstate_t *made = calloc(1, sizeof *made + cpus * sizeof made->cpus[0]);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->access = access;
    for (; made->count < cpus; made->count++) {
        pwr_status_t status =
            pwr_held_open(request, access, PWR_CONTROL_CLOCK_MODULATION,
                          pwr_topo_my_cpu(topo, made->count), &made->cpus[made->count]);
        if (status != PWR_OK) {
            close_all(made);
            return status;
        }
    }
    *tstate = made;
    return PWR_OK;
}

const char *pwr_tstate_backend_name(unsigned nth)
{
    return nth < sizeof accesses / sizeof accesses[0] ? accesses[nth]->name : NULL;
}

pwr_status_t pwr_tstate_open_nth(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                                 unsigned nth, char *why, unsigned why_size, pwr_tstate_t **tstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_held_request_t request = {env, guard, &reasons};
    return pwr_tstate_backend_name(nth) ? open_access(accesses[nth], &request, topo, tstate)
                                        : PWR_ERR_RANGE;
}

pwr_status_t pwr_tstate_open(const pwr_env_t *env, const pwr_topo_t *topo, pwr_guard_t *guard,
                             char *why, unsigned why_size, pwr_tstate_t **tstate)
{
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_held_request_t request = {env, guard, &reasons};
    pwr_status_t result = PWR_ERR_UNSUPPORTED;
    pwr_likwid_probe_begin();
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0] && result != PWR_OK; i++) {
        pwr_status_t status = open_access(accesses[i], &request, topo, tstate);
        result = status == PWR_OK ? PWR_OK : pwr_why_worse(result, status);
    }
    pwr_likwid_probe_end();
    return result;
}

const char *pwr_tstate_backend(const pwr_tstate_t *tstate)
{
    return tstate->access->name;
}

unsigned pwr_tstate_num_adopted(const pwr_tstate_t *tstate)
{
    unsigned adopted = 0;
    for (unsigned i = 0; i < tstate->count; i++) {
        adopted += tstate->cpus[i].adopted;
    }
    return adopted;
}

/* On CPUs without extended modulation bit 0 is reserved: the write faults, or the bit is dropped.
 */
static unsigned find_step(pwr_held_t *held)
{
    pwr_status_t status = pwr_held_lower(held, PWR_DUTY_FULL - 1);
    uint64_t duty = pwr_control_speed(PWR_CONTROL_CLOCK_MODULATION, held->last);
    bool fine = status == PWR_OK && duty == PWR_DUTY_FULL - 1;
    (void)pwr_held_restore(held);
    return fine ? 1 : PWR_DUTY_PER_TSTATE;
}

unsigned pwr_tstate_step(pwr_tstate_t *tstate)
{
    if (tstate->step == 0) {
        tstate->step = find_step(&tstate->cpus[0]);
    }
    return tstate->step;
}

/* To the next step up, but never to full duty. */
static unsigned on_step(pwr_tstate_t *tstate, unsigned duty)
{
    if (duty % PWR_DUTY_PER_TSTATE == 0 || pwr_tstate_step(tstate) == 1) {
        return duty;
    }
    return duty + 1 < PWR_DUTY_FULL ? duty + 1 : PWR_DUTY_FULL - PWR_DUTY_PER_TSTATE;
}

pwr_status_t pwr_tstate_set(pwr_tstate_t *tstate, unsigned duty)
{
    pwr_status_t status = PWR_OK;
    if (duty < 1 || duty > PWR_DUTY_FULL) {
        return PWR_ERR_RANGE;
    }
    if (duty == PWR_DUTY_FULL) {
        return pwr_tstate_restore(tstate);
    }
    unsigned stepped = on_step(tstate, duty);
    for (unsigned i = 0; i < tstate->count && status == PWR_OK; i++) {
        status = pwr_held_lower(&tstate->cpus[i], stepped);
    }
    return status;
}

pwr_status_t pwr_tstate_restore(pwr_tstate_t *tstate)
{
    pwr_status_t first = PWR_OK;
    for (unsigned i = 0; i < tstate->count; i++) {
        pwr_status_t status = pwr_held_restore(&tstate->cpus[i]);
        first = first == PWR_OK ? status : first;
    }
    return first;
}

void pwr_tstate_close(pwr_tstate_t *tstate)
{
    if (tstate) {
        (void)pwr_tstate_restore(tstate);
        close_all(tstate);
    }
}
