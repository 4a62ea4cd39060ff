/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Arming: whether levers may be used at all.
 *
 * Arming asks, in this order, and the first "no" keeps every lever off:
 *   1. are its CPUs this process's own (ownership.h)?
 *   2. is there a guardian who would put everything back?
 *   3. per lever: would it slow nobody else down, and does the hardware take a write?
 */
#include "config.h"

#include "power_private.h"
#include "pwr/cpu_model.h"

#include <stdio.h>
#include <string.h>

enum { REASON_BYTES = 480 };

static void keep_off(pwr_power_t *power, const char *lever, const char *reason)
{
    pwr_env_log(power->env, PWR_LOG_INFO, "%s stay off: %s", lever, reason);
    pwr_power_note_off(power, "%s off: %s", lever, reason);
}

/* Whether a T-state on our CPUs has an effect, and slows nobody else down.  Siblings that we reach
   are ours alone (ownership), other CPUs of the package are not. */
static bool tstates_are_ours(const pwr_power_t *power, char reason[REASON_BYTES])
{
    pwr_cpu_model_t model;
    if (pwr_cpu_model_read(power->env, &model) != PWR_OK) {
        return true; /* not x86, or not told: the registers decide */
    }
    pwr_tstate_rule_t rule = pwr_tstate_rule(&model);
    /* Other makers' processors have no such register, and the hardware says so itself. */
    bool unknown =
        rule.scope == PWR_TSTATE_SCOPE_UNKNOWN && strcmp(model.vendor, "GenuineIntel") == 0;
    bool package = rule.scope == PWR_TSTATE_SCOPE_PACKAGE || unknown;
    if (package && rule.winner != PWR_TSTATE_WINNER_HIGHEST &&
        !pwr_topo_has_whole_packages(power->topo)) {
        snprintf(
            reason, REASON_BYTES,
            "a T-state of this processor (family %u, model %u) may slow down whole packages, and "
            "this process is not bound to whole packages (mpirun --bind-to socket)",
            model.family, model.model);
        return false;
    }
    if (rule.winner == PWR_TSTATE_WINNER_HIGHEST && !pwr_topo_has_whole_cores(power->topo)) {
        snprintf(reason, REASON_BYTES,
                 "a core of this processor runs at the highest duty its hardware threads ask for, "
                 "and this process is not bound to whole cores (mpirun --bind-to core)");
        return false;
    }
    return true;
}

static void open_pstates(pwr_power_t *power)
{
    char reason[REASON_BYTES] = "";
    pwr_status_t status = pwr_pstate_open(power->env, power->topo, power->guard, reason,
                                          sizeof reason, &power->pstate);
    if (status != PWR_OK) {
        keep_off(power, "P-states", reason[0] != '\0' ? reason : pwr_status_text(status));
    }
}

static void open_tstates(pwr_power_t *power)
{
    char reason[REASON_BYTES] = "";
    if (!tstates_are_ours(power, reason)) {
        keep_off(power, "T-states", reason);
        return;
    }
    pwr_status_t status = pwr_tstate_open(power->env, power->topo, power->guard, reason,
                                          sizeof reason, &power->tstate);
    if (status != PWR_OK) {
        keep_off(power, "T-states", reason[0] != '\0' ? reason : pwr_status_text(status));
    }
}

void pwr_power_arm(pwr_power_t *power)
{
    char reason[PWR_OWNERSHIP_REASON_BYTES];
    if (power->armed) {
        return;
    }
    power->armed = true;
    if (!power->use_pstates && !power->use_tstates) {
        return;
    }
    const char *asked = !power->use_tstates   ? "P-states"
                        : !power->use_pstates ? "T-states"
                                              : "P-states and T-states";
    if (!pwr_ownership_ask(power->ownership, reason)) {
        keep_off(power, asked, reason);
        return;
    }
    const pwr_guard_config_t guard_config = {.run_directory = power->run_directory};
    if (pwr_guard_start(power->env, &guard_config, &power->guard) != PWR_OK) {
        keep_off(power, asked, "no guardian process that would restore them");
        return;
    }
    power->allowed = true;
    if (power->use_pstates) {
        open_pstates(power);
    }
    if (power->use_tstates) {
        open_tstates(power);
    }
    if (!power->pstate && !power->tstate) {
        pwr_guard_stop(power->guard);
        power->guard = NULL;
    }
    power->checked_ns = pwr_env_now_ns(power->env);
}
