/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every back end of both levers, tried by itself, and the cost of the one that would be used.
 *
 * With a guardian each is opened as a rank would open it, which writes back what was read; without
 * one nothing is written.  Nothing stays open, so the next one finds what the last one found.
 */
#include "config.h"

#include "pwr/lever.h"
#include "tools/info/info.h"

#include <string.h>

/* ---- rows ---- */

const char *info_state_word(info_state_t state)
{
    static const char *const words[] = {[INFO_REFUSED] = "refused",
                                        [INFO_LOOKS_USABLE] = "looks usable",
                                        [INFO_WORKS] = "works",
                                        [INFO_USED] = "used"};
    return words[state];
}

info_backend_t *info_part_add(info_part_t *part, const char *name)
{
    if (part->num_backends == INFO_BACKENDS) {
        return NULL;
    }
    info_backend_t *backend = &part->backends[part->num_backends++];
    *backend = (info_backend_t){.name = name};
    return backend;
}

void info_part_enter(info_part_t *part, info_backend_t *backend, pwr_status_t status,
                     info_state_t state_if_ok)
{
    int number = (int)(backend - part->backends);
    backend->status = status;
    if (status == PWR_OK) {
        bool first = part->best < 0;
        part->best = first ? number : part->best;
        backend->state = first || state_if_ok != INFO_USED ? state_if_ok : INFO_WORKS;
        backend->reason[0] = '\0';
        return;
    }
    backend->state = INFO_REFUSED;
    if (backend->reason[0] == '\0') {
        snprintf(backend->reason, sizeof backend->reason, "%s",
                 info_reason_otherwise(backend->name, status));
    }
    backend->num_remedies = info_remedies_find(part->vendor, part->subject, backend->name, status,
                                               backend->reason, backend->remedies);
}

static info_state_t state_of_success(const pwr_guard_t *guard, bool used)
{
    return used ? INFO_USED : guard ? INFO_WORKS : INFO_LOOKS_USABLE;
}

/* What somebody else has set meanwhile is theirs. */
static bool is_settled(pwr_status_t status)
{
    return status == PWR_OK || status == PWR_ERR_FOREIGN;
}

/* One CPU is what the cost is stated for; where the hardware moves several at once, all of ours. */
static bool open_one_cpu(const info_request_t *request, const pwr_topo_t *topo, pwr_topo_t **one)
{
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%u", pwr_topo_my_cpu(topo, 0));
    return info_open_topo(request, cpu, one) == PWR_OK;
}

/* ---- P-states ---- */

static pwr_status_t move_pstate(void *object, bool down)
{
    pwr_pstate_t *pstate = object;
    return down ? pwr_pstate_set(pstate, pwr_pstate_min_khz(pstate)) : pwr_pstate_restore(pstate);
}

static bool close_pstate(pwr_pstate_t *pstate)
{
    bool settled = is_settled(pwr_pstate_restore(pstate));
    pwr_pstate_close(pstate);
    return settled;
}

static bool measure_pstates(const info_request_t *request, const pwr_topo_t *topo,
                            pwr_guard_t *guard, unsigned nth, info_cost_t *cost)
{
    char why[INFO_REASON_BYTES];
    pwr_topo_t *one = NULL;
    pwr_pstate_t *pstate = NULL;
    const pwr_topo_t *moved = topo;
    if (open_one_cpu(request, topo, &one) &&
        pwr_pstate_open_nth(request->env, one, guard, nth, why, sizeof why, &pstate) == PWR_OK) {
        moved = one;
    } else if (pwr_pstate_open_nth(request->env, topo, guard, nth, why, sizeof why, &pstate) !=
               PWR_OK) {
        pstate = NULL;
    }
    bool settled = true;
    if (!pstate) {
        snprintf(cost->why_not, sizeof cost->why_not, "it could not be opened a second time");
    } else if (pwr_pstate_min_khz(pstate) >= pwr_pstate_max_khz(pstate)) {
        snprintf(cost->why_not, sizeof cost->why_not, "the ceiling is the lowest frequency");
        settled = close_pstate(pstate);
    } else {
        (void)info_cost_measure(request->env, move_pstate, pstate, cost);
        settled = close_pstate(pstate);
    }
    cost->cpus = pwr_topo_num_my_cpus(moved);
    pwr_topo_close(one);
    return settled;
}

