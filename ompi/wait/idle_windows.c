/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of windows that may block say where they begin and end.
 *
 * A window is a module of its component osc, with a table of functions of its own.  Ours take the
 * places of those that block.  It is done when somebody is about to sleep for the first time, so
 * that windows over which nobody ever waits for long stay as they are.
 */
#include "pwr_ompi/compat.h"

#include "idle_private.h"

#if OMPI_MAJOR_VERSION >= 5

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/op/op.h"
#include "ompi/win/win.h"

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

/* A function of ours: its name is that of the field of the table. */
#define CALL(name, parameters, ...)                                                                \
    static int name parameters                                                                     \
    {                                                                                              \
        bool outer = pwr_idle_call_begins();                                                       \
        int rc = saved_of(win->w_osc_module)->name(__VA_ARGS__);                                   \
        pwr_idle_call_ends(outer);                                                                 \
        return rc;                                                                                 \
    }

CALL(osc_fence, (int assert, ompi_win_t *win), assert, win)
CALL(osc_start, (ompi_group_t * group, int assert, ompi_win_t *win), group, assert, win)
CALL(osc_complete, (ompi_win_t * win), win)
CALL(osc_post, (ompi_group_t * group, int assert, ompi_win_t *win), group, assert, win)
CALL(osc_wait, (ompi_win_t * win), win)
CALL(osc_lock, (int type, int target, int assert, ompi_win_t *win), type, target, assert, win)
CALL(osc_unlock, (int target, ompi_win_t *win), target, win)
CALL(osc_lock_all, (int assert, ompi_win_t *win), assert, win)
CALL(osc_unlock_all, (ompi_win_t * win), win)
CALL(osc_flush, (int target, ompi_win_t *win), target, win)
CALL(osc_flush_all, (ompi_win_t * win), win)
CALL(osc_flush_local, (int target, ompi_win_t *win), target, win)
CALL(osc_flush_local_all, (ompi_win_t * win), win)
/* These may have to wait for a lock at the target. */
CALL(osc_accumulate,
     (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,
      ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op,
      ompi_win_t *win),
     origin, origin_count, origin_type, target, displacement, count, type, op, win)
CALL(osc_get_accumulate,
     (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, void *result,
      pwr_count_t result_count, ompi_datatype_t *result_type, int target, ptrdiff_t displacement,
      pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win),
     origin, origin_count, origin_type, result, result_count, result_type, target, displacement,
     count, type, op, win)
CALL(osc_compare_and_swap,
     (const void *origin, const void *compare, void *result, ompi_datatype_t *type, int target,
      ptrdiff_t displacement, ompi_win_t *win),
     origin, compare, result, type, target, displacement, win)
CALL(osc_fetch_and_op,
     (const void *origin, void *result, ompi_datatype_t *type, int target, ptrdiff_t displacement,
      ompi_op_t *op, ompi_win_t *win),
     origin, result, type, target, displacement, op, win)

static int osc_test(ompi_win_t *win, int *flag)
{
    bool outer = pwr_idle_looks;
    pwr_idle_looks = true;
    int rc = saved_of(win->w_osc_module)->osc_test(win, flag);
    pwr_idle_looks = outer;
    return rc;
}

#define FUNCTIONS(X)                                                                               \
    X(osc_fence)                                                                                   \
    X(osc_start)                                                                                   \
    X(osc_complete)                                                                                \
    X(osc_post)                                                                                    \
    X(osc_wait)                                                                                    \
    X(osc_test)                                                                                    \
    X(osc_lock)                                                                                    \
    X(osc_unlock)                                                                                  \
    X(osc_lock_all)                                                                                \
    X(osc_unlock_all)                                                                              \
    X(osc_flush)                                                                                   \
    X(osc_flush_all)                                                                               \
    X(osc_flush_local)                                                                             \
    X(osc_flush_local_all)                                                                         \
    X(osc_accumulate)                                                                              \
    X(osc_get_accumulate)                                                                          \
    X(osc_compare_and_swap)                                                                        \
    X(osc_fetch_and_op)

static bool is_complete(const ompi_osc_base_module_t *module)
{
#define IS_THERE(name) module->name &&
    return FUNCTIONS(IS_THERE) module->osc_free;
}

static bool are_same(const ompi_osc_base_module_t *module, const ompi_osc_base_module_t *other)
{
#define IS_SAME(name) module->name == other->name &&
    return FUNCTIONS(IS_SAME) true;
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
#define PUT(name) module->name = name;
    FUNCTIONS(PUT)
    return true;
}

bool pwr_idle_mark_windows(void)
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

#endif
