/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What Open MPI calls: one function per call of windows.
 *
 * All of them are alike: the operation begins, the saved function is called with the arguments as
 * they came.  Functions that neither wait nor let others go on are left alone, unless all calls are
 * to be counted.
 */
#include "calls.h"
#include "window.h"

#include <string.h>

const char *const osc_poweraware_names[OSC_POWERAWARE_NUM_CALLS] = {
#define NAME(name, ...) "win_" #name,
    OSC_POWERAWARE_CALLS(NAME) "win_free"};

osc_poweraware_totals_t osc_poweraware_totals;

static void count(int call)
{
    if (pwr_process.mpi_threads) {
        __atomic_fetch_add(&osc_poweraware_totals.calls[call], 1, __ATOMIC_RELAXED);
    } else {
        ++osc_poweraware_totals.calls[call];
    }
}

/* ---- what a call may do ---- */

#define WAITS OSC_POWERAWARE_WAITS
#define LETS_GO OSC_POWERAWARE_LETS_GO
#define ALL_WAIT OSC_POWERAWARE_ALL_WAIT
#define NOTHING OSC_POWERAWARE_NOTHING

static const int kinds[] = {
#define KIND(name, kind, kind_in_memory, ...) kind,
    OSC_POWERAWARE_CALLS(KIND)};
static const int kinds_in_memory[] = {
#define KIND_IN_MEMORY(name, kind, kind_in_memory, ...) kind_in_memory,
    OSC_POWERAWARE_CALLS(KIND_IN_MEMORY)};

static int kind_of(osc_poweraware_call_t call, const char *component)
{
    return osc_poweraware_is_memory(component) ? kinds_in_memory[call] : kinds[call];
}

/* ---- a call ---- */

typedef struct call {
    pwr_operation_t operation;
    pwr_idle_loop_t loop;
} call_t;

/* Where nobody counts, a call that only some ranks make is no operation: nothing of one is left but
   its wait, which is short if nobody is late. */
static inline bool is_operation(int kind)
{
    return 0 != (ALL_WAIT & kind) || osc_poweraware_ways.counts;
}

static inline pwr_operations_t *operations_of(osc_poweraware_window_t *window, int kind)
{
    return 0 != (ALL_WAIT & kind) ? &window->collective : &window->others;
}

static void begin_operation(pwr_operation_t *operation, pwr_operations_t *of, int number)
{
    count(number);
    pwr_operation_begin(operation, of, of->first + (unsigned)number, 0, 0);
    pwr_operation_start(operation, PWR_ACCOUNT_NO_ALGORITHM);
}

static inline void begin(osc_poweraware_window_t *window, call_t *call, int number, int kind)
{
    pwr_operations_t *of = operations_of(window, kind);
    if (is_operation(kind)) {
        begin_operation(&call->operation, of, number);
    }
    if (0 != (WAITS & kind) && of->idles) {
        pwr_idle_loop_enter(&call->loop, &window->ends,
                            pwr_process.mpi_threads ? NULL : &window->sites[number]);
    }
}

static inline void end_wait(call_t *call, int kind)
{
    pwr_idle_loop_leave(&call->loop);
    if (!pwr_idle_loop_waited(&call->loop)) {
        return;
    }
    if (is_operation(kind)) {
        pwr_wait_stats_add_plainly(&call->operation.waits, &call->loop.stats);
    } else {
        pwr_wait_stats_add(&pwr_process.idle_stats, &call->loop.stats);
    }
}

static inline void end(osc_poweraware_window_t *window, call_t *call, int kind)
{
    if (0 != (WAITS & kind) && operations_of(window, kind)->idles) {
        end_wait(call, kind);
    }
    if (is_operation(kind)) {
        pwr_operation_end(&call->operation);
    }
    if (0 != (LETS_GO & kind)) {
        pwr_doorbell_let_go();
    }
}

#define CALL(name, kind, kind_in_memory, parameters, arguments)                                    \
    static int name parameters                                                                     \
    {                                                                                              \
        osc_poweraware_window_t *window = osc_poweraware_window_find(win);                         \
        call_t call;                                                                               \
        begin(window, &call, OSC_POWERAWARE_##name, kind);                                         \
        int rc = window->saved.osc_##name arguments;                                               \
        end(window, &call, kind);                                                                  \
        return rc;                                                                                 \
    }
OSC_POWERAWARE_CALLS(CALL)

static int test(ompi_win_t *win, int *over)
{
    bool before = pwr_idle_only_looks(true);
    int rc = osc_poweraware_window_find(win)->saved.osc_test(win, over);
    pwr_idle_only_looks(before);
    return rc;
}

static void take_calls(const osc_poweraware_window_t *window);

/* All ranks meet in it. */
static int free_window(ompi_win_t *win)
{
    osc_poweraware_window_t *window = osc_poweraware_window_find(win);
    call_t call;
    begin(window, &call, OSC_POWERAWARE_free, WAITS | ALL_WAIT);
    take_calls(window);
    osc_poweraware_window_remove(win, window);
    int rc = window->saved.osc_free(win);
    end(window, &call, WAITS | ALL_WAIT);
    osc_poweraware_window_free(window);
    return rc;
}

/* ---- in a module ---- */

/* Where only collective calls give the CPU back, the others are as they were. */
static bool is_wanted(const osc_poweraware_window_t *window, osc_poweraware_call_t call,
                      const char *component)
{
    int kind = kind_of(call, component);
    bool idles = 0 != (ALL_WAIT & kind) ? window->collective.idles : window->others.idles;
    return osc_poweraware_ways.counts || (idles && NOTHING != kind);
}

static void put_calls(const osc_poweraware_window_t *window, const char *component)
{
    ompi_osc_base_module_t *module = window->module;
#define PUT(name, ...)                                                                             \
    if (NULL != module->osc_##name && is_wanted(window, OSC_POWERAWARE_##name, component)) {       \
        module->osc_##name = name;                                                                 \
    }
    OSC_POWERAWARE_CALLS(PUT)
    if (window->others.idles) {
        module->osc_test = test;
    }
    module->osc_free = free_window;
}

/* Only what is still ours: others may have come after us. */
static void take_calls(const osc_poweraware_window_t *window)
{
    ompi_osc_base_module_t *module = window->module;
#define TAKE(name, ...)                                                                            \
    if (name == module->osc_##name) {                                                              \
        module->osc_##name = window->saved.osc_##name;                                             \
    }
    OSC_POWERAWARE_CALLS(TAKE)
    if (test == module->osc_test) {
        module->osc_test = window->saved.osc_test;
    }
    if (free_window == module->osc_free) {
        module->osc_free = window->saved.osc_free;
    }
}

/* In windows of one rank nobody waits. */
void osc_poweraware_interpose(ompi_win_t *win, struct ompi_communicator_t *comm,
                              const char *component)
{
    const osc_poweraware_ways_t *ways = &osc_poweraware_ways;
    bool has_purpose = ways->counts || pwr_process_idles(ways->scheme);
    osc_poweraware_window_t *window = has_purpose && ompi_comm_size(comm) > 1
                                          ? osc_poweraware_window_new(win, comm, component)
                                          : NULL;
    if (NULL != window) {
        put_calls(window, component);
        osc_poweraware_window_add(window, component);
    }
}
