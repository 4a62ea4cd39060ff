/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade: its verbs, what is asked again while levers are in use, and what happens when one
 * fails.
 *
 * While levers are in use, at most every 100 ms, before one is next lowered:
 *   1. does the guardian still live (else a new one takes over), and are the CPUs still our own?
 *   2. do other threads of ours compute while levers are held?
 * The first "no" puts everything back and keeps it off for the rest of the job.
 */
#include "config.h"

#include "power_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pwr_power_config_t pwr_power_config_all(const char *run_directory)
{
    pwr_power_config_t config = {.run_directory = run_directory};
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        config.use[id] = true;
    }
    return config;
}

pwr_status_t pwr_power_open_on(const pwr_env_t *env, const pwr_power_config_t *config,
                               pwr_topo_t *topo, const pwr_watch_kernel_t *kernel,
                               pwr_power_t **power)
{
    pwr_power_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        made->levers[id].use = config->use[id];
        if (config->policy) {
            made->levers[id].break_even = pwr_policy_break_even(config->policy, (pwr_lever_id_t)id);
        }
    }
    made->hardware_first = config->hardware_first;
    made->run_directory = config->run_directory ? strdup(config->run_directory) : NULL;
    pwr_status_t status = PWR_ERR_NOMEM;
    if (made->run_directory || !config->run_directory) {
        status = pwr_ownership_open(env, topo, config->run_directory, kernel, &made->ownership);
    }
    if (status != PWR_OK) {
        free(made->run_directory);
        free(made);
        return status;
    }
    made->topo = topo;
    *power = made;
    return PWR_OK;
}

pwr_status_t pwr_power_open(const pwr_env_t *env, const pwr_power_config_t *config,
                            pwr_power_t **power)
{
    pwr_topo_t *topo;
    pwr_status_t status = pwr_topo_open(env, &topo);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_power_open_on(env, config, topo, NULL, power);
    if (status != PWR_OK) {
        pwr_topo_close(topo);
    }
    return status;
}

/* ---- why levers are off ---- */

static void append(char *text, size_t size, const char *between, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? between : "", more);
}

/* "P-states, T-states off: " all that are off for the reason of the first one. */
static void describe_reason(pwr_power_t *power, unsigned first)
{
    const char *reason = power->levers[first].why_off;
    char titles[128] = "";
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (strcmp(power->levers[id].why_off, reason) == 0) {
            if (id < first) {
                return; /* said with that one */
            }
            append(titles, sizeof titles, ", ", pwr_lever_type((pwr_lever_id_t)id)->title);
        }
    }
    append(power->why_off, sizeof power->why_off, "; ", titles);
    append(power->why_off, sizeof power->why_off, " off: ", reason);
}

void pwr_power_note_off(pwr_power_t *power, pwr_lever_id_t id, const char *reason)
{
    append(power->levers[id].why_off, sizeof power->levers[id].why_off, "; ", reason);
    power->why_off[0] = '\0';
    for (unsigned i = 0; i < PWR_NUM_LEVERS; i++) {
        if (power->levers[i].why_off[0] != '\0') {
            describe_reason(power, i);
        }
    }
}

void pwr_power_note_all_off(pwr_power_t *power, const char *reason)
{
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (power->levers[id].use) {
            pwr_power_note_off(power, (pwr_lever_id_t)id, reason);
        }
    }
}

/* ---- giving up ---- */

/* Restores, as far as it can, and tells whether nothing of ours is left. */
static bool drop(pwr_power_t *power, unsigned id)
{
    pwr_power_lever_t *own = &power->levers[id];
    if (!own->lever) {
        return true;
    }
    bool settled = pwr_lever_is_settled(pwr_lever_restore(own->lever));
    pwr_lever_count(own->lever, &power->counters.lever[id]);
    pwr_lever_close(own->lever);
    own->lever = NULL;
    own->value = PWR_POWER_AS_FOUND;
    return settled;
}

static bool drop_levers(pwr_power_t *power)
{
    bool settled = true;
    for (unsigned id = PWR_NUM_LEVERS; id-- > 0;) {
        settled = drop(power, id) && settled;
    }
    return settled;
}

/* What we cannot restore, the guardian tries at once: it opens the files anew and is patient.  That
   ends its service, so the other levers go too. */
