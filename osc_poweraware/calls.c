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
    return 0 == strcmp("sm", component) ? kinds_in_memory[call] : kinds[call];
}

/* ---- a call ---- */

static void begin(osc_poweraware_window_t *window, pwr_operation_t *operation, int call, int kind)
{
    pwr_operations_t *operations = 0 != (ALL_WAIT & kind) ? &window->collective : &window->others;
    atomic_fetch_add_explicit(&osc_poweraware_totals.calls[call], 1, memory_order_relaxed);
    pwr_operation_begin(operation, operations, operations->first + (unsigned)call, 0, 0);
    pwr_operation_start(operation, PWR_ACCOUNT_NO_ALGORITHM);
}

#define CALL(name, kind, kind_in_memory, parameters, arguments)                                    \
    static int name parameters                                                                     \
    {                                                                                              \
        osc_poweraware_window_t *window = osc_poweraware_window_find(win);                         \
        pwr_operation_t operation;                                                                 \
        begin(window, &operation, OSC_POWERAWARE_##name, kind);                                    \
        int rc = window->saved.osc_##name arguments;                                               \
        pwr_operation_end(&operation);                                                             \
        return rc;                                                                                 \
    }
OSC_POWERAWARE_CALLS(CALL)

/* All ranks meet in it. */
static int free_window(ompi_win_t *win)
{
    osc_poweraware_window_t *window = osc_poweraware_window_find(win);
    pwr_operation_t operation;
    begin(window, &operation, OSC_POWERAWARE_free, ALL_WAIT);
    osc_poweraware_withdraw(win, window);
    int rc = window->saved.osc_free(win);
    pwr_operation_end(&operation);
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

bool osc_poweraware_put_calls(const osc_poweraware_window_t *window, const char *component)
{
    ompi_osc_base_module_t *module = window->module;
    bool some = false;
#define PUT(name, ...)                                                                             \
    if (NULL != module->osc_##name && is_wanted(window, OSC_POWERAWARE_##name, component)) {       \
        module->osc_##name = name;                                                                 \
        some = true;                                                                               \
    }
    OSC_POWERAWARE_CALLS(PUT)
    if (some) {
        module->osc_free = free_window;
    }
    return some;
}

/* Only what is still ours: others may have come after us. */
void osc_poweraware_take_calls(const osc_poweraware_window_t *window)
{
    ompi_osc_base_module_t *module = window->module;
#define TAKE(name, ...)                                                                            \
    if (name == module->osc_##name) {                                                              \
        module->osc_##name = window->saved.osc_##name;                                             \
    }
    OSC_POWERAWARE_CALLS(TAKE)
    if (free_window == module->osc_free) {
        module->osc_free = window->saved.osc_free;
    }
}
