/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The context, stream, event and kernels of this process (engine.h).
 */
#include "engine.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "pwr/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pwr_gpu_engine_t pwr_gpu_engine;

/* ---- why something could not be done ---- */

static _Thread_local char why[PWR_GPU_WHY_MAX];

const char *pwr_gpu_why(void)
{
    return why;
}

void pwr_gpu_because(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
}

bool pwr_gpu_succeeds(int rc, const char *what)
{
    if (CUDA_SUCCESS != rc) {
        pwr_gpu_because("%s: %s", what, pwr_gpu_error_name(rc));
    }
    return CUDA_SUCCESS == rc;
}

/* ---- the context ---- */

/* 0: the driver does not say. */
static unsigned long long id_of(void *context)
{
    unsigned long long id = 0;
    return NULL != pwr_gpu_driver.get_context_id &&
                   CUDA_SUCCESS == pwr_gpu_driver.get_context_id(context, &id)
               ? id
               : 0;
}

bool pwr_gpu_engine_ended(void *context)
{
    if (pwr_gpu_engine.context != context || pwr_gpu_engine.context_id == id_of(context)) {
        return false;
    }
    memset(&pwr_gpu_engine, 0, sizeof pwr_gpu_engine);
    return true;
}

bool pwr_gpu_make_event(void **event)
{
    return pwr_gpu_succeeds(
        pwr_gpu_driver.create_event(event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
        "cuEventCreate");
}

bool pwr_gpu_make_stream(void **stream, void **ended)
{
    return pwr_gpu_succeeds(pwr_gpu_driver.create_stream(stream, CU_STREAM_NON_BLOCKING),
                            "cuStreamCreate") &&
           pwr_gpu_make_event(ended);
}

pwr_gpu_address_t pwr_gpu_register_host(void *memory, size_t bytes)
{
    pwr_gpu_address_t address = 0;
    if (!pwr_gpu_succeeds(pwr_gpu_driver.register_host(memory, bytes,
                                                       CU_MEMHOSTREGISTER_PORTABLE |
                                                           CU_MEMHOSTREGISTER_DEVICEMAP),
                          "cuMemHostRegister")) {
        return 0;
    }
    if (!pwr_gpu_succeeds(pwr_gpu_driver.get_device_address(&address, memory, 0),
                          "cuMemHostGetDevicePointer")) {
        pwr_gpu_driver.unregister_host(memory);
        return 0;
    }
    return address;
}

bool pwr_gpu_engine_open(void *context)
{
    int device = 0;
    if (!pwr_gpu_succeeds(pwr_gpu_driver.get_device(&device), "cuCtxGetDevice") ||
        !pwr_gpu_succeeds(pwr_gpu_driver.get_uuid(&pwr_gpu_engine.device, device),
                          "cuDeviceGetUuid") ||
        !pwr_gpu_make_stream(&pwr_gpu_engine.stream, &pwr_gpu_engine.ended)) {
        return false;
    }
    if (sizeof pwr_gpu_engine.process !=
            getrandom(&pwr_gpu_engine.process, sizeof pwr_gpu_engine.process, 0) ||
        0 == pwr_gpu_engine.process) {
        pwr_gpu_because("getrandom gives no number for this process");
        return false;
    }
    pwr_gpu_engine.context = context;
    pwr_gpu_engine.context_id = id_of(context);
    return true;
}

void pwr_gpu_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pwr_gpu_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool pwr_gpu_enter(void)
{
    pwr_gpu_lock();
    if (NULL == pwr_gpu_engine.context) {
        pwr_gpu_because("this process has offered nothing");
        return false;
    }
    return pwr_gpu_succeeds(pwr_gpu_driver.push(pwr_gpu_engine.context), "cuCtxPushCurrent");
}

void pwr_gpu_leave(bool entered)
{
    void *before;
    if (entered) {
        pwr_gpu_driver.pop(&before);
    }
    pwr_gpu_unlock();
}

void pwr_gpu_settle(void)
{
    bool entered = pwr_gpu_enter();
    if (entered) {
        pwr_gpu_driver.wait_stream(NULL);
    }
    pwr_gpu_leave(entered);
}

/* ---- kernels ---- */

void pwr_gpu_load(pwr_gpu_kernels_t *kernels, const char *ptx, const char *const names[])
{
    void *module = NULL;
    if (kernels->tried) {
        return;
    }
    kernels->tried = true;
    if (!pwr_gpu_succeeds(pwr_gpu_driver.load_module(&module, ptx),
                          "the driver does not take our kernels")) {
        return;
    }
    for (int i = 0; i < PWR_GPU_KERNELS && NULL != names[i]; ++i) {
        pwr_gpu_succeeds(pwr_gpu_driver.get_function(&kernels->kernel[i], module, names[i]),
                         names[i]);
    }
}

bool pwr_gpu_launch(void *stream, void *kernel, pwr_gpu_table_t *table, int num_in, int num_out,
                    unsigned long long vectors, unsigned long long count, unsigned most_blocks,
                    unsigned long long items)
{
    void *arguments[] = {table, &num_in, &num_out, &vectors, &count};
    unsigned long long blocks = (items + PWR_GPU_BLOCK - 1) / PWR_GPU_BLOCK;
    blocks = blocks < 1 ? 1 : blocks > most_blocks ? most_blocks : blocks;
    return pwr_gpu_succeeds(pwr_gpu_driver.launch(kernel, (unsigned)blocks, 1, 1, PWR_GPU_BLOCK, 1,
                                                  1, 0, stream, arguments, NULL),
                            "cuLaunchKernel");
}

/* An event for which a thread can sleep costs an interrupt, which wakes a thread of the driver in
   each process that uses the GPU: 8 us of a call between eight ranks (H200, MPS).  So there is one
   only where this thread does sleep, and that is later than this thread alone would have it: to
   sleep costs 15 us of CPU, and comes 15 to 30 us late, for which others wait in turn. */
bool pwr_gpu_wait_for_stream(void *stream, void *event)
{
    enum { SPIN_NS = 60000 };
    uint64_t begin = pwr_now_ns();
    int rc;
    do {
        rc = pwr_gpu_driver.query_stream(stream);
    } while (CUDA_ERROR_NOT_READY == rc && pwr_now_ns() - begin < SPIN_NS);
    if (CUDA_ERROR_NOT_READY == rc) {
        rc = pwr_gpu_driver.record_event(event, stream);
        rc = CUDA_SUCCESS == rc ? pwr_gpu_driver.wait_event(event) : rc;
    }
    return pwr_gpu_succeeds(rc, "a kernel on the GPU");
}
