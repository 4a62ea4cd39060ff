/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gathers the report, in an order in which nothing disturbs anybody:
 *
 *   1. the topology, under the binding that was asked for;
 *   2. the machine;
 *   3. whose the CPUs are.  An unbound process claims nothing, not even for a moment: its CPUs are
 *      all of them, and ranks that start just then would keep their levers off;
 *   4. whether a process with this binding may move levers: asked of the same facade that a rank
 *      asks, so that the answer is the same;
 *   5. every back end, with a guardian if so, else only looked at;
 *   6. the meters, which disturb nobody.
 */
#include "config.h"

#include "power_private.h"
#include "pwr/claim.h"
#include "pwr/guard.h"
#include "pwr/json.h"
#include "pwr/neighbours.h"
#include "tools/inspect/inspect.h"
#include "topo/cpulist.h"
#include "topo/topo_private.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. topology ---- */

/* On another root's machine there is nobody to bind: the topology alone is told. */
static const char *told_cpus(const inspect_request_t *request)
{
    return request->env.root[0] != '\0' ? request->cpus : NULL;
}

static pwr_status_t bind_to(const inspect_request_t *request)
{
    pwr_topo_t *wanted;
    const pwr_env_t quiet = pwr_env_quiet(&request->env); /* it would be called our binding */
    pwr_status_t status = pwr_topo_open_with_binding(&quiet, request->cpus, &wanted);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-info: --cpus %s: names no CPU of this machine\n",
                request->cpus);
        return status;
    }
    if (!told_cpus(request) && !pwr_cpuset_bind(&pwr_topo_sets(wanted)->mine)) {
        fprintf(stderr, "poweraware-info: --cpus %s: %s (not in this process's cpuset?)\n",
                request->cpus, strerror(errno));
        status = PWR_ERR_ARG;
    }
    pwr_topo_close(wanted);
    return status;
}

static pwr_status_t open_own_topo(const inspect_request_t *request, pwr_topo_t **topo)
{
    pwr_status_t status = request->cpus ? bind_to(request) : PWR_OK;
    return status == PWR_OK ? pwr_topo_open_with_binding(&request->env, told_cpus(request), topo)
                            : status;
}

/* ---- 3. whose CPUs ---- */

/* "0-3,8" */
static json_t *list_of_cpus(const pwr_cpuset_t *set)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    char *list = NULL;
    for (unsigned i = 0; cpus && i < PWR_CPUSET_WORDS; i++) {
        hwloc_bitmap_set_ith_ulong(cpus, i, set->words[i]);
    }
    json_t *text = cpus && hwloc_bitmap_list_asprintf(&list, cpus) >= 0 ? json_string(list) : NULL;
    free(list);
    hwloc_bitmap_free(cpus);
    return text;
}

static void ask_claims(const inspect_request_t *request, const pwr_topo_t *topo, json_t *binding)
{
    pwr_claim_t *claim;
    unsigned shared_cpu;
    if (!request->probe || !pwr_topo_is_bound(topo) ||
        pwr_claim_take(&request->env, topo, request->run_directory, &claim) != PWR_OK) {
        return;
    }
    bool exclusive = pwr_claim_is_exclusive(claim, &shared_cpu);
    json_object_set_new(binding, "exclusive", json_boolean(exclusive));
    if (!exclusive) {
        json_object_set_new(binding, "shared_cpu", json_integer(shared_cpu));
    }
    pwr_claim_release(claim);
}

static json_t *neighbours(const inspect_request_t *request, const pwr_topo_t *topo)
{
    pwr_neighbours_t found;
    char text[256] = "";
    if (pwr_topo_is_bound(topo) && pwr_neighbours_scan(&request->env, topo, &found) == PWR_OK) {
        pwr_neighbours_describe(&found, text, sizeof text);
    }
    return pwr_json_text_or_null(text, sizeof text);
}

