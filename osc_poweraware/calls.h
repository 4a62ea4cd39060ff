/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The calls of windows: one row each.
 */
#ifndef OSC_POWERAWARE_CALLS_H
#define OSC_POWERAWARE_CALLS_H

#include "pwr_ompi/compat.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/op/op.h"
#include "ompi/win/win.h"

/* What a call may do. */
enum {
    OSC_POWERAWARE_NOTHING = 0,
    OSC_POWERAWARE_WAITS = 1,    /* for other processes */
    OSC_POWERAWARE_LETS_GO = 2,  /* others may wait for it, with no message that tells them of it */
    OSC_POWERAWARE_ALL_WAIT = 4, /* it is a collective one */
    OSC_POWERAWARE_COMPLETES = 8, /* what is under way to its target */
    OSC_POWERAWARE_MEETS = 16,    /* it may wait for others to come, too */
    OSC_POWERAWARE_ASKS = 32      /* again and again whether it may go on */
};

/* X(name, what it may do, what it may do where a window is memory that all of its ranks have
   (osc/sm), its target, bytes that it moves, parameters, arguments).  In osc/sm, accumulates wait
   for a lock that is held for the length of a copy, and look at nothing but it. */
#define OSC_POWERAWARE_CALLS(X)                                                                    \
    X(fence, WAITS | ALL_WAIT | COMPLETES | MEETS, WAITS | ALL_WAIT, ALL_TARGETS, 0,               \
      (int assert, ompi_win_t *win), (assert, win))                                                \
    X(start, WAITS, WAITS, NO_TARGET, 0, (ompi_group_t * group, int assert, ompi_win_t *win),      \
      (group, assert, win))                                                                        \
    X(complete, WAITS | LETS_GO | COMPLETES | MEETS, LETS_GO, ALL_TARGETS, 0, (ompi_win_t * win),  \
      (win))                                                                                       \
    X(post, WAITS | LETS_GO, LETS_GO, NO_TARGET, 0,                                                \
      (ompi_group_t * group, int assert, ompi_win_t *win), (group, assert, win))                   \
    X(wait, WAITS, WAITS, NO_TARGET, 0, (ompi_win_t * win), (win))                                 \
    X(lock, WAITS | ASKS, WAITS, target, 0,                                                        \
      (int type, int target, int assert, ompi_win_t *win), (type, target, assert, win))            \
    X(unlock, WAITS | LETS_GO | COMPLETES, LETS_GO, target, 0, (int target, ompi_win_t *win),      \
      (target, win))                                                                               \
    X(lock_all, WAITS | ASKS, WAITS, NO_TARGET, 0, (int assert, ompi_win_t *win), (assert, win))   \
    X(unlock_all, WAITS | LETS_GO | COMPLETES, LETS_GO, ALL_TARGETS, 0, (ompi_win_t * win), (win)) \
    X(flush, WAITS | COMPLETES, NOTHING, target, 0, (int target, ompi_win_t *win), (target, win))  \
    X(flush_all, WAITS | COMPLETES, NOTHING, ALL_TARGETS, 0, (ompi_win_t * win), (win))            \
    X(flush_local, WAITS, NOTHING, NO_TARGET, 0, (int target, ompi_win_t *win), (target, win))     \
    X(flush_local_all, WAITS, NOTHING, NO_TARGET, 0, (ompi_win_t * win), (win))                    \
    X(put, NOTHING, NOTHING, target, BYTES(count, type),                                           \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,     \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_win_t *win),         \
      (origin, origin_count, origin_type, target, displacement, count, type, win))                 \
    X(get, NOTHING, NOTHING, target, BYTES(count, type),                                           \
      (void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,           \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_win_t *win),         \
      (origin, origin_count, origin_type, target, displacement, count, type, win))                 \
    X(accumulate, WAITS | LETS_GO, NOTHING, target, BYTES(count, type),                            \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,     \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op,            \
       ompi_win_t *win),                                                                           \
      (origin, origin_count, origin_type, target, displacement, count, type, op, win))             \
    X(get_accumulate, WAITS | LETS_GO, NOTHING, target,                                            \
      BYTES(count, type) + BYTES(result_count, result_type),                                       \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, void *result,   \
       pwr_count_t result_count, ompi_datatype_t *result_type, int target, ptrdiff_t displacement, \
       pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win),                  \
      (origin, origin_count, origin_type, result, result_count, result_type, target, displacement, \
       count, type, op, win))                                                                      \
    X(compare_and_swap, WAITS | LETS_GO, NOTHING, target, BYTES(1, type),                          \
      (const void *origin, const void *compare, void *result, ompi_datatype_t *type, int target,   \
       ptrdiff_t displacement, ompi_win_t *win),                                                   \
      (origin, compare, result, type, target, displacement, win))                                  \
    X(fetch_and_op, WAITS | LETS_GO, NOTHING, target, BYTES(1, type),                              \
      (const void *origin, void *result, ompi_datatype_t *type, int target,                        \
       ptrdiff_t displacement, ompi_op_t *op, ompi_win_t *win),                                    \
      (origin, result, type, target, displacement, op, win))                                       \
    X(rput, WAITS, NOTHING, target, BYTES(count, type),                                            \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,     \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_win_t *win,          \
       ompi_request_t **request),                                                                  \
      (origin, origin_count, origin_type, target, displacement, count, type, win, request))        \
    X(rget, WAITS, NOTHING, target, BYTES(count, type),                                            \
      (void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,           \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_win_t *win,          \
       ompi_request_t **request),                                                                  \
      (origin, origin_count, origin_type, target, displacement, count, type, win, request))        \
    X(raccumulate, WAITS | LETS_GO, NOTHING, target, BYTES(count, type),                           \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, int target,     \
       ptrdiff_t displacement, pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op,            \
       ompi_win_t *win, ompi_request_t **request),                                                 \
      (origin, origin_count, origin_type, target, displacement, count, type, op, win, request))    \
    X(rget_accumulate, WAITS | LETS_GO, NOTHING, target,                                           \
      BYTES(count, type) + BYTES(result_count, result_type),                                       \
      (const void *origin, pwr_count_t origin_count, ompi_datatype_t *origin_type, void *result,   \
       pwr_count_t result_count, ompi_datatype_t *result_type, int target, ptrdiff_t displacement, \
       pwr_count_t count, ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,                   \
       ompi_request_t **request),                                                                  \
      (origin, origin_count, origin_type, result, result_count, result_type, target, displacement, \
       count, type, op, win, request))

typedef enum osc_poweraware_call {
#define OSC_POWERAWARE_CONSTANT(name, ...) OSC_POWERAWARE_##name,
    OSC_POWERAWARE_CALLS(OSC_POWERAWARE_CONSTANT)
#undef OSC_POWERAWARE_CONSTANT
        OSC_POWERAWARE_free,
    OSC_POWERAWARE_NUM_CALLS
} osc_poweraware_call_t;

/* As reports and the job's document have them. */
extern const char *const osc_poweraware_names[OSC_POWERAWARE_NUM_CALLS];

#endif