static void leave_to_guardian(pwr_power_t *power)
{
    (void)drop_levers(power);
    pwr_guard_abandon(power->guard);
    power->guard = NULL;
    pwr_power_note_all_off(power, "originals were left to the guardian");
}

static void give_up(pwr_power_t *power, unsigned id, pwr_status_t cause)
{
    char reason[128];
    bool yielded = cause == PWR_ERR_FOREIGN;
    bool settled = drop(power, id);
    if (yielded) {
        power->counters.lever[id].yielded++;
    } else {
        power->counters.lever[id].errors++;
    }
    snprintf(reason, sizeof reason, "%s (%s)",
             yielded ? "yielded for the rest of the job" : "given up: a write failed",
             pwr_status_text(cause));
    pwr_env_log(power->env, PWR_LOG_WARN, "%s are %s; %s",
                pwr_lever_type((pwr_lever_id_t)id)->title, reason,
                settled ? "originals are restored" : "the guardian restores the originals");
    pwr_power_note_off(power, (pwr_lever_id_t)id, reason);
    if (!settled) {
        leave_to_guardian(power);
    }
}

/* Everything back and off for the rest of the job. */
static void give_up_all(pwr_power_t *power, const char *reason)
{
    bool settled = drop_levers(power);
    power->counters.withdrawn++;
    pwr_env_log(power->env, PWR_LOG_WARN, "all levers are off for the rest of the job: %s", reason);
    pwr_power_note_all_off(power, reason);
    if (!settled) {
        leave_to_guardian(power);
        return;
    }
    pwr_guard_stop(power->guard);
    power->guard = NULL;
}

/* ---- while levers are in use ---- */

static bool holds_levers(const pwr_power_t *power)
{
    bool holds = false;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        holds = holds || power->levers[id].value != PWR_POWER_AS_FOUND;
    }
    return holds;
}

/* 1. */
static bool still_in_order(pwr_power_t *power, char reason[PWR_OWNERSHIP_REASON_BYTES])
{
    if (!pwr_guard_lives(power->guard) && pwr_guard_revive(power->guard) != PWR_OK) {
        snprintf(reason, PWR_OWNERSHIP_REASON_BYTES,
                 "the guardian died, and no new one could be started");
        return false;
    }
    return pwr_ownership_recheck(power->ownership, reason);
}

/* Before a lever is lowered, also while one is held: a rank may wait for minutes. */
static void check_before(pwr_power_t *power)
{
    char reason[PWR_OWNERSHIP_REASON_BYTES];
    if (!power->guard) {
        return; /* no lever is on: not even the clock is read */
    }
    uint64_t now_ns = pwr_env_now_ns(power->env);
    if (now_ns - power->checked_ns < PWR_RECHECK_NS) {
        return;
    }
    if (!still_in_order(power, reason)) {
        give_up_all(power, reason);
        return;
    }
    power->checked_ns = now_ns;
    if (!holds_levers(power)) {
        power->watched = true;
        pwr_ownership_begin_hold(power->ownership);
    }
}

/* 2. */
static void check_after(pwr_power_t *power)
{
    char reason[PWR_OWNERSHIP_REASON_BYTES];
    if (!power->watched || holds_levers(power)) {
        return;
    }
    power->watched = false;
    if (!pwr_ownership_end_hold(power->ownership, reason) && power->guard) {
        give_up_all(power, reason);
    }
}

/* ---- verbs ---- */

static void move(pwr_power_t *power, unsigned id, uint32_t value)
{
    pwr_power_lever_t *own = &power->levers[id];
    bool restore = value == PWR_POWER_AS_FOUND;
    if (!own->lever || own->value == value) {
        return;
    }
    uint64_t begin_ns = pwr_env_now_ns(power->env);
    pwr_status_t status =
        restore ? pwr_lever_restore(own->lever) : pwr_lever_set(own->lever, value);
    if (status != PWR_OK) {
        give_up(power, id, status);
        return;
    }
    pwr_break_even_saw(&own->break_even, restore ? PWR_LEVER_EXIT : PWR_LEVER_ENTRY,
                       pwr_env_now_ns(power->env) - begin_ns);
    own->value = value;
    pwr_lever_count(own->lever, &power->counters.lever[id]);
}

static void put_back(pwr_power_t *power, pwr_lever_verb_t verb)
{
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (pwr_lever_type((pwr_lever_id_t)id)->verb == verb) {
            move(power, id, PWR_POWER_AS_FOUND);
        }
    }
    check_after(power);
}

