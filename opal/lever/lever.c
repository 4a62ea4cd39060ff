/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The array of levers, and what they have in common: finds the back end, opens the controls of all
 * own CPUs, and moves them in an order in which a floor is never above its ceiling.
 */
#include "config.h"

#include "lever/lever_backend.h"
#include "likwid/likwid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pwr_lever_type_t *const types[PWR_NUM_LEVERS] = {
    [PWR_LEVER_PSTATE] = &pwr_lever_pstate,
    [PWR_LEVER_TSTATE] = &pwr_lever_tstate,
    [PWR_LEVER_UNCORE] = &pwr_lever_uncore,
};

/* One CPU, or several that share a control and are driven through one of them. */
typedef struct driven {
    uint32_t lowest;
    pwr_held_t main;
    pwr_held_t floor;
    bool has_floor;
} driven_t;

struct pwr_lever {
    const pwr_lever_backend_t *backend;
    uint32_t step;
    uint32_t lowest;
    uint32_t full;
    unsigned count;
    driven_t driven[];
};

const pwr_lever_type_t *pwr_lever_type(pwr_lever_id_t id)
{
    return types[id];
}

const char *pwr_scope_text(pwr_scope_t scope)
{
    return scope == PWR_SCOPE_PACKAGE ? "package" : "cpu";
}

/* Of another process's memory, perhaps, so nothing in it is believed to be a text. */
static void keep_first(char *text, size_t size, const char *other)
{
    if (text[0] == '\0') {
        memcpy(text, other, size - 1);
        text[size - 1] = '\0';
    }
}

void pwr_lever_use_add(pwr_lever_use_t *sum, const pwr_lever_use_t *more)
{
    sum->counts.writes += more->counts.writes;
    sum->counts.held_ns += more->counts.held_ns;
    sum->counts.skipped += more->counts.skipped;
    sum->counts.errors += more->counts.errors;
    sum->counts.adopted += more->counts.adopted;
    sum->counts.yielded += more->counts.yielded;
    keep_first(sum->backend, sizeof sum->backend, more->backend);
    keep_first(sum->why_off, sizeof sum->why_off, more->why_off);
}

void pwr_lever_why_off(pwr_lever_use_t uses[PWR_NUM_LEVERS], const char *reason)
{
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        snprintf(uses[i].why_off, sizeof uses[i].why_off, "%s", reason ? reason : "");
    }
}

bool pwr_lever_use_is_sound(const pwr_lever_use_t *use)
{
    return memchr(use->backend, '\0', sizeof use->backend) &&
           memchr(use->why_off, '\0', sizeof use->why_off);
}

static uint32_t value_of(const pwr_lever_t *lever, uint64_t control)
{
    return (uint32_t)pwr_control_speed(lever->backend->main, control) * lever->backend->per_unit;
}

static void close_all(pwr_lever_t *lever)
{
    for (unsigned i = 0; i < lever->count; i++) {
        driven_t *driven = &lever->driven[i];
        pwr_held_close(&driven->main);
        if (driven->has_floor) {
            pwr_held_close(&driven->floor);
        }
    }
    free(lever);
}

/* ---- open ---- */

static pwr_status_t open_cpu(const pwr_lever_backend_t *backend, const pwr_lever_request_t *request,
                             unsigned cpu, driven_t *driven)
{
    driven->has_floor = false;
    pwr_status_t status = backend->lowest(backend, request, cpu, &driven->lowest);
    if (status == PWR_OK) {
        status = pwr_held_open(&request->held, backend->access, backend->main, cpu, &driven->main);
    }
    if (status != PWR_OK || backend->floor == PWR_CONTROL_KINDS) {
        return status;
    }
    status = pwr_held_open(&request->held, backend->access, backend->floor, cpu, &driven->floor);
    if (status != PWR_OK) {
        pwr_held_close(&driven->main);
        return status;
    }
    driven->has_floor = true;
    return PWR_OK;
}

static pwr_status_t add_cpu(const pwr_lever_request_t *request, unsigned cpu, pwr_lever_t *lever)
{
    const pwr_lever_backend_t *backend = lever->backend;
    bool drives = true;
    pwr_status_t status = backend->drives ? backend->drives(request, cpu, &drives) : PWR_OK;
    if (status != PWR_OK || !drives) {
        return status;
    }
    status = open_cpu(backend, request, cpu, &lever->driven[lever->count]);
    if (status == PWR_OK) {
        lever->count++;
    }
    return status;
}

/* Unequal CPUs: the widest range; each one clips to its own. */
static void find_range(const pwr_lever_type_t *type, pwr_lever_t *lever)
{
    lever->lowest = UINT32_MAX;
    lever->full = type->full;
    for (unsigned i = 0; i < lever->count; i++) {
        uint32_t low = lever->driven[i].lowest;
        uint32_t high = value_of(lever, lever->driven[i].main.original);
        lever->lowest = low < lever->lowest ? low : lever->lowest;
        lever->full = type->full == 0 && high > lever->full ? high : lever->full;
    }
}

