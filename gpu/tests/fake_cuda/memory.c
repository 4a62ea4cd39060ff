/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Contexts, devices and memory (fake.h).
 */
#define _GNU_SOURCE
#include "fake.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct allocation {
    struct allocation *next;
    char *address; /* cannot be touched */
    char *content;
    size_t bytes;
    uint64_t id;
    int file; /* -1: of another process */
    ino_t inode;
    int of_pool; /* cannot be opened by others */
    int opened;  /* how often, but once */
} allocation_t;

/* Memory of the host that kernels may touch. */
typedef struct registered {
    struct registered *next;
    char *address;
    size_t bytes;
} registered_t;

/* What a pwr_gpu_handle_t is here. */
typedef struct handle {
    pid_t pid;
    int file;
    ino_t inode;
    size_t bytes;
} handle_t;

static allocation_t *allocations;
static registered_t *registered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;
static int context;
_Thread_local int fake_pushed;

int fake_number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return NULL == text ? otherwise : atoi(text);
}

bool fake_fails(const char *name)
{
    const char *list = getenv("FAKE_CUDA_FAILS");
    const char *found = NULL == list ? NULL : strstr(list, name);
    int rank = fake_number_of("OMPI_COMM_WORLD_RANK", 0);
    return NULL != found && (',' == found[strlen(name)] || '\0' == found[strlen(name)]) &&
           rank == fake_number_of("FAKE_CUDA_FAILS_ON", rank);
}

int cuGetErrorName(int error, const char **name)
{
    *name = NOT_SUPPORTED == error ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR_OF_THE_FAKE";
    return CUDA_SUCCESS;
}

/* Takes as long as nothing does that gets a program to memory of a GPU. */
int cuInit(unsigned flags)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return 0 == flags ? CUDA_SUCCESS : INVALID_VALUE;
}

/* ---- contexts and devices ---- */

int cuDevicePrimaryCtxRetain(void **retained, int device)
{
    *retained = &context;
    return 0 == device ? CUDA_SUCCESS : INVALID_VALUE;
}

unsigned long long fake_context_id = 1;

int cuCtxGetId(void *of, unsigned long long *id)
{
    *id = fake_context_id;
    return &context == of ? CUDA_SUCCESS : INVALID_CONTEXT;
}

