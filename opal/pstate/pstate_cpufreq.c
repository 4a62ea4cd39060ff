/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states through the kernel's cpufreq files, /sys/devices/system/cpu/cpuN/cpufreq/.
 *
 * Lowering writes the floor before the ceiling and restoring the ceiling before the floor, so that
 * the floor is never above the ceiling.  With the governor "userspace" the speed that was asked for
 * is a third control; it alone is enough where only it is writable.
 *
 * Source: Linux, Documentation/admin-guide/pm/cpufreq.rst.
 */
#include "config.h"

#include "pstate/freq_domain.h"
#include "pstate/pstate_backend.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 128 };

/* In the order in which they are restored (also by the guardian: its record's priority). */
typedef enum control_kind { CEILING, FLOOR, SPEED, NUM_CONTROLS } control_kind_t;

static const char *const control_file[NUM_CONTROLS] = {
    [CEILING] = "scaling_max_freq",
    [FLOOR] = "scaling_min_freq",
    [SPEED] = "scaling_setspeed",
};

typedef struct control {
    int fd; /* -1: not driven */
    uint32_t original_khz;
    uint32_t khz; /* in force, 0 when a failed write left it unknown */
    unsigned original_size;
    char original[PWR_GUARD_DATA_MAX]; /* byte for byte what was read */
} control_t;

typedef struct policy {
    uint32_t lowest_khz;
    control_t control[NUM_CONTROLS];
} policy_t;

typedef struct cpufreq_state {
    unsigned count;
    policy_t policies[]; /* each once, however many of our CPUs share it */
} cpufreq_state_t;

static void file_path(unsigned cpu, const char *file, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
}

static pwr_status_t read_khz(const pwr_pstate_request_t *request, unsigned cpu, const char *file,
                             uint32_t *khz)
{
    char path[PATH_BYTES];
    uint64_t value;
    file_path(cpu, file, path);
    pwr_status_t status = pwr_env_read_u64(request->env, path, &value);
    if (status == PWR_OK && (value == 0 || value > UINT32_MAX)) {
        status = PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(request->why, path, status, "needs read permission");
        return status;
    }
    *khz = (uint32_t)value;
    return PWR_OK;
}

/* ---- one control ---- */

/* text says khz. */
static pwr_status_t write_text(control_t *control, const char *text, unsigned size, uint32_t khz)
{
    ssize_t put = pwrite(control->fd, text, size, 0);
    if (put == (ssize_t)size) {
        control->khz = khz;
        return PWR_OK;
    }
    control->khz = 0;
    return put < 0 ? pwr_status_from_errno(errno) : PWR_ERR_IO;
}

static pwr_status_t write_khz(control_t *control, uint32_t khz)
{
    char text[16];
    int size = snprintf(text, sizeof text, "%u\n", khz);
    return write_text(control, text, (unsigned)size, khz);
}

static pwr_status_t write_original(control_t *control)
{
    return write_text(control, control->original, control->original_size, control->original_khz);
}

static pwr_status_t read_original(control_t *control)
{
    ssize_t got = pread(control->fd, control->original, sizeof control->original, 0);
    if (got < 0) {
        return pwr_status_from_errno(errno);
    }
    /* A completely filled buffer may hold only part of the text. */
    if (got == 0 || got == (ssize_t)sizeof control->original) {
        return PWR_ERR_PARSE;
    }
    char text[PWR_GUARD_DATA_MAX + 1];
    memcpy(text, control->original, (size_t)got);
    text[got] = '\0';
    char *end = text;
    unsigned long khz = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : 0;
    if (khz == 0 || khz > UINT32_MAX || (*end != '\n' && *end != '\0')) {
        return PWR_ERR_PARSE;
    }
    control->original_size = (unsigned)got;
    control->original_khz = control->khz = (uint32_t)khz;
    return PWR_OK;
}

