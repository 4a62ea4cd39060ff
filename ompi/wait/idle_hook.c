/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What blocks without a request (one-sided, shared memory of others) gives the CPU back, from 5.0
 * on.
 *
 * It loops over opal_progress, which calls a function through a pointer when nothing moved.  That
 * function cannot know whether its caller blocks: it takes calls that follow each other without a
 * pause for a wait, and sleeps for a bounded part of it.  A loop of brief calls would look the
 * same, and sleep in each of them: so the calls of windows say where they begin.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/idle.h"

#include "idle_private.h"

_Thread_local bool pwr_idle_looks;

#if OMPI_MAJOR_VERSION >= 5

#include "pwr/clock.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/op/op.h"
#include "ompi/runtime/params.h"
#include "ompi/win/win.h"
#include "opal/mca/threads/threads.h"

/* Who looks again only after that did something else: no wait.  The first look after a sleep finds
   its caches cold, and the CPU may have been somebody else's. */
enum { GAP_NS = 20000, GAP_ASLEEP_NS = 200000 };

static struct {
    bool hooked;
    const pwr_wait_policy_t *policy;
    pwr_wait_stats_t *stats;
    opal_threads_pthreads_yield_fn_t *yield; /* what was there before */
    bool yields;                             /* what ompi_mpi_yield_when_idle was */
} hook;

/* The wait that this thread may be in. */
static _Thread_local struct {
    uint64_t since_ns; /* 0: in none */
    uint64_t seen_ns;  /* when the last call returned */
    bool slept;        /* in the last call */
    bool in_call;      /* which says where it begins and ends */
    unsigned looks;    /* of opal_progress since the last call */
} idle;

static int count_look(void)
{
    ++idle.looks;
    return 0;
}

/* This thread enters and leaves a call that may block; a wait in it lasts from its first look on.
   begins returns what ends needs. */
static bool call_begins(void)
{
    bool outer = idle.in_call;
    idle.in_call = true;
    idle.since_ns = 0;
    return outer;
}

static void call_ends(bool outer)
{
    idle.in_call = outer;
    idle.since_ns = 0;
}

/* ---- windows ----

   A window is a module of its component osc, with a table of functions of its own.  Ours take the
   places of those that block.  It is done when somebody is about to sleep for the first time, so
   that windows over which nobody ever waits for long stay as they are. */

enum { COMPONENTS = 8 };

/* What was there before: all windows of a component have the same functions. */
static struct {
    ompi_osc_base_module_t all[COMPONENTS];
    size_t count;
} saved;

/* osc_free, which stays, tells components apart. */
static const ompi_osc_base_module_t *saved_of(const ompi_osc_base_module_t *module)
{
    for (size_t i = 0; i < saved.count; ++i) {
        if (module->osc_free == saved.all[i].osc_free) {
            return &saved.all[i];
        }
    }
    return NULL;
}

/* What may block: X(field of the table, parameters, arguments). */
#define CALLS(X)                                                                                   \
    X(osc_fence, (int assert, ompi_win_t *win), (assert, win))                                     \
    X(osc_start, (ompi_group_t * group, int assert, ompi_win_t *win), (group, assert, win))        \
    X(osc_complete, (ompi_win_t * win), (win))                                                     \
    X(osc_post, (ompi_group_t * group, int assert, ompi_win_t *win), (group, assert, win))         \
    X(osc_wait, (ompi_win_t * win), (win))                                                         \
    X(osc_lock, (int type, int target, int assert, ompi_win_t *win), (type, target, assert, win))  \
    X(osc_unlock, (int target, ompi_win_t *win), (target, win))                                    \
    X(osc_lock_all, (int assert, ompi_win_t *win), (assert, win))                                  \
    X(osc_unlock_all, (ompi_win_t * win), (win))                                                   \
    X(osc_flush, (int target, ompi_win_t *win), (target, win))                                     \
    X(osc_flush_all, (ompi_win_t * win), (win))                                                    \
    X(osc_flush_local, (int target, ompi_win_t *win), (target, win))                               \
    X(osc_flush_local_all, (ompi_win_t * win), (win))                                              \
    /* These may have to wait for a lock at the target. */                                         \
    X(osc_accumulate,                                                                              \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,     \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op,            \
       ompi_win_t *win),                                                                           \
      (origin, origin_count, origin_type, target, displacement, count, type, op, win))             \
    X(osc_get_accumulate,                                                                          \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, void *result,   \
       pwr_count_t result_count, ompi_datatype_t *result_type, int target, ptrdiff_t displacement, \
       pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win),                  \
      (origin, origin_count, origin_type, result, result_count, result_type, target, displacement, \
       count, type, op, win))                                                                      \
    X(osc_compare_and_swap,                                                                        \
      (const void *origin, const void *compare, void *result, ompi_datatype_t *type, int target,   \
       ptrdiff_t displacement, ompi_win_t *win),                                                   \
      (origin, compare, result, type, target, displacement, win))                                  \
    X(osc_fetch_and_op,                                                                            \
      (const void *origin, void *result, ompi_datatype_t *type, int target,                        \
       ptrdiff_t displacement, ompi_op_t *op, ompi_win_t *win),                                    \
      (origin, result, type, target, displacement, op, win))

