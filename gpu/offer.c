/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Offers of buffers, and what others have offered (pwr_gpu/offer.h).
 *
 * 1. exports: handles of own allocations, kept because to get one takes 10 us
 * 2. imports: memory of other processes that is open here
 * 3. offers
 * 4. what is not wanted any more is closed
 */
#include "engine.h"

#include <string.h>

enum { EXPORTS = 32, IMPORTS = 1024, PROBES = 32 };

/* ---- 1. exports ---- */

typedef struct exported {
    uint64_t allocation; /* 0: none */
    pwr_gpu_address_t base;
    pwr_gpu_handle_t handle;
} exported_t;

static exported_t exports[EXPORTS];
static unsigned next_export;
/* Allocations that came once. */
static uint64_t seen[EXPORTS];
static unsigned next_seen;

static exported_t *find_export(uint64_t allocation)
{
    for (int i = 0; i < EXPORTS; ++i) {
        if (allocation == exports[i].allocation) {
            return &exports[i];
        }
    }
    return NULL;
}

/* From the first time on, what has been copied there is there: a copy that returns before it has
   ended is in order with its own stream alone, and the kernel runs in another process. */
static bool comes_again(const pwr_gpu_buffer_t *buffer)
{
    const unsigned yes = 1;
    for (int i = 0; i < EXPORTS; ++i) {
        if (buffer->allocation == seen[i]) {
            return true;
        }
    }
    pwr_gpu_driver.set_attribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer->base);
    seen[next_seen++ % EXPORTS] = buffer->allocation;
    return false;
}

/* Whether some were freed, which are none any more. */
static bool drop_freed_exports(void)
{
    bool some = false;
    for (int i = 0; i < EXPORTS; ++i) {
        uint64_t now = 0;
        if (0 != exports[i].allocation &&
            (CUDA_SUCCESS != pwr_gpu_driver.get_attribute(&now, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                                          exports[i].base) ||
             now != exports[i].allocation)) {
            exports[i].allocation = 0;
            some = true;
        }
    }
    return some;
}

static pwr_gpu_offered_t export_allocation(pwr_gpu_buffer_t *buffer, uint32_t *forget, bool lasts)
{
    exported_t *e = find_export(buffer->allocation);
    if (NULL == e && !lasts && !comes_again(buffer)) {
        pwr_gpu_because("memory that has not been used before");
        return PWR_GPU_NOT_YET;
    }
    if (NULL == e) {
        int rc = pwr_gpu_driver.get_handle(&buffer->handle, buffer->base);
        if (CUDA_SUCCESS != rc) {
            pwr_gpu_because(
                "memory of a GPU that other processes cannot open (%s; memory pools and "
                "cudaMallocAsync give such): cudaMalloc gives other",
                pwr_gpu_error_name(rc));
            return PWR_GPU_NEVER;
        }
        *forget |= drop_freed_exports();
        e = &exports[next_export++ % EXPORTS];
        *e = (exported_t){buffer->allocation, buffer->base, buffer->handle};
    }
    buffer->handle = e->handle;
    return PWR_GPU_OFFERED;
}

/* ---- 2. imports ---- */

typedef struct imported {
    uint64_t process; /* 0: none */
    uint64_t allocation;
    pwr_gpu_address_t base; /* here */
    uint64_t used;          /* when: number of the call */
} imported_t;

static imported_t imports[IMPORTS]; /* a hash table: an import is at most PROBES behind its place */
static pwr_gpu_address_t unwanted[IMPORTS]; /* to be closed */
static int num_unwanted;
static uint64_t calls;

static imported_t *place(uint64_t process, uint64_t allocation, int probe)
{
    uint64_t hash = (process ^ allocation * UINT64_C(0x9E3779B97F4A7C15)) >> 32;
    return &imports[(hash + (uint64_t)probe) % IMPORTS];
}

/* Returns whether there is room for it among those to be closed. */
static bool give_up(imported_t *i)
{
    if (IMPORTS == num_unwanted) {
        return false;
    }
    unwanted[num_unwanted++] = i->base;
    i->process = 0;
    return true;
}

/* What this process has open of an offer's process, but for what is offered now. */
static void forget_others(const pwr_gpu_offer_t *offer)
{
    for (imported_t *i = imports; i < imports + IMPORTS; ++i) {
        if (i->process == offer->process && i->allocation != offer->in.allocation &&
            i->allocation != offer->out.allocation) {
            give_up(i);
        }
    }
}