static pwr_status_t remember(const pwr_pstate_request_t *request, const char *path,
                             control_kind_t kind, const control_t *control)
{
    pwr_guard_record_t record = {.priority = (uint32_t)kind, .size = control->original_size};
    pwr_status_t status = pwr_env_path(request->env, path, record.path, sizeof record.path);
    if (status == PWR_OK) {
        memcpy(record.data, control->original, control->original_size);
        status = pwr_guard_remember(request->guard, &record);
    }
    return status;
}

static pwr_status_t open_control(const pwr_pstate_request_t *request, unsigned cpu,
                                 control_kind_t kind, control_t *control)
{
    char path[PATH_BYTES];
    const char *step = "opening";
    file_path(cpu, control_file[kind], path);
    pwr_status_t status = pwr_env_open(request->env, path, O_RDWR, &control->fd);
    if (status != PWR_OK) {
        control->fd = -1;
        pwr_why_add_file(request->why, path, status,
                         "needs root, or write permission for you by a udev rule or chmod");
        return status;
    }
    step = "reading";
    status = read_original(control);
    if (status == PWR_OK) {
        step = "handing to the guardian";
        status = remember(request, path, kind, control);
    }
    if (status == PWR_OK) {
        step = "writing back";
        status = write_original(control);
    }
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: %s: %s", path, step, pwr_status_text(status));
        close(control->fd);
        control->fd = -1;
    }
    return status;
}

/* ---- one policy ---- */

static bool has_userspace_governor(const pwr_env_t *env, unsigned cpu)
{
    char path[PATH_BYTES];
    char governor[32];
    file_path(cpu, "scaling_governor", path);
    return pwr_env_read_text(env, path, governor, sizeof governor) == PWR_OK &&
           strcmp(governor, "userspace") == 0;
}

static void close_policy(policy_t *policy)
{
    for (int kind = 0; kind < NUM_CONTROLS; kind++) {
        if (policy->control[kind].fd >= 0) {
            close(policy->control[kind].fd);
            policy->control[kind].fd = -1;
        }
    }
}

static pwr_status_t open_policy(const pwr_pstate_request_t *request, unsigned cpu, policy_t *policy)
{
    uint32_t highest_khz;
    for (int kind = 0; kind < NUM_CONTROLS; kind++) {
        policy->control[kind].fd = -1;
    }
    pwr_status_t status = read_khz(request, cpu, "cpuinfo_min_freq", &policy->lowest_khz);
    if (status == PWR_OK) {
        status = read_khz(request, cpu, "cpuinfo_max_freq", &highest_khz);
    }
    if (status != PWR_OK) {
        return status;
    }
    if (policy->lowest_khz > highest_khz) {
        pwr_why_add(request->why, "CPU %u: cpuinfo_min_freq is above cpuinfo_max_freq", cpu);
        return PWR_ERR_PARSE;
    }
    status = open_control(request, cpu, CEILING, &policy->control[CEILING]);
    if (status == PWR_OK) {
        status = open_control(request, cpu, FLOOR, &policy->control[FLOOR]);
    }
    if (status != PWR_OK) {
        close_policy(policy);
    }
    if (has_userspace_governor(request->env, cpu)) {
        pwr_status_t speed = open_control(request, cpu, SPEED, &policy->control[SPEED]);
        status = status == PWR_OK ? PWR_OK : speed;
    }
    return status;
}

/* What this policy was found at: no set ever goes above it. */
static uint32_t found_khz(const policy_t *policy)
{
    const control_t *ceiling = &policy->control[CEILING];
    return ceiling->fd >= 0 ? ceiling->original_khz : policy->control[SPEED].original_khz;
}

static uint32_t clip(uint32_t khz, uint32_t low, uint32_t high)
{
    return khz > high ? high : khz < low && low <= high ? low : khz;
}

static pwr_status_t set_bounds(policy_t *policy, uint32_t khz)
{
    control_t *ceiling = &policy->control[CEILING];
    control_t *floor = &policy->control[FLOOR];
    uint32_t floor_khz = khz < floor->original_khz ? khz : floor->original_khz;
    pwr_status_t status = PWR_OK;
    if (floor_khz < floor->khz) {
        status = write_khz(floor, floor_khz);
    }
    if (status == PWR_OK) {
        status = write_khz(ceiling, khz);
    }
    if (status == PWR_OK && floor_khz > floor->khz) {
        status = write_khz(floor, floor_khz);
    }
    return status;
}

