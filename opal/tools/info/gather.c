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
#include "pwr/neighbours.h"
#include "tools/info/info.h"
#include "topo/topo_private.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. topology ---- */

static void say_nothing(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    (void)level;
    (void)line;
}

/* On another root's machine there is nobody to bind: the topology alone is told. */
static pwr_status_t bind_to(const info_request_t *request)
{
    pwr_topo_t *wanted;
    pwr_env_t quiet = *request->env; /* the library would call it our binding */
    quiet.log = say_nothing;
    pwr_status_t status = pwr_topo_open_with_binding(&quiet, request->cpus, &wanted);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-info: --cpus %s: names no CPU of this machine\n",
                request->cpus);
        return status;
    }
    unsigned highest = pwr_topo_my_cpu(wanted, pwr_topo_num_my_cpus(wanted) - 1);
    cpu_set_t *mask = CPU_ALLOC(highest + 1);
    if (!mask) {
        status = PWR_ERR_NOMEM;
    } else if (request->env->root[0] == '\0') {
        size_t size = CPU_ALLOC_SIZE(highest + 1);
        CPU_ZERO_S(size, mask);
        for (unsigned i = 0; i < pwr_topo_num_my_cpus(wanted); i++) {
            CPU_SET_S(pwr_topo_my_cpu(wanted, i), size, mask);
        }
        if (sched_setaffinity(0, size, mask) != 0) {
            fprintf(stderr, "poweraware-info: --cpus %s: %s (not in this process's cpuset?)\n",
                    request->cpus, strerror(errno));
            status = PWR_ERR_ARG;
        }
    }
    CPU_FREE(mask);
    pwr_topo_close(wanted);
    return status;
}

static const char *told_cpus(const info_request_t *request)
{
    return request->env->root[0] != '\0' ? request->cpus : NULL;
}

static pwr_status_t open_own_topo(const info_request_t *request, pwr_topo_t **topo)
{
    pwr_status_t status = request->cpus ? bind_to(request) : PWR_OK;
    return status == PWR_OK ? pwr_topo_open_with_binding(request->env, told_cpus(request), topo) : status;
}

void info_format_cpus(const pwr_topo_t *topo, info_cpu_at_t at, unsigned count, char *text,
                      unsigned size)
{
    unsigned used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count;) {
        char range[32];
        unsigned first = at(topo, i);
        unsigned last = first;
        for (i++; i < count && at(topo, i) == last + 1; i++) {
            last++;
        }
        int length = last > first ? snprintf(range, sizeof range, "%u-%u", first, last)
                                  : snprintf(range, sizeof range, "%u", first);
        if (used + 1 + (unsigned)length + sizeof ",..." > size) {
            snprintf(text + used, size - used, ",...");
            return;
        }
        used += (unsigned)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", range);
    }
}

/* ---- 3. whose CPUs ---- */

static void ask_claims(const info_request_t *request, const pwr_topo_t *topo,
                       info_binding_t *binding)
{
    pwr_claim_t *claim;
    binding->exclusive = INFO_NOT_ASKED;
    if (!request->probe || !binding->bound ||
        pwr_claim_take(request->env, topo, request->run_directory, &claim) != PWR_OK) {
        return;
    }
    binding->exclusive = pwr_claim_is_exclusive(claim, &binding->shared_cpu) ? INFO_YES : INFO_NO;
    pwr_claim_release(claim);
}

static void ask_neighbours(const info_request_t *request, const pwr_topo_t *topo,
                           info_binding_t *binding)
{
    pwr_neighbours_t neighbours;
    binding->neighbour[0] = '\0';
    if (binding->bound && pwr_neighbours_scan(request->env, topo, &neighbours) == PWR_OK) {
        pwr_neighbours_describe(&neighbours, binding->neighbour, sizeof binding->neighbour);
    }
}

