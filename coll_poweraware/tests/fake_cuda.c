/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stands for libcuda.so.1: memory of a GPU that the CPU cannot touch.  An access ends the process.
 * Copies want a context, as CUDA does.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8 };

typedef unsigned long long pointer_t;
typedef struct allocation {
    struct allocation *next;
    char *address; /* cannot be touched */
    size_t bytes;
    char content[];
} allocation_t;

static allocation_t *allocations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int context;
static _Thread_local int pushed;

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **retained, int device);
int cuMemAlloc_v2(pointer_t *memory, size_t bytes);
int cuMemFree_v2(pointer_t memory);
int cuMemcpyHtoD_v2(pointer_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, pointer_t from, size_t bytes);
int cuPointerGetAttribute(void *data, int attribute, pointer_t pointer);
int cuCtxPushCurrent_v2(void *pushes);
int cuCtxPopCurrent_v2(void **popped);

/* Takes as long as nothing does that gets a program to memory of a GPU. */
int cuInit(unsigned flags)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return 0 == flags ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **retained, int device)
{
    *retained = &context;
    return 0 == device ? SUCCESS : INVALID_VALUE;
}

int cuMemAlloc_v2(pointer_t *memory, size_t bytes)
{
    allocation_t *new = malloc(sizeof *new + bytes);
    void *address = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (NULL == new || MAP_FAILED == address) {
        return OUT_OF_MEMORY;
    }
    new->address = address;
    new->bytes = bytes;
    pthread_mutex_lock(&lock);
    new->next = allocations;
    allocations = new;
    pthread_mutex_unlock(&lock);
    *memory = (pointer_t)(size_t)address;
    return SUCCESS;
}

/* The content of so many bytes, all of one allocation. */
static char *content_of(pointer_t pointer, size_t bytes)
{
    char *address = (char *)(size_t)pointer, *content = NULL;
    pthread_mutex_lock(&lock);
    for (allocation_t *a = allocations; NULL != a && NULL == content; a = a->next) {
        if (address >= a->address && address + bytes <= a->address + a->bytes) {
            content = a->content + (address - a->address);
        }
    }
    pthread_mutex_unlock(&lock);
    return content;
}

int cuMemFree_v2(pointer_t memory)
{
    pthread_mutex_lock(&lock);
    allocation_t **at = &allocations;
    while (NULL != *at && (*at)->address != (char *)(size_t)memory) {
        at = &(*at)->next;
    }
    allocation_t *found = *at;
    if (NULL != found) {
        *at = found->next;
        munmap(found->address, found->bytes);
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return NULL != found ? SUCCESS : INVALID_VALUE;
}

static int copy(void *to, const void *from, size_t bytes)
{
    if (0 == pushed) {
        return INVALID_CONTEXT;
    }
    if (NULL == to || NULL == from) {
        return INVALID_VALUE;
    }
    memcpy(to, from, bytes);
    return SUCCESS;
}

int cuMemcpyHtoD_v2(pointer_t to, const void *from, size_t bytes)
{
    return copy(content_of(to, bytes), from, bytes);
}

int cuMemcpyDtoH_v2(void *to, pointer_t from, size_t bytes)
{
    return copy(to, content_of(from, bytes), bytes);
}

int cuPointerGetAttribute(void *data, int attribute, pointer_t pointer)
{
    if (NULL == content_of(pointer, 1)) {
        return INVALID_VALUE;
    }
    switch (attribute) {
    case CONTEXT:
        *(void **)data = &context;
        return SUCCESS;
    case MEMORY_TYPE:
        *(unsigned *)data = 2; /* device */
        return SUCCESS;
    case IS_MANAGED:
        *(unsigned *)data = 0;
        return SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

int cuCtxPushCurrent_v2(void *pushes)
{
    ++pushed;
    return pushes == &context ? SUCCESS : INVALID_CONTEXT;
}

int cuCtxPopCurrent_v2(void **popped)
{
    *popped = &context;
    return pushed-- > 0 ? SUCCESS : INVALID_CONTEXT;
}
