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

#include "engine.h"
#include "kernels/modules.h"
#include "pwr/clock.h"
#include "pwr/thread.h"
#include "pwr/wait.h"

enum { SERVER = 0, FLAG_STRIDE = 128 /* bytes */, LARGE_BYTES = 1 << 20 };

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
    pwr_gpu_uuid_t device;
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
    /* the first member's */
    void *server_stream;
    pthread_t server;
    bool serves;
    _Atomic bool stops;
    uint64_t poll_ns;
    uint32_t num_handed;
    uint32_t handed_call[PWR_GPU_GROUP_AHEAD];
    pwr_flag_t handed; /* num_handed, for the server */
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

static void await(pwr_flag_t *flag, uint32_t target)
{
    while (PWR_OK != pwr_wait_until(flag, target, &policy, NULL, NULL, 0, NULL)) {
    }
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
    g->shared->device = pwr_gpu_engine.device;
    if (!ok) {
        pwr_gpu_because("memory of this GPU cannot be had, or not be opened by others");
    }
    return ok;
}

pwr_gpu_group_t *pwr_gpu_group_new(void *shared, int num, int me, void *stream)
{
    if (NULL == pwr_gpu_driver.memory_operations) {
        pwr_gpu_because("the driver is older than CUDA 11.7");
        return NULL;
    }
    if (num > PWR_GPU_MEMBERS) {
        pwr_gpu_because("more than %d ranks on one GPU", (int)PWR_GPU_MEMBERS);
        return NULL;
    }
    if (!pwr_gpu_open()) {
        return NULL;
    }
    pwr_gpu_group_t *g = aligned_alloc(_Alignof(pwr_gpu_group_t), sizeof *g);
    if (NULL == g) {
        pwr_gpu_because("out of memory");
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
    if (SERVER == g->me) {
        return true;
    }
    if (0 != memcmp(&g->shared->device, &pwr_gpu_engine.device, sizeof g->shared->device)) {
        pwr_gpu_because("ranks use several GPUs");
        return false;
    }
    int rc =
        pwr_gpu_driver.open_handle(&g->flags, g->shared->flags, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (CUDA_SUCCESS != rc) {
        pwr_gpu_because("memory of another process on this GPU cannot be opened (%s)",
                        pwr_gpu_error_name(rc));
    }
    return CUDA_SUCCESS == rc;
}

/* ---- the first member: kernels for all ---- */

/* Puts call, whose offers are all there, into a stream that has come after the first member's
   arrival, or waits for that, too (waits_from 0). */
static void put_kernel(pwr_gpu_group_t *g, uint32_t call, void *stream, int waits_from)
{
    pwr_gpu_memory_operation_t operations[PWR_GPU_MEMBERS];
    const pwr_gpu_offer_t *offers[PWR_GPU_MEMBERS];
    const slot_t *first = &g->shared->member[SERVER].slot[call % PWR_GPU_GROUP_AHEAD];
    unsigned waits = (unsigned)(g->num - waits_from);
    for (int m = 0; m < g->num; ++m) {
        offers[m] = &g->shared->member[m].slot[call % PWR_GPU_GROUP_AHEAD].offer;
    }
    for (unsigned w = 0; w < waits; ++w) {
        operations[w] =
            operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, arrived(g, waits_from + (int)w), call);
    }
    if (waits > 0 &&
        CUDA_SUCCESS != pwr_gpu_driver.memory_operations(stream, waits, operations, 0)) {
        fail(g, "cuStreamBatchMemOp fails");
    } else if (PWR_GPU_DONE != pwr_gpu_reduce_on(stream, offers, g->num, (pwr_gpu_op_t)first->op,
                                                 (pwr_gpu_type_t)first->type, first->count)) {
        fail(g, pwr_gpu_why());
    }
    operations[0] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, ended(g), call);
    pwr_gpu_driver.memory_operations(stream, 1, operations, 0);
    pwr_flag_set(&g->shared->served, call);
}

