/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of GPUs, by CUDA's driver.
 */
#include "pwr_ompi/device_memory.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pwr_gpu/driver.h"
#include "pwr_gpu/pinned.h"
#include "pwr_ompi/compat.h"

_Atomic int pwr_device_library;
static _Atomic uint64_t looked_at;

static bool find(void)
{
    if (!pwr_gpu_driver_find()) {
        return false;
    }
    atomic_store_explicit(&pwr_device_library, PWR_DEVICE_LOADED, memory_order_release);
    return true;
}

void pwr_device_memory_open(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/dev/nvidiactl", root);
    if (PWR_DEVICE_NONE == pwr_device_library && !find() && 0 == access(path, F_OK)) {
        atomic_store(&pwr_device_library, PWR_DEVICE_UNUSED);
    }
}

bool pwr_device_memory_look(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t tick = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    /* relaxed: two threads may look in one tick */
    if (atomic_load_explicit(&looked_at, memory_order_relaxed) == tick) {
        return false;
    }
    atomic_store_explicit(&looked_at, tick, memory_order_relaxed);
    return find();
}

/* Several attributes at once: to ask for one is an error where memory is the host's, which tools
   like compute-sanitizer report. */
bool pwr_device_memory_is(const void *address)
{
    unsigned type = 0, managed = 0;
    int attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[] = {&type, &managed};
    int rc =
        pwr_gpu_driver.get_attributes(2, attributes, data, (pwr_gpu_address_t)(uintptr_t)address);
    return CUDA_SUCCESS == rc && CU_MEMORYTYPE_DEVICE == type && 0 == (managed & 1);
}

bool pwr_device_memory_is_stocks(void)
{
    static _Atomic int known; /* 0: not asked yet */
    if (0 == known) {
        int (*query)(void) = NULL;
        void *address = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
        memcpy(&query, &address, sizeof query);
        known = NULL != query && 1 == query() ? 2 : 1;
    }
    return 2 == known;
}

/* NULL: the driver does not say. */
static void *context_of(const void *device)
{
    void *context = NULL;
    int rc = pwr_gpu_driver.get_attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
                                          (pwr_gpu_address_t)(uintptr_t)device);
    return CUDA_SUCCESS == rc ? context : NULL;
}

/* The context that the memory belongs to: the calling thread may have none. */
static void *enter(const void *device)
{
    void *context = context_of(device);
    return NULL != context && CUDA_SUCCESS == pwr_gpu_driver.push(context) ? context : NULL;
}

static int leave(void *context, int rc)
{
    if (NULL != context) {
        pwr_gpu_driver.pop(&context);
    }
    return CUDA_SUCCESS == rc ? OMPI_SUCCESS : OMPI_ERROR;
}

int pwr_device_memory_read(void *to, const void *device, size_t bytes)
{
    void *context = enter(device);
    return leave(context, pwr_gpu_driver.to_host(to, (pwr_gpu_address_t)(uintptr_t)device, bytes));
}

/* A copy of up to 64 KiB may return before it is there, and only the default stream is in order
   with it. */
int pwr_device_memory_write(void *device, const void *from, size_t bytes)
{
    void *context = enter(device);
    int rc = pwr_gpu_driver.to_device((pwr_gpu_address_t)(uintptr_t)device, from, bytes);
    return leave(context, CUDA_SUCCESS == rc ? pwr_gpu_driver.wait_stream(NULL) : rc);
}

/* ---- memory of the CPU for copies ---- */

/* What is kept of it: for both sides of a call.  More than that, or more bytes, is the call's own.
 */
enum { AREAS = 2, LEAST_BYTES = 64 << 10, MOST_BYTES = 64 << 20 };

typedef struct area {
    _Atomic bool lent;
    char *_Atomic memory; /* NULL: none yet; who gives back memory of a call reads it as well */
    size_t bytes;
    pwr_gpu_pinned_t *pinned;
} area_t;

static area_t areas[AREAS];

static void forget(area_t *a)
{
    pwr_gpu_pinned_free(a->pinned);
    a->pinned = NULL;
    a->memory = NULL;
    a->bytes = 0;
}

static bool grow(area_t *a, size_t bytes)
{
    size_t rounded = LEAST_BYTES;
    while (rounded < bytes) {
        rounded *= 2;
    }
    forget(a);
    a->pinned = pwr_gpu_pinned_new(rounded);
    if (NULL == a->pinned) {
        return false;
    }
    a->memory = pwr_gpu_pinned_memory(a->pinned);
    a->bytes = rounded;
    return true;
}

char *pwr_device_memory_stage(const void *device, size_t bytes, bool *locked)
{
    *locked = false;
    for (area_t *a = areas; bytes <= MOST_BYTES && a < areas + AREAS; ++a) {
        if (atomic_exchange_explicit(&a->lent, true, memory_order_acquire)) {
            continue;
        }
        if (a->bytes >= bytes || grow(a, bytes)) {
            void *context = context_of(device);
            *locked = NULL != context && pwr_gpu_pinned_lock(a->pinned, context);
            return a->memory;
        }
        atomic_store_explicit(&a->lent, false, memory_order_release);
    }
    return malloc(bytes);
}

void pwr_device_memory_unstage(char *memory)
{
    for (area_t *a = areas; NULL != memory && a < areas + AREAS; ++a) {
        if (memory == a->memory) {
            atomic_store_explicit(&a->lent, false, memory_order_release);
            return;
        }
    }
    free(memory);
}

void pwr_device_memory_close(void)
{
    for (area_t *a = areas; a < areas + AREAS; ++a) {
        forget(a);
    }
}
