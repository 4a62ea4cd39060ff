/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stands in for libnvidia-ml.so.1: GPUs that answer what a test wants.
 *
 * Built several times: FAKE_NVML_OLD has no energy counters, FAKE_NVML_BROKEN no GPUs to ask for.
 */
#include "config.h"

#include "fake_nvml.h"

#include <stddef.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2 };

typedef struct nvmlDevice_st *nvmlDevice_t;

#pragma GCC visibility push(default)

extern fake_nvml_t fake_nvml;
fake_nvml_t fake_nvml;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *power_mw);
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy_mj);

int nvmlInit_v2(void)
{
    fake_nvml.inits += fake_nvml.init_result == SUCCESS;
    return fake_nvml.init_result;
}

int nvmlShutdown(void)
{
    if (fake_nvml.inits == 0) {
        return UNINITIALIZED;
    }
    fake_nvml.inits--;
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    if (fake_nvml.count_result == SUCCESS) {
        *count = fake_nvml.num_gpus;
    }
    return fake_nvml.inits > 0 ? fake_nvml.count_result : UNINITIALIZED;
}

#ifndef FAKE_NVML_BROKEN
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    if (fake_nvml.inits == 0 || index >= fake_nvml.num_gpus) {
        return fake_nvml.inits == 0 ? UNINITIALIZED : INVALID_ARGUMENT;
    }
    if (fake_nvml.gpus[index].handle_result == SUCCESS) {
        *device = (nvmlDevice_t)(void *)&fake_nvml.gpus[index];
    }
    return fake_nvml.gpus[index].handle_result;
}
#endif

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *power_mw)
{
    const fake_gpu_t *gpu = (const fake_gpu_t *)(void *)device;
    if (gpu->power_result == SUCCESS) {
        *power_mw = gpu->power_mw;
    }
    return gpu->power_result;
}

#ifndef FAKE_NVML_OLD
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy_mj)
{
    const fake_gpu_t *gpu = (const fake_gpu_t *)(void *)device;
    if (gpu->energy_result == SUCCESS) {
        *energy_mj = gpu->energy_mj;
    }
    return gpu->energy_result;
}
#endif
