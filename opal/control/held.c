/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A control that we move and put back; the numbers are those of held.h.
 */
#include "config.h"

#include "control/held.h"

static const uint64_t look_interval_ns[PWR_CONTROL_KINDS] = {
    [PWR_CONTROL_CLOCK_MODULATION] = 1000000,
};

static uint64_t mask_of(const pwr_held_t *held)
{
    return pwr_control_mask(held->control.kind);
}

/* Behind an open access, "not supported" means that the CPU has left. */
static pwr_status_t after_open(pwr_status_t status)
{
    return status == PWR_ERR_UNSUPPORTED ? PWR_ERR_GONE : status;
}

static pwr_status_t read_now(const pwr_held_t *held, uint64_t *now)
{
    return after_open(held->control.access->read(&held->control, now));
}

static pwr_status_t write_now(const pwr_held_t *held, uint64_t value)
{
    return after_open(held->control.access->write(&held->control, value));
}

/* ---- open ---- */

static pwr_status_t take(const pwr_held_request_t *request, pwr_held_t *held, const char **step)
{
    const pwr_control_t *control = &held->control;
    *step = "reading";
    pwr_status_t status = control->access->read(control, &held->original);
    if (status != PWR_OK || !request->guard) {
        return status; /* without a guardian this was all */
    }
    *step = "handing to the guardian";
    status = pwr_guard_remember(request->guard, control, held->original); /* 1. */
    if (status == PWR_OK) {
        *step = "writing back";
        status = control->access->write(control, held->original);
    }
    return status;
}

pwr_status_t pwr_held_open(const pwr_held_request_t *request, const pwr_access_t *access,
                           pwr_control_kind_t kind, unsigned cpu, pwr_held_t *held)
{
    const char *step;
    pwr_held_t made = {.env = request->env, .guard = request->guard};
    pwr_status_t status =
        pwr_control_open(access, request->env, kind, cpu, request->why, &made.control);
    if (status != PWR_OK) {
        return status;
    }
    status = take(request, &made, &step);
    if (status != PWR_OK) {
        bool forbidden = status == PWR_ERR_PERM;
        pwr_why_add(request->why, "%s: CPU %u, %s: %s: %s%s%s%s", access->name, cpu,
                    pwr_control_place(&made.control), step, pwr_status_text(status),
                    forbidden ? " (" : "", forbidden ? pwr_control_remedy(&made.control) : "",
                    forbidden ? ")" : "");
        access->close(&made.control);
        return status;
    }
    made.last = made.original;
    made.looked_ns = pwr_env_now_ns(made.env);
    *held = made;
    return PWR_OK;
}

void pwr_held_close(pwr_held_t *held)
{
    held->control.access->close(&held->control);
}

/* ---- 3. look ---- */

static void say(const pwr_held_t *held, pwr_log_level_t level, uint64_t now, const char *what)
{
    const pwr_control_t *control = &held->control;
    pwr_env_log(held->env, level, "CPU %u: somebody else set %s from 0x%llx to 0x%llx %s",
                control->cpu, pwr_control_place(control), (unsigned long long)held->last,
                (unsigned long long)now, what);
}

static pwr_status_t adopt(pwr_held_t *held, uint64_t now)
{
    say(held, PWR_LOG_INFO, now, "between our uses: that is full speed from now on");
    pwr_status_t status = pwr_guard_remember(held->guard, &held->control, now);
    if (status == PWR_OK) {
        held->original = held->last = now;
        held->adopted++;
    }
    return status;
}

/* 4. */
static bool was_put_back(pwr_held_t *held, uint64_t now)
{
    bool put_back = ((now ^ held->original) & mask_of(held)) == 0 &&
                    pwr_guard_has_put_back(held->guard, &held->control);
    if (put_back) {
        held->changed = false;
    }
    return put_back;
}

/* now differs from what was there last. */
static pwr_status_t judge(pwr_held_t *held, uint64_t now)
{
    if (held->unsure) {
        /* For the guardian, who may have to finish this.  Whether it hears does not matter here. */
        (void)pwr_guard_announce(held->guard, &held->control, now);
        return PWR_OK;
    }
    if (!held->changed) {
        return adopt(held, now);
    }
    if (was_put_back(held, now)) {
        return PWR_OK;
    }
    say(held, PWR_LOG_WARN, now, "while we held it: it is left as it is");
    held->lost = true;
    return PWR_ERR_FOREIGN;
}