bool info_gather_pstates(const info_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                         bool used, info_part_t *part)
{
    bool settled = true;
    const char *name;
    for (unsigned nth = 0; (name = pwr_pstate_backend_name(nth)); nth++) {
        info_progress_at(name);
        info_backend_t *backend = info_part_add(part, name);
        if (!backend) {
            break;
        }
        pwr_pstate_t *pstate;
        pwr_status_t status = pwr_pstate_open_nth(request->env, topo, guard, nth, backend->reason,
                                                  sizeof backend->reason, &pstate);
        if (status == PWR_OK) {
            backend->min_khz = pwr_pstate_min_khz(pstate);
            backend->max_khz = pwr_pstate_max_khz(pstate);
            settled = close_pstate(pstate) && settled;
        }
        info_part_enter(part, backend, status, state_of_success(guard, used));
    }
    if (!guard) {
        snprintf(part->cost.why_not, sizeof part->cost.why_not, "that needs writes");
    } else if (part->best >= 0) {
        info_progress_at("timing P-states");
        settled =
            measure_pstates(request, topo, guard, (unsigned)part->best, &part->cost) && settled;
    }
    return settled;
}

/* ---- T-states ---- */

static pwr_status_t move_tstate(void *object, bool down)
{
    pwr_tstate_t *tstate = object;
    unsigned deepest = PWR_DUTY_FULL - PWR_DUTY_PER_TSTATE * PWR_TSTATE_DEEPEST;
    return down ? pwr_tstate_set(tstate, deepest) : pwr_tstate_restore(tstate);
}

static bool close_tstate(pwr_tstate_t *tstate)
{
    bool settled = is_settled(pwr_tstate_restore(tstate));
    pwr_tstate_close(tstate);
    return settled;
}

static bool measure_tstates(const info_request_t *request, const pwr_topo_t *topo,
                            pwr_guard_t *guard, unsigned nth, info_cost_t *cost)
{
    char why[INFO_REASON_BYTES];
    pwr_topo_t *one = NULL;
    pwr_tstate_t *tstate;
    bool settled = true;
    const pwr_topo_t *moved = open_one_cpu(request, topo, &one) ? one : topo;
    if (pwr_tstate_open_nth(request->env, moved, guard, nth, why, sizeof why, &tstate) != PWR_OK) {
        snprintf(cost->why_not, sizeof cost->why_not, "it could not be opened a second time");
    } else {
        (void)info_cost_measure(request->env, move_tstate, tstate, cost);
        settled = close_tstate(tstate);
    }
    cost->cpus = pwr_topo_num_my_cpus(moved);
    pwr_topo_close(one);
    return settled;
}

bool info_gather_tstates(const info_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                         bool used, info_part_t *part)
{
    bool settled = true;
    const char *name;
    for (unsigned nth = 0; (name = pwr_tstate_backend_name(nth)); nth++) {
        info_progress_at(name);
        info_backend_t *backend = info_part_add(part, name);
        if (!backend) {
            break;
        }
        pwr_tstate_t *tstate;
        pwr_status_t status = pwr_tstate_open_nth(request->env, topo, guard, nth, backend->reason,
                                                  sizeof backend->reason, &tstate);
        if (status == PWR_OK) {
            backend->duty_step = guard ? pwr_tstate_step(tstate) : 0;
            settled = close_tstate(tstate) && settled;
        }
        info_part_enter(part, backend, status, state_of_success(guard, used));
    }
    if (!guard) {
        snprintf(part->cost.why_not, sizeof part->cost.why_not, "that needs writes");
    } else if (part->best >= 0) {
        info_progress_at("timing T-states");
        settled =
            measure_tstates(request, topo, guard, (unsigned)part->best, &part->cost) && settled;
    }
    return settled;
}
