/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stands for libcuda.so.1: memory of a GPU that the CPU cannot touch.  An access ends the process.
 * Other processes may open it by its handle, and kernels are functions of the host
 * (kernels/host.h). Copies want a context, as CUDA does; a kernel ends some time after its launch.
 *
 * FAKE_CUDA_FAILS: names of functions that fail, with commas.
 * FAKE_CUDA_FAILS_ON: in this rank of a job alone.
 * FAKE_CUDA_AT_ONCE: kernels of several processes run at once, as with MPS.
 * FAKE_CUDA_LAUNCHES: rank FAKE_CUDA_FAILS_ON (1) can launch so many kernels that have elements.
 * FAKE_CUDA_DEVICES: the ranks of a job have so many GPUs, in turn (1).
 *
 * memory.c: contexts, devices, memory, also of other processes.  kernels.c: modules, and what their
 * kernels do.  streams.c: the order in which streams do it, and events.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#include "host.h"
#include "pwr_gpu/driver.h"

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    NOT_SUPPORTED = 801
};
enum { MULTIPROCESSORS = 132 };

#define DECLARE(member, name, arguments) int name arguments;
PWR_GPU_DRIVER(DECLARE)
PWR_GPU_DRIVER_NEWER(DECLARE)
int cuInit(unsigned flags);
int cuDevicePrimaryCtxReset_v2(int device);
int cuMemAllocAsync(pwr_gpu_address_t *memory, size_t bytes, void *on);
int cuMemAllocHost_v2(void **memory, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, pwr_gpu_address_t from, size_t bytes, void *on);
int cuMemcpyHtoDAsync_v2(pwr_gpu_address_t to, const void *from, size_t bytes, void *on);
int cuDevicePrimaryCtxRetain(void **retained, int device);

/* A variable of the environment. */
int fake_number_of(const char *variable, int otherwise);
/* Whether FAKE_CUDA_FAILS says so of this function in this rank. */
bool fake_fails(const char *name);
#define FAILS_IF_TOLD                                                                              \
    if (fake_fails(__func__)) {                                                                    \
        return NOT_SUPPORTED;                                                                      \
    }

/* ---- memory.c ---- */

extern _Thread_local int fake_pushed;      /* contexts of this thread */
extern unsigned long long fake_context_id; /* of the one that there is */
/* Where the CPU finds memory of the GPU, or of the host that kernels may touch.  NULL: there are
   not so many bytes. */
char *fake_content_of(pwr_gpu_address_t pointer, size_t bytes);
char *fake_content_or_host(pwr_gpu_address_t pointer, size_t bytes);

/* ---- kernels.c ---- */

/* Return CUDA's errors. */
typedef struct fake_call {
    size_t kernel;
    pwr_gpu_table_t table;
    int num_in, num_out;
    unsigned long long vectors, count;
} fake_call_t;
int fake_run_kernel(fake_call_t *call);

typedef struct fake_team_call {
    size_t kernel;
    pwr_gpu_address_t team, in, out; /* of the probe: in is for its times */
    unsigned long long count;
    int root, op;
    unsigned blocks;
} fake_team_call_t;
int fake_run_team_kernel(const fake_team_call_t *call);

/* The number of a kernel, or of one of a team; -1: it is none. */
int fake_kernel(const void *function);
int fake_team_kernel(const void *function);
bool fake_is_probe(size_t team_kernel);

#endif