/* The server; from calls handed to it on, in order. */
static void *serve(void *group)
{
    pwr_gpu_group_t *g = group;
    void *before;
    pwr_gpu_driver.push(g->context);
    for (uint32_t next = 1;; ++next) {
        await(&g->handed, next);
        if (atomic_load(&g->stops)) {
            break;
        }
        uint32_t call = g->handed_call[next % PWR_GPU_GROUP_AHEAD];
        for (int m = 0; m < g->num; ++m) {
            await(&g->shared->member[m].posted, call);
        }
        put_kernel(g, call, g->server_stream, 0);
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
    g->serves = 0 == pwr_thread_begin(&g->server, serve, g);
    return g->serves;
}

static void stop_server(pwr_gpu_group_t *g)
{
    if (g->serves) {
        atomic_store(&g->stops, true);
        pwr_flag_set(&g->handed, g->num_handed + 1);
        pthread_join(g->server, NULL);
    }
    if (NULL != g->server_stream) {
        pwr_gpu_driver.destroy_stream(g->server_stream);
    }
}

static bool all_have_posted(const pwr_gpu_group_t *g, uint32_t call)
{
    for (int m = 0; m < g->num; ++m) {
        if (!pwr_flag_reached(&g->shared->member[m].posted, call)) {
            return false;
        }
    }
    return pwr_flag_reached(&g->shared->served, call - 1);
}

/* Whether the first member need not hand this call to the server: all offers are there, or come in
   the time that it polls for them.  It polls for less where that was in vain. */
static bool are_soon_there(pwr_gpu_group_t *g, uint32_t call)
{
    enum { MOST_NS = 32000, LEAST_NS = 2000 };
    const uint64_t until = pwr_now_ns() + (g->poll_ns > LEAST_NS ? g->poll_ns : LEAST_NS);
    do {
        if (all_have_posted(g, call)) {
            g->poll_ns = MOST_NS;
            return true;
        }
    } while (pwr_now_ns() < until);
    g->poll_ns /= 2;
    return false;
}

static void lead(pwr_gpu_group_t *g, uint32_t call)
{
    if (are_soon_there(g, call)) {
        put_kernel(g, call, g->stream, 1);
        return;
    }
    pwr_gpu_memory_operation_t operations[] = {
        operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, arrived(g, SERVER), call),
        operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, ended(g), call),
    };
    g->handed_call[++g->num_handed % PWR_GPU_GROUP_AHEAD] = call;
    pwr_flag_set(&g->handed, g->num_handed);
    if (CUDA_SUCCESS != pwr_gpu_driver.memory_operations(g->stream, 2, operations, 0)) {
        fail(g, "cuStreamBatchMemOp fails");
    }
}

static void follow(pwr_gpu_group_t *g, uint32_t call)
{
    pwr_gpu_memory_operation_t operations[] = {
        operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, arrived(g, g->me), call),
        operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, ended(g), call),
    };
    if (CUDA_SUCCESS != pwr_gpu_driver.memory_operations(g->stream, 2, operations, 0)) {
        fail(g, "cuStreamBatchMemOp fails");
    }
}

/* ---- calls ---- */

/* Until the slot of a call is free.  Members are ahead of the first one, which has more to do: who
   finds no slot free waits for half of them, so that it sleeps once for many calls. */
static void await_slot(pwr_gpu_group_t *g, uint32_t call)
{
    if (!pwr_flag_reached(&g->shared->served, call - PWR_GPU_GROUP_AHEAD)) {
        await(&g->shared->served, call - PWR_GPU_GROUP_AHEAD / 2);
    }
}

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
    await_slot(g, call);
    if (SERVER == g->me && pwr_gpu_must_close()) {
        /* to close waits for all streams, and keeps the server out */
        pwr_gpu_driver.wait_stream(g->stream);
        pwr_gpu_driver.wait_stream(g->server_stream);
        pwr_gpu_close();
    }
    *slot = (slot_t){.op = (int32_t)op, .type = (int32_t)type, .count = count};
    /* what is large is not copied for being new */
    bool bounces = PWR_GPU_OFFERED != pwr_gpu_offer(&slot->offer, in, out, bytes > LARGE_BYTES);
    bool ok = !bounces || offer_bounce(g, &slot->offer, in, NULL != out, bytes);
    if (!ok) {
        fail(g, pwr_gpu_why()); /* and goes on: others must not wait for ever */
    }
    pwr_flag_set(&mine->posted, call);
    if (SERVER == g->me) {
        lead(g, call);
    } else {
        follow(g, call);
    }
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
