/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every back end of every lever, tried by itself, and the cost of the one that would be used.
 *
 * With a guardian each is opened as a rank would open it, which writes back what was read; without
 * one nothing is written.  Nothing stays open, so the next one finds what the last one found.
 */
#include "config.h"

#include "tools/info/info.h"
#include "topo/topo_private.h"

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
    return pwr_topo_open_with_binding(request->env, cpu, one) == PWR_OK;
}

/* ---- one lever ---- */

static pwr_status_t move(void *object, bool down)
{
    pwr_lever_t *lever = object;
    return down ? pwr_lever_set(lever, pwr_lever_lowest(lever)) : pwr_lever_restore(lever);
}

static bool close_lever(pwr_lever_t *lever)
{
    bool settled = is_settled(pwr_lever_restore(lever));
    pwr_lever_close(lever);
    return settled;
}

static pwr_status_t open_nth(const info_request_t *request, const pwr_topo_t *topo,
                             pwr_guard_t *guard, const info_part_t *part, unsigned nth,
                             info_backend_t *backend, pwr_lever_t **lever)
{
    return pwr_lever_open_nth((pwr_lever_id_t)part->subject, request->env, topo, guard, nth,
                              backend->reason, sizeof backend->reason, lever);
}

static bool measure(const info_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                    info_part_t *part)
{
    info_cost_t *cost = &part->cost;
    info_backend_t again = {0};
    unsigned nth = (unsigned)part->best;
    bool settled = true;
    pwr_topo_t *one = NULL;
    pwr_lever_t *lever = NULL;
    const pwr_topo_t *moved = topo;
    if (open_one_cpu(request, topo, &one) &&
        open_nth(request, one, guard, part, nth, &again, &lever) == PWR_OK) {
        moved = one;
    } else if (open_nth(request, topo, guard, part, nth, &again, &lever) != PWR_OK) {
        lever = NULL;
    }
    if (!lever) {
        snprintf(cost->why_not, sizeof cost->why_not, "it could not be opened a second time");
    } else if (pwr_lever_lowest(lever) >= pwr_lever_full(lever)) {
        snprintf(cost->why_not, sizeof cost->why_not, "what was found is the lowest value");
        settled = close_lever(lever);
    } else {
        (void)info_cost_measure(request->env, move, lever, cost);
        settled = close_lever(lever);
    }
    cost->cpus = pwr_topo_num_my_cpus(moved);
    pwr_topo_close(one);
    return settled;
}

bool info_gather_lever(const info_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                       bool used, info_part_t *part)
{
    bool settled = true;
    const char *name;
    for (unsigned nth = 0; (name = pwr_lever_backend_name((pwr_lever_id_t)part->subject, nth));
         nth++) {
        info_progress_at(name);
        info_backend_t *backend = info_part_add(part, name);
        if (!backend) {
            break;
        }
        pwr_lever_t *lever;
        pwr_status_t status = open_nth(request, topo, guard, part, nth, backend, &lever);
        if (status == PWR_OK) {
            backend->lowest = pwr_lever_lowest(lever);
            backend->full = pwr_lever_full(lever);
            settled = close_lever(lever) && settled;
        }
        info_part_enter(part, backend, status, state_of_success(guard, used));
    }
    if (!guard) {
        snprintf(part->cost.why_not, sizeof part->cost.why_not, "that needs writes");
    } else if (part->best >= 0) {
        info_progress_at("timing a lever");
        settled = measure(request, topo, guard, part) && settled;
    }
    return settled;
}
