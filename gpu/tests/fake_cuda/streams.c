/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Streams, a thread each, which takes one operation after the other; and events (fake.h).
 */
#include "fake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_KERNEL_NS = 100000 };

typedef enum what {
    KERNEL_RUNS,
    TEAM_KERNEL_RUNS,
    BYTES_ARE_COPIED,
    FLAG_IS_WRITTEN,
    FLAG_IS_AWAITED,
    EVENT_COMES
} what_t;

typedef struct event {
    _Atomic int recorded, come; /* how often */
} event_t;

typedef struct operation {
    struct operation *next;
    what_t what;
    fake_call_t call;
    fake_team_call_t team_call;
    pwr_gpu_address_t to, from;
    size_t bytes;
    uint32_t value;
    event_t *event;
} operation_t;

typedef struct stream {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changes;
    operation_t *first, **last;
    int ends, result;
    unsigned long long context;
} stream_t;

static int await_flag(const operation_t *o)
{
    _Atomic uint32_t *flag = (void *)fake_content_of(o->to, sizeof *flag);
    while (NULL != flag && (int32_t)(atomic_load(flag) - o->value) < 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return NULL != flag ? CUDA_SUCCESS : ILLEGAL_ADDRESS;
}

static int carry_out(operation_t *o)
{
    char *to, *from;
    switch (o->what) {
    case KERNEL_RUNS:
        nanosleep(&(struct timespec){.tv_nsec = rand() % LONGEST_KERNEL_NS}, NULL);
        return fake_run_kernel(&o->call);
    case TEAM_KERNEL_RUNS:
        return fake_run_team_kernel(&o->team_call);
    case BYTES_ARE_COPIED:
        to = fake_content_of(o->to, o->bytes);
        from = fake_content_of(o->from, o->bytes);
        if (NULL == to || NULL == from) {
            return ILLEGAL_ADDRESS;
        }
        memcpy(to, from, o->bytes);
        return CUDA_SUCCESS;
    case FLAG_IS_WRITTEN:
        to = fake_content_of(o->to, sizeof o->value);
        if (NULL == to) {
            return ILLEGAL_ADDRESS;
        }
        atomic_store((_Atomic uint32_t *)(void *)to, o->value);
        return CUDA_SUCCESS;
    case FLAG_IS_AWAITED:
        return await_flag(o);
    default:
        atomic_fetch_add(&o->event->come, 1);
        return CUDA_SUCCESS;
    }
}

static void *work(void *of)
{
    stream_t *s = of;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (NULL == s->first && !s->ends) {
            pthread_cond_wait(&s->changes, &s->lock);
        }
        operation_t *o = s->first;
        if (NULL == o) {
            break;
        }
        pthread_mutex_unlock(&s->lock);
        int rc = carry_out(o);
        pthread_mutex_lock(&s->lock);
        s->result = CUDA_SUCCESS == s->result ? rc : s->result;
        s->first = o->next;
        s->last = NULL == s->first ? &s->first : s->last;
        free(o);
        pthread_cond_broadcast(&s->changes);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int put(stream_t *s, const operation_t *operation)
{
    operation_t *o = malloc(sizeof *o);
    if (s->context != fake_context_id) {
        abort(); /* a real one may do worse */
    }
    *o = *operation;
    o->next = NULL;
    pthread_mutex_lock(&s->lock);
    *s->last = o;
    s->last = &o->next;
    int rc = s->result;
    pthread_cond_broadcast(&s->changes);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int cuStreamCreate(void **created, unsigned flags)
{
    FAILS_IF_TOLD
    stream_t *s = calloc(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changes, NULL);
    s->last = &s->first;
    s->context = fake_context_id;
    *created = s;
    return CU_STREAM_NON_BLOCKING == flags && fake_pushed > 0 &&
                   0 == pthread_create(&s->thread, NULL, work, s)
               ? CUDA_SUCCESS
               : INVALID_VALUE;
}

int cuStreamSynchronize(void *awaited)
{
    stream_t *s = awaited;
    if (NULL == s) { /* the default one never has something to do */
        return fake_pushed > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
    }
    pthread_mutex_lock(&s->lock);
    while (NULL != s->first) {
        pthread_cond_wait(&s->changes, &s->lock);
    }
    int rc = s->result;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int cuStreamQuery(void *queried)
{
    stream_t *s = queried;
    pthread_mutex_lock(&s->lock);
    int rc = NULL != s->first ? CUDA_ERROR_NOT_READY : s->result;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int cuStreamDestroy_v2(void *destroyed)
{
    stream_t *s = destroyed;
    pthread_mutex_lock(&s->lock);
    s->ends = 1;
    pthread_cond_broadcast(&s->changes);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    free(s);
    return CUDA_SUCCESS;
}

static int may_launch(unsigned long long count)
{
    static _Atomic int launches;
    return 0 == count ||
           fake_number_of("OMPI_COMM_WORLD_RANK", 0) != fake_number_of("FAKE_CUDA_FAILS_ON", 1) ||
           atomic_fetch_add(&launches, 1) < fake_number_of("FAKE_CUDA_LAUNCHES", 1 << 30);
}

static int launch_team_kernel(size_t kernel, unsigned blocks, void *on, void **arguments)
{
    operation_t o = {.what = TEAM_KERNEL_RUNS,
                     .team_call = {.kernel = kernel,
                                   .blocks = blocks,
                                   .team = *(pwr_gpu_address_t *)arguments[0],
                                   .in = *(pwr_gpu_address_t *)arguments[1]}};
    fake_team_call_t *call = &o.team_call;
    if (fake_is_probe(kernel)) {
        call->op = *(int *)arguments[2];
    } else {
        call->out = *(pwr_gpu_address_t *)arguments[2];
        call->count = *(unsigned long long *)arguments[3];
        call->root = *(int *)arguments[4];
        call->op = *(int *)arguments[5];
    }
    return may_launch(call->count) ? put(on, &o) : NOT_SUPPORTED;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *on, void **arguments, void **extra)
{
    FAILS_IF_TOLD
    int kernel = fake_kernel(function), of_team = fake_team_kernel(function);
    if (of_team >= 0 && fake_pushed > 0 && grid_x > 0 && grid_x <= MULTIPROCESSORS) {
        return launch_team_kernel((size_t)of_team, grid_x, on, arguments);
    }
    if (kernel < 0 || 0 == grid_x || 1 != grid_y * grid_z * block_y * block_z || 0 == block_x ||
        block_x > 1024 || 0 != shared_bytes || NULL != extra || 0 == fake_pushed) {
        return INVALID_VALUE;
    }
    operation_t o = {.what = KERNEL_RUNS,
                     .call = {.kernel = (size_t)kernel,
                              .table = *(pwr_gpu_table_t *)arguments[0],
                              .num_in = *(int *)arguments[1],
                              .num_out = *(int *)arguments[2],
                              .vectors = *(unsigned long long *)arguments[3],
                              .count = *(unsigned long long *)arguments[4]}};
    return may_launch(o.call.count) ? put(on, &o) : NOT_SUPPORTED;
}

int cuMemcpyDtoDAsync_v2(pwr_gpu_address_t to, pwr_gpu_address_t from, size_t bytes, void *on)
{
    FAILS_IF_TOLD
    operation_t o = {.what = BYTES_ARE_COPIED, .to = to, .from = from, .bytes = bytes};
    return put(on, &o);
}

int cuStreamBatchMemOp_v2(void *on, unsigned num, pwr_gpu_memory_operation_t *operations,
                          unsigned flags)
{
    FAILS_IF_TOLD
    int rc = 0 == flags ? CUDA_SUCCESS : INVALID_VALUE;
    for (unsigned i = 0; i < num && CUDA_SUCCESS == rc; ++i) {
        operation_t o = {.to = operations[i].on.address,
                         .value = (uint32_t)operations[i].on.value,
                         .what = CU_STREAM_MEM_OP_WRITE_VALUE_32 == operations[i].on.operation
                                     ? FLAG_IS_WRITTEN
                                     : FLAG_IS_AWAITED};
        rc = put(on, &o);
    }
    return rc;
}

int cuEventCreate(void **created, unsigned flags)
{
    FAILS_IF_TOLD
    *created = calloc(1, sizeof(event_t));
    return (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING) == flags && fake_pushed > 0
               ? CUDA_SUCCESS
               : INVALID_VALUE;
}

int cuEventDestroy_v2(void *destroyed)
{
    free(destroyed);
    return CUDA_SUCCESS;
}

int cuEventRecord(void *recorded, void *on)
{
    FAILS_IF_TOLD
    event_t *event = recorded;
    operation_t o = {.what = EVENT_COMES, .event = event};
    atomic_fetch_add(&event->recorded, 1);
    return put(on, &o);
}

int cuEventSynchronize(void *awaited)
{
    FAILS_IF_TOLD
    event_t *event = awaited;
    while (atomic_load(&event->come) < atomic_load(&event->recorded)) {
        nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    }
    return CUDA_SUCCESS;
}

int cuMemAllocHost_v2(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return NULL != *memory ? CUDA_SUCCESS : OUT_OF_MEMORY;
}

/* At once, when the stream has come here. */
int cuMemcpyDtoHAsync_v2(void *to, pwr_gpu_address_t from, size_t bytes, void *on)
{
    int rc = cuStreamSynchronize(on);
    return CUDA_SUCCESS == rc ? cuMemcpyDtoH_v2(to, from, bytes) : rc;
}

int cuMemcpyHtoDAsync_v2(pwr_gpu_address_t to, const void *from, size_t bytes, void *on)
{
    int rc = cuStreamSynchronize(on);
    return CUDA_SUCCESS == rc ? cuMemcpyHtoD_v2(to, from, bytes) : rc;
}