static pwr_status_t set_policy(policy_t *policy, uint32_t khz)
{
    control_t *speed = &policy->control[SPEED];
    uint32_t target = clip(khz, policy->lowest_khz, found_khz(policy));
    pwr_status_t status = PWR_OK;
    if (policy->control[CEILING].fd >= 0) {
        status = set_bounds(policy, target);
    }
    if (status == PWR_OK && speed->fd >= 0) {
        status = write_khz(speed, target < speed->original_khz ? target : speed->original_khz);
    }
    return status;
}

static pwr_status_t restore_policy(policy_t *policy)
{
    pwr_status_t first = PWR_OK;
    for (int kind = 0; kind < NUM_CONTROLS; kind++) {
        control_t *control = &policy->control[kind];
        if (control->fd >= 0 && control->khz != control->original_khz) {
            pwr_status_t status = write_original(control);
            first = first == PWR_OK ? status : first;
        }
    }
    return first;
}

/* ---- all own CPUs ---- */

static void cpufreq_close(void *opaque)
{
    cpufreq_state_t *state = opaque;
    for (unsigned i = 0; i < state->count; i++) {
        close_policy(&state->policies[i]);
    }
    free(state);
}

static pwr_status_t open_cpu(const pwr_pstate_request_t *request, unsigned cpu,
                             cpufreq_state_t *state)
{
    char path[PATH_BYTES];
    bool driven;
    file_path(cpu, "related_cpus", path);
    pwr_status_t status = pwr_freq_domain_check(request, path, cpu, &driven);
    if (status != PWR_OK || !driven) {
        return status;
    }
    status = open_policy(request, cpu, &state->policies[state->count]);
    if (status == PWR_OK) {
        state->count++;
    }
    return status;
}

static pwr_status_t cpufreq_open(const pwr_pstate_request_t *request, void **opaque,
                                 pwr_pstate_limits_t *limits)
{
    unsigned cpus = pwr_topo_num_my_cpus(request->topo);
    cpufreq_state_t *state = malloc(sizeof *state + cpus * sizeof state->policies[0]);
    if (!state) {
        return PWR_ERR_NOMEM;
    }
    state->count = 0;
    for (unsigned i = 0; i < cpus; i++) {
        pwr_status_t status = open_cpu(request, pwr_topo_my_cpu(request->topo, i), state);
        if (status != PWR_OK) {
            cpufreq_close(state);
            return status;
        }
    }
    /* Unequal CPUs: the widest range; each one clips to its own. */
    *limits = (pwr_pstate_limits_t){.min_khz = UINT32_MAX};
    for (unsigned i = 0; i < state->count; i++) {
        uint32_t low = state->policies[i].lowest_khz;
        uint32_t high = found_khz(&state->policies[i]);
        limits->min_khz = low < limits->min_khz ? low : limits->min_khz;
        limits->max_khz = high > limits->max_khz ? high : limits->max_khz;
    }
    *opaque = state;
    return PWR_OK;
}

static pwr_status_t cpufreq_set(void *opaque, uint32_t khz)
{
    cpufreq_state_t *state = opaque;
    pwr_status_t status = PWR_OK;
    for (unsigned i = 0; i < state->count && status == PWR_OK; i++) {
        status = set_policy(&state->policies[i], khz);
    }
    return status;
}

static pwr_status_t cpufreq_restore(void *opaque)
{
    cpufreq_state_t *state = opaque;
    pwr_status_t first = PWR_OK;
    for (unsigned i = 0; i < state->count; i++) {
        pwr_status_t status = restore_policy(&state->policies[i]);
        first = first == PWR_OK ? status : first;
    }
    return first;
}

const pwr_pstate_backend_t pwr_pstate_cpufreq = {.name = "cpufreq",
                                                 .open = cpufreq_open,
                                                 .set = cpufreq_set,
                                                 .restore = cpufreq_restore,
                                                 .close = cpufreq_close};