/* NULL: there is none, and the latest uses of all places are too new. */
static imported_t *free_place(uint64_t process, uint64_t allocation)
{
    imported_t *oldest = NULL;
    for (int probe = 0; probe < PROBES; ++probe) {
        imported_t *i = place(process, allocation, probe);
        if (0 == i->process) {
            return i;
        }
        oldest = NULL == oldest || i->used < oldest->used ? i : oldest;
    }
    return oldest->used != calls && give_up(oldest) ? oldest : NULL;
}

/* Address of a buffer of another process; 0: it cannot be opened. */
static pwr_gpu_address_t import_buffer(uint64_t process, const pwr_gpu_buffer_t *buffer)
{
    imported_t *i = NULL;
    for (int probe = 0; probe < PROBES && NULL == i; ++probe) {
        imported_t *there = place(process, buffer->allocation, probe);
        i = there->process == process && there->allocation == buffer->allocation ? there : NULL;
    }
    if (NULL == i) {
        pwr_gpu_address_t base = 0;
        i = free_place(process, buffer->allocation);
        int rc = NULL == i ? CUDA_SUCCESS
                           : pwr_gpu_driver.open_handle(&base, buffer->handle,
                                                        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        if (NULL == i || CUDA_SUCCESS != rc) {
            pwr_gpu_because("memory of another process on a GPU cannot be opened (%s)",
                            NULL == i ? "too many buffers" : pwr_gpu_error_name(rc));
            return 0;
        }
        *i = (imported_t){process, buffer->allocation, base, 0};
    }
    i->used = calls;
    return i->base + buffer->offset;
}

/* ---- 3. offers ---- */

typedef struct found {
    void *context;
    pwr_gpu_buffer_t buffer;
} found_t;

/* A program may end a context (cudaDeviceReset), and the next one may be at the same address. */
static void forget_if_ended(void *context)
{
    if (pwr_gpu_engine_ended(context)) {
        memset(exports, 0, sizeof exports);
        memset(imports, 0, sizeof imports);
        num_unwanted = 0;
    }
}

static bool look_up(const void *address, found_t *found)
{
    int attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *data[] = {&found->context, &found->buffer.allocation, &found->buffer.base};
    pwr_gpu_address_t pointer = (pwr_gpu_address_t)(uintptr_t)address;
    int rc = pwr_gpu_driver.get_attributes(3, attributes, data, pointer);
    if (CUDA_SUCCESS != rc || NULL == found->context || 0 == found->buffer.allocation) {
        pwr_gpu_because("memory of a GPU that the driver does not describe");
        return false;
    }
    found->buffer.offset = pointer - found->buffer.base;
    return true;
}

/* Of both, and of all before; NULL: there is none such. */
static void *find_context(const void *in, found_t *source, const void *out, found_t *result)
{
    if ((NULL != in && !look_up(in, source)) || (NULL != out && !look_up(out, result))) {
        return NULL;
    }
    void *context = NULL != in ? source->context : result->context;
    forget_if_ended(context);
    if ((NULL != in && NULL != out && result->context != context) ||
        (NULL != pwr_gpu_engine.context && pwr_gpu_engine.context != context)) {
        pwr_gpu_because("buffers in more than one context of CUDA");
        return NULL;
    }
    return context;
}

bool pwr_gpu_can_use(const void *in, const void *out)
{
    found_t source = {0}, result = {0};
    pwr_gpu_lock();
    void *context = find_context(in, &source, out, &result);
    bool can = NULL != context && context == pwr_gpu_engine.context;
    pwr_gpu_unlock();
    return can;
}

static pwr_gpu_offered_t offer_locked(pwr_gpu_offer_t *offer, const void *in, void *out, bool lasts)
{
    found_t source = {0}, result = {0};
    void *before;
    void *context = find_context(in, &source, out, &result);
    if (NULL == context) {
        return PWR_GPU_NEVER;
    }
    if (!pwr_gpu_succeeds(pwr_gpu_driver.push(context), "cuCtxPushCurrent")) {
        return PWR_GPU_NEVER;
    }
    pwr_gpu_offered_t offered = NULL != pwr_gpu_engine.context || pwr_gpu_engine_open(context)
                                    ? PWR_GPU_OFFERED
                                    : PWR_GPU_NEVER;
    *offer = (pwr_gpu_offer_t){.process = pwr_gpu_engine.process, .device = pwr_gpu_engine.device};
    if (NULL != in && PWR_GPU_OFFERED == offered) {
        offered = export_allocation(&source.buffer, &offer->forget, lasts);
    }
    if (NULL != out && PWR_GPU_NEVER != offered) { /* that it has come counts in any case */
        pwr_gpu_offered_t its = export_allocation(&result.buffer, &offer->forget, lasts);
        offered = PWR_GPU_OFFERED == offered ? its : offered;
    }
    pwr_gpu_driver.pop(&before);
    offer->in = source.buffer;
    offer->out = result.buffer;
    return offered;
}

pwr_gpu_offered_t pwr_gpu_offer(pwr_gpu_offer_t *offer, const void *in, void *out, bool lasts)
{
    pwr_gpu_lock();
    pwr_gpu_offered_t offered = offer_locked(offer, in, out, lasts);
    pwr_gpu_unlock();
    return offered;
}

static pwr_gpu_address_t address_of(const pwr_gpu_offer_t *offer, const pwr_gpu_buffer_t *buffer)
{
    return offer->process == pwr_gpu_engine.process ? buffer->base + buffer->offset
                                                    : import_buffer(offer->process, buffer);
}

bool pwr_gpu_fill(pwr_gpu_table_t *table, const pwr_gpu_offer_t *const *offers, int num, int own,
                  int *num_in, int *num_out)
{
    *num_in = *num_out = 0;
    ++calls;
    if (num > PWR_GPU_MEMBERS) {
        pwr_gpu_because("more than %d ranks on one GPU", (int)PWR_GPU_MEMBERS);
        return false;
    }
    for (int r = 0; r < num; ++r) {
        const pwr_gpu_offer_t *offer = offers[r];
        if (0 != offer->forget) {
            forget_others(offer);
        }
        if (0 != offer->in.allocation) {
            bool wanted = PWR_GPU_ALL_INPUTS == own || r == own;
            table->in[*num_in] = wanted ? address_of(offer, &offer->in) : 0;
            if (wanted && 0 == table->in[*num_in]) {
                return false;
            }
            ++*num_in;
        }
        if (0 != offer->out.allocation &&
            0 == (table->out[(*num_out)++] = address_of(offer, &offer->out))) {
            return false;
        }
    }
    return true;
}

bool pwr_gpu_are_several(const pwr_gpu_offer_t *const *offers, int num)
{
    bool several = false;
    for (int r = 1; r < num; ++r) {
        several |= 0 != memcmp(&offers[r]->device, &offers[0]->device, sizeof offers[0]->device);
    }
    return several;
}

/* ---- 4. to close ---- */

bool pwr_gpu_must_close(void)
{
    pwr_gpu_lock();
    bool must = num_unwanted > 0;
    pwr_gpu_unlock();
    return must;
}

static void close_unwanted(void)
{
    while (num_unwanted > 0) {
        pwr_gpu_driver.close_handle(unwanted[--num_unwanted]);
    }
}

pwr_gpu_result_t pwr_gpu_finish(bool entered, pwr_gpu_result_t result)
{
    if (PWR_GPU_CANNOT != result &&
        !pwr_gpu_wait_for_stream(pwr_gpu_engine.stream, pwr_gpu_engine.ended)) {
        result = PWR_GPU_FAILED;
    }
    if (entered) {
        close_unwanted();
    }
    pwr_gpu_leave(entered);
    return result;
}

void pwr_gpu_close(void)
{
    bool entered = pwr_gpu_enter();
    if (entered) {
        close_unwanted();
    }
    pwr_gpu_leave(entered);
}

bool pwr_gpu_open(void)
{
    void *context = NULL;
    pwr_gpu_lock();
    bool ok = pwr_gpu_succeeds(pwr_gpu_driver.get_context(&context), "cuCtxGetCurrent");
    if (ok) {
        forget_if_ended(context);
    }
    if (ok && (NULL == context ||
               (NULL != pwr_gpu_engine.context && pwr_gpu_engine.context != context))) {
        pwr_gpu_because(NULL == context ? "this thread has no context of CUDA"
                                        : "buffers in more than one context of CUDA");
        ok = false;
    }
    ok = ok && (NULL != pwr_gpu_engine.context || pwr_gpu_engine_open(context));
    pwr_gpu_unlock();
    return ok;
}
