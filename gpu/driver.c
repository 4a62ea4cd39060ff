/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Functions of CUDA's driver.
 */
#include "pwr_gpu/driver.h"

#include <dlfcn.h>
#include <string.h>

pwr_gpu_driver_t pwr_gpu_driver;

static const struct {
    const char *name;
    size_t offset;
    bool may_lack;
} functions[] = {
#define ROW(member, name, arguments) {#name, offsetof(pwr_gpu_driver_t, member), false},
    PWR_GPU_DRIVER(ROW)
#undef ROW
#define ROW(member, name, arguments) {#name, offsetof(pwr_gpu_driver_t, member), true},
        PWR_GPU_DRIVER_NEWER(ROW)
#undef ROW
};

static bool load(void *library, pwr_gpu_driver_t *found)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        /* ISO C has no cast from an object's to a function's pointer. */
        void *address = dlsym(library, functions[i].name);
        memcpy((char *)found + functions[i].offset, &address, sizeof address);
        if (NULL == address && !functions[i].may_lack) {
            return false;
        }
    }
    return true;
}

/* Threads that find it at once write the same. */
bool pwr_gpu_driver_find(void)
{
    pwr_gpu_driver_t found;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (NULL == library) {
        return false;
    }
    if (!load(library, &found)) {
        dlclose(library);
        return false;
    }
    pwr_gpu_driver = found;
    return true;
}

const char *pwr_gpu_error_name(int error)
{
    const char *name = NULL;
    return CUDA_SUCCESS == pwr_gpu_driver.get_error_name(error, &name) && NULL != name
               ? name
               : "an error that the driver does not know";
}
