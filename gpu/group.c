/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions in the order of streams (pwr_gpu/group.h).
 */
#include "pwr_gpu/group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/modules.h"
#include "pwr/wait.h"

enum { SERVER = 0, FLAG_STRIDE = 128 /* bytes */ };

/* ---- what members share ---- */

typedef struct slot {
    pwr_gpu_offer_t offer;
    int32_t op, type;
    uint64_t count;
} slot_t;

typedef struct member {
    pwr_flag_t posted; /* calls of which the slot is filled */
    slot_t slot[PWR_GPU_GROUP_AHEAD];
} member_t;

typedef struct shared {
    pwr_flag_t served; /* calls that the server is through with */
    pwr_gpu_handle_t flags;
    _Atomic uint32_t failed;
    char why[PWR_GPU_WHY_MAX];
    member_t member[];
} shared_t;

size_t pwr_gpu_group_bytes(int num)
{
    return sizeof(shared_t) + (size_t)num * sizeof(member_t);
}

/* ---- a member ---- */

struct pwr_gpu_group {
    shared_t *shared;
    int num, me;
    void *stream;
    pwr_gpu_address_t flags; /* of members, then of the group; 0: not there */
    uint32_t calls;
    pwr_gpu_address_t bounce; /* for buffers that cannot be opened; 0: none so far */
    size_t bounce_bytes;
    void *context;
    bool serves;
    void *server_stream;
    pthread_t server;
    _Atomic bool stops;
};

/* Who serves polls a little: calls come in rows. */
static const pwr_wait_policy_t policy = {
    .spin_ns = 20000, .sleep_min_ns = 1000000, .sleep_max_ns = 1000000000};

/* The first reason is kept. */
static void fail(pwr_gpu_group_t *g, const char *why)
{
    uint32_t none = 0;
    if (atomic_compare_exchange_strong(&g->shared->failed, &none, 1)) {
        snprintf(g->shared->why, sizeof g->shared->why, "%s", why);
    }
}

const char *pwr_gpu_group_why(const pwr_gpu_group_t *g)
{
    return g->shared->why;
}

static pwr_gpu_address_t arrived(const pwr_gpu_group_t *g, int member)
{
    return g->flags + (pwr_gpu_address_t)member * FLAG_STRIDE;
}

static pwr_gpu_address_t ended(const pwr_gpu_group_t *g)
{
    return arrived(g, g->num);
}

static pwr_gpu_memory_operation_t operation(int what, pwr_gpu_address_t flag, uint32_t value)
{
    pwr_gpu_memory_operation_t o = {.on = {.operation = what, .address = flag, .value = value}};
    return o;
}

static bool allocate(pwr_gpu_address_t *memory, size_t bytes)
{
    return CUDA_SUCCESS == pwr_gpu_driver.allocate(memory, bytes);
}

static bool make_flags(pwr_gpu_group_t *g)
{
    size_t bytes = ((size_t)g->num + 1) * FLAG_STRIDE;
    void *zeros = calloc(1, bytes);
    bool ok = NULL != zeros && allocate(&g->flags, bytes) &&
              CUDA_SUCCESS == pwr_gpu_driver.to_device(g->flags, zeros, bytes) &&
              CUDA_SUCCESS == pwr_gpu_driver.get_handle(&g->shared->flags, g->flags);
    free(zeros);
    return ok;
}

pwr_gpu_group_t *pwr_gpu_group_new(void *shared, int num, int me, void *stream)
{
    if (NULL == pwr_gpu_driver.memory_operations || num > PWR_GPU_MEMBERS || !pwr_gpu_open()) {
        return NULL;
    }
    pwr_gpu_group_t *g = calloc(1, sizeof *g);
    if (NULL == g) {
        return NULL;
    }
    *g = (pwr_gpu_group_t){.shared = shared, .num = num, .me = me, .stream = stream};
    if (CUDA_SUCCESS != pwr_gpu_driver.get_context(&g->context) ||
        (SERVER == me && (!make_flags(g) || !pwr_gpu_load_all()))) {
        pwr_gpu_group_free(g);
        return NULL;
    }
    return g;
}

bool pwr_gpu_group_join(pwr_gpu_group_t *g)
{
    return SERVER == g->me ||
           CUDA_SUCCESS == pwr_gpu_driver.open_handle(&g->flags, g->shared->flags,
                                                      CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

/* ---- the server ---- */

/* Returns false when it is to stop. */
static bool wait_for_offers(pwr_gpu_group_t *g, uint32_t call)
{
    for (int m = 0; m < g->num; ++m) {
        while (PWR_OK !=
               pwr_wait_until(&g->shared->member[m].posted, call, &policy, NULL, NULL, 0, NULL)) {
        }
        if (atomic_load(&g->stops)) {
            return false;
        }
    }
    return true;
}

static void serve_call(pwr_gpu_group_t *g, uint32_t call)
{
    pwr_gpu_memory_operation_t operations[PWR_GPU_MEMBERS];
    const pwr_gpu_offer_t *offers[PWR_GPU_MEMBERS];
    const slot_t *first = &g->shared->member[0].slot[call % PWR_GPU_GROUP_AHEAD];
    for (int m = 0; m < g->num; ++m) {
        operations[m] = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, arrived(g, m), call);
        offers[m] = &g->shared->member[m].slot[call % PWR_GPU_GROUP_AHEAD].offer;
    }
    if (CUDA_SUCCESS !=
        pwr_gpu_driver.memory_operations(g->server_stream, (unsigned)g->num, operations, 0)) {
        fail(g, "cuStreamBatchMemOp fails");
    } else if (PWR_GPU_DONE != pwr_gpu_reduce_on(g->server_stream, offers, g->num,
                                                 (pwr_gpu_op_t)first->op,
                                                 (pwr_gpu_type_t)first->type, first->count)) {
        fail(g, pwr_gpu_why());
    }
    operations[0] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, ended(g), call);
    pwr_gpu_driver.memory_operations(g->server_stream, 1, operations, 0);
    pwr_flag_set(&g->shared->served, call);
}