static void gather_binding(const info_request_t *request, const pwr_topo_t *topo,
                           info_binding_t *binding)
{
    binding->bound = pwr_topo_is_bound(topo);
    info_format_cpus(topo, pwr_topo_my_cpu, pwr_topo_num_my_cpus(topo), binding->own,
                     sizeof binding->own);
    info_format_cpus(topo, pwr_topo_reached_cpu, pwr_topo_num_reached_cpus(topo), binding->reached,
                     sizeof binding->reached);
    ask_claims(request, topo, binding);
    ask_neighbours(request, topo, binding);
}

/* ---- 4. the facade ---- */

/* The facade owns a topology of its own.  NULL: not asked, the reason is in why_off. */
static pwr_power_t *arm(const info_request_t *request, info_binding_t *binding)
{
    const pwr_power_config_t config = pwr_power_config_all(request->run_directory);
    pwr_topo_t *topo;
    pwr_power_t *power;
    if (!binding->bound) {
        snprintf(binding->why_off, sizeof binding->why_off,
                 "this process is not bound to CPUs of its own");
        return NULL;
    }
    if (!request->probe) {
        snprintf(binding->why_off, sizeof binding->why_off, "only looked at (--no-probe)");
        return NULL;
    }
    pwr_status_t status = pwr_topo_open_with_binding(request->env, told_cpus(request), &topo);
    if (status == PWR_OK) {
        status = pwr_power_open_on(request->env, &config, topo, NULL, &power);
        if (status != PWR_OK) {
            pwr_topo_close(topo);
        }
    }
    if (status != PWR_OK) {
        snprintf(binding->why_off, sizeof binding->why_off, "%s", pwr_status_text(status));
        return NULL;
    }
    pwr_power_arm(power);
    snprintf(binding->why_off, sizeof binding->why_off, "%s", pwr_power_why_off(power));
    return power;
}

/* ---- 5. levers ---- */

static void gather_levers(const info_request_t *request, const pwr_topo_t *topo,
                          info_report_t *report)
{
    info_part_t *parts = report->parts;
    pwr_guard_t *guard = NULL;
    info_progress_at("asking for the levers as a rank would");
    pwr_power_t *power = arm(request, &report->binding); /* its claim stays until the end */
    bool allowed = power && pwr_power_is_allowed(power);
    const pwr_guard_config_t config = {.run_directory = request->run_directory};
    if (allowed && pwr_guard_start(request->env, &config, &guard) != PWR_OK) {
        guard = NULL;
    }
    report->binding.levers_allowed = allowed;
    bool settled = true;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        bool used = allowed && pwr_power_has(power, (pwr_lever_id_t)id);
        settled = info_gather_lever(request, topo, guard, used, &parts[id]) && settled;
    }
    if (settled) {
        pwr_guard_stop(guard);
    } else {
        fputs("poweraware-info: a lever could not be restored; the guardian goes on trying\n",
              stderr);
        pwr_guard_abandon(guard);
    }
    pwr_power_close(power);
}

pwr_status_t info_gather(const info_request_t *request, info_report_t *report)
{
    pwr_topo_t *topo;
    memset(report, 0, sizeof *report);
    for (info_subject_t subject = 0; subject < INFO_SUBJECTS; subject++) {
        report->parts[subject].subject = subject;
        report->parts[subject].vendor = report->machine.cpu.vendor; /* read below, before its use */
        report->parts[subject].best = -1;
    }
    info_progress_at("reading the topology");
    pwr_status_t status = open_own_topo(request, &topo); /* 1. */
    if (status != PWR_OK) {
        return status;
    }
    info_progress_at("describing the machine");
    info_gather_machine(request->env, topo, &report->machine); /* 2. */
    info_progress_at("looking for other processes on our CPUs");
    gather_binding(request, topo, &report->binding);                /* 3. */
    gather_levers(request, topo, report);                           /* 4., 5. */
    info_gather_meters(request, topo, &report->parts[INFO_ENERGY]); /* 6. */
    pwr_topo_close(topo);
    return PWR_OK;
}