/* What was made before is not there any more. */
int cuDevicePrimaryCtxReset_v2(int device)
{
    ++fake_context_id;
    while (NULL != allocations) {
        if (CUDA_SUCCESS != cuMemFree_v2((pwr_gpu_address_t)(uintptr_t)allocations->address)) {
            cuIpcCloseMemHandle((pwr_gpu_address_t)(uintptr_t)allocations->address);
        }
    }
    while (NULL != registered) {
        cuMemHostUnregister(registered->address);
    }
    return 0 == device ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuCtxPushCurrent_v2(void *pushes)
{
    ++fake_pushed;
    return pushes == &context ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuCtxPopCurrent_v2(void **popped)
{
    *popped = &context;
    return fake_pushed-- > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuCtxGetCurrent(void **current)
{
    *current = fake_pushed > 0 ? &context : NULL;
    return CUDA_SUCCESS;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return fake_pushed > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuDeviceGetUuid(pwr_gpu_uuid_t *uuid, int device)
{
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] = (unsigned char)(fake_number_of("OMPI_COMM_WORLD_RANK", 0) %
                                     fake_number_of("FAKE_CUDA_DEVICES", 1));
    return 0 == device ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = MULTIPROCESSORS;
    return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == attribute && 0 == device ? CUDA_SUCCESS
                                                                                : INVALID_VALUE;
}

/* ---- memory ---- */

static bool is_registered(const char *address, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const registered_t *r = registered;
    while (NULL != r && (address < r->address || address + bytes > r->address + r->bytes)) {
        r = r->next;
    }
    pthread_mutex_unlock(&lock);
    return NULL != r;
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    FAILS_IF_TOLD
    if (NULL == memory || 0 == bytes || 0 == fake_pushed || is_registered(memory, 1) ||
        (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) != flags) {
        return INVALID_VALUE;
    }
    registered_t *new = calloc(1, sizeof *new);
    *new = (registered_t){NULL, memory, bytes};
    pthread_mutex_lock(&lock);
    new->next = registered;
    registered = new;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

int cuMemHostUnregister(void *memory)
{
    pthread_mutex_lock(&lock);
    registered_t **at = &registered;
    while (NULL != *at && (*at)->address != memory) {
        at = &(*at)->next;
    }
    registered_t *found = *at;
    if (NULL != found) {
        *at = found->next;
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return NULL != found ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuMemHostGetDevicePointer_v2(pwr_gpu_address_t *address, void *memory, unsigned flags)
{
    *address = (pwr_gpu_address_t)(uintptr_t)memory;
    return 0 == flags && is_registered(memory, 1) ? CUDA_SUCCESS : INVALID_VALUE;
}

static int add(allocation_t *new)
{
    new->content = mmap(NULL, new->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, new->file, 0);
    new->address = mmap(NULL, new->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == new->content || MAP_FAILED == new->address) {
        return OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    new->id = ++last_id;
    new->next = allocations;
    allocations = new;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

int cuMemAlloc_v2(pwr_gpu_address_t *memory, size_t bytes)
{
    allocation_t *new = calloc(1, sizeof *new);
    struct stat status;
    new->bytes = bytes;
    new->file = memfd_create("fake_cuda", MFD_CLOEXEC);
    if (new->file < 0 || 0 != ftruncate(new->file, (off_t)bytes) ||
        0 != fstat(new->file, &status)) {
        return OUT_OF_MEMORY;
    }
    new->inode = status.st_ino;
    *memory = 0;
    int rc = add(new);
    *memory = (pwr_gpu_address_t)(uintptr_t) new->address;
    return rc;
}

int cuMemAllocAsync(pwr_gpu_address_t *memory, size_t bytes, void *on)
{
    (void)on;
    int rc = cuMemAlloc_v2(memory, bytes);
    allocations->of_pool = 1;
    return rc;
}

/* The allocation that has so many bytes there; with the lock. */
static allocation_t *find(pwr_gpu_address_t pointer, size_t bytes)
{
    char *address = (char *)(uintptr_t)pointer;
    allocation_t *a = allocations;
    while (NULL != a && (address < a->address || address + bytes > a->address + a->bytes)) {
        a = a->next;
    }
    return a;
}

char *fake_content_of(pwr_gpu_address_t pointer, size_t bytes)
{
    pthread_mutex_lock(&lock);
    allocation_t *a = find(pointer, bytes);
    char *content = NULL == a ? NULL : a->content + ((char *)(uintptr_t)pointer - a->address);
    pthread_mutex_unlock(&lock);
    return content;
}

static int drop(pwr_gpu_address_t memory, int is_mine)
{
    pthread_mutex_lock(&lock);
    allocation_t **at = &allocations;
    while (NULL != *at && (*at)->address != (char *)(uintptr_t)memory) {
        at = &(*at)->next;
    }
    allocation_t *found = *at;
    if (NULL != found && found->opened > 0) {
        --found->opened;
        pthread_mutex_unlock(&lock);
        return CUDA_SUCCESS;
    }
    if (NULL != found && is_mine == (found->file >= 0)) {
        *at = found->next;
        munmap(found->address, found->bytes);
        munmap(found->content, found->bytes);
        if (is_mine) {
            close(found->file);
        }
    } else {
        found = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return NULL != found ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuMemFree_v2(pwr_gpu_address_t memory)
{
    return drop(memory, 1);
}

static int copy(void *to, const void *from, size_t bytes)
{
    if (0 == fake_pushed) {
        return INVALID_CONTEXT;
    }
    if (NULL == to || NULL == from) {
        return INVALID_VALUE;
    }
    memcpy(to, from, bytes);
    return CUDA_SUCCESS;
}

int cuMemcpyHtoD_v2(pwr_gpu_address_t to, const void *from, size_t bytes)
{
    return copy(fake_content_of(to, bytes), from, bytes);
}

int cuMemcpyDtoH_v2(void *to, pwr_gpu_address_t from, size_t bytes)
{
    return copy(to, fake_content_of(from, bytes), bytes);
}

static int get_attribute(void *data, int attribute, const allocation_t *a)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(void **)data = &context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(uint64_t *)data = a->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(pwr_gpu_address_t *)data = (pwr_gpu_address_t)(uintptr_t)a->address;
        return CUDA_SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

int cuPointerGetAttribute(void *data, int attribute, pwr_gpu_address_t pointer)
{
    pthread_mutex_lock(&lock);
    const allocation_t *a = find(pointer, 1);
    int rc = NULL == a ? INVALID_VALUE : get_attribute(data, attribute, a);
    pthread_mutex_unlock(&lock);
    return rc;
}

int cuPointerSetAttribute(const void *value, int attribute, pwr_gpu_address_t pointer)
{
    return CU_POINTER_ATTRIBUTE_SYNC_MEMOPS == attribute && 1 == *(const unsigned *)value &&
                   NULL != fake_content_of(pointer, 1)
               ? CUDA_SUCCESS
               : INVALID_VALUE;
}

/* What is not on a GPU has none of them but a type, which is no error. */
int cuPointerGetAttributes(unsigned num, int *attributes, void **data, pwr_gpu_address_t pointer)
{
    for (unsigned i = 0; i < num; ++i) {
        if (CUDA_SUCCESS == cuPointerGetAttribute(data[i], attributes[i], pointer)) {
            continue;
        }
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)data[i] =
                is_registered((const char *)(uintptr_t)pointer, 1) ? CU_MEMORYTYPE_HOST : 0;
            break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(unsigned *)data[i] = 0;
            break;
        default:
            *(uint64_t *)data[i] = 0;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- memory of other processes ---- */

int cuIpcGetMemHandle(pwr_gpu_handle_t *handle, pwr_gpu_address_t memory)
{
    FAILS_IF_TOLD
    _Static_assert(sizeof(handle_t) <= sizeof *handle, "");
    pthread_mutex_lock(&lock);
    const allocation_t *a = find(memory, 1);
    a = NULL == a || a->of_pool ? NULL : a;
    if (NULL != a) {
        handle_t mine = {getpid(), a->file, a->inode, a->bytes};
        memcpy(handle, &mine, sizeof mine);
    }
    pthread_mutex_unlock(&lock);
    return NULL != a ? CUDA_SUCCESS : INVALID_VALUE;
}

/* Who opens it again gets the same. */
static allocation_t *opened_again(const handle_t *its)
{
    pthread_mutex_lock(&lock);
    allocation_t *a = allocations;
    while (NULL != a && (a->file >= 0 || a->inode != its->inode)) {
        a = a->next;
    }
    if (NULL != a) {
        ++a->opened;
    }
    pthread_mutex_unlock(&lock);
    return a;
}

int cuIpcOpenMemHandle_v2(pwr_gpu_address_t *memory, pwr_gpu_handle_t handle, unsigned flags)
{
    FAILS_IF_TOLD
    handle_t its;
    char path[64];
    struct stat status;
    memcpy(&its, &handle, sizeof its);
    if (its.pid == getpid() || 0 == fake_pushed || CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS != flags) {
        return INVALID_CONTEXT;
    }
    allocation_t *again = opened_again(&its);
    if (NULL != again) {
        *memory = (pwr_gpu_address_t)(uintptr_t)again->address;
        return CUDA_SUCCESS;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)its.pid, its.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || 0 != fstat(file, &status) || status.st_ino != its.inode) { /* freed */
        close(file);
        return INVALID_HANDLE;
    }
    allocation_t *new = calloc(1, sizeof *new);
    *new = (allocation_t){.bytes = its.bytes, .file = file, .inode = its.inode};
    int rc = add(new);
    new->file = -1;
    close(file);
    *memory = (pwr_gpu_address_t)(uintptr_t) new->address;
    return rc;
}

int cuIpcCloseMemHandle(pwr_gpu_address_t memory)
{
    return drop(memory, 0);
}

char *fake_content_or_host(pwr_gpu_address_t pointer, size_t bytes)
{
    char *address = (char *)(uintptr_t)pointer;
    return is_registered(address, bytes) ? address : fake_content_of(pointer, bytes);
}
