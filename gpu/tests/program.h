/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For programs of tests and benchmarks: what a program that uses CUDA does first.
 */
#ifndef PWR_GPU_PROGRAM_H
#define PWR_GPU_PROGRAM_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr_gpu/driver.h"

static inline void must(int rc, const char *what)
{
    if (CUDA_SUCCESS != rc) {
        fprintf(stderr, "%s: %s\n", what, pwr_gpu_error_name(rc));
        exit(3);
    }
}
#define MUST(call) must(pwr_gpu_driver.call, #call)

/* A function of the driver that we do not use ourselves. */
static inline void driver_function(const char *name, void *function)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    if (NULL == address) {
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
        exit(3);
    }
    memcpy(function, &address, sizeof address);
}

/* Makes the context of GPU 0 current.  Returns false where there is no CUDA. */
static inline bool open_device(void)
{
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    void *context;
    if (NULL == dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) || !pwr_gpu_driver_find()) {
        return false;
    }
    driver_function("cuInit", &init);
    driver_function("cuDevicePrimaryCtxRetain", &retain);
    must(init(0), "cuInit");
    must(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    MUST(push(context));
    return true;
}

#endif
