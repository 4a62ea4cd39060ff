/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions by one kernel (pwr_gpu/reduce.h).
 *
 * 1. exports: handles of own allocations, kept because to get one takes 10 us
 * 2. imports: memory of other processes that is open here
 * 3. the engine: the context, stream and event of this process, and its kernels
 * 4. offers and reductions
 */
#include "pwr_gpu/reduce.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "kernels/modules.h"

enum { EXPORTS = 32, IMPORTS = 1024, PROBES = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    uint64_t used;          /* when: number of the reduction */
} imported_t;

static imported_t imports[IMPORTS]; /* a hash table: an import is at most PROBES behind its place */
static pwr_gpu_address_t unwanted[IMPORTS]; /* to be closed */
static int num_unwanted;
static uint64_t reductions;

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

static void close_unwanted(void)
{
    while (num_unwanted > 0) {
        pwr_gpu_driver.close_handle(unwanted[--num_unwanted]);
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
    return oldest->used != reductions && give_up(oldest) ? oldest : NULL;
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
            pwr_gpu_because("memory of another process on this GPU cannot be opened (%s)",
                            NULL == i ? "too many buffers" : pwr_gpu_error_name(rc));
            return 0;
        }
        *i = (imported_t){process, buffer->allocation, base, 0};
    }
    i->used = reductions;
    return i->base + buffer->offset;
}

/* ---- 3. engine ---- */

static struct engine {
    void *context; /* NULL: not there yet */
    unsigned long long context_id;
    void *stream;
    void *ended; /* event */
    pwr_gpu_uuid_t device;
    uint64_t process;
    void *kernel[PWR_GPU_NUM_TYPES][PWR_GPU_NUM_OPS];
    bool tried[PWR_GPU_NUM_TYPES];
} engine;

static bool succeeds(int rc, const char *what)
{
    if (CUDA_SUCCESS != rc) {
        pwr_gpu_because("%s: %s", what, pwr_gpu_error_name(rc));
    }
    return CUDA_SUCCESS == rc;
}

/* 0: the driver does not say. */
static unsigned long long id_of(void *context)
{
    unsigned long long id = 0;
    return NULL != pwr_gpu_driver.get_context_id &&
                   CUDA_SUCCESS == pwr_gpu_driver.get_context_id(context, &id)
               ? id
               : 0;
}

/* A program may end a context (cudaDeviceReset), and the next one may be at the same address. */
static void forget_if_ended(void *context)
{
    if (engine.context == context && engine.context_id != id_of(context)) {
        memset(&engine, 0, sizeof engine);
        memset(exports, 0, sizeof exports);
        memset(imports, 0, sizeof imports);
        num_unwanted = 0;
    }
}