/* A function of ours has the name of the field that it is put into. */
#define CALL(name, parameters, arguments)                                                          \
    static int name parameters                                                                     \
    {                                                                                              \
        bool outer = call_begins();                                                                \
        int rc = saved_of(win->w_osc_module)->name arguments;                                      \
        call_ends(outer);                                                                          \
        return rc;                                                                                 \
    }
CALLS(CALL)

static int osc_test(ompi_win_t *win, int *flag)
{
    bool outer = pwr_idle_looks;
    pwr_idle_looks = true;
    int rc = saved_of(win->w_osc_module)->osc_test(win, flag);
    pwr_idle_looks = outer;
    return rc;
}

static bool is_complete(const ompi_osc_base_module_t *module)
{
#define IS_THERE(name, ...) module->name &&
    return CALLS(IS_THERE) module->osc_test && module->osc_free;
}

static bool are_same(const ompi_osc_base_module_t *module, const ompi_osc_base_module_t *other)
{
#define IS_SAME(name, ...) module->name == other->name &&
    return CALLS(IS_SAME) module->osc_test == other->osc_test;
}

/* Returns whether its calls say where they begin. */
static bool mark(ompi_osc_base_module_t *module)
{
    if (osc_fence == module->osc_fence) {
        return true;
    }
    if (NULL == saved_of(module) && COMPONENTS > saved.count && is_complete(module)) {
        saved.all[saved.count++] = *module;
    }
    const ompi_osc_base_module_t *before = saved_of(module);
    if (NULL == before || !are_same(module, before)) {
        return false;
    }
#define PUT(name, ...) module->name = name;
    CALLS(PUT)
    module->osc_test = osc_test;
    return true;
}

/* From now on the blocking calls of those windows that there are say where they begin.  False: not
   of all of them, so what looks like a wait may be many brief ones. */
static bool mark_windows(void)
{
    bool all_marked = true;
    int size = opal_pointer_array_get_size(&ompi_mpi_windows);
    for (int i = 0; i < size; ++i) {
        ompi_win_t *win = opal_pointer_array_get_item(&ompi_mpi_windows, i);
        /* without a module it is still being made, and nobody calls it */
        if (NULL != win && &ompi_mpi_win_null.win != win && NULL != win->w_osc_module) {
            /* another thread may be freeing it */
            all_marked = !opal_using_threads() && mark(win->w_osc_module) && all_marked;
        }
    }
    return all_marked;
}

/* ---- the wait ---- */

/* A look more than this one has found something to do. */
static bool is_same_wait(uint64_t now)
{
    return 0 != idle.since_ns && idle.looks <= 1 &&
           (idle.in_call || now - idle.seen_ns <= (idle.slept ? GAP_ASLEEP_NS : GAP_NS));
}

/* Nothing wakes it: who calls may wait for anything.  Returns the time. */
static uint64_t sleep_if_long_idle(uint64_t now)
{
    uint64_t length_ns = pwr_wait_blind_ns(now - idle.since_ns, hook.policy);
    idle.slept = 0 != length_ns && mark_windows();
    if (!idle.slept) {
        return now;
    }
    const struct timespec length = pwr_timespec(length_ns);
    nanosleep(&length, NULL);
    uint64_t after = pwr_now_ns();
    const pwr_wait_stats_t slept = {.sleeps = 1, .sleep_ns = after - now};
    pwr_wait_stats_add(hook.stats, &slept);
    return after;
}

/* opal_progress has found nothing to do. */
static void give_back(void)
{
    uint64_t now = pwr_now_ns();
    if (!is_same_wait(now)) {
        idle.since_ns = now;
    }
    idle.looks = 0;
    if (hook.yields) {
        hook.yield();
        now = pwr_now_ns();
    }
    idle.seen_ns = pwr_idle_waits || pwr_idle_looks ? now : sleep_if_long_idle(now);
}

/* MPI_Init copies ompi_mpi_yield_when_idle to where opal_progress looks, last of all. */
void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    hook.policy = policy;
    hook.stats = stats;
    hook.yields = ompi_mpi_yield_when_idle;
    hook.yield = opal_threads_pthreads_yield_fn;
    hook.hooked = true;
    opal_progress_register(count_look);
    ompi_mpi_yield_when_idle = true;
    opal_threads_pthreads_yield_fn = give_back;
}

void pwr_idle_unhook(void)
{
    if (!hook.hooked) {
        return;
    }
    if (give_back == opal_threads_pthreads_yield_fn) {
        opal_threads_pthreads_yield_fn = hook.yield;
        ompi_mpi_yield_when_idle = hook.yields;
        opal_progress_set_yield_when_idle(hook.yields);
    }
    opal_progress_unregister(count_look);
    hook.hooked = false;
}

bool pwr_idle_is_crowded(void)
{
    return hook.hooked ? hook.yields : opal_progress_yield_when_idle;
}

#else /* opal_progress calls sched_yield itself */

void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    (void)policy;
    (void)stats;
}

void pwr_idle_unhook(void)
{
}

bool pwr_idle_is_crowded(void)
{
    return opal_progress_yield_when_idle;
}

#endif