static json_t *inspect_binding(const inspect_request_t *request, const pwr_topo_t *topo)
{
    json_t *binding =
        json_pack("{s:o, s:o, s:b, s:n, s:n}", "own_cpus", list_of_cpus(&pwr_topo_sets(topo)->mine),
                  "reached_cpus", list_of_cpus(&pwr_topo_sets(topo)->reached), "bound",
                  (int)pwr_topo_is_bound(topo), "exclusive", "shared_cpu");
    ask_claims(request, topo, binding);
    json_object_set_new(binding, "neighbours", neighbours(request, topo));
    return binding;
}

/* ---- 4. the facade ---- */

/* The facade owns a topology of its own.  NULL: not asked, or not to be had. */
static pwr_power_t *arm(const inspect_request_t *request, const pwr_topo_t *own, const char **why)
{
    const pwr_power_config_t config = pwr_power_config_all(request->run_directory);
    pwr_topo_t *topo;
    pwr_power_t *power;
    if (!pwr_topo_is_bound(own)) {
        *why = "this process is not bound to CPUs of its own";
        return NULL;
    }
    if (!request->probe) {
        *why = "only looked at (--no-probe)";
        return NULL;
    }
    pwr_status_t status = pwr_topo_open_with_binding(&request->env, told_cpus(request), &topo);
    if (status == PWR_OK) {
        status = pwr_power_open_on(&request->env, &config, topo, NULL, &power);
        if (status != PWR_OK) {
            pwr_topo_close(topo);
        }
    }
    if (status != PWR_OK) {
        *why = pwr_status_text(status);
        return NULL;
    }
    pwr_power_arm(power);
    *why = pwr_power_why_off(power);
    return power;
}

/* ---- 5. levers ---- */

static json_t *inspect_levers(const inspect_request_t *request, const pwr_topo_t *topo,
                              json_t *binding)
{
    pwr_guard_t *guard = NULL;
    const char *why_off;
    inspect_progress_at("asking for the levers as a rank would");
    pwr_power_t *power = arm(request, topo, &why_off); /* its claim stays until the end */
    bool allowed = power && pwr_power_is_allowed(power);
    json_object_set_new(binding, "levers_allowed", json_boolean(allowed));
    json_object_set_new(binding, "why_off", pwr_json_text_or_null(why_off, INSPECT_REASON_BYTES));
    const pwr_guard_config_t config = {.run_directory = request->run_directory};
    if (allowed && pwr_guard_start(&request->env, &config, &guard) != PWR_OK) {
        guard = NULL;
    }
    bool settled = true;
    json_t *levers = json_array();
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        bool used = allowed && pwr_power_has(power, (pwr_lever_id_t)id);
        json_array_append_new(
            levers, inspect_lever(request, topo, guard, used, (pwr_lever_id_t)id, &settled));
    }
    if (settled) {
        pwr_guard_stop(guard);
    } else {
        fputs("poweraware-info: a lever could not be restored; the guardian goes on trying\n",
              stderr);
        pwr_guard_abandon(guard);
    }
    pwr_power_close(power);
    return levers;
}

pwr_status_t inspect_gather(const inspect_request_t *request, json_t **report)
{
    pwr_topo_t *topo;
    inspect_progress_at("reading the topology");
    pwr_status_t status = open_own_topo(request, &topo); /* 1. */
    if (status != PWR_OK) {
        return status;
    }
    inspect_progress_at("describing the machine");
    json_t *machine = inspect_machine(&request->env, topo); /* 2. */
    inspect_progress_at("looking for other processes on our CPUs");
    json_t *binding = inspect_binding(request, topo);        /* 3. */
    json_t *levers = inspect_levers(request, topo, binding); /* 4., 5. */
    *report = json_pack("{s:o, s:o, s:o, s:o, s:o}", "machine", machine, "software",
                        inspect_software(), "binding", binding, "levers", levers, "energy",
                        inspect_meters(request, topo)); /* 6. */
    pwr_topo_close(topo);
    return *report ? PWR_OK : PWR_ERR_NOMEM;
}
