/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Teams of kernels: windows, the probe, launches (pwr_gpu/team.h).
 */
#include "pwr_gpu/team.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "kernels/modules.h"
#include "life.h"
#include "poweraware_device.h"

enum {
    WINDOW_BYTES = 8 << 20, /* all slots */
    MOST_TEAMS = 4,         /* of a process */
    MOST_BLOCKS = 32,       /* more gain nothing */
    EXCHANGES = 20,         /* of the probe */
    AT_ONCE_NS = 50000,     /* 2 to 5 us are usual, and 300 where kernels take turns (H200) */
    ONE_GPU_BYTES = 1 << 18 /* from here on the leader's kernel moves less */
};

_Static_assert((int)POWERAWARE_TEAM_RANKS == (int)PWR_GPU_MEMBERS, "");
_Static_assert((int)MOST_BLOCKS <= (int)POWERAWARE_TEAM_BLOCKS, "");

typedef struct shared {
    _Alignas(64) _Atomic uint32_t stop; /* somebody's kernel is not there: nobody waits any more */
    struct {
        _Alignas(64) pthread_mutex_t mutex;
    } life[PWR_GPU_MEMBERS];
} shared_t;
_Static_assert(sizeof(shared_t) == PWR_GPU_TEAM_BYTES, "");

static _Atomic int teams; /* of this process */

struct pwr_gpu_team {
    shared_t *shared;
    pwr_gpu_life_t *life;
    int num, me, blocks;
    bool one_gpu;
    unsigned long long context_id;
    void *stream, *ended;               /* for those who wait for a call */
    pwr_gpu_address_t shared_on_device; /* 0: it is not known there */
    pwr_gpu_address_t device;           /* poweraware_team_t; then times of the probe; 0: none */
    pwr_gpu_address_t window[PWR_GPU_MEMBERS]; /* 0: none */
};

enum { PROBE_AT = (sizeof(poweraware_team_t) + 15) / 16 * 16 };

static uint64_t slot_bytes(int num)
{
    return WINDOW_BYTES / 2 / (unsigned)num / PWR_GPU_VECTOR * PWR_GPU_VECTOR;
}

/* ---- first step ---- */

static bool make_window(pwr_gpu_team_t *t, pwr_gpu_member_t *mine)
{
    size_t zeroed = pwr_team_zeroed_bytes((unsigned)t->num);
    pwr_gpu_address_t *window = &t->window[t->me];
    void *zeros = calloc(1, zeroed);
    bool ok =
        NULL != zeros &&
        pwr_gpu_succeeds(pwr_gpu_driver.allocate(
                             window, pwr_team_window_bytes((unsigned)t->num, slot_bytes(t->num))),
                         "cuMemAlloc") &&
        pwr_gpu_succeeds(pwr_gpu_driver.to_device(*window, zeros, zeroed), "cuMemcpyHtoD") &&
        pwr_gpu_succeeds(pwr_gpu_driver.get_handle(&mine->window, *window), "cuIpcGetMemHandle");
    free(zeros);
    return ok;
}

