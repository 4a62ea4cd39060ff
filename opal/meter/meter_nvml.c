/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy of NVIDIA GPUs through NVML, which is loaded if it is there and never linked:
 * nvmlDeviceGetTotalEnergyConsumption counts millijoules (Volta and later); where a device has no
 * such counter, nvmlDeviceGetPowerUsage is integrated between reads.
 *
 * Sources: NVIDIA, NVML API reference guide, "Device Queries"; Yang, Adamek and Armour, "Part-time
 * Power Measurements" (SC 2024) for how often the sensors move and how much they see.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* nvmlReturn_t */
    NVML_OK = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,

    ENERGY_UPDATE_US = 100000, /* sensors move every 20 to 100 ms, A100's and H100's every 100 */
    POWER_UPDATE_US = 1000000, /* from Ampere on power is a mean over one second (NVML) */
};

/* A power reading is good to 5 % (NVML, for the devices that have no energy counter); the rest is
   for what the device did while nobody looked. */
static const double power_drift_share = 0.25;

typedef void *device_t;

typedef struct functions {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, device_t *device);
    int (*power_mw)(device_t device, unsigned *power_mw);
    int (*energy_mj)(device_t device, unsigned long long *energy_mj); /* NULL: an old library */
} functions_t;

static const struct {
    const char *symbol;
    size_t offset;
    bool needed;
} symbols[] = {
    {"nvmlInit_v2", offsetof(functions_t, init), true},
    {"nvmlShutdown", offsetof(functions_t, shutdown), true},
    {"nvmlDeviceGetCount_v2", offsetof(functions_t, count), true},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(functions_t, handle), true},
    {"nvmlDeviceGetPowerUsage", offsetof(functions_t, power_mw), true},
    {"nvmlDeviceGetTotalEnergyConsumption", offsetof(functions_t, energy_mj), false},
};

typedef struct library library_t;

/* Of one device; the counter's state. */
typedef struct gpu {
    const library_t *library;
    device_t device;
    bool integrates;
    /* When integrating: */
    double energy_uj;
    unsigned last_mw;
    uint64_t last_ns;
    bool gap; /* the last read failed */
} gpu_t;

/* Of all; the list's state. */
struct library {
    const pwr_env_t *env;
    void *handle;
    functions_t nvml;
    bool initialised;
    gpu_t *gpus;
};

static pwr_status_t status_of(int result)
{
    switch (result) {
    case NVML_OK:
        return PWR_OK;
    case NVML_NO_PERMISSION:
        return PWR_ERR_PERM;
    case NVML_NOT_SUPPORTED:
    case NVML_DRIVER_NOT_LOADED:
    case NVML_LIBRARY_NOT_FOUND:
    case NVML_FUNCTION_NOT_FOUND:
        return PWR_ERR_UNSUPPORTED;
    default:
        return PWR_ERR_IO; /* a lost GPU, a reset, what is not known */
    }
}

/* ---- reading ---- */

/* Trapezoids.  Of a gap only what its ends suggest is known: all of that is uncertain. */
static pwr_status_t integrate(gpu_t *gpu, double *drift_uj)
{
    unsigned power_mw;
    pwr_status_t status = status_of(gpu->library->nvml.power_mw(gpu->device, &power_mw));
    if (status != PWR_OK) {
        gpu->gap = true;
        return status;
    }
    uint64_t now_ns = pwr_env_now_ns(gpu->library->env);
    double passed_s = now_ns > gpu->last_ns ? (double)(now_ns - gpu->last_ns) / 1e9 : 0.0;
    double step_uj = (gpu->last_mw + (double)power_mw) / 2 * passed_s * 1e3;
    double corner_uj = fabs((double)power_mw - gpu->last_mw) / 2 * passed_s * 1e3;
    *drift_uj += gpu->gap ? step_uj : corner_uj;
    gpu->energy_uj += step_uj;
    gpu->last_mw = power_mw;
    gpu->last_ns = now_ns;
    gpu->gap = false;
    return PWR_OK;
}

static pwr_status_t read_gpu(pwr_meter_counter_t *counter, uint64_t *count)
{
    gpu_t *gpu = counter->state;
    unsigned long long energy_mj = 0;
    pwr_status_t status = gpu->integrates
                              ? integrate(gpu, &counter->drift_uj)
                              : status_of(gpu->library->nvml.energy_mj(gpu->device, &energy_mj));
    if (status == PWR_OK) {
        *count = gpu->integrates ? (uint64_t)gpu->energy_uj : energy_mj;
    }
    return status;
}

