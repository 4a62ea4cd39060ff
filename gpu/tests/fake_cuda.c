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
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
enum { LONGEST_KERNEL_NS = 100000, THREADS = 48, MULTIPROCESSORS = 132 };

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
static int context, module;
static _Thread_local int pushed;
_Thread_local struct pwr_host_place pwr_host_place;

/* Blocks of kernels that sync have one thread. */
void pwr_host_sync(void)
{
}

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

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return NULL == text ? otherwise : atoi(text);
}

static int fails(const char *name)
{
    const char *list = getenv("FAKE_CUDA_FAILS");
    const char *found = NULL == list ? NULL : strstr(list, name);
    int rank = number_of("OMPI_COMM_WORLD_RANK", 0);
    return NULL != found && (',' == found[strlen(name)] || '\0' == found[strlen(name)]) &&
           rank == number_of("FAKE_CUDA_FAILS_ON", rank);
}
#define FAILS_IF_TOLD                                                                              \
    if (fails(__func__)) {                                                                         \
        return NOT_SUPPORTED;                                                                      \
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

static unsigned long long contexts = 1;

int cuCtxGetId(void *of, unsigned long long *id)
{
    *id = contexts;
    return &context == of ? CUDA_SUCCESS : INVALID_CONTEXT;
}

/* What was made before is not there any more. */
int cuDevicePrimaryCtxReset_v2(int device)
{
    ++contexts;
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
    ++pushed;
    return pushes == &context ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuCtxPopCurrent_v2(void **popped)
{
    *popped = &context;
    return pushed-- > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuCtxGetCurrent(void **current)
{
    *current = pushed > 0 ? &context : NULL;
    return CUDA_SUCCESS;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return pushed > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
}

int cuDeviceGetUuid(pwr_gpu_uuid_t *uuid, int device)
{
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] =
        (unsigned char)(number_of("OMPI_COMM_WORLD_RANK", 0) % number_of("FAKE_CUDA_DEVICES", 1));
    return 0 == device ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = MULTIPROCESSORS;
    return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == attribute && 0 == device ? CUDA_SUCCESS
                                                                                : INVALID_VALUE;
}

/* ---- memory ---- */

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    FAILS_IF_TOLD
    registered_t *new = calloc(1, sizeof *new);
    *new = (registered_t){NULL, memory, bytes};
    pthread_mutex_lock(&lock);
    new->next = registered;
    registered = new;
    pthread_mutex_unlock(&lock);
    return NULL != memory && 0 != bytes && 0 != flags && pushed > 0 ? CUDA_SUCCESS : INVALID_VALUE;
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
    return NULL != found ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

int cuMemHostGetDevicePointer_v2(pwr_gpu_address_t *address, void *memory, unsigned flags)
{
    *address = (pwr_gpu_address_t)(uintptr_t)memory;
    return 0 == flags ? CUDA_SUCCESS : INVALID_VALUE;
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

static char *content_of(pwr_gpu_address_t pointer, size_t bytes)
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
    if (0 == pushed) {
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
    return copy(content_of(to, bytes), from, bytes);
}

int cuMemcpyDtoH_v2(void *to, pwr_gpu_address_t from, size_t bytes)
{
    return copy(to, content_of(from, bytes), bytes);
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
                   NULL != content_of(pointer, 1)
               ? CUDA_SUCCESS
               : INVALID_VALUE;
}

/* What is not on a GPU has none of them, which is no error. */
int cuPointerGetAttributes(unsigned num, int *attributes, void **data, pwr_gpu_address_t pointer)
{
    for (unsigned i = 0; i < num; ++i) {
        if (CUDA_SUCCESS == cuPointerGetAttribute(data[i], attributes[i], pointer)) {
            continue;
        }
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
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
    if (its.pid == getpid() || 0 == pushed || CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS != flags) {
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

/* ---- kernels ---- */

typedef void kernel_t(const pwr_gpu_table_t table, int num_in, int num_out,
                      unsigned long long vectors, unsigned long long count);

static const struct {
    const char *name;
    kernel_t *function;
    size_t bytes;
} kernels[] = {
#define KERNEL_ROW(op, name, bytes) {"pwr_" #op "_" #name, pwr_##op##_##name, bytes},
#define KERNEL_ROWS(constant, name, bytes)                                                         \
    KERNEL_ROW(sum, name, bytes)                                                                   \
    KERNEL_ROW(prod, name, bytes) KERNEL_ROW(min, name, bytes) KERNEL_ROW(max, name, bytes)
    PWR_GPU_TYPES(KERNEL_ROWS) KERNEL_ROW(copy, 16, 1) KERNEL_ROW(copy, 8, 1) KERNEL_ROW(copy, 4, 1)
        KERNEL_ROW(copy, 1, 1)};
enum { NUM_KERNELS = sizeof kernels / sizeof kernels[0] };

/* Kernels of a team, in the order of the types; then the probe. */
typedef void team_kernel_t(poweraware_team_t *team, const void *in, void *out,
                           unsigned long long count, int root, int op);
static const struct {
    const char *name;
    team_kernel_t *function;
    size_t bytes;
} team_kernels[] = {
#define TEAM_ROW(constant, name, bytes) {"pwr_team_" #name, pwr_team_##name, bytes},
    PWR_GPU_TYPES(TEAM_ROW){"pwr_team_probe", NULL, 0}};
enum { NUM_TEAM_KERNELS = sizeof team_kernels / sizeof team_kernels[0] };

int cuModuleLoadData(void **loaded, const void *image)
{
    FAILS_IF_TOLD
    *loaded = &module;
    return 0 == strncmp(image, ".version", 8) && pushed > 0 ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuModuleGetFunction(void **function, void *of, const char *name)
{
    FAILS_IF_TOLD
    int i = 0;
    while (i < NUM_KERNELS && 0 != strcmp(name, kernels[i].name)) {
        ++i;
    }
    *function = (void *)&kernels[i];
    for (int t = 0; t < NUM_TEAM_KERNELS && NUM_KERNELS == i; ++t) {
        if (0 == strcmp(name, team_kernels[t].name)) {
            *function = (void *)&team_kernels[t];
            return of == &module ? CUDA_SUCCESS : NOT_FOUND;
        }
    }
    return i < NUM_KERNELS && of == &module ? CUDA_SUCCESS : NOT_FOUND;
}

static char *content_or_host(pwr_gpu_address_t pointer, size_t bytes)
{
    char *address = (char *)(uintptr_t)pointer;
    pthread_mutex_lock(&lock);
    registered_t *r = registered;
    while (NULL != r && (address < r->address || address + bytes > r->address + r->bytes)) {
        r = r->next;
    }
    pthread_mutex_unlock(&lock);
    return NULL != r ? address : content_of(pointer, bytes);
}

/* A kernel of no elements touches nothing. */
static int to_content(unsigned long long *addresses, int num, size_t bytes)
{
    for (int i = 0; i < num && 0 != bytes; ++i) {
        addresses[i] = (unsigned long long)(uintptr_t)content_or_host(addresses[i], bytes);
        if (0 == addresses[i]) {
            return ILLEGAL_ADDRESS;
        }
    }
    return CUDA_SUCCESS;
}

static int run_kernel(size_t index, pwr_gpu_table_t *table, int num_in, int num_out,
                      unsigned long long vectors, unsigned long long count)
{
    size_t bytes = count * kernels[index].bytes;
    int rc = to_content(table->in, num_in, bytes);
    rc = CUDA_SUCCESS == rc ? to_content(table->out, num_out, bytes) : rc;
    for (unsigned t = 0; t < THREADS && CUDA_SUCCESS == rc; ++t) {
        pwr_host_place = (struct pwr_host_place){.thread = t, .threads = THREADS, .blocks = 1};
        kernels[index].function(*table, num_in, num_out, vectors, count);
    }
    return rc;
}

typedef struct team_call {
    size_t kernel;
    pwr_gpu_address_t team, in, out; /* of the probe: in is for its times */
    unsigned long long count;
    int root, op;
    unsigned blocks;
} team_call_t;

/* What a kernel of a team gets: addresses that the host can touch. */
static int open_team(const team_call_t *c, poweraware_team_t *team)
{
    const void *described = content_of(c->team, sizeof *team);
    if (NULL == described) {
        return ILLEGAL_ADDRESS;
    }
    memcpy(team, described, sizeof *team);
    return to_content(team->window, (int)team->size, pwr_team_window_bytes(team->size, team->slot));
}

static void run_probe(poweraware_team_t *team, const team_call_t *c, char *in)
{
    for (unsigned b = 0; b < c->blocks; ++b) {
        unsigned long long ns = 1000;
        pwr_host_place = (struct pwr_host_place){.threads = 1, .block = b, .blocks = c->blocks};
        pwr_team_probe(team, (unsigned long long *)(void *)in, c->op);
        /* how long it took says nothing here */
        ns *= NULL != getenv("FAKE_CUDA_AT_ONCE") ? 1 : 1000 * (unsigned long long)c->op;
        memcpy(in + b * sizeof ns, &ns, sizeof ns);
    }
}

/* Its blocks, one after the other, of one thread. */
static int run_team_kernel(const team_call_t *c)
{
    poweraware_team_t team;
    int rc = open_team(c, &team);
    int is_probe = NUM_TEAM_KERNELS - 1 == c->kernel;
    size_t bytes = is_probe ? c->blocks * 8 : c->count * team_kernels[c->kernel].bytes;
    char *in = 0 != bytes ? content_of(c->in, bytes) : NULL;
    char *out = 0 != c->out && 0 != bytes ? content_of(c->out, bytes) : NULL;
    if (CUDA_SUCCESS != rc || (0 != bytes && NULL == in) ||
        (0 != bytes && 0 != c->out && NULL == out)) {
        return ILLEGAL_ADDRESS;
    }
    if (is_probe) {
        run_probe(&team, c, in);
    }
    for (unsigned b = 0; b < c->blocks && !is_probe; ++b) {
        pwr_host_place = (struct pwr_host_place){.threads = 1, .block = b, .blocks = c->blocks};
        team_kernels[c->kernel].function(&team, in, out, c->count, c->root, c->op);
    }
    poweraware_team_t *described = (void *)content_of(c->team, sizeof team);
    memcpy(described->epoch, team.epoch, sizeof team.epoch);
    described->number = team.number;
    described->stopped = team.stopped;
    return CUDA_SUCCESS;
}

/* ---- streams: a thread each, which takes one operation after the other ---- */

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
    size_t kernel;
    pwr_gpu_table_t table;
    int num_in, num_out;
    unsigned long long vectors, count;
    team_call_t call;
    pwr_gpu_address_t to, from;
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
    _Atomic uint32_t *flag = (void *)content_of(o->to, sizeof *flag);
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
        return run_kernel(o->kernel, &o->table, o->num_in, o->num_out, o->vectors, o->count);
    case TEAM_KERNEL_RUNS:
        return run_team_kernel(&o->call);
    case BYTES_ARE_COPIED:
        to = content_of(o->to, o->count);
        from = content_of(o->from, o->count);
        if (NULL == to || NULL == from) {
            return ILLEGAL_ADDRESS;
        }
        memcpy(to, from, o->count);
        return CUDA_SUCCESS;
    case FLAG_IS_WRITTEN:
        to = content_of(o->to, sizeof o->value);
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
    if (s->context != contexts) {
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
    s->context = contexts;
    *created = s;
    return CU_STREAM_NON_BLOCKING == flags && pushed > 0 &&
                   0 == pthread_create(&s->thread, NULL, work, s)
               ? CUDA_SUCCESS
               : INVALID_VALUE;
}

int cuStreamSynchronize(void *awaited)
{
    stream_t *s = awaited;
    if (NULL == s) { /* the default one never has something to do */
        return pushed > 0 ? CUDA_SUCCESS : INVALID_CONTEXT;
    }
    pthread_mutex_lock(&s->lock);
    while (NULL != s->first) {
        pthread_cond_wait(&s->changes, &s->lock);
    }
    int rc = s->result;
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
           number_of("OMPI_COMM_WORLD_RANK", 0) != number_of("FAKE_CUDA_FAILS_ON", 1) ||
           atomic_fetch_add(&launches, 1) < number_of("FAKE_CUDA_LAUNCHES", 1 << 30);
}

static int launch_team_kernel(size_t index, unsigned blocks, void *on, void **arguments)
{
    operation_t o = {.what = TEAM_KERNEL_RUNS,
                     .call = {.kernel = index,
                              .blocks = blocks,
                              .team = *(pwr_gpu_address_t *)arguments[0],
                              .in = *(pwr_gpu_address_t *)arguments[1]}};
    if (NUM_TEAM_KERNELS - 1 == index) {
        o.call.op = *(int *)arguments[2];
    } else {
        o.call.out = *(pwr_gpu_address_t *)arguments[2];
        o.call.count = *(unsigned long long *)arguments[3];
        o.call.root = *(int *)arguments[4];
        o.call.op = *(int *)arguments[5];
    }
    return may_launch(o.call.count) ? put(on, &o) : NOT_SUPPORTED;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *on, void **arguments, void **extra)
{
    FAILS_IF_TOLD
    size_t index = (size_t)((const char *)function - (const char *)kernels) / sizeof kernels[0];
    size_t of_team =
        (size_t)((const char *)function - (const char *)team_kernels) / sizeof team_kernels[0];
    if (of_team < NUM_TEAM_KERNELS && pushed > 0 && grid_x > 0 && grid_x <= MULTIPROCESSORS) {
        return launch_team_kernel(of_team, grid_x, on, arguments);
    }
    if (index >= NUM_KERNELS || 0 == grid_x || 1 != grid_y * grid_z * block_y * block_z ||
        0 == block_x || block_x > 1024 || 0 != shared_bytes || NULL != extra || 0 == pushed) {
        return INVALID_VALUE;
    }
    operation_t o = {.what = KERNEL_RUNS,
                     .kernel = index,
                     .table = *(pwr_gpu_table_t *)arguments[0],
                     .num_in = *(int *)arguments[1],
                     .num_out = *(int *)arguments[2],
                     .vectors = *(unsigned long long *)arguments[3],
                     .count = *(unsigned long long *)arguments[4]};
    return may_launch(o.count) ? put(on, &o) : NOT_SUPPORTED;
}

int cuMemcpyDtoDAsync_v2(pwr_gpu_address_t to, pwr_gpu_address_t from, size_t bytes, void *on)
{
    FAILS_IF_TOLD
    operation_t o = {.what = BYTES_ARE_COPIED, .to = to, .from = from, .count = bytes};
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
    return (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING) == flags && pushed > 0
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

int cuEventQuery(void *queried)
{
    event_t *event = queried;
    return atomic_load(&event->come) < atomic_load(&event->recorded) ? CUDA_ERROR_NOT_READY
                                                                     : CUDA_SUCCESS;
}

int cuEventSynchronize(void *awaited)
{
    FAILS_IF_TOLD
    while (CUDA_ERROR_NOT_READY == cuEventQuery(awaited)) {
        nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    }
    return cuEventQuery(awaited);
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
