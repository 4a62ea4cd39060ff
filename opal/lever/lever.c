/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The array of levers, and what they have in common: finds the back end, opens the controls of all
 * own CPUs, and moves them in an order in which a floor is never above its ceiling.
 */
#include "config.h"

#include "control/shared.h"
#include "lever/lever_backend.h"
#include "likwid/likwid.h"
#include "topo/topo_private.h"

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
    pwr_shared_t *shared; /* with other processes; NULL: all CPUs that it acts on are ours */
    uint64_t began_ns;    /* of its clock (below), when we lowered it or agreed to */
} driven_t;

struct pwr_lever {
    const pwr_env_t *env;
    const pwr_lever_backend_t *backend;
    const char *name;
    uint32_t step;
    uint32_t lowest;
    uint32_t full;
    uint64_t writes;
    uint64_t held_ns;
    bool lowered;
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

static void close_driven(driven_t *driven)
{
    pwr_shared_close(driven->shared);
    pwr_held_close(&driven->main);
    if (driven->has_floor) {
        pwr_held_close(&driven->floor);
    }
}

static void close_all(pwr_lever_t *lever)
{
    for (unsigned i = 0; i < lever->count; i++) {
        close_driven(&lever->driven[i]);
    }
    free(lever);
}

/* ---- open ---- */

static pwr_status_t open_controls(const pwr_lever_backend_t *backend,
                                  const pwr_lever_request_t *request, unsigned cpu,
                                  driven_t *driven)
{
    pwr_status_t status =
        pwr_held_open(&request->held, backend->access, backend->main, cpu, &driven->main);
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

/* With the processes that have the other CPUs.  Who only looks has nobody to agree with. */
static pwr_status_t share(const pwr_lever_request_t *request, const char *name,
                          const pwr_cpuset_t *sharers, driven_t *driven)
{
    const pwr_cpuset_t *mine = &pwr_topo_sets(request->topo)->mine;
    pwr_held_t *controls[PWR_SHARED_CONTROLS] = {&driven->main, &driven->floor};
    if (pwr_cpuset_includes(mine, sharers) || !request->held.guard) {
        return PWR_OK;
    }
    const pwr_shared_request_t shared = {
        .held = &request->held, .name = name, .sharers = sharers, .mine = mine};
    return pwr_shared_open(&shared, controls, driven->has_floor ? 2 : 1, &driven->shared);
}

static pwr_status_t open_driven(const pwr_lever_t *lever, const pwr_lever_request_t *request,
                                unsigned cpu, const pwr_cpuset_t *sharers, driven_t *driven)
{
    const pwr_lever_backend_t *backend = lever->backend;
    *driven = (driven_t){.has_floor = false};
    pwr_status_t status = backend->lowest(backend, request, cpu, &driven->lowest);
    if (status == PWR_OK) {
        status = pwr_shared_check(&request->held, sharers, &pwr_topo_sets(request->topo)->mine);
    }
    if (status == PWR_OK) {
        status = open_controls(backend, request, cpu, driven);
    }
    if (status != PWR_OK) {
        return status;
    }
    status = share(request, lever->name, sharers, driven);
    if (status != PWR_OK) {
        close_driven(driven);
    }
    return status;
}

static pwr_status_t add_cpu(const pwr_lever_request_t *request, unsigned cpu, pwr_lever_t *lever)
{
    const pwr_lever_backend_t *backend = lever->backend;
    pwr_cpuset_t sharers = {{0}};
    pwr_cpuset_add(&sharers, cpu);
    pwr_status_t status = backend->sharers ? backend->sharers(request, cpu, &sharers) : PWR_OK;
    if (status != PWR_OK ||
        pwr_cpuset_first_common(&sharers, &pwr_topo_sets(request->topo)->mine) != (int)cpu) {
        return status;
    }
    status = open_driven(lever, request, cpu, &sharers, &lever->driven[lever->count]);
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
    made->env = request->held.env;
    made->backend = backend;
    made->name = type->name;
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

void pwr_lever_count(const pwr_lever_t *lever, pwr_lever_counts_t *counts)
{
    counts->writes = lever->writes;
    counts->held_ns = lever->held_ns;
    counts->adopted = 0;
    for (unsigned i = 0; i < lever->count; i++) {
        counts->adopted += lever->driven[i].main.adopted;
    }
}

/* ---- move ---- */

static pwr_status_t lower(const pwr_lever_t *lever, driven_t *driven, uint32_t value)
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

static pwr_status_t raise_all(driven_t *driven)
{
    pwr_status_t first = pwr_held_restore(&driven->main);
    if (driven->has_floor) {
        pwr_status_t status = pwr_held_restore(&driven->floor);
        first = first == PWR_OK ? status : first;
    }
    return first;
}

/* The last one to agree lowers. */
static pwr_status_t set_driven(const pwr_lever_t *lever, driven_t *driven, uint32_t value,
                               bool *moved)
{
    bool all = true;
    if (!driven->shared) {
        *moved = true;
        return lower(lever, driven, value);
    }
    pwr_status_t status = pwr_shared_begin(driven->shared);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_shared_agree(driven->shared, &all);
    if (status == PWR_OK && all) {
        *moved = true;
        status = lower(lever, driven, value);
    }
    return pwr_shared_end(driven->shared, status);
}

/* The first one to withdraw raises. */
static pwr_status_t restore_driven(driven_t *driven, bool *moved)
{
    if (!driven->shared) {
        *moved = true;
        return raise_all(driven);
    }
    if (!pwr_shared_agrees(driven->shared)) {
        return PWR_OK;
    }
    pwr_status_t status = pwr_shared_begin(driven->shared);
    if (status != PWR_OK) {
        return status;
    }
    *moved = *moved || driven->main.changed;
    pwr_shared_withdraw(driven->shared);
    return pwr_shared_end(driven->shared, raise_all(driven));
}

/* A clock that runs while it is lowered, read where that begins and ends for us. */
static uint64_t clock_of(const driven_t *driven, uint64_t now_ns)
{
    return driven->shared ? pwr_shared_lowered_ns(driven->shared) : now_ns;
}

static void begin_hold(pwr_lever_t *lever)
{
    uint64_t now_ns = pwr_env_now_ns(lever->env);
    for (unsigned i = 0; i < lever->count; i++) {
        lever->driven[i].began_ns = clock_of(&lever->driven[i], now_ns);
    }
    lever->lowered = true;
}

/* Where several controls were lowered for different times, the least counts. */
static void end_hold(pwr_lever_t *lever)
{
    uint64_t now_ns = pwr_env_now_ns(lever->env);
    uint64_t least_ns = UINT64_MAX;
    for (unsigned i = 0; i < lever->count; i++) {
        uint64_t held_ns = clock_of(&lever->driven[i], now_ns) - lever->driven[i].began_ns;
        least_ns = held_ns < least_ns ? held_ns : least_ns;
    }
    lever->held_ns += least_ns;
    lever->lowered = false;
}

pwr_status_t pwr_lever_set(pwr_lever_t *lever, uint32_t value)
{
    pwr_status_t status = PWR_OK;
    bool moved = false;
    if (value < lever->lowest || value > lever->full || value % lever->step != 0) {
        return PWR_ERR_RANGE;
    }
    for (unsigned i = 0; i < lever->count && status == PWR_OK; i++) {
        status = set_driven(lever, &lever->driven[i], value, &moved);
    }
    lever->writes += status == PWR_OK && moved;
    if (!lever->lowered) {
        begin_hold(lever);
    }
    return status;
}

pwr_status_t pwr_lever_restore(pwr_lever_t *lever)
{
    pwr_status_t first = PWR_OK;
    bool moved = false;
    for (unsigned i = 0; i < lever->count; i++) {
        pwr_status_t status = restore_driven(&lever->driven[i], &moved);
        first = first == PWR_OK ? status : first;
    }
    if (lever->lowered) {
        lever->writes += first == PWR_OK && moved;
        end_hold(lever);
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