/* Only a lever that is not lowered yet can be spared its transition. */
static bool pays(const pwr_lever_type_t *type, pwr_power_lever_t *own, uint64_t expected_ns)
{
    if (own->value != PWR_POWER_AS_FOUND) {
        return true;
    }
    return expected_ns == PWR_POWER_LENGTH_UNKNOWN
               ? !type->needs_length
               : pwr_break_even_pays(&own->break_even, expected_ns);
}

/* steps: below full; 0: as far as it goes. */
static void lower(pwr_power_t *power, pwr_lever_verb_t verb, unsigned steps, uint64_t expected_ns)
{
    check_before(power);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        const pwr_lever_type_t *type = pwr_lever_type((pwr_lever_id_t)id);
        pwr_power_lever_t *own = &power->levers[id];
        if (type->verb != verb || !own->use) {
            continue;
        }
        if (!own->lever || !pays(type, own, expected_ns)) {
            power->counters.lever[id].skipped++;
            continue;
        }
        move(power, id, steps > 0 ? type->full - steps * type->step : pwr_lever_lowest(own->lever));
    }
}

void pwr_power_move(pwr_power_t *power, pwr_lever_id_t lever, bool down)
{
    const pwr_power_lever_t *own = &power->levers[lever];
    if (down) {
        check_before(power);
    }
    if (own->lever) {
        move(power, lever, down ? pwr_lever_lowest(own->lever) : PWR_POWER_AS_FOUND);
    }
    check_after(power);
}

void pwr_power_low(pwr_power_t *power, uint64_t expected_ns)
{
    lower(power, PWR_VERB_LOW, 0, expected_ns);
}

void pwr_power_full(pwr_power_t *power)
{
    put_back(power, PWR_VERB_LOW);
}

void pwr_power_throttle(pwr_power_t *power, unsigned level, uint64_t expected_ns)
{
    if (level == PWR_TSTATE_FULL) {
        put_back(power, PWR_VERB_THROTTLE);
    } else {
        lower(power, PWR_VERB_THROTTLE, level < PWR_TSTATE_DEEPEST ? level : PWR_TSTATE_DEEPEST,
              expected_ns);
    }
}

void pwr_power_unthrottle(pwr_power_t *power)
{
    put_back(power, PWR_VERB_THROTTLE);
}

unsigned pwr_power_level(const pwr_power_t *power)
{
    const pwr_lever_type_t *type = pwr_lever_type(PWR_LEVER_TSTATE);
    uint32_t duty = power->levers[PWR_LEVER_TSTATE].value;
    return duty == PWR_POWER_AS_FOUND ? PWR_TSTATE_FULL : (type->full - duty) / type->step;
}

const pwr_topo_t *pwr_power_topo(const pwr_power_t *power)
{
    return power->topo;
}

bool pwr_power_is_allowed(const pwr_power_t *power)
{
    return power->allowed;
}

bool pwr_power_has_any(const pwr_power_t *power)
{
    return power->guard != NULL;
}

bool pwr_power_has(const pwr_power_t *power, pwr_lever_id_t lever)
{
    return power->levers[lever].lever != NULL;
}

const char *pwr_power_why_off(const pwr_power_t *power)
{
    return power->why_off;
}

pwr_power_counters_t pwr_power_counters(const pwr_power_t *power)
{
    return power->counters;
}

void pwr_power_levers(const pwr_power_t *power, pwr_lever_use_t uses[PWR_NUM_LEVERS])
{
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        const pwr_lever_t *lever = power->levers[id].lever;
        uses[id] = (pwr_lever_use_t){.counts = power->counters.lever[id]};
        snprintf(uses[id].backend, sizeof uses[id].backend, "%s",
                 lever ? pwr_lever_backend(lever) : "");
        snprintf(uses[id].why_off, sizeof uses[id].why_off, "%s", power->levers[id].why_off);
    }
}

void pwr_power_close(pwr_power_t *power)
{
    if (!power) {
        return;
    }
    if (drop_levers(power)) {
        pwr_guard_stop(power->guard);
    } else {
        pwr_guard_abandon(power->guard);
    }
    pwr_ownership_close(power->ownership);
    pwr_topo_close(power->topo);
    free(power->run_directory);
    free(power);
}
