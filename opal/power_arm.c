/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Arming: whether levers may be used at all.
 *
 * Arming asks, in this order, and the first "no" keeps every lever off:
 *   1. has the program no rights but its user's, and are its CPUs its own (ownership.h)?
 *   2. is there a guardian who would put everything back?
 *   3. per lever: would it slow nobody else down, and does the hardware take a write?
 *
 * Who has no hardware or no rights is told that first: a binding alone would win nothing.  1 and 2
 * look at all processes and start one; who wants to be spared that looks at the hardware first.
 */
#include "config.h"

#include "power_private.h"

#include <stdio.h>

enum { REASON_BYTES = 480 };

static void keep_all_off(pwr_power_t *power, const char *reason)
{
    pwr_power_note_all_off(power, reason);
    pwr_env_log(power->env, PWR_LOG_INFO, "levers stay off: %s", reason);
}

static void keep_off(pwr_power_t *power, pwr_lever_id_t id, const char *why)
{
    pwr_env_log(power->env, PWR_LOG_INFO, "%s stay off: %s", pwr_lever_type(id)->title, why);
    pwr_power_note_off(power, id, why);
}

/* Looks, and writes nothing. */
static bool could_open(const pwr_power_t *power, pwr_lever_id_t id, char *why, unsigned why_size)
{
    pwr_lever_t *lever;
    pwr_status_t status = pwr_lever_open(id, power->env, power->topo, NULL, why, why_size, &lever);
    if (status == PWR_OK) {
        pwr_lever_close(lever);
    } else if (why[0] == '\0') {
        snprintf(why, why_size, "%s", pwr_status_text(status));
    }
    return status == PWR_OK || status == PWR_ERR_SHARED;
}

static bool none_could_open(pwr_power_t *power)
{
    char why[PWR_NUM_LEVERS][REASON_BYTES] = {""};
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (power->levers[id].use &&
            could_open(power, (pwr_lever_id_t)id, why[id], sizeof why[id])) {
            return false;
        }
    }
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (power->levers[id].use) {
            keep_off(power, (pwr_lever_id_t)id, why[id]);
        }
    }
    return true;
}

static void keep_off_without_cpus(pwr_power_t *power, const char *reason)
{
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (power->levers[id].use) {
            char why[REASON_BYTES] = "";
            bool could = could_open(power, (pwr_lever_id_t)id, why, sizeof why);
            pwr_power_note_off(power, (pwr_lever_id_t)id, could ? reason : why);
        }
    }
    pwr_env_log(power->env, PWR_LOG_INFO, "levers stay off: %s", power->why_off);
}

static bool open_lever(pwr_power_t *power, pwr_lever_id_t id)
{
    char reason[REASON_BYTES] = "";
    pwr_status_t status = pwr_lever_open(id, power->env, power->topo, power->guard, reason,
                                         sizeof reason, &power->levers[id].lever);
    if (status != PWR_OK) {
        keep_off(power, id, reason[0] != '\0' ? reason : pwr_status_text(status));
    }
    return status == PWR_OK;
}

static bool is_asked_for(const pwr_power_t *power)
{
    bool asked = false;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        asked = asked || power->levers[id].use;
    }
    return asked;
}

void pwr_power_arm(pwr_power_t *power)
{
    char reason[PWR_OWNERSHIP_REASON_BYTES];
    if (power->armed) {
        return;
    }
    power->armed = true;
    if (!is_asked_for(power)) {
        return;
    }
    if (pwr_ownership_is_privileged()) {
        keep_all_off(power, "this program is set-uid, set-gid or has file capabilities");
        return;
    }
    if (power->hardware_first && none_could_open(power)) {
        return;
    }
    if (!pwr_ownership_ask(power->ownership, reason)) {
        keep_off_without_cpus(power, reason);
        return;
    }
    const pwr_guard_config_t guard_config = {.run_directory = power->run_directory};
    if (pwr_guard_start(power->env, &guard_config, &power->guard) != PWR_OK) {
        keep_all_off(power, "no guardian process that would restore them");
        return;
    }
    power->allowed = true;
    bool any = false;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        any = (power->levers[id].use && open_lever(power, (pwr_lever_id_t)id)) || any;
    }
    if (!any) {
        pwr_guard_stop(power->guard);
        power->guard = NULL;
    }
    power->checked_ns = pwr_env_now_ns(power->env);
}
