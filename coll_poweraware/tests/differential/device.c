/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Buffers in the memory of a GPU, by CUDA's driver API.
 */
#include "device.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*allocate)(unsigned long long *memory, size_t bytes);
    int (*release)(unsigned long long memory);
    int (*to_device)(unsigned long long to, const void *from, size_t bytes);
    int (*to_host)(void *to, unsigned long long from, size_t bytes);
} cuda;
/* Of each side, for all calls of a thread: programs have such buffers for long. */
static _Thread_local struct {
    unsigned long long memory;
    size_t bytes;
} arena[2];
static void *context; /* NULL: not opened */
static bool all_are_there;

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "check_collectives: libcuda.so.1: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    check(NULL != address, name);
    memcpy(function, &address, sizeof address);
}

void diff_device_open(bool all)
{
    all_are_there = all;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    check(NULL != library, "cannot be loaded");
    find(library, "cuInit", &cuda.init);
    find(library, "cuDevicePrimaryCtxRetain", &cuda.retain);
    find(library, "cuCtxPushCurrent_v2", &cuda.push);
    find(library, "cuCtxPopCurrent_v2", &cuda.pop);
    find(library, "cuMemAlloc_v2", &cuda.allocate);
    find(library, "cuMemFree_v2", &cuda.release);
    find(library, "cuMemcpyHtoD_v2", &cuda.to_device);
    find(library, "cuMemcpyDtoH_v2", &cuda.to_host);
    check(0 == cuda.init(0), "cuInit");
    check(0 == cuda.retain(&context, 0), "cuDevicePrimaryCtxRetain");
}

/* The arguments that are the buffer. */
static void replace(diff_args_t *args, const void *old, void *new)
{
    args->sbuf = old == args->sbuf ? new : args->sbuf;
    args->rbuf = old == args->rbuf ? new : args->rbuf;
}

static void *data_there(const diff_device_t *device, const diff_call_t *call, int which)
{
    const diff_buffer_t *buffer = &call->side[which].buffer;
    return (char *)(uintptr_t)device->memory[which] + (buffer->data - buffer->base);
}

/* Somewhere in the arena of the side; what the arena has beyond it stays as it is. */
static unsigned long long place(int which, size_t bytes, uint64_t random)
{
    enum { STEP = 16, STEPS = 8 };
    if (arena[which].bytes < bytes + STEP * STEPS) {
        size_t wanted = 2 * (bytes + STEP * STEPS);
        check(0 == arena[which].memory || 0 == cuda.release(arena[which].memory), "cuMemFree");
        check(0 == cuda.allocate(&arena[which].memory, wanted), "cuMemAlloc");
        arena[which].bytes = wanted;
    }
    return arena[which].memory + random / 3 % STEPS * STEP;
}

void diff_device_enter(diff_device_t *device, diff_call_t *call)
{
    memset(device, 0, sizeof *device);
    /* of one rank coll/self is in charge, or the function of MPI itself */
    if (NULL == context || call->comm->size < 2) {
        return;
    }
    cuda.push(context);
    for (int which = 0; which < 2; ++which) {
        const diff_buffer_t *buffer = &call->side[which].buffer;
        uint64_t random =
            diff_hash(call->plan->seed, (uint64_t)call->comm->rank, 0xDE71CE + (uint64_t)which);
        if ((!all_are_there && 0 == random % 3) || 0 == buffer->bytes) {
            continue;
        }
        device->memory[which] = place(which, buffer->bytes, random);
        check(0 == cuda.to_device(device->memory[which], buffer->base, buffer->bytes),
              "cuMemcpyHtoD");
        memset(buffer->base, 0x5A, buffer->bytes); /* not to be taken for what comes back */
        replace(&call->args, buffer->data, data_there(device, call, which));
    }
    cuda.pop(&(void *){NULL});
}

void diff_device_leave(diff_device_t *device, diff_call_t *call)
{
    if (NULL == context) {
        return;
    }
    cuda.push(context);
    for (int which = 0; which < 2; ++which) {
        const diff_buffer_t *buffer = &call->side[which].buffer;
        if (0 != device->memory[which]) {
            check(0 == cuda.to_host(buffer->base, device->memory[which], buffer->bytes),
                  "cuMemcpyDtoH");
            replace(&call->args, data_there(device, call, which), buffer->data);
        }
    }
    cuda.pop(&(void *){NULL});
}
