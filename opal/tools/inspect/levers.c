/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every back end of every lever, tried by itself, and the cost of the one that would be used.
 *
 * With a guardian each is opened as a rank would open it, which writes back what was read; without
 * one nothing is written.  Nothing stays open, so the next one finds what the last one found.
 */
#include "config.h"

#include "tools/inspect/inspect.h"
#include "topo/topo_private.h"

#include <stdio.h>

typedef struct job {
    const inspect_request_t *request;
    pwr_guard_t *guard; /* NULL: only look */
    pwr_lever_id_t id;
    bool settled;
} job_t;

static pwr_status_t open_nth(const job_t *job, const pwr_topo_t *topo, unsigned nth,
                             char reason[INSPECT_REASON_BYTES], pwr_lever_t **lever)
{
    reason[0] = '\0';
    return pwr_lever_open_nth(job->id, &job->request->env, topo, job->guard, nth, reason,
                              INSPECT_REASON_BYTES, lever);
}

static void close_lever(job_t *job, pwr_lever_t *lever)
{
    job->settled = pwr_lever_is_settled(pwr_lever_restore(lever)) && job->settled;
    pwr_lever_close(lever);
}

/* ---- back ends ---- */

static json_t *number_or_null(uint32_t number)
{
    return number > 0 ? json_integer(number) : json_null();
}

static void inspect_one(job_t *job, const pwr_topo_t *topo, unsigned nth, bool used,
                        inspect_backends_t *backends)
{
    pwr_lever_t *lever;
    uint32_t lowest = 0, full = 0;
    char reason[INSPECT_REASON_BYTES];
    const char *works = job->guard ? "works" : "looks usable";
    pwr_status_t status = open_nth(job, topo, nth, reason, &lever);
    if (status == PWR_OK) {
        lowest = pwr_lever_lowest(lever);
        full = pwr_lever_full(lever);
        close_lever(job, lever);
    }
    json_t *row = inspect_backends_add(backends, pwr_lever_backend_name(job->id, nth), status,
                                       reason, used ? "used" : works, used ? "works" : works);
    json_object_set_new(row, "lowest", number_or_null(lowest));
    json_object_set_new(row, "full", number_or_null(full));
}

/* ---- cost ---- */

static pwr_status_t move(void *object, bool down)
{
    pwr_lever_t *lever = object;
    return down ? pwr_lever_set(lever, pwr_lever_lowest(lever)) : pwr_lever_restore(lever);
}

/* NULL when it cannot be opened. */
static json_t *measure_on(job_t *job, const pwr_topo_t *topo, unsigned nth)
{
    pwr_lever_counts_t counts;
    pwr_lever_t *lever;
    char reason[INSPECT_REASON_BYTES];
    if (open_nth(job, topo, nth, reason, &lever) != PWR_OK) {
        return NULL;
    }
    json_t *cost = pwr_lever_lowest(lever) < pwr_lever_full(lever)
                       ? inspect_cost(&job->request->env, move, lever, pwr_topo_num_my_cpus(topo))
                       : inspect_why_not("what was found is the lowest value");
    pwr_lever_count(lever, &counts);
    close_lever(job, lever);
    if (json_object_get(cost, "rounds") && counts.writes == 0) {
        json_decref(cost);
        cost = inspect_why_not("processes that share it did not agree to lower it");
    }
    return cost;
}

/* One CPU is what the cost is stated for; where the hardware moves several at once, all of ours:
   those of a package, too, which with one CPU alone would wait for others to agree. */
static json_t *measure(job_t *job, const pwr_topo_t *topo, unsigned nth)
{
    char cpu[16];
    pwr_topo_t *one = NULL;
    json_t *cost = NULL;
    snprintf(cpu, sizeof cpu, "%u", pwr_topo_my_cpu(topo, 0));
    if (pwr_lever_type(job->id)->scope == PWR_SCOPE_CPU &&
        pwr_topo_open_with_binding(&job->request->env, cpu, &one) == PWR_OK) {
        cost = measure_on(job, one, nth);
        pwr_topo_close(one);
    }
    if (!cost) {
        cost = measure_on(job, topo, nth);
    }
    return cost ? cost : inspect_why_not("it could not be opened a second time");
}

json_t *inspect_lever(const inspect_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                      bool used, pwr_lever_id_t id, bool *settled)
{
    const pwr_lever_type_t *type = pwr_lever_type(id);
    inspect_backends_t backends = {.rows = json_array(), .best = -1};
    job_t job = {.request = request, .guard = guard, .id = id, .settled = true};
    json_t *cost = NULL;
    const char *name;
    for (unsigned nth = 0; (name = pwr_lever_backend_name(id, nth)); nth++) {
        inspect_progress_at(name);
        inspect_one(&job, topo, nth, used, &backends);
    }
    if (backends.best >= 0 && !guard) {
        cost = inspect_why_not("that needs writes");
    } else if (backends.best >= 0) {
        inspect_progress_at("timing a lever");
        cost = measure(&job, topo, (unsigned)backends.best);
    }
    *settled = job.settled && *settled;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o?, s:o}", "name", type->name, "title",
                     type->title, "scope", pwr_scope_text(type->scope), "unit", type->unit,
                     "shown_unit", type->shown_unit, "shown_per_unit", type->shown_per_unit, "cost",
                     cost, "backends", backends.rows);
}
