/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states through IA32_CLOCK_MODULATION: one implementation for /dev/cpu/N/msr_safe and
 * /dev/cpu/N/msr, which differ only in who may open them.
 *
 * Source: Intel SDM volume 3, "Software Controlled Clock Modulation".  Bit 4 enables, bits 3:1 are
 * the duty cycle in eighths (0 is reserved), bit 0 adds a sixteenth where the CPU has finer steps.
 */
#include "config.h"

#include "tstate/tstate_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    IA32_CLOCK_MODULATION = 0x19a,
    MODULATION_ENABLE = 0x10,
    DUTY_MASK = 0x0f, /* in sixteenths; the eighths are its even values */
    CONTROL_MASK = MODULATION_ENABLE | DUTY_MASK,
};

typedef struct msr_cpu {
    int fd;
    uint64_t original;
} msr_cpu_t;

typedef struct msr_state {
    unsigned count; /* CPUs that are open */
    msr_cpu_t cpus[];
} msr_state_t;

static pwr_status_t write_msr(int fd, uint64_t value)
{
    ssize_t put = pwrite(fd, &value, sizeof value, IA32_CLOCK_MODULATION);
    if (put == (ssize_t)sizeof value) {
        return PWR_OK;
    }
    return put < 0 ? pwr_status_from_errno(errno) : PWR_ERR_IO;
}

/* The driver answers EIO where the CPU has no such register (AMD, many virtual machines). */
static pwr_status_t read_msr(int fd, uint64_t *value)
{
    ssize_t got = pread(fd, value, sizeof *value, IA32_CLOCK_MODULATION);
    if (got == (ssize_t)sizeof *value) {
        return PWR_OK;
    }
    return got < 0 && errno != EIO ? pwr_status_from_errno(errno) : PWR_ERR_UNSUPPORTED;
}

static pwr_status_t remember(const pwr_tstate_request_t *request, const char *path,
                             uint64_t original)
{
    pwr_guard_record_t record = {.offset = IA32_CLOCK_MODULATION, .size = sizeof original};
    pwr_status_t status = pwr_env_path(request->env, path, record.path, sizeof record.path);
    if (status == PWR_OK) {
        memcpy(record.data, &original, sizeof original);
        status = pwr_guard_remember(request->guard, &record);
    }
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: the guardian did not take it over: %s", path,
                    pwr_status_text(status));
    }
    return status;
}

static pwr_status_t open_cpu(const char *device, const pwr_tstate_request_t *request, unsigned cpu,
                             msr_cpu_t *opened)
{
    char path[64];
    uint64_t original;
    int fd;
    snprintf(path, sizeof path, "/dev/cpu/%u/%s", cpu, device);
    pwr_status_t status = pwr_env_open(request->env, path, O_RDWR, &fd);
    if (status != PWR_OK) {
        pwr_why_add_file(request->why, path, status,
                         "needs root with CAP_SYS_RAWIO, or msr-safe and membership of its group");
        return status;
    }
    status = read_msr(fd, &original);
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: no IA32_CLOCK_MODULATION (0x19a): %s", path,
                    pwr_status_text(status));
        goto close_fd;
    }
    status = remember(request, path, original);
    if (status != PWR_OK) {
        goto close_fd;
    }
    status = write_msr(fd, original);
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: writing 0x19a: %s (msr-safe: allow-list mask 0x1f)", path,
                    pwr_status_text(status));
        goto close_fd;
    }
    *opened = (msr_cpu_t){.fd = fd, .original = original};
    return PWR_OK;

close_fd:
    close(fd);
    return status;
}

static void msr_close(void *opaque)
{
    msr_state_t *state = opaque;
    for (unsigned i = 0; i < state->count; i++) {
        close(state->cpus[i].fd);
    }
    free(state);
}

static pwr_status_t msr_open(const pwr_tstate_backend_t *backend,
                             const pwr_tstate_request_t *request, void **opaque)
{
    unsigned count = pwr_topo_num_my_cpus(request->topo);
    msr_state_t *state = malloc(sizeof *state + count * sizeof state->cpus[0]);
    if (!state) {
        return PWR_ERR_NOMEM;
    }
    for (state->count = 0; state->count < count; state->count++) {
        unsigned cpu = pwr_topo_my_cpu(request->topo, state->count);
        pwr_status_t status = open_cpu(backend->name, request, cpu, &state->cpus[state->count]);
        if (status != PWR_OK) {
            msr_close(state);
            return status;
        }
    }
    *opaque = state;
    return PWR_OK;
}

/* A CPU that somebody else already throttles deeper stays as it is: a lever never speeds up. */
static uint64_t throttled(uint64_t original, unsigned level)
{
    unsigned duty = (PWR_TSTATE_DEEPEST + 1 - level) << 1;
    unsigned found = (unsigned)(original & DUTY_MASK);
    if ((original & MODULATION_ENABLE) && found != 0 && found < duty) {
        return original;
    }
    return (original & ~(uint64_t)CONTROL_MASK) | MODULATION_ENABLE | duty;
}

static pwr_status_t msr_set(void *opaque, unsigned level)
{
    const msr_state_t *state = opaque;
    pwr_status_t status = PWR_OK;
    for (unsigned i = 0; i < state->count && status == PWR_OK; i++) {
        status = write_msr(state->cpus[i].fd, throttled(state->cpus[i].original, level));
    }
    return status;
}

static pwr_status_t msr_restore(void *opaque)
{
    const msr_state_t *state = opaque;
    pwr_status_t first = PWR_OK;
    for (unsigned i = 0; i < state->count; i++) {
        pwr_status_t status = write_msr(state->cpus[i].fd, state->cpus[i].original);
        first = first == PWR_OK ? status : first;
    }
    return first;
}

const pwr_tstate_backend_t pwr_tstate_msr_safe = {.name = "msr_safe",
                                                  .open = msr_open,
                                                  .set = msr_set,
                                                  .restore = msr_restore,
                                                  .close = msr_close};

const pwr_tstate_backend_t pwr_tstate_msr = {
    .name = "msr", .open = msr_open, .set = msr_set, .restore = msr_restore, .close = msr_close};
