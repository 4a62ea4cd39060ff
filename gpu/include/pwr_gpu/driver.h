/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Functions of CUDA's driver (libcuda.so.1; 11.2 and later), in a process that has loaded it.
 * Nothing of CUDA is linked or loaded.
 */
#ifndef PWR_GPU_DRIVER_H
#define PWR_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in cuda.h, of which nothing is needed to build. */
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_READY = 600 };
enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11
};
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
enum { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 };
enum { CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2 };
enum { CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_STREAM_NON_BLOCKING = 1 };
enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };
enum { PWR_GPU_HANDLE_BYTES = 64, PWR_GPU_UUID_BYTES = 16 };
typedef struct pwr_gpu_handle {
    unsigned char bytes[PWR_GPU_HANDLE_BYTES]; /* CUipcMemHandle */
} pwr_gpu_handle_t;
typedef struct pwr_gpu_uuid {
    unsigned char bytes[PWR_GPU_UUID_BYTES]; /* CUuuid */
} pwr_gpu_uuid_t;
typedef unsigned long long pwr_gpu_address_t; /* CUdeviceptr */

/* CUstreamBatchMemOpParams: a stream writes value, or waits until (int32_t)(*address - value) >= 0.
 */
enum { CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1, CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2 };
typedef union pwr_gpu_memory_operation {
    struct {
        int operation;
        pwr_gpu_address_t address;
        uint64_t value;
        unsigned flags; /* 0 */
        pwr_gpu_address_t alias;
    } on;
    uint64_t pad[6];
} pwr_gpu_memory_operation_t;

/* X(member, name in the library, arguments); all return a CUresult. */
#define PWR_GPU_DRIVER(X)                                                                          \
    X(get_attribute, cuPointerGetAttribute,                                                        \
      (void *data, int attribute, pwr_gpu_address_t pointer))                                      \
    X(get_attributes, cuPointerGetAttributes,                                                      \
      (unsigned num, int *attributes, void **data, pwr_gpu_address_t pointer))                     \
    X(set_attribute, cuPointerSetAttribute,                                                        \
      (const void *value, int attribute, pwr_gpu_address_t pointer))                               \
    X(push, cuCtxPushCurrent_v2, (void *context))                                                  \
    X(pop, cuCtxPopCurrent_v2, (void **context))                                                   \
    X(get_context, cuCtxGetCurrent, (void **context))                                              \
    X(get_device, cuCtxGetDevice, (int *device))                                                   \
    X(get_uuid, cuDeviceGetUuid, (pwr_gpu_uuid_t * uuid, int device))                              \
    X(get_device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))         \
    X(to_host, cuMemcpyDtoH_v2, (void *to, pwr_gpu_address_t from, size_t bytes))                  \
    X(to_device, cuMemcpyHtoD_v2, (pwr_gpu_address_t to, const void *from, size_t bytes))          \
    X(copy, cuMemcpyDtoDAsync_v2,                                                                  \
      (pwr_gpu_address_t to, pwr_gpu_address_t from, size_t bytes, void *stream))                  \
    X(allocate, cuMemAlloc_v2, (pwr_gpu_address_t * memory, size_t bytes))                         \
    X(release, cuMemFree_v2, (pwr_gpu_address_t memory))                                           \
    X(register_host, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))           \
    X(unregister_host, cuMemHostUnregister, (void *memory))                                        \
    X(get_device_address, cuMemHostGetDevicePointer_v2,                                            \
      (pwr_gpu_address_t * address, void *memory, unsigned flags))                                 \
    X(get_handle, cuIpcGetMemHandle, (pwr_gpu_handle_t * handle, pwr_gpu_address_t memory))        \
    X(open_handle, cuIpcOpenMemHandle_v2,                                                          \
      (pwr_gpu_address_t * memory, pwr_gpu_handle_t handle, unsigned flags))                       \
    X(close_handle, cuIpcCloseMemHandle, (pwr_gpu_address_t memory))                               \
    X(load_module, cuModuleLoadData, (void **module, const void *image))                           \
    X(get_function, cuModuleGetFunction, (void **function, void *module, const char *name))        \
    X(create_stream, cuStreamCreate, (void **stream, unsigned flags))                              \
    X(destroy_stream, cuStreamDestroy_v2, (void *stream))                                          \
    X(wait_stream, cuStreamSynchronize, (void *stream)) /* NULL: the default one */                \
    X(query_stream, cuStreamQuery, (void *stream))                                                 \
    X(create_event, cuEventCreate, (void **event, unsigned flags))                                 \
    X(destroy_event, cuEventDestroy_v2, (void *event))                                             \
    X(record_event, cuEventRecord, (void *event, void *stream))                                    \
    X(wait_event, cuEventSynchronize, (void *event))                                               \
    X(launch, cuLaunchKernel,                                                                      \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,  \
       void **extra))                                                                              \
    X(get_error_name, cuGetErrorName, (int error, const char **name))

/* The same, of drivers from CUDA 11.7 on; NULL where there is none. */
#define PWR_GPU_DRIVER_NEWER(X)                                                                    \
    X(get_context_id, cuCtxGetId, (void *context, unsigned long long *id)) /* 12.0 */              \
    X(memory_operations, cuStreamBatchMemOp_v2,                                                    \
      (void *stream, unsigned num, pwr_gpu_memory_operation_t *operations, unsigned flags))

#define PWR_GPU_DRIVER_MEMBER(member, name, arguments) int(*member) arguments;
typedef struct pwr_gpu_driver {
    PWR_GPU_DRIVER(PWR_GPU_DRIVER_MEMBER)
    PWR_GPU_DRIVER_NEWER(PWR_GPU_DRIVER_MEMBER)
} pwr_gpu_driver_t;

/* Of a process in which pwr_gpu_driver_find returned true. */
extern pwr_gpu_driver_t pwr_gpu_driver;

/* Whether the library is loaded and has all of these functions; threads may call it at once. */
bool pwr_gpu_driver_find(void);

/* "CUDA_ERROR_..." */
const char *pwr_gpu_error_name(int error);

#endif