/* In the context that is current. */
static bool open_engine(void *context)
{
    int device = 0;
    if (!succeeds(pwr_gpu_driver.get_device(&device), "cuCtxGetDevice") ||
        !succeeds(pwr_gpu_driver.get_uuid(&engine.device, device), "cuDeviceGetUuid") ||
        !succeeds(pwr_gpu_driver.create_stream(&engine.stream, CU_STREAM_NON_BLOCKING),
                  "cuStreamCreate") ||
        !succeeds(pwr_gpu_driver.create_event(&engine.ended,
                                              CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
                  "cuEventCreate")) {
        return false;
    }
    if (sizeof engine.process != getrandom(&engine.process, sizeof engine.process, 0) ||
        0 == engine.process) {
        pwr_gpu_because("getrandom gives no number for this process");
        return false;
    }
    engine.context = context;
    engine.context_id = id_of(context);
    return true;
}

static void load_kernels(pwr_gpu_type_t type)
{
    static const char *const ops[] = {
#define NAME(constant, name) #name,
        PWR_GPU_OPS(NAME)
#undef NAME
    };
    void *module = NULL;
    char name[32];
    engine.tried[type] = true;
    if (!succeeds(pwr_gpu_driver.load_module(&module, pwr_gpu_modules[type].ptx),
                  "the driver does not take our kernels")) {
        return;
    }
    for (int op = 0; op < PWR_GPU_NUM_OPS; ++op) {
        snprintf(name, sizeof name, "pwr_%s_%s", ops[op], pwr_gpu_modules[type].name);
        succeeds(pwr_gpu_driver.get_function(&engine.kernel[type][op], module, name), name);
    }
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* A thread that sleeps until an event costs 15 us of CPU and comes 30 us late (H200). */
static int wait_for_end(uint64_t spin_ns)
{
    uint64_t begin = now_ns();
    int rc;
    do {
        rc = pwr_gpu_driver.query_event(engine.ended);
    } while (CUDA_ERROR_NOT_READY == rc && now_ns() - begin < spin_ns);
    return CUDA_ERROR_NOT_READY == rc ? pwr_gpu_driver.wait_event(engine.ended) : rc;
}

/* ---- 4. offers and reductions ---- */

typedef struct found {
    void *context;
    pwr_gpu_buffer_t buffer;
} found_t;

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

static pwr_gpu_offered_t offer_locked(pwr_gpu_offer_t *offer, const void *in, void *out, bool lasts)
{
    found_t source = {0}, result = {0};
    void *before;
    if (!look_up(in, &source) || (NULL != out && !look_up(out, &result))) {
        return PWR_GPU_NEVER;
    }
    forget_if_ended(source.context);
    if ((NULL != out && result.context != source.context) ||
        (NULL != engine.context && engine.context != source.context)) {
        pwr_gpu_because("buffers in more than one context of CUDA");
        return PWR_GPU_NEVER;
    }
    if (!succeeds(pwr_gpu_driver.push(source.context), "cuCtxPushCurrent")) {
        return PWR_GPU_NEVER;
    }
    pwr_gpu_offered_t offered =
        NULL != engine.context || open_engine(source.context) ? PWR_GPU_OFFERED : PWR_GPU_NEVER;
    *offer = (pwr_gpu_offer_t){.process = engine.process, .device = engine.device};
    if (PWR_GPU_OFFERED == offered) {
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
    pthread_mutex_lock(&lock);
    pwr_gpu_offered_t offered = offer_locked(offer, in, out, lasts);
    pthread_mutex_unlock(&lock);
    return offered;
}

static pwr_gpu_address_t address_of(const pwr_gpu_offer_t *offer, const pwr_gpu_buffer_t *buffer)
{
    return offer->process == engine.process ? buffer->base + buffer->offset
                                            : import_buffer(offer->process, buffer);
}

/* Returns the number of outputs; -1: something cannot be opened. */
static int fill(pwr_gpu_table_t *table, const pwr_gpu_offer_t *const *offers, int num)
{
    int num_out = 0;
    for (int r = 0; r < num; ++r) {
        if (0 != memcmp(&offers[r]->device, &engine.device, sizeof engine.device)) {
            pwr_gpu_because("ranks use several GPUs");
            return -1;
        }
        if (0 != offers[r]->forget) {
            forget_others(offers[r]);
        }
        table->in[r] = address_of(offers[r], &offers[r]->in);
        if (0 == table->in[r]) {
            return -1;
        }
        if (0 != offers[r]->out.allocation) {
            table->out[num_out] = address_of(offers[r], &offers[r]->out);
            if (0 == table->out[num_out++]) {
                return -1;
            }
        }
    }
    return num_out;
}

static bool is_aligned(const pwr_gpu_table_t *table, int num_in, int num_out)
{
    pwr_gpu_address_t bits = 0;
    for (int r = 0; r < num_in; ++r) {
        bits |= table->in[r];
    }
    for (int r = 0; r < num_out; ++r) {
        bits |= table->out[r];
    }
    return 0 == bits % PWR_GPU_VECTOR;
}

/* Blocks for so many vectors or elements; more than a few per multiprocessor gain nothing. */
static unsigned blocks_for(unsigned long long items)
{
    enum { MOST = 528 };
    unsigned long long blocks = (items + PWR_GPU_BLOCK - 1) / PWR_GPU_BLOCK;
    return blocks < 1 ? 1 : blocks > MOST ? MOST : (unsigned)blocks;
}

static pwr_gpu_result_t launch(void *stream, void *kernel, pwr_gpu_table_t *table, int num_in,
                               int num_out, pwr_gpu_type_t type, unsigned long long count)
{
    unsigned lanes = PWR_GPU_VECTOR / pwr_gpu_modules[type].bytes;
    unsigned long long vectors = is_aligned(table, num_in, num_out) ? count / lanes : 0;
    void *arguments[] = {table, &num_in, &num_out, &vectors, &count};
    unsigned blocks = blocks_for(0 == vectors ? count : vectors);
    return succeeds(pwr_gpu_driver.launch(kernel, blocks, 1, 1, PWR_GPU_BLOCK, 1, 1, 0, stream,
                                          arguments, NULL),
                    "cuLaunchKernel")
               ? PWR_GPU_DONE
               : PWR_GPU_CANNOT;
}

static pwr_gpu_result_t launch_locked(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                                      pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count)
{
    pwr_gpu_table_t table;
    if (num > PWR_GPU_MEMBERS) {
        pwr_gpu_because("more than %d ranks on one GPU", (int)PWR_GPU_MEMBERS);
        return PWR_GPU_CANNOT;
    }
    ++reductions;
    if (!engine.tried[type]) {
        load_kernels(type);
    }
    if (NULL == engine.kernel[type][op]) {
        return PWR_GPU_CANNOT;
    }
    int num_out = fill(&table, offers, num);
    return num_out < 0 ? PWR_GPU_CANNOT
                       : launch(stream, engine.kernel[type][op], &table, num, num_out, type, count);
}

/* The context that is current is the engine's until leave. */
static bool enter(void)
{
    pthread_mutex_lock(&lock);
    if (NULL == engine.context) {
        pwr_gpu_because("this process has offered nothing");
        return false;
    }
    return succeeds(pwr_gpu_driver.push(engine.context), "cuCtxPushCurrent");
}

static void leave(bool entered)
{
    void *before;
    if (entered) {
        pwr_gpu_driver.pop(&before);
    }
    pthread_mutex_unlock(&lock);
}

void pwr_gpu_settle(void)
{
    bool entered = enter();
    if (entered) {
        pwr_gpu_driver.wait_stream(NULL);
    }
    leave(entered);
}

pwr_gpu_result_t pwr_gpu_reduce(const pwr_gpu_offer_t *const *offers, int num, pwr_gpu_op_t op,
                                pwr_gpu_type_t type, size_t count, uint64_t spin_ns)
{
    bool entered = enter();
    pwr_gpu_result_t result =
        entered ? launch_locked(engine.stream, offers, num, op, type, count) : PWR_GPU_CANNOT;
    if (PWR_GPU_DONE == result &&
        !(succeeds(pwr_gpu_driver.record_event(engine.ended, engine.stream), "cuEventRecord") &&
          succeeds(wait_for_end(spin_ns), "a kernel on the GPU"))) {
        result = PWR_GPU_FAILED;
    }
    if (entered) {
        close_unwanted();
    }
    leave(entered);
    return result;
}

pwr_gpu_result_t pwr_gpu_reduce_on(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                                   pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count)
{
    bool entered = enter();
    pwr_gpu_result_t result =
        entered ? launch_locked(stream, offers, num, op, type, count) : PWR_GPU_CANNOT;
    leave(entered);
    return result;
}

bool pwr_gpu_must_close(void)
{
    pthread_mutex_lock(&lock);
    bool must = num_unwanted > 0;
    pthread_mutex_unlock(&lock);
    return must;
}

void pwr_gpu_close(void)
{
    bool entered = enter();
    if (entered) {
        close_unwanted();
    }
    leave(entered);
}

/* Kernels of no elements: a driver loads some only then. */
bool pwr_gpu_load_all(void)
{
    bool entered = enter(), ok = entered;
    pwr_gpu_table_t table = {.in = {0}};
    for (int type = 0; type < PWR_GPU_NUM_TYPES && ok; ++type) {
        if (!engine.tried[type]) {
            load_kernels((pwr_gpu_type_t)type);
        }
        for (int op = 0; op < PWR_GPU_NUM_OPS && ok; ++op) {
            ok = NULL != engine.kernel[type][op] &&
                 PWR_GPU_DONE == launch(engine.stream, engine.kernel[type][op], &table, 1, 0,
                                        (pwr_gpu_type_t)type, 0);
        }
    }
    ok = ok && succeeds(pwr_gpu_driver.wait_stream(engine.stream), "the kernels");
    leave(entered);
    return ok;
}

bool pwr_gpu_open(void)
{
    void *context = NULL;
    pthread_mutex_lock(&lock);
    bool ok = succeeds(pwr_gpu_driver.get_context(&context), "cuCtxGetCurrent");
    if (ok) {
        forget_if_ended(context);
    }
    if (ok && (NULL == context || (NULL != engine.context && engine.context != context))) {
        pwr_gpu_because(NULL == context ? "this thread has no context of CUDA"
                                        : "buffers in more than one context of CUDA");
        ok = false;
    }
    ok = ok && (NULL != engine.context || open_engine(context));
    pthread_mutex_unlock(&lock);
    return ok;
}
