/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a test tells the library that stands in for NVIDIA's.
 */
#ifndef PWR_TEST_FAKE_NVML_H
#define PWR_TEST_FAKE_NVML_H

enum { FAKE_NVML_GPUS = 4 };

typedef struct fake_gpu {
    int handle_result; /* of nvmlDeviceGetHandleByIndex_v2 */
    int energy_result; /* of nvmlDeviceGetTotalEnergyConsumption */
    int power_result;  /* of nvmlDeviceGetPowerUsage */
    unsigned long long energy_mj;
    unsigned power_mw;
} fake_gpu_t;

typedef struct fake_nvml {
    int init_result;
    int count_result;
    unsigned num_gpus;
    int inits; /* without their shutdowns */
    fake_gpu_t gpus[FAKE_NVML_GPUS];
} fake_nvml_t;

#endif