static bool find_device(pwr_gpu_member_t *mine)
{
    int device = 0;
    mine->device = pwr_gpu_engine.device;
    return pwr_gpu_succeeds(pwr_gpu_driver.get_device(&device), "cuCtxGetDevice") &&
           pwr_gpu_succeeds(
               pwr_gpu_driver.get_device_attribute(
                   &mine->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
               "cuDeviceGetAttribute");
}

static bool register_shared(pwr_gpu_team_t *t)
{
    t->shared_on_device = pwr_gpu_register_host(t->shared, sizeof *t->shared);
    return 0 != t->shared_on_device;
}

static bool begin_life(pwr_gpu_team_t *t)
{
    t->life = pwr_gpu_life_begin(&t->shared->life[t->me].mutex);
    if (NULL == t->life) {
        pwr_gpu_because("no thread for a robust mutex");
    }
    return NULL != t->life;
}

pwr_gpu_team_t *pwr_gpu_team_new(void *shared, int num, int me, pwr_gpu_member_t *mine)
{
    pwr_gpu_team_t *t = num <= PWR_GPU_MEMBERS ? malloc(sizeof *t) : NULL;
    if (NULL == t) {
        pwr_gpu_because(num <= PWR_GPU_MEMBERS ? "out of memory" : "too many ranks for a team");
        return NULL;
    }
    if (atomic_fetch_add(&teams, 1) >= MOST_TEAMS) {
        atomic_fetch_sub(&teams, 1);
        free(t);
        pwr_gpu_because("more than %d communicators with teams", (int)MOST_TEAMS);
        return NULL;
    }
    *t = (pwr_gpu_team_t){.shared = shared, .num = num, .me = me};
    bool entered = pwr_gpu_enter();
    t->context_id = pwr_gpu_engine.context_id;
    bool ok = entered && find_device(mine) && make_window(t, mine) && register_shared(t) &&
              begin_life(t) && pwr_gpu_make_stream(&t->stream, &t->ended) &&
              pwr_gpu_succeeds(
                  pwr_gpu_driver.allocate(&t->device, PROBE_AT + MOST_BLOCKS * sizeof(uint64_t)),
                  "cuMemAlloc");
    pwr_gpu_leave(entered);
    if (!ok) {
        pwr_gpu_team_close(t);
        pwr_gpu_team_free(t);
        t = NULL;
    }
    return t;
}

bool pwr_gpu_team_is_there(const pwr_gpu_team_t *t)
{
    pwr_gpu_lock();
    bool is_there = NULL != pwr_gpu_engine.context && pwr_gpu_engine.context_id == t->context_id;
    pwr_gpu_unlock();
    return is_there;
}

/* ---- second step ---- */

/* Processes that may have teams on the GPU of a member: those of the job on this node, where some
   members share a GPU. */
static int processes_on_gpu(int members_on_gpu, int num)
{
    const char *text = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    int local = NULL != text ? atoi(text) : 0;
    return 1 == members_on_gpu ? 1 : local > num ? local : num;
}

static int on_gpu_of(const pwr_gpu_member_t *members, int num, int which)
{
    int its = 0;
    for (int m = 0; m < num; ++m) {
        its += 0 == memcmp(&members[m].device, &members[which].device, sizeof members[m].device);
    }
    return its;
}

/* The same on all members.  Kernels that wait hold their places: if those of several teams hold all
   of them, and others of the same teams are not there yet, all wait for ever.  So blocks are so few
   that those of all teams of all processes together have half of the places. */
static int most_blocks(const pwr_gpu_member_t *members, int num)
{
    int most = MOST_BLOCKS, shared = 1;
    for (int m = 0; m < num; ++m) {
        int its = on_gpu_of(members, num, m);
        shared = its > shared ? its : shared;
    }
    for (int m = 0; m < num; ++m) {
        int places = members[m].multiprocessors * PWR_GPU_TEAM_BLOCKS / 2;
        int its = places / (MOST_TEAMS * processes_on_gpu(shared, num));
        most = its < most ? its : most;
    }
    return most;
}

static bool open_windows(pwr_gpu_team_t *t, const pwr_gpu_member_t *members)
{
    for (int m = 0; m < t->num; ++m) {
        if (m != t->me &&
            !pwr_gpu_succeeds(pwr_gpu_driver.open_handle(&t->window[m], members[m].window,
                                                         CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                              "cuIpcOpenMemHandle")) {
            t->window[m] = 0;
            return false;
        }
    }
    return true;
}

static bool describe(const pwr_gpu_team_t *t)
{
    pwr_gpu_address_t life = t->shared_on_device + offsetof(shared_t, life);
    size_t word = (size_t)((const char *)pwr_gpu_life_word(&t->shared->life[0].mutex) -
                           (const char *)&t->shared->life[0]);
    poweraware_team_t team = {.rank = (unsigned)t->me,
                              .size = (unsigned)t->num,
                              .slot = slot_bytes(t->num),
                              .stop = t->shared_on_device + offsetof(shared_t, stop),
                              .lives = life + word,
                              .life_bytes = sizeof t->shared->life[0]};
    for (int m = 0; m < t->num; ++m) {
        team.window[m] = t->window[m];
    }
    return pwr_gpu_succeeds(pwr_gpu_driver.to_device(t->device, &team, sizeof team),
                            "cuMemcpyHtoD") &&
           pwr_gpu_succeeds(pwr_gpu_driver.wait_stream(NULL), "cuMemcpyHtoD");
}

static void *kernel_for(pwr_gpu_type_t type)
{
#define NAMES(constant, type, bytes) {"pwr_team_" #type},
    static const char *const names[][PWR_GPU_KERNELS] = {PWR_GPU_TYPES(NAMES)};
    if (NULL == pwr_gpu_team_modules[type]) {
        return NULL;
    }
    pwr_gpu_load(&pwr_gpu_engine.teams[type], pwr_gpu_team_modules[type], names[type]);
    return pwr_gpu_engine.teams[type].kernel[0];
}

static void *probe_kernel(void)
{
    static const char *const names[PWR_GPU_KERNELS] = {"pwr_team_probe"};
    pwr_gpu_load(&pwr_gpu_engine.probe, pwr_gpu_ptx_team_probe, names);
    return pwr_gpu_engine.probe.kernel[0];
}

static bool launch(void *stream, void *kernel, unsigned blocks, unsigned threads, void **arguments)
{
    return pwr_gpu_succeeds(
        pwr_gpu_driver.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL),
        "cuLaunchKernel");
}

static bool put(pwr_gpu_team_t *t, void *stream, pwr_gpu_type_t type, const void *in, void *out,
                pwr_gpu_op_t op, unsigned long long count, int root)
{
    void *kernel = kernel_for(type);
    int which = (int)op; /* PWR_IS_sum and so on are in the same order */
    void *arguments[] = {&t->device, &in, &out, &count, &root, &which};
    unsigned long long bytes = count * pwr_gpu_modules[type].bytes;
    unsigned long long units = (bytes + PWR_GPU_VECTOR - 1) / PWR_GPU_VECTOR;
    unsigned threads = PWR_GPU_TEAM_BLOCK, blocks = (unsigned)t->blocks;
    if (bytes <= PWR_TEAM_SHORT) {
        unsigned each = (unsigned)(units + 31) / 32 * 32;
        threads = each < 64 ? 64 : each < threads ? each : threads;
        blocks = 1;
    } else if (units < (unsigned long long)blocks * threads) {
        blocks = (unsigned)((units + threads - 1) / threads);
    }
    return NULL != kernel && launch(stream, kernel, blocks, threads, arguments);
}

/* Kernels of no elements: a driver loads some only then, and waits for the GPU. */
static bool load_all(pwr_gpu_team_t *t)
{
    bool ok = true;
    for (int type = 0; type < PWR_GPU_NUM_TYPES && ok; ++type) {
        ok = NULL == pwr_gpu_team_modules[type] ||
             put(t, t->stream, (pwr_gpu_type_t)type, NULL, NULL, PWR_GPU_SUM, 0, -1);
    }
    return ok && pwr_gpu_succeeds(pwr_gpu_driver.wait_stream(t->stream), "the kernels");
}

bool pwr_gpu_team_join(pwr_gpu_team_t *t, const pwr_gpu_member_t *members)
{
    bool entered = pwr_gpu_enter();
    t->blocks = most_blocks(members, t->num);
    t->one_gpu = t->num == on_gpu_of(members, t->num, t->me);
    if (t->blocks < 1) {
        pwr_gpu_because("too many processes on one GPU for kernels that wait");
    }
    bool ok = entered && t->blocks > 0 && open_windows(t, members) && describe(t) &&
              NULL != probe_kernel();
    pwr_gpu_leave(entered);
    return ok;
}

/* ---- third step ---- */

static void stop(pwr_gpu_team_t *t)
{
    atomic_store(&t->shared->stop, 1);
}

/* Puts what launches into the team's stream, and waits for its end: without the lock, as it may
   take what another thread does. */
typedef bool launches_t(pwr_gpu_team_t *t, void *what);

static bool run(pwr_gpu_team_t *t, launches_t *launches, void *what)
{
    void *before;
    bool entered = pwr_gpu_enter();
    bool ok = entered && launches(t, what);
    void *context = pwr_gpu_engine.context;
    pwr_gpu_leave(entered);
    if (!ok) {
        stop(t);
        return false;
    }
    ok = pwr_gpu_succeeds(pwr_gpu_driver.push(context), "cuCtxPushCurrent");
    if (ok) {
        ok = pwr_gpu_wait_for_stream(t->stream, t->ended);
        pwr_gpu_driver.pop(&before);
    }
    return ok;
}

static bool launch_probe(pwr_gpu_team_t *t, void *what)
{
    pwr_gpu_address_t at = t->device + PROBE_AT;
    int exchanges = EXCHANGES;
    void *arguments[] = {&t->device, &at, &exchanges};
    (void)what;
    return launch(t->stream, probe_kernel(), (unsigned)t->blocks, PWR_GPU_TEAM_BLOCK, arguments);
}

/* How long an exchange took; with the lock. */
static bool read_probe(const pwr_gpu_team_t *t, uint64_t *ns)
{
    uint64_t times[MOST_BLOCKS];
    if (!pwr_gpu_succeeds(pwr_gpu_driver.to_host(times, t->device + PROBE_AT,
                                                 (size_t)t->blocks * sizeof times[0]),
                          "cuMemcpyDtoH")) {
        return false;
    }
    *ns = 0;
    for (int b = 0; b < t->blocks; ++b) {
        *ns = times[b] / EXCHANGES > *ns ? times[b] / EXCHANGES : *ns;
    }
    return true;
}

bool pwr_gpu_team_probe(pwr_gpu_team_t *t)
{
    uint64_t ns = 0;
    if (!run(t, launch_probe, NULL)) {
        return false;
    }
    bool entered = pwr_gpu_enter();
    bool ok = entered && read_probe(t, &ns);
    if (ok && ns >= AT_ONCE_NS) {
        pwr_gpu_because("kernels of several ranks take turns on the GPU (%llu us for an exchange): "
                        "MPS lets them run at once",
                        (unsigned long long)(ns / 1000));
        ok = false;
    }
    ok = ok && load_all(t);
    pwr_gpu_leave(entered);
    return ok;
}

/* ---- calls ---- */

static bool is_stopped(const pwr_gpu_team_t *t)
{
    bool is = 0 != atomic_load(&t->shared->stop);
    if (is) {
        pwr_gpu_because("another rank could not launch its kernel");
    }
    return is;
}

pwr_gpu_result_t pwr_gpu_team_reduce(pwr_gpu_team_t *t, void *stream, const void *in, void *out,
                                     pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count, int root)
{
    if (is_stopped(t)) {
        return PWR_GPU_FAILED;
    }
    bool entered = pwr_gpu_enter();
    bool ok = entered && put(t, stream, type, in, out, op, count, root);
    pwr_gpu_leave(entered);
    if (!ok) {
        stop(t);
    }
    return ok ? PWR_GPU_DONE : PWR_GPU_FAILED;
}

typedef struct reduction {
    const void *in;
    void *out;
    pwr_gpu_op_t op;
    pwr_gpu_type_t type;
    size_t count;
    int root;
} reduction_t;

static bool launch_reduction(pwr_gpu_team_t *t, void *what)
{
    const reduction_t *r = what;
    return put(t, t->stream, r->type, r->in, r->out, r->op, r->count, r->root);
}

pwr_gpu_result_t pwr_gpu_team_reduce_now(pwr_gpu_team_t *t, const void *in, void *out,
                                         pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count,
                                         int root)
{
    reduction_t what = {in, out, op, type, count, root};
    return run(t, launch_reduction, &what) && !is_stopped(t) ? PWR_GPU_DONE : PWR_GPU_FAILED;
}

bool pwr_gpu_team_is_faster(const pwr_gpu_team_t *t, pwr_gpu_type_t type, size_t count)
{
    return count * pwr_gpu_modules[type].bytes <= ONE_GPU_BYTES || !t->one_gpu;
}

struct poweraware_team *pwr_gpu_team_on_device(const pwr_gpu_team_t *t, int *blocks)
{
    *blocks = t->blocks;
    return (struct poweraware_team *)(uintptr_t)t->device;
}

/* ---- the end ---- */

/* What was made in a context that has ended is gone, and its addresses may be somebody else's. */
static bool enter_own_context(const pwr_gpu_team_t *t, bool *entered)
{
    *entered = pwr_gpu_enter();
    return *entered && pwr_gpu_engine.context_id == t->context_id;
}

void pwr_gpu_team_close(pwr_gpu_team_t *t)
{
    bool entered;
    if (NULL == t) {
        return;
    }
    bool is_there = enter_own_context(t, &entered);
    for (int m = 0; m < t->num && is_there; ++m) {
        if (m != t->me && 0 != t->window[m]) {
            pwr_gpu_driver.close_handle(t->window[m]);
        }
    }
    pwr_gpu_leave(entered);
}

void pwr_gpu_team_free(pwr_gpu_team_t *t)
{
    bool entered;
    if (NULL == t) {
        return;
    }
    if (enter_own_context(t, &entered)) {
        if (0 != t->window[t->me]) {
            pwr_gpu_driver.release(t->window[t->me]);
        }
        if (0 != t->device) {
            pwr_gpu_driver.release(t->device);
        }
        if (NULL != t->stream) {
            pwr_gpu_driver.destroy_stream(t->stream);
        }
        if (NULL != t->ended) {
            pwr_gpu_driver.destroy_event(t->ended);
        }
        if (0 != t->shared_on_device) {
            pwr_gpu_driver.unregister_host(t->shared);
        }
    }
    pwr_gpu_leave(entered);
    pwr_gpu_life_end(t->life);
    atomic_fetch_sub(&teams, 1);
    free(t);
}