static void *serve(void *group)
{
    pwr_gpu_group_t *g = group;
    void *before;
    pwr_gpu_driver.push(g->context);
    for (uint32_t call = 1; wait_for_offers(g, call); ++call) {
        serve_call(g, call);
    }
    pwr_gpu_driver.wait_stream(g->server_stream);
    pwr_gpu_driver.pop(&before);
    return NULL;
}

bool pwr_gpu_group_start(pwr_gpu_group_t *g)
{
    if (SERVER != g->me) {
        return true;
    }
    if (CUDA_SUCCESS != pwr_gpu_driver.create_stream(&g->server_stream, CU_STREAM_NON_BLOCKING)) {
        return false;
    }
    g->serves = 0 == pthread_create(&g->server, NULL, serve, g);
    return g->serves;
}

static void stop_server(pwr_gpu_group_t *g)
{
    if (g->serves) {
        atomic_store(&g->stops, true);
        /* the server waits for one of these */
        for (int m = 0; m < g->num; ++m) {
            pwr_flag_set(&g->shared->member[m].posted, g->calls + 1);
        }
        pthread_join(g->server, NULL);
    }
    if (NULL != g->server_stream) {
        pwr_gpu_driver.destroy_stream(g->server_stream);
    }
}

/* ---- calls ---- */

/* Memory for both buffers.  What was there before goes when the stream has done with it. */
static bool have_bounce(pwr_gpu_group_t *g, size_t bytes)
{
    if (bytes > g->bounce_bytes) {
        if (0 != g->bounce) {
            pwr_gpu_driver.wait_stream(g->stream);
            pwr_gpu_driver.release(g->bounce);
            g->bounce = 0;
        }
        g->bounce_bytes = allocate(&g->bounce, bytes) ? bytes : 0;
    }
    return g->bounce_bytes >= bytes;
}

/* in, out: replaced by memory that others can open. */
static bool offer_bounce(pwr_gpu_group_t *g, pwr_gpu_offer_t *offer, const void *in, bool has_out,
                         size_t bytes)
{
    size_t half = (bytes + 255) / 256 * 256;
    if (!have_bounce(g, 2 * half)) {
        return false;
    }
    return CUDA_SUCCESS ==
               pwr_gpu_driver.copy(g->bounce, (pwr_gpu_address_t)(uintptr_t)in, bytes, g->stream) &&
           PWR_GPU_OFFERED == pwr_gpu_offer(offer, (const void *)(uintptr_t)g->bounce,
                                            has_out ? (void *)(uintptr_t)(g->bounce + half) : NULL,
                                            true);
}

pwr_gpu_result_t pwr_gpu_group_reduce(pwr_gpu_group_t *g, const void *in, void *out,
                                      pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count)
{
    member_t *mine = &g->shared->member[g->me];
    uint32_t call = ++g->calls;
    slot_t *slot = &mine->slot[call % PWR_GPU_GROUP_AHEAD];
    size_t bytes = count * pwr_gpu_modules[type].bytes;
    pwr_wait_until(&g->shared->served, call - PWR_GPU_GROUP_AHEAD, &policy, NULL, NULL, 0, NULL);
    if (SERVER == g->me && pwr_gpu_must_close()) {
        pwr_gpu_driver.wait_stream(
            g->stream); /* to close waits for all streams, without the server */
        pwr_gpu_driver.wait_stream(g->server_stream);
        pwr_gpu_close();
    }
    *slot = (slot_t){.op = (int32_t)op, .type = (int32_t)type, .count = count};
    bool bounces = PWR_GPU_OFFERED != pwr_gpu_offer(&slot->offer, in, out, false);
    bool ok = !bounces || offer_bounce(g, &slot->offer, in, NULL != out, bytes);
    if (!ok) {
        fail(g, pwr_gpu_why()); /* and goes on: others must not wait for ever */
    }
    pwr_flag_set(&mine->posted, call);
    pwr_gpu_memory_operation_t operations[] = {
        operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, arrived(g, g->me), call),
        operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, ended(g), call),
    };
    ok &= CUDA_SUCCESS == pwr_gpu_driver.memory_operations(g->stream, 2, operations, 0);
    if (bounces && ok && NULL != out) {
        pwr_gpu_address_t result = g->bounce + (bytes + 255) / 256 * 256;
        ok = CUDA_SUCCESS ==
             pwr_gpu_driver.copy((pwr_gpu_address_t)(uintptr_t)out, result, bytes, g->stream);
    }
    return ok && 0 == atomic_load(&g->shared->failed) ? PWR_GPU_DONE : PWR_GPU_FAILED;
}

void pwr_gpu_group_free(pwr_gpu_group_t *g)
{
    void *before;
    if (NULL == g) {
        return;
    }
    stop_server(g);
    pwr_gpu_driver.push(g->context);
    if (0 != g->bounce) {
        pwr_gpu_driver.release(g->bounce);
    }
    if (0 != g->flags) {
        if (SERVER == g->me) {
            pwr_gpu_driver.release(g->flags);
        } else {
            pwr_gpu_driver.close_handle(g->flags);
        }
    }
    pwr_gpu_driver.pop(&before);
    free(g);
}
