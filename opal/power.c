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

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pwr_status_t pwr_power_open_on(const pwr_env_t *env, const pwr_power_config_t *config,
                               pwr_topo_t *topo, const pwr_watch_kernel_t *kernel,
                               pwr_power_t **power)
{
    pwr_power_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    made->use_pstates = config->use_pstates;
    made->use_tstates = config->use_tstates;
    if (config->run_directory) {
        made->run_directory = strdup(config->run_directory);
        if (!made->run_directory) {
            free(made);
            return PWR_ERR_NOMEM;
        }
    }
    pwr_status_t status =
        pwr_ownership_open(env, topo, config->run_directory, kernel, &made->ownership);
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

void pwr_power_note_off(pwr_power_t *power, const char *format, ...)
{
    char line[PWR_POWER_WHY_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t used = strlen(power->why_off);
    snprintf(power->why_off + used, sizeof power->why_off - used, "%s%s", used > 0 ? "; " : "",
             line);
}

/* ---- giving up ---- */

/* What somebody else has set is theirs, and nothing that we still have to put back. */
static bool is_settled(pwr_status_t status)
{
    return status == PWR_OK || status == PWR_ERR_FOREIGN;
}

/* What is in force from now on. */
static void note(pwr_power_t *power, bool low, unsigned level)
{
    uint64_t now_ns = pwr_env_now_ns(power->env);
    uint64_t lasted_ns = now_ns - power->changed_ns;
    power->counters.low_ns += power->low ? lasted_ns : 0;
    power->counters.throttled_ns += power->level != PWR_TSTATE_FULL ? lasted_ns : 0;
    power->low = low;
    power->level = level;
    power->changed_ns = now_ns;
}

/* These restore, as far as they can, and tell whether nothing of ours is left. */
static bool drop_pstates(pwr_power_t *power)
{
    bool settled = true;
    if (power->pstate) {
        settled = is_settled(pwr_pstate_restore(power->pstate));
        power->counters.adopted += pwr_pstate_num_adopted(power->pstate);
    }
    pwr_pstate_close(power->pstate);
    power->pstate = NULL;
    note(power, false, power->level);
    return settled;
}

static bool drop_tstates(pwr_power_t *power)
{
    bool settled = true;
    if (power->tstate) {
        settled = is_settled(pwr_tstate_restore(power->tstate));
        power->counters.adopted += pwr_tstate_num_adopted(power->tstate);
    }
    pwr_tstate_close(power->tstate);
    power->tstate = NULL;
    note(power, power->low, PWR_TSTATE_FULL);
    return settled;
}

static bool drop_levers(pwr_power_t *power)
{
    bool settled = drop_tstates(power);
    return drop_pstates(power) && settled;
}

/* What we cannot restore, the guardian tries at once: it opens the files anew and is patient.  That
   ends its service, so the other lever goes too. */
static void leave_to_guardian(pwr_power_t *power)
{
    (void)drop_levers(power);
    pwr_guard_abandon(power->guard);
    power->guard = NULL;
    pwr_power_note_off(power, "all levers off: originals were left to the guardian");
}

static void give_up(pwr_power_t *power, const char *lever, pwr_status_t cause, bool settled)
{
    bool yielded = cause == PWR_ERR_FOREIGN;
    if (yielded) {
        power->counters.yielded++;
    } else {
        power->counters.errors++;
    }
    const char *what = yielded ? "yielded for the rest of the job" : "given up: a write failed";
    pwr_env_log(power->env, PWR_LOG_WARN, "%s are %s (%s); %s", lever, what, pwr_status_text(cause),
                settled ? "originals are restored" : "the guardian restores the originals");
    pwr_power_note_off(power, "%s %s (%s)", lever, what, pwr_status_text(cause));
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
    pwr_power_note_off(power, "all levers off: %s", reason);
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
    return power->low || power->level != PWR_TSTATE_FULL;
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

static void set_low(pwr_power_t *power, bool low)
{
    if (low) {
        check_before(power);
    }
    if (!power->pstate) {
        power->counters.skipped++;
        return;
    }
    if (power->low == low) {
        return;
    }
    pwr_status_t status = low ? pwr_pstate_set(power->pstate, pwr_pstate_min_khz(power->pstate))
                              : pwr_pstate_restore(power->pstate);
    if (status != PWR_OK) {
        give_up(power, "P-states", status, drop_pstates(power));
        return;
    }
    note(power, low, power->level);
    power->counters.pstate_writes++;
    check_after(power);
}

static void set_level(pwr_power_t *power, unsigned level)
{
    if (level != PWR_TSTATE_FULL) {
        check_before(power);
    }
    if (!power->tstate) {
        power->counters.skipped++;
        return;
    }
    if (power->level == level) {
        return;
    }
    pwr_status_t status =
        pwr_tstate_set(power->tstate, PWR_DUTY_FULL - PWR_DUTY_PER_TSTATE * level);
    if (status != PWR_OK) {
        give_up(power, "T-states", status, drop_tstates(power));
        return;
    }
    note(power, power->low, level);
    power->counters.tstate_writes++;
    check_after(power);
}

void pwr_power_low(pwr_power_t *power)
{
    set_low(power, true);
}

void pwr_power_full(pwr_power_t *power)
{
    set_low(power, false);
}

void pwr_power_throttle(pwr_power_t *power, unsigned level)
{
    set_level(power, level < PWR_TSTATE_DEEPEST ? level : PWR_TSTATE_DEEPEST);
}

void pwr_power_unthrottle(pwr_power_t *power)
{
    set_level(power, PWR_TSTATE_FULL);
}

const pwr_topo_t *pwr_power_topo(const pwr_power_t *power)
{
    return power->topo;
}

bool pwr_power_is_allowed(const pwr_power_t *power)
{
    return power->allowed;
}

bool pwr_power_has_pstates(const pwr_power_t *power)
{
    return power->pstate != NULL;
}

bool pwr_power_has_tstates(const pwr_power_t *power)
{
    return power->tstate != NULL;
}

const char *pwr_power_pstate_backend(const pwr_power_t *power)
{
    return power->pstate ? pwr_pstate_backend(power->pstate) : NULL;
}

const char *pwr_power_tstate_backend(const pwr_power_t *power)
{
    return power->tstate ? pwr_tstate_backend(power->tstate) : NULL;
}

const char *pwr_power_why_off(const pwr_power_t *power)
{
    return power->why_off;
}

unsigned pwr_power_level(const pwr_power_t *power)
{
    return power->level;
}

pwr_power_counters_t pwr_power_counters(const pwr_power_t *power)
{
    pwr_power_counters_t counters = power->counters;
    if (power->pstate) {
        counters.adopted += pwr_pstate_num_adopted(power->pstate);
    }
    if (power->tstate) {
        counters.adopted += pwr_tstate_num_adopted(power->tstate);
    }
    return counters;
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
