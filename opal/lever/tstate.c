/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states: the duty cycle of cores, IA32_CLOCK_MODULATION of every own CPU.
 *
 * Values are sixteenths of full duty.  Steps of one sixteenth, which newer processors have, are not
 * used: T-states are eighths.
 *
 * Source: Intel SDM volume 3, "Software Controlled Clock Modulation".
 */
#include "config.h"

#include "lever/lever_backend.h"
#include "pwr/cpu_model.h"

#include <string.h>

enum { FULL_DUTY = 16, PER_TSTATE = 2 };

static pwr_status_t lowest(const pwr_lever_backend_t *backend, const pwr_lever_request_t *request,
                           unsigned cpu, uint32_t *duty)
{
    (void)backend;
    (void)request;
    (void)cpu;
    *duty = PER_TSTATE; /* T7 */
    return PWR_OK;
}

static const pwr_lever_backend_t backends[] = {
    PWR_LEVER_REGISTER("", PWR_CONTROL_CLOCK_MODULATION, 1, lowest, NULL),
};

/* Whether a T-state on our CPUs has an effect, and slows nobody else down.  Siblings that we reach
   are ours alone (ownership), other CPUs of the package are not. */
static pwr_status_t check(const pwr_lever_request_t *request)
{
    pwr_cpu_model_t model;
    if (pwr_cpu_model_read(request->held.env, &model) != PWR_OK) {
        return PWR_OK; /* not x86, or not told: the registers decide */
    }
    pwr_tstate_winner_t winner = pwr_tstate_winner(&model);
    /* Other makers' processors have no such register, and the hardware says so itself. */
    bool unknown = winner == PWR_TSTATE_WINNER_UNKNOWN && strcmp(model.vendor, "GenuineIntel") == 0;
    if (unknown && !pwr_topo_has_whole_packages(request->topo)) {
        pwr_why_add(
            request->held.why,
            "a T-state of this processor (family %u, model %u) may slow down whole packages, and "
            "this process is not bound to whole packages (mpirun --bind-to socket)",
            model.family, model.model);
        return PWR_ERR_SHARED;
    }
    if (winner == PWR_TSTATE_WINNER_HIGHEST && !pwr_topo_has_whole_cores(request->topo)) {
        pwr_why_add(
            request->held.why,
            "a core of this processor runs at the highest duty its hardware threads ask for, "
            "and this process is not bound to whole cores (mpirun --bind-to core)");
        return PWR_ERR_SHARED;
    }
    return PWR_OK;
}

const pwr_lever_type_t pwr_lever_tstate = {
    .name = "tstate",
    .title = "T-states",
    .scope = PWR_SCOPE_CPU,
    .verb = PWR_VERB_THROTTLE,
    .unit = "1/16 of the clock",
    .step = PER_TSTATE,
    .full = FULL_DUTY,
    .shown_unit = "% duty",
    .shown_per_unit = 100.0 / FULL_DUTY,
    .power_left = 0.25, /* between T4 of leaders and T7 of all others: half and 1/8 of the clock */
    .backends = backends,
    .num_backends = sizeof backends / sizeof backends[0],
    .check = check,
};