static pwr_status_t open_backend(const pwr_lever_type_t *type, const pwr_lever_backend_t *backend,
                                 const pwr_lever_request_t *request, pwr_lever_t **lever)
{
    unsigned cpus = pwr_topo_num_my_cpus(request->topo);
    pwr_lever_t *made = calloc(1, sizeof *made + cpus * sizeof made->driven[0]);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->backend = backend;
    made->step = type->step;
    for (unsigned i = 0; i < cpus; i++) {
        pwr_status_t status = add_cpu(request, pwr_topo_my_cpu(request->topo, i), made);
        if (status != PWR_OK) {
            close_all(made);
            return status;
        }
    }
    find_range(type, made);
    *lever = made;
    return PWR_OK;
}

const char *pwr_lever_backend_name(pwr_lever_id_t id, unsigned nth)
{
    return nth < types[id]->num_backends ? types[id]->backends[nth].name : NULL;
}

pwr_status_t pwr_lever_open_nth(pwr_lever_id_t id, const pwr_env_t *env, const pwr_topo_t *topo,
                                pwr_guard_t *guard, unsigned nth, char *why, unsigned why_size,
                                pwr_lever_t **lever)
{
    const pwr_lever_type_t *type = types[id];
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_lever_request_t request = {.held = {env, guard, &reasons}, .topo = topo};
    if (nth >= type->num_backends) {
        return PWR_ERR_RANGE;
    }
    return open_backend(type, &type->backends[nth], &request, lever);
}

pwr_status_t pwr_lever_open(pwr_lever_id_t id, const pwr_env_t *env, const pwr_topo_t *topo,
                            pwr_guard_t *guard, char *why, unsigned why_size, pwr_lever_t **lever)
{
    const pwr_lever_type_t *type = types[id];
    pwr_why_t reasons = pwr_why_init(why, why_size);
    const pwr_lever_request_t request = {.held = {env, guard, &reasons}, .topo = topo};
    pwr_status_t result = type->check ? type->check(&request) : PWR_OK;
    if (result != PWR_OK) {
        return result;
    }
    result = PWR_ERR_UNSUPPORTED;
    pwr_likwid_probe_begin();
    /* SHARED: by whichever access, it is not ours alone */
    for (unsigned i = 0; i < type->num_backends && result != PWR_OK && result != PWR_ERR_SHARED;
         i++) {
        pwr_status_t status = open_backend(type, &type->backends[i], &request, lever);
        result = status == PWR_OK ? PWR_OK : pwr_why_worse(result, status);
    }
    pwr_likwid_probe_end();
    return result;
}

const char *pwr_lever_backend(const pwr_lever_t *lever)
{
    return lever->backend->name;
}

uint32_t pwr_lever_lowest(const pwr_lever_t *lever)
{
    return lever->lowest;
}

uint32_t pwr_lever_full(const pwr_lever_t *lever)
{
    return lever->full;
}

unsigned pwr_lever_num_adopted(const pwr_lever_t *lever)
{
    unsigned adopted = 0;
    for (unsigned i = 0; i < lever->count; i++) {
        adopted += lever->driven[i].main.adopted;
    }
    return adopted;
}

/* ---- move ---- */

static pwr_status_t set_one(const pwr_lever_t *lever, driven_t *driven, uint32_t value)
{
    uint32_t target = value > driven->lowest ? value : driven->lowest;
    uint64_t want = target / lever->backend->per_unit;
    bool lower = target < value_of(lever, driven->main.last);
    pwr_status_t status = PWR_OK;
    if (driven->has_floor && lower) {
        status = pwr_held_lower(&driven->floor, want);
    }
    if (status == PWR_OK) {
        status = pwr_held_lower(&driven->main, want);
    }
    if (status == PWR_OK && driven->has_floor && !lower) {
        status = pwr_held_lower(&driven->floor, want);
    }
    return status;
}

pwr_status_t pwr_lever_set(pwr_lever_t *lever, uint32_t value)
{
    pwr_status_t status = PWR_OK;
    if (value < lever->lowest || value > lever->full || value % lever->step != 0) {
        return PWR_ERR_RANGE;
    }
    for (unsigned i = 0; i < lever->count && status == PWR_OK; i++) {
        status = set_one(lever, &lever->driven[i], value);
    }
    return status;
}

pwr_status_t pwr_lever_restore(pwr_lever_t *lever)
{
    pwr_status_t first = PWR_OK;
    for (unsigned i = 0; i < lever->count; i++) {
        driven_t *driven = &lever->driven[i];
        pwr_status_t status = pwr_held_restore(&driven->main);
        first = first == PWR_OK ? status : first;
        if (driven->has_floor) {
            status = pwr_held_restore(&driven->floor);
            first = first == PWR_OK ? status : first;
        }
    }
    return first;
}

void pwr_lever_close(pwr_lever_t *lever)
{
    if (lever) {
        (void)pwr_lever_restore(lever);
        close_all(lever);
    }
}