/* ---- open and close ---- */

static bool has_energy_counter(const gpu_t *gpu)
{
    unsigned long long energy_mj;
    const functions_t *nvml = &gpu->library->nvml;
    return nvml->energy_mj && nvml->energy_mj(gpu->device, &energy_mj) == NVML_OK;
}

static pwr_status_t add_gpu(const library_t *library, unsigned index,
                            pwr_meter_counters_t *counters)
{
    gpu_t *gpu = &library->gpus[index];
    pwr_meter_counter_t counter = {
        .domain = {.kind = PWR_DOMAIN_GPU, .package = index}, .fd = -1, .state = gpu};
    gpu->library = library;
    pwr_status_t status = status_of(library->nvml.handle(index, &gpu->device));
    if (status != PWR_OK) {
        return status;
    }
    if (has_energy_counter(gpu)) {
        counter.unit_uj = 1e3;
        counter.domain.update_us = ENERGY_UPDATE_US;
    } else {
        gpu->integrates = true;
        gpu->last_ns = pwr_env_now_ns(library->env);
        status = status_of(library->nvml.power_mw(gpu->device, &gpu->last_mw));
        counter.unit_uj = 1;
        counter.domain.update_us = POWER_UPDATE_US;
        counter.drift_share = power_drift_share;
    }
    return status == PWR_OK ? pwr_meter_counters_add(counters, &counter) : status;
}

/* Each GPU stands for itself: one that cannot be read costs only its own energy. */
static pwr_status_t add_gpus(const pwr_meter_request_t *request, library_t *library,
                             pwr_meter_counters_t *counters)
{
    unsigned count;
    pwr_status_t failure = status_of(library->nvml.count(&count));
    if (failure != PWR_OK) {
        pwr_why_add(request->why, "nvml: counting GPUs: %s", pwr_status_text(failure));
        return failure;
    }
    library->gpus = calloc(count + 1u, sizeof *library->gpus);
    if (!library->gpus) {
        return PWR_ERR_NOMEM;
    }
    failure = PWR_ERR_UNSUPPORTED;
    for (unsigned i = 0; i < count; i++) {
        pwr_status_t status = add_gpu(library, i, counters);
        if (status != PWR_OK) {
            pwr_why_add(request->why, "nvml: gpu %u: %s", i, pwr_status_text(status));
            failure = pwr_why_worse(failure, status);
        }
    }
    if (count == 0) {
        pwr_why_add(request->why, "nvml: no GPU");
    }
    return counters->count > 0 ? PWR_OK : failure;
}

static pwr_status_t load(const pwr_meter_request_t *request, library_t *library)
{
    const char *name = request->outside->nvml_library;
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) {
        pwr_why_add(request->why, "nvml: %s cannot be loaded", name);
        return PWR_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        /* ISO C has no cast from an object's to a function's pointer. */
        void *address = dlsym(library->handle, symbols[i].symbol);
        memcpy((char *)&library->nvml + symbols[i].offset, &address, sizeof address);
        if (!address && symbols[i].needed) {
            pwr_why_add(request->why, "nvml: %s has no %s", name, symbols[i].symbol);
            return PWR_ERR_UNSUPPORTED;
        }
    }
    int result = library->nvml.init();
    if (result != NVML_OK) {
        pwr_why_add(request->why, "nvml: nvmlInit: %s (%d)", pwr_status_text(status_of(result)),
                    result);
        return status_of(result);
    }
    library->initialised = true;
    return PWR_OK;
}

static pwr_status_t nvml_open(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    if (!request->outside->nvml_library) {
        pwr_why_add(request->why, "nvml: knows this machine, not the one below %s",
                    request->env->root);
        return PWR_ERR_UNSUPPORTED;
    }
    library_t *library = calloc(1, sizeof *library);
    if (!library) {
        return PWR_ERR_NOMEM;
    }
    library->env = request->env;
    counters->state = library;
    pwr_status_t status = load(request, library);
    return status == PWR_OK ? add_gpus(request, library, counters) : status;
}

static void nvml_close(pwr_meter_counters_t *counters)
{
    library_t *library = counters->state;
    if (!library) {
        return;
    }
    if (library->initialised) {
        library->nvml.shutdown();
    }
    if (library->handle) {
        dlclose(library->handle);
    }
    free(library->gpus);
    free(library);
}

const pwr_meter_backend_t pwr_meter_nvml = {
    .name = "nvml", .open = nvml_open, .read = read_gpu, .close = nvml_close};