pwr_status_t pwr_held_look(pwr_held_t *held)
{
    uint64_t interval = look_interval_ns[held->control.kind];
    uint64_t now_ns = interval > 0 ? pwr_env_now_ns(held->env) : 0;
    uint64_t now;
    if (held->lost) {
        return PWR_ERR_FOREIGN;
    }
    if (interval > 0 && now_ns - held->looked_ns < interval && !held->unsure) {
        return PWR_OK;
    }
    pwr_status_t status = read_now(held, &now);
    if (status != PWR_OK) {
        return status;
    }
    held->looked_ns = now_ns;
    if (((now ^ held->last) & mask_of(held)) != 0) {
        status = judge(held, now);
        if (status != PWR_OK) {
            return status;
        }
    }
    held->unsure = false;
    /* The other bits of the register are somebody else's business, and are kept as they are. */
    held->original = (held->original & mask_of(held)) | (now & ~mask_of(held));
    held->last = now;
    return PWR_OK;
}

/* ---- one control of several processes ---- */

pwr_held_state_t pwr_held_state(const pwr_held_t *held)
{
    return (pwr_held_state_t){.original = held->original,
                              .last = held->last,
                              .changed = held->changed,
                              .unsure = held->unsure,
                              .lost = held->lost};
}

pwr_status_t pwr_held_take_over(pwr_held_t *held, const pwr_held_state_t *state)
{
    if (((held->original ^ state->original) & mask_of(held)) != 0) {
        pwr_status_t status = pwr_guard_remember(held->guard, &held->control, state->original);
        if (status != PWR_OK) {
            return status;
        }
    }
    held->original = state->original;
    held->last = state->last;
    held->changed = state->changed != 0;
    held->unsure = state->unsure != 0;
    held->lost = state->lost != 0;
    return PWR_OK;
}

/* ---- 2. announce and write ---- */

static bool is_announced(const pwr_held_t *held, uint64_t field, uint64_t *reads_as)
{
    for (unsigned i = 0; i < held->num_values; i++) {
        if (held->values[i].written == field) {
            *reads_as = held->values[i].reads_as;
            return true;
        }
    }
    return false;
}

/* The first time: announce, write, and learn what the hardware makes of it. */
static pwr_status_t write_new(pwr_held_t *held, uint64_t value, uint64_t *reads_as)
{
    uint64_t mask = mask_of(held);
    uint64_t now;
    if (held->num_values == PWR_HELD_VALUES) {
        return PWR_ERR_RANGE;
    }
    pwr_status_t status = pwr_guard_announce(held->guard, &held->control, value);
    if (status != PWR_OK) {
        return status;
    }
    held->changed = held->unsure = true;
    status = write_now(held, value);
    if (status != PWR_OK) {
        return status;
    }
    status = read_now(held, &now);
    if (status != PWR_OK) {
        return status;
    }
    held->unsure = false;
    held->last = now;
    *reads_as = now & mask;
    if (((now ^ held->original) & mask) == 0) {
        /* swallowed: an allow-list's mask, a lock, another limit below ours */
        return was_put_back(held, now) ? PWR_OK : PWR_ERR_RANGE;
    }
    if (((now ^ value) & mask) != 0) {
        status = pwr_guard_announce(held->guard, &held->control, now);
    }
    held->values[held->num_values].written = value & mask;
    held->values[held->num_values].reads_as = now & mask;
    held->num_values++;
    return status;
}

static pwr_status_t write_value(pwr_held_t *held, uint64_t value)
{
    uint64_t mask = mask_of(held);
    uint64_t reads_as;
    pwr_status_t status;
    if (is_announced(held, value & mask, &reads_as)) {
        held->changed = held->unsure = true;
        status = write_now(held, value);
        held->unsure = status != PWR_OK;
    } else {
        status = write_new(held, value, &reads_as);
    }
    if (status == PWR_OK) {
        held->last = (value & ~mask) | reads_as;
    }
    return status;
}

static uint64_t lowered(const pwr_held_t *held, uint64_t want)
{
    return pwr_control_lowered(held->control.kind, held->original, want);
}

pwr_status_t pwr_held_lower(pwr_held_t *held, uint64_t want)
{
    if (!held->guard) {
        return PWR_ERR_ARG;
    }
    if (!held->changed && lowered(held, want) == held->original) {
        return PWR_OK;
    }
    pwr_status_t status = pwr_held_look(held);
    if (status != PWR_OK) {
        return status;
    }
    uint64_t value = lowered(held, want);
    if (((value ^ held->original) & mask_of(held)) == 0) {
        return pwr_held_restore(held);
    }
    uint64_t reads_as;
    bool in_force = held->changed && is_announced(held, value & mask_of(held), &reads_as) &&
                    reads_as == (held->last & mask_of(held));
    return in_force ? PWR_OK : write_value(held, value);
}

pwr_status_t pwr_held_restore(pwr_held_t *held)
{
    if (!held->changed || held->lost) {
        return PWR_OK;
    }
    pwr_status_t status = pwr_held_look(held);
    if (status == PWR_OK && held->changed) {
        status = write_now(held, held->original);
        held->unsure = status != PWR_OK;
    }
    if (status == PWR_OK) {
        held->last = held->original;
        held->changed = false;
    }
    return status;
}
